#!/usr/bin/env bats
# What programs look up at run time: accounts, certificate authorities, time zones, locales; and the recipes for them.

load lib
setup() { common_setup; }
teardown() { common_teardown; }

DE='usr/lib/locale/de_DE.utf8'

# german_locale DIR: as docs/HOWTO.md makes it, compiled once for all tests of this file.
german_locale() {
	local made=$BATS_FILE_TMPDIR/locales
	[ -e /usr/share/i18n/locales/de_DE ] || skip "Debian's package locales is not installed"
	if [ ! -d "$made" ]; then
		mkdir -p "$made/usr/lib/locale"
		localedef --no-archive --little-endian -i de_DE -f UTF-8 "$made/$DE"
	fi
	cp -r "$made" "$1"
}

# spec FILE PLATFORM LAYER-LINE...: an image of one layer.
spec() {
	local file=$1 platform=$2
	shift 2
	{
		printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  tags: [v1]\n  platforms: [%s]\n' "$platform"
		printf '  compression: gzip\n  entrypoint: [/usr/bin/app]\n  user: "65532"\n  layers:\n    - name: data\n'
		printf '      %s\n' "$@"
	} >"$file"
}

DATA=('accounts: {users: [{name: app, uid: 65532, groups: [video]}], groups: [{name: video, gid: 44}]}'
	'timezone: Europe/Berlin' 'tzdata: {zones: [America/New_York]}' 'locale: {name: de_DE.UTF-8, from: locales}')

# probe_c: prints what the C library finds, one fact a line.
probe_c() {
	cat <<-'EOS'
		#include <grp.h>
		#include <locale.h>
		#include <netdb.h>
		#include <pwd.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/stat.h>
		#include <time.h>
		#include <unistd.h>
		static void zone(const char *name)
		{
			time_t noon = 1782907200; /* 2026-07-01 12:00 UTC */
			char text[64];
			if (name) setenv("TZ", name, 1);
			tzset();
			strftime(text, sizeof(text), "%A %H:%M %Z", localtime(&noon));
			printf("time %s\n", text);
		}
		int main(void)
		{
			struct passwd *me = getpwuid(getuid());
			struct group *video = getgrnam("video");
			struct addrinfo *address = NULL;
			struct stat st;
			printf("user %s home %s\n", me ? me->pw_name : "?", me ? me->pw_dir : "?");
			printf("owner %d\n", me && stat(me->pw_dir, &st) == 0 ? (int)st.st_uid : -1);
			printf("group %d %s\n", video ? (int)video->gr_gid : -1, video ? video->gr_mem[0] : "?");
			printf("named %d\n", getpwnam("app") ? (int)getpwnam("app")->pw_uid : -1);
			printf("localhost %d\n", getaddrinfo("localhost", NULL, NULL, &address));
			printf("locale %s\n", setlocale(LC_ALL, "de_DE.UTF-8") ? "de_DE.UTF-8" : "?");
			printf("number %.1f\n", 1.5);
			zone(NULL);
			zone("America/New_York");
			return 0;
		}
	EOS
}

FACTS='user app home /home/app
owner 65532
group 44 app
named 65532
localhost 0
locale de_DE.UTF-8
number 1,5
time Mittwoch 14:00 CEST
time Mittwoch 08:00 EDT'

# probe_image PLATFORM CC: an image whose entrypoint is the probe.
probe_image() {
	probe_c >app.c
	"$2" -O1 -o app app.c
	german_locale locales
	spec slipway.yaml "$1" 'files: [{from: app, to: /usr/bin/app}]' 'closure: [app]' "${DATA[@]}"
	"$SLIPWAY" build --progress none -o image >/dev/null
}

@test "sources: users, groups, hosts, zones and locales are found in an image of closure and data" {
	containers_needed
	probe_image linux/amd64 gcc
	run --separate-stderr podman_run "oci:$WORK/image"
	echo "$output"
	[ "$output" = "$FACTS" ]
}

@test "sources: they are found on arm64, too" {
	containers_needed
	need aarch64-linux-gnu-gcc
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 2>/dev/null ||
		skip "qemu-aarch64 cannot be registered"
	probe_image linux/arm64 aarch64-linux-gnu-gcc
	run --separate-stderr podman_run --arch arm64 "oci:$WORK/image"
	echo "$output"
	[ "$output" = "$FACTS" ]
}

@test "sources: a C++ program makes a locale and formats by it" {
	containers_needed
	need g++
	german_locale locales
	cat >app.cc <<-'EOS'
		#include <iomanip>
		#include <iostream>
		#include <locale>
		int main()
		{
			std::locale::global(std::locale("de_DE.UTF-8"));
			std::cout.imbue(std::locale());
			std::cout << std::fixed << std::setprecision(2) << 1234567.5 << '\n';
		}
	EOS
	g++ -O1 -o app app.cc
	spec slipway.yaml linux/amd64 'files: [{from: app, to: /usr/bin/app}]' 'closure: [app]' "${DATA[@]}"
	"$SLIPWAY" build --progress none -o image >/dev/null
	run --separate-stderr podman_run "oci:$WORK/image"
	echo "$output"
	[ "$output" = "1.234.567,50" ]
}

