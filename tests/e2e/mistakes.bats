#!/usr/bin/env bats
# docs/MISTAKES.md is true: every mistake in it is made, and slipway says exactly what stands there; BLESS=1 writes it anew.
# tests/servers/mistakes-judge says how the document is read, and what an answer must have.
# shellcheck disable=SC2016,SC2030,SC2031 # what is in single quotes is for sed and for another shell

load lib

DOCUMENT=$ROOT/docs/MISTAKES.md
ACCOUNT=123456789012.dkr.ecr

setup() {
	common_setup
	unset "${!AWS_@}"
	export AWS_EC2_METADATA_DISABLED=true KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	PORTS=() TO=()
	start_folder
}
teardown() { common_teardown; }

# start_folder: what every mistake finds in its folder: the spec that the document begins with, a file to pack, and what
# `slipway build` makes of them. In $WORK/bin is what is typed as `slipway`.
start_folder() {
	mkdir -p start/app you bin
	echo "hello" >start/app/hello
	sed -n '/^```yaml$/,/^```$/p' "$DOCUMENT" | sed '1d;$d' >start/slipway.yaml
	"$SLIPWAY" build --progress none -f start/slipway.yaml -o start/build/image >/dev/null
	stand_in
	PATH=$WORK/bin:$PATH
}

# stand_in: slipway itself, told where the document's registries are and to show no progress.
stand_in() {
	{
		printf '#!/bin/sh\nname=$1\n[ $# -eq 0 ] || shift\ncase $name in\n'
		printf 'build|push|verify|inspect|diff) exec %q "$name" --progress none --retries 0' "$SLIPWAY"
		((${#TO[@]} == 0)) || printf ' %q' "${TO[@]}"
		printf ' "$@" ;;\n*) exec %q "$name" "$@" ;;\nesac\n' "$SLIPWAY"
	} >bin/slipway
	chmod +x bin/slipway
}

# judge ARGS...: to whom a folder without the right to write is closed, root though it may be.
judge() {
	local closed=()
	[ "$EUID" -ne 0 ] || closed=(setpriv "--bounding-set=-dac_override,-dac_read_search")
	"${closed[@]}" "$ROOT/tests/servers/mistakes-judge" ${BLESS:+--write} --start start --home you \
		--ports "$(IFS=, && echo "${PORTS[*]}")" "$@"
}

# registry HOST [ARGS...]: a registry that is reached by that name.
registry() {
	local host=$1
	shift
	start_faultreg "$@"
	PORTS+=("${REG##*:}")
	TO+=(--connect-to "$host:443:127.0.0.1:${REG##*:}" --connect-to "$host:80:127.0.0.1:${REG##*:}")
}

@test "mistakes: in the spec of an image" { judge "$DOCUMENT" "In slipway.yaml: the image"; }
@test "mistakes: in the spec of a fleet and a job" { judge "$DOCUMENT" "In slipway.yaml: the fleet and the job"; }
@test "mistakes: in what is packed" {
	need gcc
	[ "$(uname -m)" = x86_64 ] || skip "not an amd64 machine"
	judge "$DOCUMENT" "In what is packed"
}
@test "mistakes: on the command line" { judge "$DOCUMENT" "On the command line"; }
@test "mistakes: in CI" { judge "$DOCUMENT" "In CI"; }
@test "mistakes: on this machine" { judge "$DOCUMENT" "On this machine"; }

@test "mistakes: with registries" {
	make_certificate
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -addext "subjectAltName=DNS:internal.example.com" \
		-keyout other.key -out other.pem 2>/dev/null
	openssl req -newkey rsa:2048 -nodes -subj /CN=registry -keyout key.pem -out req.pem 2>/dev/null
	printf 'subjectAltName=DNS:registry.example.com\n' >ext
	openssl x509 -req -in req.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out cert.pem 2>/dev/null
	registry registry.example.com --tls cert.pem key.pem --auth basic
	registry internal.example.com --tls other.pem other.key
	registry plain.example.com
	TO+=(--ca "$WORK/ca.pem")
	stand_in
	judge "$DOCUMENT" "With registries"
}

@test "mistakes: with Amazon ECR" {
	local names=("$ACCOUNT.us-east-1.amazonaws.com" "$ACCOUNT.eu-west-1.amazonaws.com" '*.us-east-1.amazonaws.com'
		api.ecr.us-east-1.amazonaws.com api.ecr.eu-west-1.amazonaws.com)
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test \
		-addext "subjectAltName=$(printf 'DNS:%s\n' "${names[@]}" | paste -sd,)" \
		-keyout key.pem -out cert.pem 2>/dev/null
	cat >config.json <<-EOF
		{"s3_host": "layers.us-east-1.amazonaws.com", "users": {
		   "AKIATESTUSER00000001": {"secret": "planted/Secret+Key000000000000000000001",
		                            "arn": "arn:aws:iam::123456789012:user/ci"}},
		 "repositories": ["team/app", {"name": "team/fixed", "imageTagMutability": "IMMUTABLE"}]}
	EOF
	start_fakeaws --cert cert.pem --key key.pem
	PORTS+=("$HTTPS_PORT")
	TO=(--ca "$WORK/cert.pem" --connect-to ":443:127.0.0.1:$HTTPS_PORT")
	stand_in
	mkdir -p you/.aws
	printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' AKIATESTUSER00000001 \
		planted/Secret+Key000000000000000000001 >you/.aws/credentials
	judge "$DOCUMENT" "With Amazon ECR"
}

@test "mistakes: the document has at least 40, and 40 of the command line and CI, each in a section that is tested" {
	[ "$(grep -c '^### ' "$DOCUMENT")" -ge 40 ]
	[ "$(sed -n '/^## On the command line/,/^## On this machine/p' "$DOCUMENT" | grep -c '^### ')" -ge 40 ]
	while IFS= read -r section; do
		grep -qF "judge \"\$DOCUMENT\" \"$section\"" "$BATS_TEST_FILENAME"
	done < <(sed -n 's/^## //p' "$DOCUMENT")
}

# refused TEXT SED: the document with that change is refused, for that reason.
refused() {
	sed "$2" mistakes.md >changed.md
	run ! cmp -s mistakes.md changed.md
	run "$ROOT/tests/servers/mistakes-judge" --start start changed.md
	[ "$status" -eq 1 ]
	[[ $output == *"$1"* ]]
}

@test "mistakes: a document that is not true, or an answer that says too little, is refused" {
	{
		printf '## S\n\n### M\n\n```yaml slipway.yaml\nname: app\n\n```\n\n```sh\nprintf "%%s\\n" '
		printf '"slipway.yaml:1:1: error: x" "  hint: y" >&2; exit 3\n```\n\n```text\n'
		printf 'slipway.yaml:1:1: error: x\n  hint: y\nexit status 3\n```\n'
	} >mistakes.md
	"$ROOT/tests/servers/mistakes-judge" --start start mistakes.md
	refused '-  hint: z' 's/^  hint: y/  hint: z/'
	refused '-exit status 1' 's/^exit status 3/exit status 1/'
	refused 'no next step: x' '/^  hint: y/d; s/ "  hint: y"//'
	refused 'no file, line and column' 's/slipway.yaml:1:1:/slipway:/'
	refused 'no file, line and column' 's/:1:1:/:4:1:/'
	refused 'no file, line and column' 's/:1:1:/:1:11:/'
	refused 'no error is said' 's/exit 3/exit 0/; s/^exit status 3/exit status 0/'
	refused 'no block `sh`' '/^```sh/,/^```$/d'
}
