#!/usr/bin/env bats
# verify --rebuild: an image is built again from its source, and compared bit by bit.

load lib

setup() {
	common_setup
	export GIT_CONFIG_GLOBAL=/dev/null
	mkdir source && cd source
	make_tree tree
	printf 'build\nout\n' >.gitignore
}
teardown() { common_teardown; }

FORGE=$ROOT/tests/e2e/rebuild-forge

# spec LINES...: a spec of two platforms with these lines below image:.
spec() {
	{
		printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  compression: gzip\n  provenance: true\n'
		printf '  check: {off: [no-entrypoint]}\n'
		printf '  %s\n' "$@"
	} >slipway.yaml
}

TREE='layers: [{name: data, files: [{from: tree, to: /opt}]}]'

commit() { git init -q . && git add . && git -c user.name=n -c user.email=e@example.com commit -qm "${1:-one}"; }
build() { "$SLIPWAY" build --progress none "$@" | digest_line; }
rebuild() { "$SLIPWAY" verify --progress none --rebuild "$@"; }

# listing DIR: all that can be seen of it.
listing() { find "$1" -printf '%P %y %m %U %G %s %T@ %l\n' | LC_ALL=C sort; }

# deb NAME TEXT: a package of one file.
deb() {
	mkdir -p "$WORK/deb/DEBIAN" "$WORK/deb/usr/share/$1"
	echo "$2" >"$WORK/deb/usr/share/$1/note"
	printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: m <m@example.com>\nDescription: d\n' "$1" >"$WORK/deb/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$WORK/deb" "$1.deb" >/dev/null
	rm -r "$WORK/deb"
}

@test "rebuild: another folder, user, umask and time zone give the image bit for bit; the source stays as it is" {
	need dpkg-deb
	start_registry
	deb alpha one
	cp "$SLIPWAY" program
	# The base's tag moves on after the build.
	make_spec base.yaml
	"$SLIPWAY" build --progress none -f base.yaml -o "$WORK/base" >/dev/null 2>&1
	"$SLIPWAY" push --progress none --insecure "$WORK/base" "$REG/base:v1" >/dev/null
	# shellcheck disable=SC2016 # slipway's variable
	spec "base: $REG/base:v1" "repository: $REG/team/app" 'tags: [v1]' 'platforms: [linux/amd64]' 'sbom: {in_image: true}' \
		'labels: {version: "${git:describe}"}' \
		'layers: [{name: top, files: [{from: program, to: /usr/bin/program}, {from: tree, to: /opt}], deb: [alpha.deb], closure: [program]}]'
	rm base.yaml
	commit
	digest=$(SOURCE_DATE_EPOCH=1700000000 "$SLIPWAY" build --progress none -o "$WORK/image" --push --insecure | digest_line)
	echo changed >tree/new && printf 'apiVersion: slipway/v1\nname: b\nimage: {%s}\n' "$TREE" >"$WORK/b.yaml" && cp -r tree "$WORK/tree"
	"$SLIPWAY" build --progress none -f "$WORK/b.yaml" -o "$WORK/base2" >/dev/null 2>&1
	"$SLIPWAY" push --progress none --insecure "$WORK/base2" "$REG/base:v1" >/dev/null
	rm tree/new slipway.lock
	mkdir -m 0777 "$WORK/elsewhere" "$WORK/elsewhere/tmp" "$WORK/elsewhere/home"
	chmod 0777 "$WORK/elsewhere/tmp" "$WORK/elsewhere/home"
	cp -a . "$WORK/elsewhere/copy"
	cp "$SLIPWAY" "$WORK/elsewhere/slipway"
	user=()
	if [ "$EUID" -eq 0 ]; then
		chown -R 65534:65534 "$WORK/elsewhere/copy"
		chmod 0711 "$WORK"
		user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	fi
	chmod -R a-w "$WORK/elsewhere/copy"
	cd "$WORK/elsewhere"
	listing copy >before
	run --separate-stderr env -u XDG_CACHE_HOME HOME="$PWD/home" TMPDIR="$PWD/tmp" TZ=Asia/Tokyo SOURCE_DATE_EPOCH=5 "${user[@]}" \
		bash -c 'umask 077 && exec ./slipway verify --progress none --insecure --rebuild --source copy "$1"' _ "$REG/team/app:v1"
	echo "$output $stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"a claim: "* ]]
	[[ $output == *"equal: index, 1 manifest, 1 configuration, 3 layers"* ]]
	[[ $output == *"proved: 'copy' gives this image, bit by bit"* ]]
	[ "${lines[-1]}" = "$digest" ]
	listing copy | diff before -
	find tmp home -mindepth 1 | tee left
	[ ! -s left ] # neither scratch nor cache is left
}

