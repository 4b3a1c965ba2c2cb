#!/usr/bin/env bats
# slipway build: results, reproducibility, layouts under stress.

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml
}
teardown() { common_teardown; }

build() { "$SLIPWAY" build --progress none "$@"; }

# every_failing_call OPTION CALL...: fails the first, second, ... of each kind of system call, one a build, until
# a build makes no more of them. Each time the old image stays whole, or the new one is there.
every_failing_call() {
	need cc
	cc -shared -fPIC -O1 -o failcall.so "$ROOT/tests/fault/failcall.c" -ldl
	local option=$1 call n old new now
	shift
	seq 1 300 >tree/share/deep/numbers
	old=$(build -o old | digest_line)
	echo changed >>tree/share/a.txt
	new=$(build --no-cache -o new | digest_line)
	for call in "$@"; do
		for ((n = 1; n < 200; n++)); do
			rm -rf image mark cache && cp -r old image
			# shellcheck disable=SC2086 # no option is no argument
			run env LD_PRELOAD="$PWD/failcall.so" FAILCALL="$call" FAILCALL_N="$n" FAILCALL_MARK="$PWD/mark" \
				"$SLIPWAY" build --progress none $option -o image
			echo "call $n of $call: status $status: $output"
			[ -e mark ] || break
			"$SLIPWAY" verify --progress none oci:image:v1 >/dev/null
			now=$(root_of oci:image:v1)
			[ "$now" = "$old" ] || [ "$now" = "$new" ]
			if [ "$status" -eq 0 ]; then
				[ "$now" = "$new" ]
				[ "${lines[-1]}" = "$new" ]
			else
				[ "$status" -eq 1 ]
				[[ $output == *"error:"* ]]
			fi
			# What is left over does not stop the next build, nor does it get into it.
			# shellcheck disable=SC2086 # no option is no argument
			[ "$(build $option -o image | digest_line)" = "$new" ]
		done
		[ "$n" -gt 1 ] # else the shim does not reach the call any more
	done
}

@test "build: the last line of standard output is the index digest" {
	digest=$(build | digest_line)
	[ "$(python3 -c 'import json; print(json.load(open("build/image/index.json"))["manifests"][0]["digest"])')" = "$digest" ]
}

@test "build: a wrong spec exits 3 with FILE:LINE:COLUMN and a hint" {
	sed -i 's/tags:/tagz:/' slipway.yaml
	run build
	[ "$status" -eq 3 ]
	[[ $output == *"slipway.yaml:4:3: error: image: unknown key 'tagz'"* ]]
	[[ $output == *"did you mean 'tags'?"* ]]
}

@test "build: a missing source is named with its place in the spec" {
	rm -r tree
	run build
	[ "$status" -eq 3 ]
	[[ $output == *"slipway.yaml:8:11: error:"*"tree"* ]]
}

@test "build: --set overrides and names itself in errors" {
	run build --set image.compression=lzma
	[ "$status" -eq 3 ]
	[[ $output == *"--set image.compression"* ]]
	build --set image.compression=none | digest_line
}

@test "build: umask, time zone, locale, threads, order and place change nothing" {
	first=$(build --no-cache -o one | digest_line)
	mkdir -p elsewhere/tree && cd elsewhere
	(
		umask 077
		cp -r ../tree/share tree/ && cp -r ../tree/bin tree/
		rm tree/share/b.txt && ln tree/share/a.txt tree/share/b.txt
		touch -d '2001-01-01' tree/bin/run
	)
	cp ../slipway.yaml .
	for jobs in 1 2 5; do
		second=$(umask 027; TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 LANG=de_DE "$SLIPWAY" build --progress none --no-cache --jobs $jobs -o two | digest_line)
		if [ "$first" != "$second" ]; then
			"$SLIPWAY" diff oci:../one oci:two
			return 1
		fi
	done
}

@test "build: the whole image of a known tree has its known digest, for every codec" {
	# The entrypoint is a script without its shell, which matters to nobody here.
	make_spec slipway.yaml 'entrypoint: [/opt/sample/bin/run]' 'env: {A: "1", B: two}' 'user: 65532:65532' \
		'labels: {org.opencontainers.image.title: sample}' 'ports: [8080/tcp]' 'check: {off: [entrypoint]}'
	for codec in zstd zstd:9 gzip gzip:9 none; do
		printf '%s %s\n' "$codec" "$(build --no-cache --set "image.compression=$codec" -o "image-$codec" | digest_line)"
	done >digests
	# Other bits are a decision (docs/FORMAT.md): then BLESS=1 writes the new ones, and the diff is reviewed.
	[[ -z ${BLESS:-} ]] || cp digests "$ROOT/tests/golden/e2e/digests"
	diff "$ROOT/tests/golden/e2e/digests" digests
}

@test "build: an unchanged tree comes from the cache, a changed file does not" {
	build -o one >/dev/null
	run build -o two
	[[ $output == *cached* ]]
	echo more >>tree/share/a.txt
	run build -o two
	[[ $output != *cached* ]]
}