# tls_server: answers HTTPS on the socket s/tls; its certificate is of ca.pem.
tls_server() {
	make_certificate
	mkdir -m 0755 s
	openssl s_server -unix s/tls -cert cert.pem -key key.pem -www -quiet >/dev/null 2>&1 3>&- &
	PIDS+=($!)
	local i
	for ((i = 0; i < 200; i++)); do [ ! -S s/tls ] || break; sleep 0.05; done
	chmod 0777 s/tls
}

@test "sources: curl trusts a company's authority by the image's own bundle, and nobody without it" {
	containers_needed
	need curl
	tls_server
	local certificates
	for certificates in '{extra: ca.pem}' true; do
		spec slipway.yaml linux/amd64 'files: [{from: /usr/bin/curl, to: /usr/bin/app}]' 'closure: [/usr/bin/curl]' \
			"ca_certificates: $certificates" 'accounts: {users: [{name: app, uid: 65532}]}'
		"$SLIPWAY" build --progress none -o image >/dev/null
		run podman_run -v "$WORK/s:/s" "oci:$WORK/image" -sS --unix-socket /s/tls https://localhost/
		echo "$output"
		[ "$certificates" = true ] || [[ $status -eq 0 && $output == *"Server certificate"* || $output == *"s_server"* ]]
		[ "$certificates" != true ] || [ "$status" -eq 60 ]
		rm -rf podman podman-run image
	done
}

# root_folder DIR NAME...: a root file system with zones and a bundle; its files are made in the order of the names.
root_folder() {
	local dir=$1 name
	shift
	mkdir -p "$dir/usr/share/zoneinfo" "$dir/etc/ssl/certs" "$dir/$DE"
	for name; do cp /usr/share/zoneinfo/Etc/UTC "$dir/usr/share/zoneinfo/$name"; done
	cp ca.pem "$dir/etc/ssl/certs/ca-certificates.crt"
	for name in LC_CTYPE LC_TIME; do echo "$name" >"$dir/$DE/$name"; done
	find "$dir" -exec touch -d 2020-01-01 {} +
}