@test "rebuild: in an image with one byte changed and digests that fit, layer, file and byte are named" {
	spec "$TREE"
	build >/dev/null
	cp -r build/image "$WORK/forged"
	"$FORGE" "$WORK/forged" content opt/share/deep/numbers 4321
	"$SLIPWAY" verify --progress none --off no-entrypoint "$WORK/forged" >/dev/null # nothing else shows it
	run rebuild "$WORK/forged"
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"inputs: all "*" as stated"* ]]
	[[ $output == *"layer 1 'data': sha256:"*"first at byte 4321 of the content of opt/share/deep/numbers (byte "*"~ /opt/share/deep/numbers"* ]]
	[[ $output == *"though its inputs are as stated"* ]]
	rebuild --output json "$WORK/forged" >"$WORK/json" || [ "$?" -eq 3 ]
	json '(d["proved"], d["equal"], [l["first"]["offset"] for p in d["diff"]["platforms"] for l in p["layers"]])' <"$WORK/json" |
		grep -qx '(False, False, \[4321, 4321\])'
	# The same tar, packed in another way: no file differs, and yet it is not the image.
	cp -r build/image "$WORK/repacked"
	"$FORGE" "$WORK/repacked" compression
	run rebuild "$WORK/repacked"
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"of the compressed bytes; the tar is the same"* ]]
	[[ $output == *"no file differs"* ]]
	rebuild build/image >/dev/null
}

@test "rebuild: every input that is not as stated is named, all at once" {
	need dpkg-deb
	start_registry
	deb alpha one
	make_spec base.yaml
	"$SLIPWAY" build --progress none -f base.yaml -o "$WORK/base" >/dev/null 2>&1
	"$SLIPWAY" push --progress none --insecure "$WORK/base" "$REG/base:v1" >/dev/null
	# shellcheck disable=SC2016 # slipway's variable
	spec "base: $REG/base:v1" 'env: {MODE: "${env:MODE:-plain}"}' \
		'layers: [{name: data, files: [{from: tree, to: /opt}]}, {name: debs, deb: [alpha.deb]}]'
	"$SLIPWAY" build --progress none --insecure >/dev/null # writes the lock
	commit
	"$SLIPWAY" build --progress none --insecure --locked --label team=infra --set image.user=7 >/dev/null
	# As it was, with the values that the statement does not hold.
	run rebuild --insecure --label team=infra --set image.user=7 build/image
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"note: option over image.labels.team: the statement does not hold its value"* ]]
	[[ $output == *"note: environment variable MODE: the statement does not hold its value"* ]]
	# Other values are other bits, though the inputs are said to be the same.
	run rebuild --insecure --label team=other --set image.user=7 build/image
	[ "$status" -eq 3 ]
	[[ $output == *'{"team":"infra"} -> {"team":"other"}'* ]]
	# Everything changes.
	echo more >tree/share/a.txt
	deb alpha two
	tag=$("$SLIPWAY" build --progress none -f base.yaml --label x=y -o "$WORK/base2" 2>/dev/null | digest_line)
	"$SLIPWAY" push --progress none --insecure "$WORK/base2" "$REG/base:v1" >/dev/null
	sed -i "s/\"sha256:[0-9a-f]*\"/\"$tag\"/" slipway.lock
	echo '# another' >>slipway.yaml
	commit two
	run rebuild --insecure --label note=x build/image
	echo "$output"
	[ "$status" -eq 3 ]
	for what in 'spec slipway.yaml' 'option over image.labels.team' 'option over image.user' 'option over image.labels.note' \
		'git commit' 'file slipway.lock' "linux/amd64 base image $REG/base:v1" "linux/arm64 base image $REG/base:v1" \
		'package alpha.deb' 'layer data (tree)' 'layer debs (alpha.deb)'; do
		echo "wanted: $what"
		[[ $output == *"input differs: $what"* ]]
	done
	[[ $output == *"11 inputs differ"* ]]
	[[ $output == *"~ /opt/share/a.txt"* ]]
	# A build that fails names them as well.
	rm tree/share/a.txt alpha.deb
	run rebuild --insecure build/image
	[ "$status" -eq 3 ]
	[[ $output == *"input differs: spec slipway.yaml: stated sha256:"* ]]
	[[ $output == *"build it again: "* ]]
}

