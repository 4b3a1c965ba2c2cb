#!/usr/bin/env bats
# The image check refuses what breaks on a node, by the rule's name.

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml 'platforms: [linux/amd64]'
}
teardown() { common_teardown; }

# refused RULE: the build exits 3 and names the rule.
refused() {
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -eq 3 ]
	[[ $output == *"[$1]"* ]]
	run "$SLIPWAY" build --progress none -o image --set "image.check.off=[$1]"
	[[ $output != *"[$1]"* ]]
}

program() { printf 'int main(void){return 0;}\n' | "$1" -x c - -o "$2" "${@:3}"; }

@test "check: a program of another architecture" {
	need aarch64-linux-gnu-gcc
	program aarch64-linux-gnu-gcc tree/bin/app -static
	refused elf-machine
}

@test "check: a shared library that nothing brings" {
	need gcc
	program gcc tree/bin/app
	refused elf-needed
}

@test "check: a missing interpreter" {
	need gcc
	program gcc tree/bin/app
	refused elf-interpreter
}

@test "check: a glibc symbol newer than the image's libc" {
	need gcc
	program gcc tree/bin/app
	# The program claims to need GLIBC_2.99: same length, so the file stays whole.
	python3 - <<-'EOF'
		data = open("tree/bin/app", "rb").read()
		assert b"GLIBC_2.34" in data
		open("tree/bin/app", "wb").write(data.replace(b"GLIBC_2.34", b"GLIBC_2.99"))
	EOF
	printf '    - name: runtime\n      closure: [tree/bin/app]\n' >>slipway.yaml
	refused glibc-version
}

@test "check: the library that is missing is named with the program that needs it" {
	need gcc
	printf 'int gone(void){return 1;}\n' | gcc -x c - -shared -fPIC -Wl,-soname,libgone.so.7 -o libgone.so
	printf 'int gone(void);int main(void){return gone();}\n' | gcc -x c - -o tree/bin/app -L. -lgone
	# What the closure cannot find is an error already, unless the node brings it ...
	printf '    - name: runtime\n      closure: [tree/bin/app]\n' >>slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -eq 3 ]
	[[ $output == *libgone.so.7* ]]
	# ... which is said by name.
	printf '      provided: [libgone.so.7]\n' >>slipway.yaml
	"$SLIPWAY" build --progress none -o image --set 'image.check.provided=[libgone.so.7]' | digest_line
	# An image made elsewhere is held to the same: nobody brings the library there.
	run "$SLIPWAY" verify --progress none oci:image
	[ "$status" -eq 3 ]
	[[ $output == *"[elf-needed]"* && $output == *libgone.so.7* && $output == *bin/app* ]]
	"$SLIPWAY" verify --progress none --provided libgone.so.7 oci:image
	"$SLIPWAY" verify --progress none --off elf-needed oci:image
}

@test "check: an image in a registry is held to the same rules" {
	printf 'machine example.com login me password hunter2\n' >tree/share/.netrc
	"$SLIPWAY" build --progress none --no-check -o image >/dev/null
	start_faultreg
	"$SLIPWAY" push --progress none --insecure image "$REG/app:v1" >/dev/null
	run "$SLIPWAY" verify --progress none --insecure "$REG/app:v1"
	[ "$status" -eq 3 ]
	[[ $output == *"[secret]"*  && $output == *.netrc* && $output != *hunter2* ]]
	run bash -c '"$0" verify --progress none --insecure --output json "$1/app:v1" 2>/dev/null' "$SLIPWAY" "$REG"
	[ "$status" -eq 3 ]
	json d <<<"$output" >/dev/null
}

@test "check: setuid files and world-writable paths are pointed out" {
	make_spec slipway.yaml 'platforms: [linux/amd64]'
	sed -i 's#to: /opt/sample}#to: /opt/sample, mode: 04777}#' slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	[[ $output == *"[setuid]"* ]]
	[[ $output == *"[world-writable]"* ]]
}

@test "check: an entry point that is not in the image" {
	make_spec slipway.yaml 'platforms: [linux/amd64]' 'entrypoint: [/opt/sample/bin/nothing]'
	refused entrypoint
}

@test "check: an unknown rule to turn off is an error" {
	run "$SLIPWAY" build --progress none -o image --set 'image.check.off=[secrets]'
	[ "$status" -eq 3 ]
	[[ $output == *"did you mean 'secret'"* ]]
	"$SLIPWAY" build --progress none -o image >/dev/null
	run "$SLIPWAY" verify --progress none --off secrets oci:image
	[ "$status" -eq 2 ] || [ "$status" -eq 3 ]
}

@test "check: a closure makes the same program pass" {
	need gcc
	program gcc tree/bin/app
	printf '    - name: runtime\n      closure: [tree/bin/app]\n' >>slipway.yaml
	"$SLIPWAY" build --progress none -o image | digest_line
}