@test "build: a fresh checkout hits the cache by content" {
	build -o one >/dev/null
	cp -r tree fresh && rm -r tree && mv fresh tree
	rm tree/share/b.txt && ln tree/share/a.txt tree/share/b.txt
	run build -o two
	[[ $output == *cached* ]]
}

@test "build: one changed file of a split tree moves one part" {
	mkdir big
	for i in $(seq 1 40); do mkdir "big/d$i" && head -c 200000 /dev/urandom >"big/d$i/file"; done
	make_spec slipway.yaml
	sed -i 's/from: tree/from: big/; s/name: data/name: data\n      split: 1MiB/' slipway.yaml
	build -o image --metadata-file before.json >/dev/null
	echo changed >big/d7/file
	build -o image --metadata-file after.json >/dev/null
	python3 - <<-'EOF'
		import json
		layers = lambda name: {l["digest"] for l in json.load(open(name))["images"][0]["layers"]}
		before, after = layers("before.json"), layers("after.json")
		assert len(before) > 4, before
		assert len(after - before) == 1, (len(before), len(after - before))
	EOF
}

@test "build: files equal on both platforms land in one shared layer" {
	build --metadata-file meta.json >/dev/null
	python3 -c '
import json
images = json.load(open("meta.json"))["images"]
assert images[0]["layers"] == images[1]["layers"] and images[0]["layers"][0]["shared"]'
}

@test "build: zstd, gzip and none hold the same files" {
	need bsdtar
	for codec in zstd gzip none; do
		build --set "image.compression=$codec" -o "$codec" --metadata-file "$codec.json" >/dev/null
		blob=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["images"][0]["layers"][0]["digest"][7:])' "$codec.json")
		bsdtar -tvf "$codec/blobs/sha256/$blob" >"$codec.list"
	done
	diff zstd.list gzip.list
	diff gzip.list none.list
	grep -q 'opt/sample/share/b.txt link to opt/sample/share/a.txt' none.list
}

@test "build: archives are accepted by skopeo" {
	need skopeo
	build --format oci-archive -o image.oci.tar >/dev/null
	skopeo inspect --raw oci-archive:image.oci.tar | grep -q manifests
	build --format docker-archive --platform linux/amd64 -o image.docker.tar >/dev/null
	skopeo inspect docker-archive:image.docker.tar | grep -q '"Architecture": "amd64"'
	"$SLIPWAY" verify --progress none oci-archive:image.oci.tar
}

@test "build: two builds at once into one layout lose nothing" {
	make_spec other.yaml
	sed -i 's/name: sample/name: other/; s/tags: \[v1\]/tags: [v2]/; s#/opt/sample#/opt/other#' other.yaml
	for i in 1 2 3 4 5; do
		seq "$i" 20000 >tree/share/deep/numbers
		build --no-cache -o image >one.out &
		first=$!
		build --no-cache -f other.yaml -o image >two.out &
		wait $!
		wait $first
		"$SLIPWAY" verify --progress none oci:image:v1
		"$SLIPWAY" verify --progress none oci:image:v2
		[ "$(root_of oci:image:v1)" = "$(digest_line <one.out)" ]
		[ "$(root_of oci:image:v2)" = "$(digest_line <two.out)" ]
	done
	python3 "$ROOT/tests/servers/check-layout" image
}

@test "build: killed at any moment it leaves the old image or the new one" {
	build -o image >/dev/null
	old=$(root_of oci:image:v1)
	seq 7 300000 >tree/share/deep/numbers
	new=$(build --no-cache -o reference | digest_line)
	cp -r image before
	killed=0
	for i in $(seq 1 30); do
		rm -rf image && cp -r before image
		killed_after "0.0$((RANDOM % 8))$((RANDOM % 10))" "$SLIPWAY" build --progress none -o image
		"$SLIPWAY" verify --progress none oci:image:v1 >/dev/null
		now=$(root_of oci:image:v1)
		[ "$now" = "$old" ] || [ "$now" = "$new" ]
		[ "$now" = "$new" ] || killed=$((killed + 1))
		# Resumed, also from a cache that was cut short.
		[ "$(build -o image | digest_line)" = "$new" ]
		((i % 2)) || rm -rf cache
	done
	python3 "$ROOT/tests/servers/check-layout" image
	# A test that never interrupts anything proves nothing.
	[ "$killed" -gt 0 ]
}

@test "build: a reader is not robbed of the image it reads" {
	build -o image >/dev/null
	old=$(root_of oci:image:v1)
	FAULTS='[{"method":"POST","path":"uploads","do":{"delay":1.5}}]' start_faultreg
	"$SLIPWAY" push --progress none --insecure --jobs 1 image "$REG/app:v1" >pushed &
	pusher=$!
	wait_for "$REGLOG"
	echo changed >>tree/share/a.txt
	build -o image >/dev/null
	wait $pusher
	[ "$(digest_line <pushed)" = "$old" ]
}

@test "build: a refused image does not replace the good one" {
	good=$(build -o image | digest_line)
	printf -- '-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\n' \
		"$(head -c 600 /dev/urandom | base64)" >tree/share/key.pem
	run build -o image
	[ "$status" -eq 3 ]
	[ "$("$SLIPWAY" inspect oci:image:v1 | head -n 1)" = "$good" ]
}