@test "rebuild: --run-build makes the files in a copy, from what git has" {
	need git
	# shellcheck disable=SC2016 # the shell's and slipway's variables
	spec 'layers: [{name: out, share: false, files: [{from: "out/${arch}/note", to: /opt/note}]}]'
	cat >>slipway.yaml <<'EOS'
pipeline:
  source: {connection: "arn:aws:codeconnections:us-west-2:123456789012:connection/1", repository: org/app}
  region: us-west-2
  install: [slipway version]
  build: ["mkdir -p out/$SLIPWAY_ARCH", "sed s/text/$SLIPWAY_ARCH/ tree/share/a.txt >out/$SLIPWAY_ARCH/note"]
EOS
	sed -i 's|^image:|&\n  repository: localhost:1/team/app|' slipway.yaml
	commit
	for arch in amd64 arm64; do mkdir -p "out/$arch" && echo "$arch" >"out/$arch/note"; done
	digest=$(build -o "$WORK/image")
	rm -r out
	listing . >"$WORK/before"
	run rebuild --run-build "$WORK/image"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -o '^sha256:.*' <<<"$output")" = "$digest" ]
	listing . | diff "$WORK/before" -
	# Files that were built otherwise than the commands do it.
	sed -i 's,>out/,| tr a b >out/,' slipway.yaml
	run rebuild --run-build "$WORK/image"
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"first at byte 0 of the content of opt/note"* ]]
	sed -i 's/build: .*/build: ["exit 9"]/' slipway.yaml
	run rebuild --run-build "$WORK/image"
	[ "$status" -eq 1 ]
	[[ $output == *"pipeline.build for amd64: a command ended with exit status 9"* ]]
}

@test "rebuild: with --key the statement is signed by it, or nothing is built" {
	spec "$TREE"
	build >/dev/null
	for name in ci other; do
		openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$WORK/$name.pem" 2>/dev/null
		openssl pkey -in "$WORK/$name.pem" -pubout -out "$WORK/$name.pub"
	done
	"$SLIPWAY" sign --key "$WORK/ci.pem" build/image >/dev/null # an approval is no provenance
	run rebuild --key "$WORK/ci.pub" build/image
	[ "$status" -eq 3 ]
	[[ $output == *"which is not 'https://slsa.dev/provenance/v1'"* ]]
	[[ $output == *"has signed no statement of how sha256:"* ]]
	"$FORGE" build/image sign "$WORK/ci.pem"
	run rebuild --key "$WORK/ci.pub" build/image
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"signed by ECDSA P-256 key SHA256:"* ]]
	[[ $output != *"a claim"* ]]
	run rebuild --key "$WORK/other.pub" build/image
	[ "$status" -eq 3 ]
	run rebuild --key "$WORK/ci.pub" --key "$WORK/other.pub" build/image
	[ "$status" -eq 3 ]
	"$FORGE" build/image sign "$WORK/other.pem"
	rebuild --key "$WORK/ci.pub" --key "$WORK/other.pub" build/image >/dev/null
	# A statement of another image, however well signed, says nothing of this one.
	cp -r build/image "$WORK/forged"
	"$FORGE" "$WORK/forged" content opt/share/deep/numbers 1
	run rebuild --key "$WORK/ci.pub" "$WORK/forged"
	[ "$status" -eq 3 ]
	[[ $output == *"it is a signature of another image"* ]]
}