@test "check: an AWS key, a private key, a .netrc and docker credentials" {
	printf 'aws_access_key_id = AKIA4QXZ7JW2NPD3KLM5\naws_secret_access_key = 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\n' >tree/share/credentials
	refused secret
	[[ $output != *q7Yx1* ]]
	rm tree/share/credentials
	openssl genrsa 2048 >tree/share/key.pem 2>/dev/null
	refused secret
	rm tree/share/key.pem
	printf 'machine example.com login me password hunter2\n' >tree/share/.netrc
	refused secret
	rm tree/share/.netrc
	mkdir tree/.docker
	printf '{"auths":{"example.com":{"auth":"dXNlcjpzZWNyZXQ="}}}' >tree/.docker/config.json
	refused secret
}

@test "check: a size budget" {
	head -c 2000000 /dev/urandom >tree/share/big
	sed -i 's/^  platforms/  check: {size_budget: 1MB}\n  platforms/' slipway.yaml
	refused size-budget
}

@test "check: verify finds one flipped bit in any blob" {
	"$SLIPWAY" build --progress none -o image >/dev/null
	for blob in image/blobs/sha256/*; do
		cp -r image damaged
		chmod u+w "damaged/blobs/sha256/$(basename "$blob")"
		python3 - "damaged/blobs/sha256/$(basename "$blob")" <<-'EOF'
			import sys
			data = bytearray(open(sys.argv[1], "rb").read())
			data[len(data) // 2] ^= 1
			open(sys.argv[1], "wb").write(data)
		EOF
		run "$SLIPWAY" verify --progress none oci:damaged
		[ "$status" -ne 0 ]
		rm -rf damaged
	done
}

@test "check: diff names the files that differ" {
	"$SLIPWAY" build --progress none -o one >/dev/null
	echo more >>tree/share/deep/numbers
	rm tree/share/deep/empty
	"$SLIPWAY" build --progress none -o two >/dev/null
	run "$SLIPWAY" diff oci:one oci:two
	[ "$status" -eq 0 ]
	[[ $output == *"opt/sample/share/deep/numbers"* ]]
	[[ $output == *"opt/sample/share/deep/empty"* ]]
	[[ $output != *"opt/sample/bin/run"* ]]
	run "$SLIPWAY" diff --exit-code oci:one oci:two
	[ "$status" -eq 1 ]
}

@test "check: an allowance lets one finding pass, says how many it let, and is held to the content" {
	openssl genrsa 2048 >tree/share/key.pem 2>/dev/null
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -eq 3 ]
	digest=sha256:$(sha256sum tree/share/key.pem | cut -d' ' -f1)
	[[ $output == *"digest: '$digest'"* ]]
	sed -i "s#^  platforms#  check: {allow: [{rule: secret, path: '/opt/**/key.pem', digest: '$digest', reason: a test key}]}\n  platforms#" slipway.yaml
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -eq 0 ]
	[[ $output == *"1 finding allowed"* && $output != *"[secret]"* ]]
	# The same verdict is remembered, another allowance is another verdict.
	run "$SLIPWAY" build --progress none -o image --set 'image.check.allow=[]'
	[ "$status" -eq 3 ]
	run "$SLIPWAY" verify --progress none oci:image
	[ "$status" -eq 3 ]
	run "$SLIPWAY" verify --progress none --allow "secret:/opt/**/key.pem@$digest" oci:image
	[ "$status" -eq 0 ]
	[[ $output == *"1 finding allowed"* ]]
	run "$SLIPWAY" verify --progress none --allow "secret:key.pem" --allow secret:/nowhere oci:image
	[ "$status" -eq 0 ]
	[[ $output == *"--allow: rule 'secret' has no finding at '/nowhere'"* ]]
	run "$SLIPWAY" verify --progress none --allow key.pem oci:image
	[[ $status -ne 0 && $output == *"is not RULE:PATH[@DIGEST]"* ]]
	# Another key at the same place is found again, and the allowance that covers nothing is named by its line.
	openssl genrsa 2048 >tree/share/key.pem 2>/dev/null
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -eq 3 ]
	[[ $output == *"[secret]"* && $output == *"slipway.yaml:"*"has no finding at"* ]]
}

@test "check: an archive that unpacks to too much is not looked into to its end, which is said" {
	head -c 30000000 /dev/zero | gzip -n >tree/share/zeros.gz
	run "$SLIPWAY" build --progress none -o image
	[ "$status" -eq 0 ]
	[[ $output == *"1 archive was not looked into to the end for secrets: too large"* ]]
}

@test "check: docs/CHECK.md says of every rule what it proves, besides the table" {
	rules=$(grep -oE 'RULE\([A-Z_]+, "[a-z-]+"' "$ROOT/builder/check/rules.h" | grep -oE '"[a-z-]+"' | tr -d '"')
	[ -n "$rules" ]
	text=$(grep -v '^|' "$ROOT/docs/CHECK.md")
	for rule in $rules; do
		grep -qF "\`$rule\`" <<<"$text" || { echo "$rule" && return 1; }
		grep -qF "| \`$rule\` |" "$ROOT/docs/CHECK.md" || { echo "$rule is not in the table" && return 1; }
	done
}