@test "sources: no umask, order of files, time zone, locale or time of the machine shows in them" {
	make_certificate
	root_folder one a b c d e f g h
	(umask 077; root_folder two h g f e d c b a)
	touch two/usr/share/zoneinfo/c
	spec slipway.yaml linux/amd64 'accounts: {users: [{name: app, uid: 65532}]}' 'ca_certificates: {from: root}' \
		'timezone: a' 'tzdata: {from: root}' 'locale: {name: de_DE.UTF-8, from: root}'
	sed -i '/entrypoint/d' slipway.yaml
	ln -s one root
	"$SLIPWAY" build --progress none -o first >/dev/null
	ln -sfn two root
	(umask 077; TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$SLIPWAY" build --progress none -o second >/dev/null)
	[ "$(root_of oci:first:v1)" = "$(root_of oci:second:v1)" ]
	# A real difference shows.
	echo x >>two/$DE/LC_TIME
	"$SLIPWAY" build --progress none -o third >/dev/null
	[ "$(root_of oci:first:v1)" != "$(root_of oci:third:v1)" ]
}

@test "sources: the same data on two platforms are one shared layer" {
	make_certificate
	root_folder root a b
	spec slipway.yaml 'linux/amd64, linux/arm64' 'accounts: {users: [{name: app, uid: 65532}]}' \
		'ca_certificates: {from: root}' 'timezone: a' 'tzdata: {from: root}' 'locale: {name: de_DE.UTF-8, from: root}'
	sed -i '/entrypoint/d' slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	echo "$output"
	[ "$(grep -c '^  data .* shared$' <<<"$output")" -eq 2 ]
	[ "$(grep '^  data ' <<<"$output" | sort -u | wc -l)" -eq 1 ]
}

@test "sources: what is missing is said with the position of its key and the package that has it" {
	mkdir root
	spec slipway.yaml linux/amd64 'ca_certificates: {from: root}' 'timezone: Europe/Berlin' 'tzdata: {from: root}' \
		'locale: {name: de_DE.UTF-8, from: root}'
	run "$SLIPWAY" build --progress none -o image
	echo "$output"
	[ "$status" -ne 0 ]
	grep -q "^slipway.yaml:11:24: error: .*'root' has no certificate authorities" <<<"$output"
	grep -q "^slipway.yaml:13:15: error: .*'root' has no tz database" <<<"$output"
	grep -q "^slipway.yaml:14:15: error: .*locale 'de_DE.UTF-8' is not in /usr/lib/locale of 'root'" <<<"$output"
	[ "$(grep -c "hint: Debian's package" <<<"$output")" -eq 3 ]
	run ! "$SLIPWAY" inspect --progress none oci:image:v1
}

# base_image: an image with accounts, an authority, and Fedora's link from /etc/ssl/certs to another folder.
base_image() {
	mkdir -p root/etc/pki/tls/certs root/etc/ssl root/usr/share
	printf 'root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/:/x\n' >root/etc/passwd
	printf 'root:x:0:\nvideo:x:44:daemon\n' >root/etc/group
	printf 'passwd: files\nhosts: files\n' >root/etc/nsswitch.conf
	ln -s ../pki/tls/certs root/etc/ssl/certs
	cp ca.pem root/etc/pki/tls/certs/ca-bundle.crt
	make_spec base.yaml 'platforms: [linux/amd64]' 'compression: gzip'
	sed -i 's|{from: tree, to: /opt/sample}|{from: root, to: /}|' base.yaml
	"$SLIPWAY" build --progress none -f base.yaml -o base >/dev/null
}

@test "sources: on a base its accounts and authorities are kept, and its links stay links" {
	need umoci
	make_certificate
	base_image
	cp ca.pem first.pem
	make_certificate
	spec slipway.yaml linux/amd64 'accounts: {users: [{name: app, uid: 65532, groups: [video]}]}' \
		'ca_certificates: {on: base, extra: ca.pem}'
	sed -i '/entrypoint/d; s|^  tags|  base: oci:base:v1\n  tags|' slipway.yaml
	"$SLIPWAY" build --progress none -o image >/dev/null
	umoci unpack --rootless --image image:v1 bundle
	[ "$(cat bundle/rootfs/etc/passwd)" = "$(cat root/etc/passwd; echo app:x:65532:65532::/home/app:/sbin/nologin)" ]
	[ "$(cat bundle/rootfs/etc/group)" = "$(printf 'root:x:0:\nvideo:x:44:daemon,app\napp:x:65532:')" ]
	cmp root/etc/nsswitch.conf bundle/rootfs/etc/nsswitch.conf
	[ "$(readlink bundle/rootfs/etc/ssl/certs)" = ../pki/tls/certs ]
	cat first.pem ca.pem | sort >both
	sort bundle/rootfs/etc/ssl/certs/ca-certificates.crt | cmp - both
	# Who is there already is named.
	sed -i 's/name: app, uid: 65532/name: app, uid: 1/' slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	echo "$output"
	grep -q "^slipway.yaml:11:26: error: .*user 'app': uid 1 is that of 'daemon' in the base$" <<<"$output"
}

@test "sources: where there is no base, or it trusts nobody, on: base is a problem" {
	mkdir tree && echo x >tree/x
	make_spec base.yaml 'platforms: [linux/amd64]' 'compression: gzip'
	"$SLIPWAY" build --progress none -f base.yaml -o base >/dev/null
	spec slipway.yaml linux/amd64 'ca_certificates: {on: base}'
	sed -i '/entrypoint/d' slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	echo "$output"
	grep -q "^slipway.yaml:10:24: error: .*: the base scratch has no certificate authorities$" <<<"$output"
	sed -i 's|^  tags|  base: oci:base:v1\n  tags|' slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	echo "$output"
	grep -q "^slipway.yaml:11:24: error: .*: the base .* has no certificate authorities$" <<<"$output"
}

# package NAME DIR: a Debian package with the folder's content.
package() {
	mkdir -p "$2/DEBIAN" debs
	printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n' "$1" >"$2/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$2" "debs/$1.deb" >/dev/null
}

# recipes: the specifications of docs/HOWTO.md, in order, as 1.yaml, 2.yaml...; those of Debian's programs, which need their
# packages, are for programs.bats, and those of ready images for ready-image.bats.
recipes() {
	awk '/^```yaml$/ {n++; on = 1; next} /^```$/ {on = 0} on {print >n ".yaml"}' "$ROOT/docs/HOWTO.md"
	grep -lE 'sysroot: roots/' [0-9]*.yaml | xargs rm
	grep -LE '^image:' [0-9]*.yaml | xargs rm
}

@test "sources: every recipe of docs/HOWTO.md builds, and its image passes the check" {
	need aarch64-linux-gnu-gcc
	need dpkg-deb
	make_certificate
	cp ca.pem company-ca.pem
	probe_c >app.c
	mkdir -p build/amd64 build/arm64
	gcc -o build/amd64/app app.c
	aarch64-linux-gnu-gcc -o build/arm64/app app.c
	german_locale locales
	cp -r locales all
	package locales-all all
	mkdir -p zones/usr/share && cp -r /usr/share/zoneinfo zones/usr/share/
	package tzdata zones
	mkdir -p authorities/usr/share/ca-certificates && cp ca.pem authorities/usr/share/ca-certificates/ca.crt
	package ca-certificates authorities
	base_image
	rm base.yaml
	recipes
	local file n=0
	for file in *.yaml; do
		run "$SLIPWAY" build --progress none -f "$file" -o "image-$file"
		echo "$file: $output"
		[ "$status" -eq 0 ]
		[[ $output == *"image check passed"* ]]
		n=$((n + 1))
	done
	[ "$n" -ge 4 ]
}
