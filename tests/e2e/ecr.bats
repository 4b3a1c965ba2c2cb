#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031 # each test has its own environment
# Amazon ECR: credentials from every source, pushes against its real behaviour, and the words for what
# goes wrong. Everything runs against tests/servers/fakeaws over TLS, under the real host names.

load lib

KEY=AKIATESTUSER00000001
LIMITED=AKIATESTLIMITED00001
SECRET=planted/Secret+Key000000000000000000001
JWT=eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJidWlsZGVyIn0.planted-web-token
POD=planted-pod-token-000000000000000000
SSO=planted-sso-token-000000000000000000
HOST=123456789012.dkr.ecr.us-east-1.amazonaws.com
ROLE=arn:aws:iam::123456789012:role

setup_file() {
	if [ -x "$ROOT/build/amd64/slipway-trainer" ] && [ -x "$ROOT/build/arm64/slipway-trainer" ]; then
		XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache "$SLIPWAY" build -f "$ROOT/slipway.yaml" --progress none \
			-o "$BATS_FILE_TMPDIR/demo" | digest_line >"$BATS_FILE_TMPDIR/digest"
	fi
}
setup() {
	common_setup
	cat >config.json <<-EOF
		{"s3_host": "layers.us-east-1.amazonaws.com", "users": {
		   "$KEY": {"secret": "$SECRET", "arn": "arn:aws:iam::123456789012:user/ci"},
		   "$LIMITED": {"secret": "$SECRET", "arn": "arn:aws:iam::123456789012:user/limited", "allow": ["sts:*"]}},
		 "roles": {"$ROLE/first": {"trust": ["arn:aws:iam::123456789012:user/ci"], "external_id": "x1"},
		           "$ROLE/second": {"trust": ["arn:aws:sts::123456789012:assumed-role/first/*"]},
		           "$ROLE/web": {}, "$ROLE/node": {}},
		 "web_tokens": {"$JWT": {}},
		 "imds": {"role": "$ROLE/node"},
		 "container": {"authorization": "$POD", "role": "$ROLE/web", "ids": {"abc": "$ROLE/web"}},
		 "sso": {"tokens": {"$SSO": {}},
		         "refresh": {"planted-refresh-token": {"client_id": "cid", "client_secret": "planted-client-secret",
		                     "access_token": "$SSO", "expires_in": 3600}}},
		 "repositories": ["team/app", {"name": "team/fixed", "imageTagMutability": "IMMUTABLE"}]}
	EOF
	unset "${!AWS_@}"
	export HOME=$WORK/home AWS_EC2_METADATA_DISABLED=true
	mkdir -p "$HOME/.aws/sso/cache"
	self_signed localhost "$HOST" '*.us-east-1.amazonaws.com' '*.dkr.ecr.us-east-1.amazonaws.com' \
		api.ecr.us-east-1.amazonaws.com api.ecr.eu-west-1.amazonaws.com portal.sso.us-east-1.amazonaws.com \
		123456789012.dkr.ecr.eu-west-1.amazonaws.com registry.example.com public.ecr.aws \
		api.ecr-public.us-east-1.amazonaws.com
	start_fakeaws --cert cert.pem --key key.pem
	TO=(--ca cert.pem --connect-to ":443:127.0.0.1:$HTTPS_PORT" --progress none)
}
teardown() {
	# Whatever a test did: no secret is anywhere that it left behind, server's log and all.
	! grep -rlaE 'planted' "$WORK" --include='*.out' --include='*.err' --include='*.log' --include='core*' || return 1
	common_teardown
}

# keys: the long-lived user's, in the environment.
keys() { export AWS_ACCESS_KEY_ID=${1:-$KEY} AWS_SECRET_ACCESS_KEY=$SECRET; }

image() {
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >build.out
	DIGEST=$(tail -n 1 build.out)
}

# push [ARGS...]: the image to team/app; output in push.out and push.err.
push() { "$SLIPWAY" push image "$HOST/${REPO:-team/app}:${TAG:-v1}" "${TO[@]}" "$@" >push.out 2>push.err; }

# demo: the image of `make demo`, where its programs are built, made once for all tests; else the small one.
demo() {
	if [ ! -d "$BATS_FILE_TMPDIR/demo" ]; then
		image
		return
	fi
	cp -r "$BATS_FILE_TMPDIR/demo" image
	DIGEST=$(cat "$BATS_FILE_TMPDIR/digest")
}