@test "rebuild: what the statement does not cover, or nobody can repeat, is refused" {
	spec "$TREE" 'platforms: [linux/amd64, linux/arm64]'
	build >/dev/null
	cp -r build/image "$WORK/image"
	# refused SAYS ARGS...
	refused() {
		run rebuild "${@:2}"
		echo "$output"
		[ "$status" -ne 0 ]
		[[ $output == *"$1"* ]]
	}
	for row in 'buildType="https://example.com/x"=its buildType is' 'externalParameters.secret="x"=does not know' \
		'internalParameters.salt=1=does not know' 'resolvedDependencies=7=is not a list' \
		'externalParameters.spec={"path": "../slipway.yaml", "digest": {"sha256": "00"}}=not 64 hex digits' \
		'internalParameters.sourceDateEpoch=-1=sourceDateEpoch'; do
		rm -rf "$WORK/stated" && cp -r "$WORK/image" "$WORK/stated"
		"$FORGE" "$WORK/stated" state "${row%=*}"
		refused "${row##*=}" "$WORK/stated"
	done
	# A path that leads out of the source.
	cp -r "$WORK/image" "$WORK/out"
	"$FORGE" "$WORK/out" state externalParameters.spec.path='"../slipway.yaml"'
	refused 'is not a path within --source' "$WORK/out"
	rebuild -f slipway.yaml "$WORK/out" >/dev/null
	# A time that was another one.
	cp -r "$WORK/image" "$WORK/later"
	"$FORGE" "$WORK/later" state internalParameters.sourceDateEpoch=86400
	refused 'does not give this image' "$WORK/later"
	# No statement at all.
	sed 's/provenance: true/provenance: false/' slipway.yaml >"$WORK/none.yaml" && cp -r tree "$WORK/"
	"$SLIPWAY" build --progress none -f "$WORK/none.yaml" -o "$WORK/none" >/dev/null
	refused 'no statement of how it was built is attached' "$WORK/none"
	# An archive holds what is attached, too.
	"$SLIPWAY" build --progress none --format oci-archive -o "$WORK/archive.tar" >/dev/null
	run rebuild "oci-archive:$WORK/archive.tar"
	[ "$status" -eq 0 ]
	# One platform of several proves that one.
	run rebuild --platform linux/arm64 build/image
	[ "$status" -eq 0 ]
	[[ $output == *"the index, which names the others, too, was not compared"*"equal: 1 manifest, 1 configuration, 1 layer"* ]]
	# Options that would have no effect.
	refused 'are about other checks' --off setuid build/image
	run "$SLIPWAY" verify --source . build/image
	[ "$status" -eq 2 ]
	run "$SLIPWAY" verify --rebuild --recursive build/image
	[ "$status" -eq 2 ]
	refused "there is no folder 'nowhere'" --source nowhere build/image
	refused "has no pipeline.build" --run-build build/image
}

@test "rebuild: names that are relative to the source hold wherever it runs, and Ctrl-C leaves nothing" {
	spec "$TREE"
	build -o base >/dev/null
	spec 'base: oci:base' 'layers: [{name: more, files: [{from: tree/share, to: /srv}]}]'
	digest=$(build)
	mkdir "$WORK/tmp" && cd "$WORK"
	run env TMPDIR=tmp "$SLIPWAY" verify --progress none --rebuild --source source source/build/image
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "$digest" ]
	[ -z "$(ls -A tmp)" ]
	sed -i '/^image:/i pipeline: {source: {connection: "arn:aws:codeconnections:us-west-2:123456789012:connection/1", repository: o/a}, region: us-west-2, install: [slipway version], build: ["echo here >'"$WORK"'/started; sleep 30"]}' source/slipway.yaml
	sed -i 's|^image:|&\n  repository: localhost:1/a|' source/slipway.yaml
	TMPDIR=$WORK/tmp setsid "$SLIPWAY" verify --progress none --rebuild --run-build --source source source/build/image >log 2>&1 3>&- &
	wait_for started
	group=$(ps -o pgid= -p "$(pgrep -n -f "$WORK/started")" | tr -d ' ')
	kill -INT -- "-$group"
	status=0
	wait "$!" || status=$?
	[ "$status" -ne 0 ]
	[ -z "$(ls -A tmp)" ]
}