@test "build: a full disk is a clear error and the old image stays" {
	[ "$EUID" -eq 0 ] || skip "mounting a small file system needs root"
	mkdir small
	mount -t tmpfs -o size=3m none small || skip "no tmpfs here"
	build -o small/image >/dev/null
	head -c 8000000 /dev/urandom >tree/share/deep/big
	run build --no-cache -o small/image
	result=$status
	verified=0
	"$SLIPWAY" verify --progress none oci:small/image:v1 || verified=1
	umount small
	[ "$result" -eq 1 ]
	[[ $output == *"No space left on device"* ]]
	[ "$verified" -eq 0 ]
}

@test "build: every failing system call ends in a clear error or a good image" {
	every_failing_call --no-cache write fsync open mkostemp rename mkdirat pread read opendir flock
}

@test "build: every failing system call of the cache ends in a clear error or a good image" {
	every_failing_call '' write mkostemp rename link
}

@test "build: an output that cannot be written is a clear error" {
	: >file
	run build -o file/image
	[ "$status" -eq 1 ]
	[[ $output == *"file"* ]]
	run bash -c '"$0" build --progress none -o image >/dev/full' "$SLIPWAY"
	[ "$status" -eq 1 ]
	mkdir folder
	run build -o image --digest-file folder
	[ "$status" -eq 1 ]
	[[ $output == *"folder"* ]]
}

@test "build: result files that are links or pipes are written to, not replaced" {
	# Only inside the test's own folder, never /dev: as root it would cost the machine that device.
	: >target && ln -s target link && mkfifo pipe
	build -o image --metadata-file link >/dev/null
	[ -L link ]
	[ -s target ]
	cat pipe >from-pipe &
	PIDS+=($!)
	timeout 90 "$SLIPWAY" build --progress none -o image --digest-file pipe >/dev/null
	[ -p pipe ]
	wait_for from-pipe
	ln -s later dangling
	digest=$(build -o image --digest-file dangling | digest_line)
	[ -L dangling ]
	[ "$(cat later)" = "$digest" ]
}

@test "build: a result file that is our own output does not cut it short" {
	echo before >out
	# A link like /dev/stdout; a fault in the tool would replace this one only.
	ln -s /proc/self/fd/1 stdout
	build -o image --digest-file stdout >>out
	[ -L stdout ]
	[ "$(head -n 1 out)" = before ]
	[ "$(grep -cxE 'sha256:[0-9a-f]{64}' out)" -eq 2 ]
}

@test "build: a read-only file system is a clear error and the old image stays" {
	[ "$EUID" -eq 0 ] || skip "mounting a small file system needs root"
	mkdir fixed
	mount -t tmpfs -o size=8m none fixed || skip "no tmpfs here"
	build -o fixed/image >/dev/null
	mount -o remount,ro fixed
	echo changed >>tree/share/a.txt
	run build -o fixed/image
	[ "$status" -eq 1 ]
	[[ $output == *"Read-only file system"* ]]
	# Reading needs no right to write.
	"$SLIPWAY" verify --progress none oci:fixed/image:v1
	umount fixed
}

@test "build: hostile names and kinds of files are refused by name" {
	touch tree/.wh.gone
	run build
	[ "$status" -eq 3 ]
	[[ $output == *".wh.gone"* ]]
	rm tree/.wh.gone
	mkfifo tree/pipe
	run build
	[ "$status" -eq 3 ]
	[[ $output == *"pipe"* ]]
}

@test "build: --dry-run prints the plan and writes nothing" {
	run build --dry-run
	[ "$status" -eq 0 ]
	[[ $output == *"image linux/arm64"* ]]
	[ ! -e build ]
}

@test "build: SOURCE_DATE_EPOCH clamps times" {
	need bsdtar
	touch -d @1500000000 tree/bin/run
	SOURCE_DATE_EPOCH=1000000000 build --set image.compression=none -o image --metadata-file meta.json >/dev/null
	blob=$(python3 -c 'import json; print(json.load(open("meta.json"))["images"][0]["layers"][0]["digest"][7:])')
	TZ=UTC bsdtar -tvf "image/blobs/sha256/$blob" | grep 'bin/run' | grep -q 'Sep  9  2001'
}

@test "build: a base image keeps its layers and configuration" {
	build -o base >/dev/null
	make_spec app.yaml 'base: oci:base' 'env: {EXTRA: "1"}'
	sed -i 's#/opt/sample#/opt/app#' app.yaml
	build -f app.yaml -o app --metadata-file meta.json >/dev/null
	"$SLIPWAY" inspect --output json oci:app | python3 -c '
import json, sys
image = json.load(sys.stdin)["images"][0]
assert len(image["layers"]) == 2, image
assert image["annotations"]["org.opencontainers.image.base.name"] == "oci:base"
assert "EXTRA=1" in image["config"]["config"]["Env"]'
	[ -s app.lock ]
	build -f app.yaml -o app2 --locked >/dev/null
	rm app.lock
	run build -f app.yaml -o app3 --locked
	[ "$status" -eq 1 ]
	[[ $output == *"app.lock"* ]]
}