# pushes: the push works, and the repository then has the image under the tag.
pushes() {
	[ -d image ] || demo
	push || { cat push.err >&2 && return 1; }
	[ "$(tail -n 1 push.out)" = "$DIGEST" ]
	[ "$(state "d['repositories']['123456789012/us-east-1/${REPO:-team/app}']['tags']['${TAG:-v1}']")" = "$DIGEST" ]
}

# provider NAME: which provider doctor says it is.
provider() {
	"$SLIPWAY" doctor --registry "$HOST" --output json "${TO[@]}" >doctor.out 2>doctor.err
	[ "$(json 'd["credentials"]["provider"]' <doctor.out)" = "$1" ]
	[ "$(json 'd["ecr"]["token"]' <doctor.out)" = True ]
}

# golden NAME: push.err is the advice kept in tests/golden/ecr/NAME; BLESS=1 renews it.
golden() {
	sed -E "s/[0-9]+ minutes/N minutes/; s/[0-9]{8}T[0-9]{6}Z/TIME/g; s/sha256:[0-9a-f]{12}/sha256:DIGEST/g; s#$WORK#DIR#g; s/:$HTTPS_PORT/:PORT/g; s/:$PORT/:PORT/g; s/after [0-9]+ tries/after N tries/" \
		push.err | sed -E "s/session-[0-9]+/session-N/g" >got
	[ -z "${BLESS:-}" ] || cp got "$ROOT/tests/golden/ecr/$1"
	diff -u "$ROOT/tests/golden/ecr/$1" got
}

# ---- credentials ----

@test "ecr: keys in the environment push" {
	keys
	pushes
	provider environment
}

@test "ecr: a profile's keys push, from either file" {
	printf '[dev]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$KEY" "$SECRET" >"$HOME/.aws/credentials"
	chmod 600 "$HOME/.aws/credentials"
	AWS_PROFILE=dev pushes
	AWS_PROFILE=dev provider credentials-file
	sed 's/dev/profile dev/' "$HOME/.aws/credentials" >"$HOME/.aws/config"
	rm "$HOME/.aws/credentials"
	AWS_PROFILE=dev provider config-file
	# --profile beats keys in the environment, AWS_PROFILE does not.
	keys AKIAUNKNOWN000000000
	"$SLIPWAY" doctor --registry "$HOST" --profile dev "${TO[@]}" >doctor.out
	run ! "$SLIPWAY" doctor --registry "$HOST" "${TO[@]}"
}

@test "ecr: a chain of roles pushes" {
	cat >"$HOME/.aws/config" <<-EOF
		[profile second]
		role_arn = $ROLE/second
		source_profile = first
		[profile first]
		role_arn = $ROLE/first
		external_id = x1
		source_profile = keys
		[profile keys]
		aws_access_key_id = $KEY
		aws_secret_access_key = $SECRET
	EOF
	AWS_PROFILE=second pushes
	AWS_PROFILE=second provider assume-role
	json 'd["principal"]' <doctor.out | grep -q assumed-role/second/
}

@test "ecr: a web identity token pushes (EKS IRSA, GitHub's OIDC), and is read anew when it is replaced" {
	printf '%s' "$JWT" >token
	export AWS_ROLE_ARN=$ROLE/web AWS_WEB_IDENTITY_TOKEN_FILE=$WORK/token
	pushes
	provider web-identity
	printf old >token
	run ! push
	grep -q InvalidIdentityToken push.err
}

@test "ecr: the container endpoint pushes (CodeBuild), and Pod Identity with its token file" {
	printf '%s' "$POD" >pod
	export AWS_CONTAINER_CREDENTIALS_FULL_URI=$URL/v2/credentials/abc
	provider container
	export AWS_CONTAINER_CREDENTIALS_FULL_URI=$URL/v1/credentials AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=$WORK/pod
	pushes
	provider container
}

@test "ecr: the instance's role pushes, with IMDSv2" {
	unset AWS_EC2_METADATA_DISABLED
	config '{"imds": {"v2_only": true}}'
	export AWS_EC2_METADATA_SERVICE_ENDPOINT=$URL
	pushes
	provider imds
}

@test "ecr: a credential_process pushes" {
	printf '#!/bin/sh\necho "{\\"Version\\":1,\\"AccessKeyId\\":\\"%s\\",\\"SecretAccessKey\\":\\"%s\\"}"\n' "$KEY" "$SECRET" >"$HOME/give me"
	chmod +x "$HOME/give me"
	printf '[default]\ncredential_process = "%s/give me" now\n' "$HOME" >"$HOME/.aws/config"
	pushes
	provider process
}

