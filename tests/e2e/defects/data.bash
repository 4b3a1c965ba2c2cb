# What programs read at run time, and no ELF header names.
# shellcheck shell=bash

LIBRARIES=/usr/lib/x86_64-linux-gnu

# The files of the image that is being planted: the C library and its loader, and p.
begin() {
	FILES=()
	put "$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)" $LIBRARIES/libc.so.6
	put "$(readlink -f /lib64/ld-linux-x86-64.so.2)" /lib64/ld-linux-x86-64.so.2
}

# put FILE PATH: packs a file or folder; where PATH ends with /, under its own name.
put() {
	[[ $2 == */ ]] && set -- "$1" "$2$(basename "$1")"
	FILES+=("      - {from: $1, to: $2}")
}

# text PATH [CONTENT]: packs a text.
text() {
	local name=text${#FILES[@]}
	printf '%s\n' "${2:-}" >"$name"
	put "$name" "$1"
}

# image [LINE...]: slipway.yaml with the files and further lines below image:.
image() { spec "entrypoint: [${PROGRAM:-/usr/bin/p}]" "$@" 'layers:' '  - files:' "${FILES[@]}"; }

# program SOURCE [ARGS...]; what it is linked with stands behind it.
program() {
	printf '%s\n' "$1" | gcc -x c - -x none -o p "${@:2}"
	put p "${PROGRAM:-/usr/bin/p}"
}

# empty_library NAME [SOURCE]: a library of that soname beside the program.
empty_library() {
	printf '%s\n' "${2:-int unused;}" | gcc -x c - -x none -shared -fPIC -Wl,-soname,"$1" -o "$1"
	put "$1" $LIBRARIES/
}

# noted PRIORITY: a program that opens libextra.so.1 and says so in .note.dlopen; without it, it ends with status 1 where
# the library is required.
noted() {
	cat >note.s <<-END
		.section .note.GNU-stack,"",%progbits
		.section .note.dlopen,"a",%note
		.balign 4
		.long 4, 2f-1f, 0x407c0c0a
		.asciz "FDO"
		1: .asciz "[{\"feature\":\"extra\",\"description\":\"More of it\",\"priority\":\"$1\",\"soname\":[\"libextra.so.1\"]}]"
		2: .balign 4
	END
	program '#include <dlfcn.h>
		int main(void) { return dlopen("libextra.so.1", RTLD_NOW) == 0; }' note.s
}

defect required-library-not-there elf-dlopen warning breaks
plant_required_library_not_there() {
	begin
	noted required
	[[ $1 == defect ]] || empty_library libextra.so.1
	image
}

defect recommended-library-out-of-the-loader-s-way elf-dlopen warning breaks
plant_recommended_library_out_of_the_loader_s_way() {
	begin
	noted recommended
	empty_library libextra.so.1
	[[ $1 == twin ]] || FILES[-1]=${FILES[-1]/$LIBRARIES/\/opt\/lib}
	image
}

# A client of TLS in miniature: it asks for the default authorities and is content when they are there.
tls_client() {
	empty_library libtls.so.1 'int SSL_CTX_set_default_verify_paths(void *c) { return c == 0; }'
	program 'int SSL_CTX_set_default_verify_paths(void *); int main(void) { return !SSL_CTX_set_default_verify_paths(0); }' libtls.so.1
}

defect openssl-without-authorities ca-certificates warning
plant_openssl_without_authorities() {
	begin
	tls_client
	[[ $1 == defect ]] || text /usr/lib/ssl/cert.pem
	image
}

defect openssl-bundle-under-a-name-it-does-not-know ca-certificates warning
plant_openssl_bundle_under_a_name_it_does_not_know() {
	begin
	tls_client
	if [[ $1 == defect ]]; then text /etc/ssl/certs/ca-certificates.crt; else text /etc/ssl/certs/4f316efb.0; fi
	image
}

defect bundle-of-the-environment-not-there ca-certificates warning
plant_bundle_of_the_environment_not_there() {
	local file=/etc/ssl/company.pem
	[[ $1 == twin ]] || file=/etc/ssl/company.crt
	begin
	tls_client
	text /etc/ssl/company.pem
	image "env: {SSL_CERT_FILE: $file}"
}

defect curl-without-authorities ca-certificates warning
plant_curl_without_authorities() {
	begin
	empty_library libcurl.so.4 'int curl_easy_init(void) { return 0; }'
	program 'int curl_easy_init(void); int main(void) { return curl_easy_init(); }' libcurl.so.4
	[[ $1 == defect ]] || text /etc/ssl/certs/ca-certificates.crt
	image
}

defect user-without-passwd name-service warning breaks
plant_user_without_passwd() {
	begin
	program '#include <pwd.h>
		int main(void) { return getpwuid(0) == 0; }'
	[[ $1 == defect ]] || text /etc/passwd root:x:0:0:root:/root:/bin/sh
	image
}

defect group-without-group name-service warning breaks
plant_group_without_group() {
	begin
	program '#include <grp.h>
		int main(void) { return getgrnam("root") == 0; }'
	[[ $1 == defect ]] || text /etc/group root:x:0:
	image
}

# Ends with status 0 in a zone that is not UTC.
IN_A_ZONE='#include <time.h>
	int main(void) { time_t t = 0; return localtime(&t)->tm_gmtoff == 0; }'

defect zone-without-tzdata timezone warning breaks
plant_zone_without_tzdata() {
	begin
	program "$IN_A_ZONE"
	[[ $1 == defect ]] || put "$(readlink -f /usr/share/zoneinfo/Europe/Berlin)" /usr/share/zoneinfo/Europe/Berlin
	image 'env: {TZ: Europe/Berlin}'
}

defect zone-misspelt timezone warning breaks
plant_zone_misspelt() {
	local zone=Europe/Berlin
	[[ $1 == twin ]] || zone=Europe/berlin
	begin
	program "$IN_A_ZONE"
	put "$(readlink -f /usr/share/zoneinfo/Europe/Berlin)" /usr/share/zoneinfo/Europe/Berlin
	image "env: {TZ: $zone}"
}

defect localtime-without-tzdata timezone warning breaks
plant_localtime_without_tzdata() {
	begin
	program "$IN_A_ZONE"
	FILES+=('      - {symlink: /usr/share/zoneinfo/Europe/Berlin, to: /etc/localtime}')
	[[ $1 == defect ]] || put "$(readlink -f /usr/share/zoneinfo/Europe/Berlin)" /usr/share/zoneinfo/Europe/Berlin
	image
}

# Ends with status 0 where the environment's locale is there.
IN_A_LOCALE='#include <locale.h>
	int main(void) { return setlocale(LC_ALL, "") == 0; }'

defect locale-not-compiled locale warning breaks
plant_locale_not_compiled() {
	begin
	program "$IN_A_LOCALE"
	# A copy of C.UTF-8 under another name is a locale as any other.
	[[ $1 == defect ]] || put /usr/lib/locale/C.utf8 /usr/lib/locale/xx_XX.utf8
	image 'env: {LANG: xx_XX.UTF-8}'
}

defect locale-of-another-character-set locale warning breaks
plant_locale_of_another_character_set() {
	local lang=xx_XX.UTF-8
	[[ $1 == twin ]] || lang=xx_XX.ISO-8859-1
	begin
	program "$IN_A_LOCALE"
	put /usr/lib/locale/C.utf8 /usr/lib/locale/xx_XX.utf8
	image "env: {LC_ALL: $lang}" 'check: {off: [gconv]}'
}

defect iconv-without-conversions gconv warning breaks
plant_iconv_without_conversions() {
	local PROGRAM=/usr/bin/iconv
	begin
	program '#include <iconv.h>
		int main(void) { return iconv_open("UTF-8", "ISO-8859-15") == (iconv_t)-1; }'
	if [[ $1 == twin ]]; then
		put /usr/lib/x86_64-linux-gnu/gconv/ISO8859-15.so $LIBRARIES/gconv/
		text $LIBRARIES/gconv/gconv-modules 'module ISO-8859-15// INTERNAL ISO8859-15 1
module INTERNAL ISO-8859-15// ISO8859-15 1'
	fi
	image
}

defect curses-without-terminals terminfo warning
plant_curses_without_terminals() {
	begin
	empty_library libdraw.so.1 'int initscr(void) { return 0; }'
	program 'int initscr(void); int main(void) { return initscr(); }' libdraw.so.1
	[[ $1 == defect ]] || text /usr/share/terminfo/x/xterm
	image
}

# python KIND: this machine's Python, if it is dynamic and of a distribution.
python() {
	local PROGRAM
	real=$(readlink -f "$(PATH=/usr/bin:/bin type -P python3)")
	version=${real##*/}
	begin
	put "$real" "$real"
	while read -r file; do put "$(readlink -f "$file")" "$file"; done < <(ldd "$real" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | grep -v libc.so)
	put "/usr/lib/$version/encodings" "/usr/lib/$version/encodings"
	put "/usr/lib/$version/lib-dynload" "/usr/lib/$version/lib-dynload"
	for file in codecs io abc site os stat posixpath genericpath _collections_abc _sitebuiltins; do
		put "/usr/lib/$version/$file.py" "/usr/lib/$version/"
	done
	text /etc/passwd
	text /etc/group
}

defect python-without-its-library interpreter-library error breaks
plant_python_without_its_library() {
	python
	[[ $1 == twin ]] || mapfile -t FILES < <(printf '%s\n' "${FILES[@]}" | grep -v "$version/")
	PROGRAM="$real, -c, pass" image 'check: {off: [elf-needed, ca-certificates, terminfo]}'
}

defect python-with-a-home-elsewhere interpreter-library error breaks
plant_python_with_a_home_elsewhere() {
	local home=/usr
	[[ $1 == twin ]] || home=/opt/python
	python
	PROGRAM="$real, -c, pass" image "env: {PYTHONHOME: $home}" 'check: {off: [elf-needed, ca-certificates, terminfo]}'
}

defect perl-without-strict interpreter-library warning breaks
plant_perl_without_strict() {
	begin
	put "$(readlink -f /usr/bin/perl)" /usr/bin/perl
	while read -r file; do put "$(readlink -f "$file")" "$file"; done < <(ldd /usr/bin/perl | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | grep -v libc.so)
	[[ $1 == defect ]] || put $LIBRARIES/perl-base $LIBRARIES/perl-base
	text /etc/passwd
	text /etc/group
	PROGRAM='/usr/bin/perl, -e, use strict;' image
}

defect git-without-its-commands program-data warning
plant_git_without_its_commands() {
	local PROGRAM=/usr/bin/git
	begin
	program 'int main(void) { return 0; }'
	[[ $1 == defect ]] || text /usr/lib/git-core/git-remote-https
	image
}

defect server-without-its-share program-data error
plant_server_without_its_share() {
	local PROGRAM=/usr/lib/postgresql/15/bin/postgres
	begin
	program 'int main(void) { return 0; }'
	text /usr/lib/postgresql/15/lib/plpgsql.so
	text /usr/share/zoneinfo/UTC
	[[ $1 == defect ]] || text /usr/share/postgresql/15/timezonesets/Default
	image
}

defect mpi-without-components program-data error
plant_mpi_without_components() {
	begin
	empty_library libopen-pal.so.40 'int MPI_Init(void *c, void *v) { return c == v ? 0 : 0; }'
	program 'int MPI_Init(void *, void *); int main(void) { return MPI_Init(0, 0); }' libopen-pal.so.40
	[[ $1 == defect ]] || text $LIBRARIES/openmpi/lib/openmpi3/mca_ess_singleton.so
	image
}

defect trainer-of-ranks-without-mpich program-data error
plant_trainer_of_ranks_without_mpich() {
	local PROGRAM=/usr/bin/slipway-trainer
	begin
	program 'int main(void) { return 0; }'
	[[ $1 == defect ]] || text $LIBRARIES/libmpich.so.12
	image 'repository: registry.example.com/sample'
	printf '%s\n' 'cluster: {name: sample, region: eu-west-1, zone: eu-west-1a}' 'fleet: {g5: {weight: 10}}' \
		'job: {nodes: 2}' >>slipway.yaml
}