@test "ecr: an SSO token pushes, and one that is near its end is renewed and kept" {
	cat >"$HOME/.aws/config" <<-EOF
		[profile sso]
		sso_session = corp
		sso_account_id = 123456789012
		sso_role_name = node
		[sso-session corp]
		sso_start_url = https://example.awsapps.com/start
		sso_region = us-east-1
	EOF
	cache=$HOME/.aws/sso/cache/$(printf corp | sha1sum | cut -d' ' -f1).json
	export AWS_PROFILE=sso
	printf '{"accessToken":"%s","expiresAt":"2099-01-01T00:00:00Z"}' "$SSO" >"$cache"
	config "{\"sso\": {\"role_arns\": {\"123456789012/node\": \"$ROLE/node\"}}}"
	pushes
	provider sso
	printf '{"accessToken":"over","expiresAt":"2020-01-01T00:00:00Z","refreshToken":"planted-refresh-token",' >"$cache"
	printf '"clientId":"cid","clientSecret":"planted-client-secret","registrationExpiresAt":"2099-01-01T00:00:00Z"}' >>"$cache"
	provider sso
	grep -q "$SSO" "$cache"
	[ "$(stat -c %a "$cache")" = 600 ]
	printf '{"accessToken":"over","expiresAt":"2020-01-01T00:00:00Z"}' >"$cache"
	run ! push
	golden sso-expired
}

@test "ecr: the fixed metadata addresses, in a network namespace" {
	need ip
	unshare -rn true 2>/dev/null || skip "no network namespace can be made here"
	image
	printf '%s' "$POD" >pod
	unset AWS_EC2_METADATA_DISABLED
	cat >inside <<-EOF
		set -eu
		ip link set lo up
		for a in 169.254.169.254 169.254.170.2 169.254.170.23; do ip addr add \$a/32 dev lo; done
		"$ROOT/tests/servers/fakeaws" --ready ready2 --log log2 --config config.json --cert cert.pem --key key.pem \
			--bind-metadata 169.254.169.254:80 --bind-metadata 169.254.170.2:80 --bind-metadata 169.254.170.23:80 &
		trap "kill \$!" EXIT
		for i in \$(seq 100); do [ -s ready2 ] && break; sleep 0.1; done
		read -r https http <ready2
		doctor() { "$SLIPWAY" doctor --registry $HOST --output json --ca cert.pem --connect-to :443:127.0.0.1:\$https; }
		# A proxy in the environment must not see the metadata services.
		export http_proxy=http://127.0.0.1:9 NO_PROXY=
		doctor >imds.out
		AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/credentials/abc doctor >ecs.out
		AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1/credentials \
			AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=pod doctor >pod.out
	EOF
	unshare -rn bash inside
	[ "$(json 'd["credentials"]["provider"]' <imds.out)" = imds ]
	[ "$(json 'd["credentials"]["provider"]' <ecs.out)" = container ]
	[ "$(json 'd["credentials"]["provider"]' <pod.out)" = container ]
}

# ---- pushing ----

@test "ecr: a second push sends nothing, and asks for one token" {
	keys
	pushes
	config '{"faults": []}'
	push
	grep -q '^0 blobs uploaded' push.out
}

@test "ecr: the token ends in the middle of a large blob, and the push completes" {
	keys
	mkdir -p tree
	head -c 30000000 /dev/urandom >tree/large
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >build.out
	config '{"expire_token_after_bytes": 10000000, "expire_mode": "end"}'
	push || { cat push.err >&2 && false; }
	[ "$(tail -n 1 push.out)" = "$(tail -n 1 build.out)" ]
	config '{"expire_token_after_bytes": 10000000, "expire_mode": "cut", "repositories": ["team/again"]}'
	REPO=team/again push || { cat push.err >&2 && false; }
	[ "$(state 'd["counters"]["ecr:GetAuthorizationToken"] >= 3')" = True ]
}

@test "ecr: with one PutImage a second no manifest fails" {
	keys
	config '{"putimage_per_second": 1}'
	pushes
}

@test "ecr: a repository is made when that is wanted, as the spec says, and once" {
	keys
	image
	REPO=team/made push --create-repository
	[ "$(state 'd["repositories"]["123456789012/us-east-1/team/made"]["imageTagMutability"]')" = MUTABLE ]
	cat >>slipway.yaml <<-EOF
		  ecr:
		    create: true
		    mutability: IMMUTABLE_WITH_EXCLUSION
		    exclusions: [dev-*]
		    scan_on_push: true
		    encryption: AES256
		    tags: {team: ml}
		    expire_untagged_days: 14
		    keep_images: 50
	EOF
	sed -i "s#^  tags:.*#  repository: $HOST/team/spec\n&#" slipway.yaml
	"$SLIPWAY" push image "${TO[@]}" 2>push.err || { cat push.err >&2 && false; }
	"$SLIPWAY" push image "${TO[@]}"
	[ "$(state 'd["repositories"]["123456789012/us-east-1/team/spec"]["imageTagMutability"]')" = IMMUTABLE_WITH_EXCLUSION ]
}

# ---- modules compiled ahead ----

# modules KEY...: entries of a folder of them, as a compiler leaves them.
modules() {
	local key at
	for key; do
		at=made/neuronxcc-2.16.372.0/MODULE_$key
		mkdir -p "$at"
		seq 1 50000 | sed "s/$/ $key/" >"$at/model.neff"
		echo "module $key" >"$at/model.hlo_module.pb"
		echo '["--target=trn1"]' >"$at/compile_flags.json"
		: >"$at/model.done"
	done
}

# neff ARGS...: with the server's certificate and address.
neff() { "$SLIPWAY" neff "${TO[@]}" "$@"; }

# stored: the digests of the blobs that were put whole, one a line.
stored() { python3 -c '
import json, sys
for r in map(json.loads, open(sys.argv[1])):
    if r["service"] == "registry" and r["method"] == "PUT" and r["op"] == "session" and r["status"] == 201:
        print(r["path"].split("digest=")[1].split("&")[0].replace("%3A", ":"))' "$LOG" | sort; }

@test "ecr: modules go to the image's repository, which its push has made, and come back; nothing is sent twice" {
	keys
	image
	modules 0123+ab 4567+ab
	config '{"create_on_push": ["fresh"]}'
	REPO=fresh/app push || { cat push.err >&2 && false; }
	local ref=$HOST/fresh/app:v1
	# What is not there yet is said, not made.
	run neff push made "$HOST/team/none:v1"
	[ "$status" -ne 0 ]
	stored >before
	neff push made "$ref" >first
	[ "$(grep -c '  sent$' first)" = 2 ]
	stored >after
	[ -z "$(uniq -d after)" ]
	# two modules of three files, of which the flags are the same, and the empty configuration
	[ "$(comm -13 before after | wc -l)" = 6 ]
	neff pull "$ref" out >second
	[ "$(grep -c '  fetched$' second)" = 2 ]
	diff -r --exclude='*.lock' made out
	neff list "$ref" --output json | json '[m["module"] for m in d["modules"]]' | grep -qx "\['MODULE_0123+ab', 'MODULE_4567+ab'\]"
	neff push made "$ref" | grep -c '  was there$' | grep -qx 2
	stored | cmp - after
	# every call of the registry's had ECR's token, every one of the API's a signature of the user's
	python3 -c '
import json, sys
for r in map(json.loads, open(sys.argv[1])):
    if r["service"] == "registry":
        assert r["auth"] == "basic" or r["status"] == 401, r
    if r["service"] == "ecr":
        assert r["auth"] == "sigv4" and r["user"] == sys.argv[2], r' "$LOG" "$KEY"
	keys "$LIMITED"
	run neff pull "$ref" other
	[ "$status" -eq 4 ]
	[[ $output == *'ecr:GetAuthorizationToken'* ]]
}

@test "ecr: modules whose push was killed are sent from where it was; a token that ends on the way is renewed" {
	keys
	image
	modules 0123+ab 4567+ab 89cd+ab
	push
	config '{"faults": [{"service": "registry", "op": "session", "method": "PUT", "nth": 4, "delay_s": 60}]}'
	stored >before
	"$SLIPWAY" neff push made "$HOST/team/app:v1" "${TO[@]}" >killed.out 2>killed.err 3>&- &
	local pid=$!
	for _ in $(seq 200); do
		[ "$(stored | comm -13 before - | wc -l)" -lt 3 ] || break
		sleep 0.05
	done
	kill -9 "$pid"
	wait "$pid" || true
	# no module is there before all of its files are
	run ! neff pull "$HOST/team/app:v1" out
	[[ $output == *'it has no compiled modules'* ]]
	config '{"faults": [], "expire_token_after_bytes": 300000, "expire_mode": "end"}'
	neff push made "$HOST/team/app:v1" >again
	[ "$(grep -c '  sent$' again)" = 3 ]
	[ "$(state 'd["counters"]["ecr:GetAuthorizationToken"] >= 3')" = True ]
	[ -z "$(stored | uniq -d)" ]
	neff pull "$HOST/team/app:v1" out >/dev/null
	diff -r --exclude='*.lock' made out
}

@test "ecr: a base layer is read from ECR, mounted where the registry lets it be, else sent" {
	keys
	config '{"repositories": ["team/base", "team/one", "team/two"]}'
	REPO=team/base pushes
	mkdir more
	echo more >more/file
	cat >app.yaml <<-EOF
		apiVersion: slipway/v1
		name: app
		image:
		  base: $HOST/team/base:v1
		  platforms: [linux/amd64, linux/arm64]
		  tags: [v1]
		  layers: [{name: more, files: [{from: more/, to: /more/}]}]
	EOF
	"$SLIPWAY" build -f app.yaml "${TO[@]}" -o app >build.out
	"$SLIPWAY" push app "$HOST/team/one:v1" "${TO[@]}" >push.out
	grep -q ', 0 mounted' push.out
	config '{"account_settings": {"BLOB_MOUNTING": "ENABLED"}}'
	"$SLIPWAY" push app "$HOST/team/two:v1" "${TO[@]}" >push.out
	run ! grep -q ', 0 mounted' push.out
	"$SLIPWAY" verify "$HOST/team/two:v1" "${TO[@]}" >verify.out
}

@test "ecr: ECR Public: pushed to with a bearer token, read without any credentials" {
	keys
	config '{"public_alias": "team1", "repositories": [{"name": "app", "region": "public"}]}'
	image
	"$SLIPWAY" push image public.ecr.aws/team1/app:v1 "${TO[@]}" >push.out 2>push.err || { cat push.err >&2 && false; }
	[ "$(tail -n 1 push.out)" = "$DIGEST" ]
	run ! "$SLIPWAY" push image public.ecr.aws/team1/new:v1 "${TO[@]}"
	"$SLIPWAY" push image public.ecr.aws/team1/new:v1 "${TO[@]}" --create-repository >push.out
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
	"$SLIPWAY" inspect public.ecr.aws/team1/app:v1 "${TO[@]}" >inspect.out
	grep -q "$DIGEST" inspect.out
}

@test "ecr: scan waits, tells, and judges" {
	keys
	pushes
	config '{"scan": {"always": true, "statuses": ["COMPLETE"], "findings": {"HIGH": 2, "LOW": 1}}}'
	run "$SLIPWAY" scan "$HOST/team/app:v1" --start "${TO[@]}"
	[ "$status" -eq 3 ]
	[[ $output == *"2 HIGH, 1 LOW"* ]]
	run "$SLIPWAY" scan "$HOST/team/app:v1" --severity critical --output json "${TO[@]}"
	[ "$status" -eq 0 ]
	[ "$(json 'd["refused"]' <<<"$output")" = 0 ]
}

@test "ecr: what trust asks of the scan is refused when there is a finding, and when there is no scan" {
	keys
	pushes
	printf 'apiVersion: slipway/v1\nname: app\nimage: {base: debian}\ntrust: {vulnerabilities: high}\n' >trust.yaml
	gate() { run "$SLIPWAY" verify --trust trust.yaml "$HOST/team/app:v1" "${TO[@]}"; }
	gate
	[ "$status" -eq 3 ]
	[[ $output == *"its scan was not begun"*"slipway scan --start $HOST/team/app:v1@sha256:"* ]]
	config '{"scan": {"statuses": ["COMPLETE"], "findings": {"HIGH": 2, "LOW": 1}}}'
	run "$SLIPWAY" scan "$HOST/team/app:v1" --start "${TO[@]}"
	gate
	[ "$status" -eq 3 ]
	[[ $output == *"trust.vulnerabilities: $HOST/team/app:v1@sha256:"*": 2 findings of severity HIGH or worse, as CVE-2026-"* ]]
	config '{"scan": {"statuses": ["COMPLETE"], "findings": {"HIGH": 0, "LOW": 0, "MEDIUM": 2}}}'
	gate
	[ "$status" -eq 0 ]
	config '{"scan": {"statuses": ["IN_PROGRESS"]}}'
	gate
	[ "$status" -eq 3 ]
	[[ $output == *"its scan is not finished"*"slipway scan $HOST/team/app:v1@sha256:"* ]]
	config '{"scan": {"statuses": ["FAILED"]}}'
	gate
	[ "$status" -eq 3 ]
	[[ $output == *"its scan ended with FAILED"* ]]
}

@test "ecr: the policy that iam prints is enough for what it is for, and no more" {
	keys
	image
	"$SLIPWAY" iam push "$HOST/team/app" >policy.json
	config "{\"users\": {\"$LIMITED\": {\"allow\": null, \"policy\": $(cat policy.json)}}}"
	keys "$LIMITED"
	push || { cat push.err >&2 && false; }
	REPO=team/fixed run ! push
	"$SLIPWAY" iam create "$HOST/team/new" >policy.json
	config "{\"users\": {\"$LIMITED\": {\"policy\": $(cat policy.json)}}}"
	REPO=team/new push --create-repository || { cat push.err >&2 && false; }
	"$SLIPWAY" iam pull "$HOST/team/new" >policy.json
	config "{\"users\": {\"$LIMITED\": {\"policy\": $(cat policy.json)}}}"
	"$SLIPWAY" inspect "$HOST/team/new:v1" "${TO[@]}" >inspect.out
	TAG=v2 REPO=team/new run ! push
}

@test "ecr: a registry under another name, with its region said" {
	keys
	image
	config '{"any_host": true}'
	run ! "$SLIPWAY" push image registry.example.com/team/app:v1 "${TO[@]}"
	"$SLIPWAY" push image registry.example.com/team/app:v1 --ecr-region us-east-1 "${TO[@]}"
}

# ---- what goes wrong, in words ----

@test "ecr: no repository: said by name, with and without an answer from ECR" {
	keys
	image
	REPO=team/none run ! push
	REPO=team/none golden missing-repository
	config '{"upload_missing_repository": "eof"}'
	REPO=team/none run ! push
	REPO=team/none golden missing-repository-eof
}

@test "ecr: no permission: the action and the principal, with and without an answer from ECR" {
	image
	keys "$LIMITED"
	run ! push
	golden missing-token-action
	config "{\"users\": {\"$LIMITED\": {\"allow\": [\"sts:*\", \"ecr:GetAuthorizationToken\", \"ecr:BatchCheckLayerAvailability\"]}}}"
	run ! push
	golden missing-upload-action
	config '{"upload_denied": "eof"}'
	run ! push --retries 2
	golden missing-upload-action-eof
}

@test "ecr: an immutable tag: the same image is fine, another is refused before a byte is sent" {
	keys
	image
	REPO=team/fixed pushes
	REPO=team/fixed push
	echo more >>tree/share/a.txt
	"$SLIPWAY" build --progress none -o image >build.out
	before=$(state 'd["upload_bytes"]')
	REPO=team/fixed run ! push
	golden immutable-tag
	[ "$(state 'd["upload_bytes"]')" = "$before" ]
}

@test "ecr: the wrong region is named" {
	keys
	image
	run ! "$SLIPWAY" push image 123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/app:v1 "${TO[@]}" 2>push.err
	"$SLIPWAY" push image 123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/app:v1 "${TO[@]}" 2>push.err || true
	golden wrong-region
}

@test "ecr: a clock that is wrong by 20 minutes is corrected, and said; not corrected it is the advice" {
	keys
	image
	config '{"server_time_offset_s": 1200}'
	push || { cat push.err >&2 && false; }
	"$SLIPWAY" doctor --registry "$HOST" --output json "${TO[@]}" >doctor.out
	offset=$(json 'd["clock_offset_s"]' <doctor.out)
	((offset > 1190 && offset < 1210))
	TAG=v2 AWS_DISABLE_CLOCK_SKEW_CORRECTION=true run ! push
	golden skewed-clock
}

@test "ecr: no credentials: every place that was tried, and doctor's exit status 4" {
	image
	run ! push
	golden no-credentials
	run --separate-stderr "$SLIPWAY" doctor --registry "$HOST" --output json "${TO[@]}"
	[ "$status" -eq 4 ]
	[ "$(json 'd["ecr"]["token"]' <<<"$output")" = False ]
	json 'd["error"]' <<<"$output" | grep -q "no AWS credentials"
}

@test "ecr: no network: doctor's exit status 5" {
	keys
	run --separate-stderr "$SLIPWAY" doctor --registry "$HOST" --output json --ca cert.pem \
		--connect-to :443:127.0.0.1:9 --progress none
	[ "$status" -eq 5 ]
	json 'd["error"]' <<<"$output" | grep -q .
}

@test "ecr: wrong keys are told apart" {
	image
	keys AKIAUNKNOWN000000000
	run ! push
	golden unknown-key
	keys
	AWS_SECRET_ACCESS_KEY=planted-but-wrong run ! push
	golden wrong-secret
	unset AWS_SECRET_ACCESS_KEY
	run ! push
	golden half-a-key
}

# ---- what a reviewer would try ----

@test "ecr: a repository is never made in another account than the registry's" {
	keys
	image
	run ! "$SLIPWAY" push image 999999999999.dkr.ecr.us-east-1.amazonaws.com/team/new:v1 --create-repository "${TO[@]}"
	[ "$(state '[k for k in d["repositories"] if k.endswith("team/new")]')" = "[]" ]
}

@test "ecr: with the policy that iam prints an immutable tag is refused before a byte is sent" {
	keys
	image
	REPO=team/fixed push
	"$SLIPWAY" iam push "$HOST/team/fixed" >policy.json
	config "{\"users\": {\"$LIMITED\": {\"allow\": null, \"policy\": $(cat policy.json)}}}"
	keys "$LIMITED"
	echo more >>tree/share/a.txt
	"$SLIPWAY" build --progress none -o image >build.out
	before=$(state 'd["upload_bytes"]')
	REPO=team/fixed run ! push
	grep -q 'cannot be moved' push.err
	[ "$(state 'd["upload_bytes"]')" = "$before" ]
}

@test "ecr: create in the spec asks for nothing when the repository is there" {
	image
	"$SLIPWAY" iam push "$HOST/team/app" >policy.json
	config "{\"users\": {\"$LIMITED\": {\"allow\": null, \"policy\": $(cat policy.json)}}}"
	keys "$LIMITED"
	push --create-repository || { cat push.err >&2 && false; }
}

@test "ecr: public images are read whatever is wrong with the credentials" {
	keys
	config '{"public_alias": "team1", "repositories": [{"name": "app", "region": "public"}]}'
	image
	"$SLIPWAY" push image public.ecr.aws/team1/app:v1 "${TO[@]}" >push.out
	config "{\"users\": {\"$LIMITED\": {\"allow\": [\"ecr:*\"]}}}"
	keys "$LIMITED"
	"$SLIPWAY" inspect public.ecr.aws/team1/app:v1 "${TO[@]}" >inspect.out
	AWS_PROFILE=nobody "$SLIPWAY" inspect public.ecr.aws/team1/app:v1 "${TO[@]}" >inspect.out
	run ! "$SLIPWAY" push image public.ecr.aws/team1/app:v2 "${TO[@]}"
	[[ $output == *ecr-public:GetAuthorizationToken* ]]
}

@test "ecr: without HOME no folder named ~ is anybody's home" {
	mkdir -p '~/.aws'
	printf '[default]\ncredential_process = touch %s/ran\n' "$WORK" >'~/.aws/config'
	run env -u HOME "$SLIPWAY" doctor --registry "$HOST" "${TO[@]}"
	[ ! -e ran ]
}

@test "ecr: --profile chooses credentials, not where the metadata service is" {
	unset AWS_EC2_METADATA_DISABLED
	printf '[profile plain]\nregion = us-east-1\n' >"$HOME/.aws/config"
	AWS_EC2_METADATA_SERVICE_ENDPOINT=$URL "$SLIPWAY" doctor --profile plain --registry "$HOST" --output json "${TO[@]}" >doctor.out
	[ "$(json 'd["credentials"]["provider"]' <doctor.out)" = imds ]
}

@test "ecr: a short session is asked for once" {
	cat >"$HOME/.aws/config" <<-EOF
		[profile short]
		role_arn = $ROLE/first
		external_id = x1
		duration_seconds = 900
		source_profile = keys
		[profile keys]
		aws_access_key_id = $KEY
		aws_secret_access_key = $SECRET
	EOF
	AWS_PROFILE=short pushes
	[ "$(state 'd["counters"]["sts:AssumeRole"]')" = 1 ]
}

# ---- hostile replies ----

@test "ecr: garbled, huge, empty, HTML and XML replies are errors, and a throttled call is tried again" {
	keys
	image
	for kind in garbled huge empty html xml; do
		config "{\"faults\": [{\"service\": \"ecr\", \"op\": \"GetAuthorizationToken\", \"kind\": \"$kind\", \"status\": 200}]}"
		run ! push
		grep -q '^slipway: error: ' push.err
		grep -q 'hint: ' push.err || [ "$kind" = huge ]
	done
	config '{"faults": [{"service": "ecr", "op": "GetAuthorizationToken", "first": 2, "status": 400, "code": "ThrottlingException"}]}'
	push || { cat push.err >&2 && false; }
}

@test "ecr: an error that echoes what was sent, session token and all, leaks nothing" {
	image
	config '{"signature_details": true}'
	printf '[default]\naws_access_key_id = %s\naws_secret_access_key = planted-wrong-secret\naws_session_token = planted-session-token-1\n' \
		"$KEY" >"$HOME/.aws/credentials"
	chmod 600 "$HOME/.aws/credentials"
	run ! push
	run ! grep -q planted push.err
	AWS_SESSION_TOKEN=x "$SLIPWAY" doctor --registry "$HOST" "${TO[@]}" >doctor.out 2>doctor.err || true
}

@test "ecr: the metadata services may not send us elsewhere" {
	image
	export AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.com/credentials
	run ! push
	golden foreign-full-uri
	unset AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_EC2_METADATA_DISABLED
	config '{"imds": {"redirect": "http://example.com/"}}'
	AWS_EC2_METADATA_SERVICE_ENDPOINT=$URL run ! push
	grep -q 'imds:' push.err
	export AWS_CONTAINER_CREDENTIALS_FULL_URI=$URL/v1/credentials
	printf 'planted\nX-Evil: 1' >pod
	AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=$WORK/pod run ! push
	grep -q 'line break' push.err
}

@test "ecr: broken and unreadable configuration files name themselves, and stop only what needs AWS" {
	image
	printf '[profile x\n' >"$HOME/.aws/config"
	run ! push
	golden broken-config
	"$SLIPWAY" verify oci:image --progress none
	rm "$HOME/.aws/config"
	printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$KEY" "$SECRET" >"$HOME/.aws/credentials"
	chmod 644 "$HOME/.aws/credentials"
	"$SLIPWAY" push image "$HOST/team/app:v1" --ca cert.pem --connect-to ":443:127.0.0.1:$HTTPS_PORT" --progress plain 2>push.err
	grep -q 'chmod 600' push.err
	AWS_PROFILE=nobody run ! push
	golden unknown-profile
}

# ---- secrets ----

@test "ecr: the planted secrets are in no output, argument, child's environment or core file" {
	image
	# The key is in a file, so that whatever shows up elsewhere was put there by us.
	printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$KEY" "$SECRET" >"$HOME/.aws/credentials"
	chmod 600 "$HOME/.aws/credentials"
	# Another registry's helper is a child: it tells what it was given.
	mkdir -p "$DOCKER_CONFIG" bin
	printf '{"credHelpers":{"other.example":"spy"}}' >"$DOCKER_CONFIG/config.json"
	printf '#!/bin/sh\ncat /proc/self/environ /proc/self/cmdline >>"%s/child.out"; echo "{}"\n' "$WORK" >bin/docker-credential-spy
	chmod +x bin/docker-credential-spy
	for form in plain json tty; do
		TAG=$form push --progress "$form"
		PATH=$WORK/bin:$PATH "$SLIPWAY" push image other.example/x/y:v1 "${TO[@]}" --progress "$form" --retries 1 \
			>>other.out 2>>other.err || true
	done
	"$SLIPWAY" doctor --registry "$HOST" --output json "${TO[@]}" --progress json >doctor.out 2>doctor.err
	config '{"faults": [{"service": "registry", "op": "blob", "delay_s": 5}], "repositories": ["team/slow"]}'
	ulimit -c unlimited
	"$SLIPWAY" push image "$HOST/team/slow:v1" "${TO[@]}" >slow.out 2>slow.err 3>&- &
	pid=$!
	sleep 1.5
	tr '\0' '\n' </proc/$pid/cmdline >cmdline.out
	kill -SEGV $pid
	wait $pid || true
	[ -z "$(ls core* 2>/dev/null)" ]
	rm config.json
	run ! grep -rlaF -e "$SECRET" "$WORK" --exclude-dir=.aws --exclude=credentials
	[ -s cmdline.out ]
	# And no token of ECR's either.
	run ! grep -raE 'Basic [A-Za-z0-9+/=]{40,}' "$WORK" --include='*.out' --include='*.err'
}
