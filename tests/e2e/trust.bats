#!/usr/bin/env bats
# `trust`: what is refused before anything is deployed, and that what was looked at is what runs. A registry of Debian's,
# the stand-in for kubectl; cosign comes from tests/judges.

load lib

setup() {
	common_setup
	start_registry
	unset COSIGN_PASSWORD
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir "$FAKEKUBE"
	make_tree tree
	new_key k
	new_key other
}
teardown() { [[ -z ${PIDS:-} ]] || common_teardown; }

# new_key NAME: NAME.pem and NAME.pub
new_key() {
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.pem" 2>/dev/null
	openssl pkey -in "$1.pem" -pubout -out "$1.pub"
}

# image [LINE...]: pushes the image of a spec with these lines below image:, and sets DIGEST.
image() {
	make_spec image.yaml "repository: $REG/team/app" "$@"
	"$SLIPWAY" build -f image.yaml --push --progress none -o out >build.out 2>&1
	DIGEST=$(root_of "$REG/team/app:v1")
}
FULL=('sbom: true' 'provenance: true' 'sign: {key: k.pem, formats: [bundle, tag]}')

# fleet TRUST...: slipway.yaml with the image and these lines below trust:.
fleet() {
	make_spec slipway.yaml "repository: $REG/team/app"
	cat >>slipway.yaml <<-YAML
		  entrypoint: [/opt/sample/bin/run]
		cluster: {name: c, region: us-west-2, zone: us-west-2d, version: "1.35", karpenter: v1}
		fleet:
		  g5: {instances: [g5.12xlarge]}
		job: {nodes: 1, scheduler: job, user: 1000, group: 1000}
		trust:
	YAML
	printf '  %s\n' "$@" >>slipway.yaml
}

deploy() { "$SLIPWAY" deploy --progress none "$@"; }
objects() { json "$1" <"$FAKEKUBE/objects.json"; }

# refused WORDS [OPTION...]: deploy says so, and kubectl was never called.
refused() {
	local words=$1
	shift
	rm -rf "${FAKEKUBE:?}"/*
	run deploy "$@"
	if [[ $status != 3 || $output != *"$words"* || -e $FAKEKUBE/calls ]]; then
		echo "expected: $words; status $status: $output"
		return 1
	fi
}

BUILDER=https://slipway.dev/builder/local

@test "trust: an image with all that is asked for is deployed, by the digest that was looked at" {
	image "${FULL[@]}"
	fleet "- keys: [k.pub]" "  provenance: $BUILDER" "  sbom: true" "  digests: [\"$DIGEST\"]"
	run deploy
	[ "$status" -eq 0 ]
	[[ $output == *"trust       $REG/team/app:v1@$DIGEST: digests, keys, provenance, sbom"* ]]
	objects 'json.dumps(d)' | grep -qF "$REG/team/app:v1@$DIGEST"
	run deploy --output json
	[ "$status" -eq 0 ]
	[ "$(json '(d["trust"][0]["has"], d["trust"][0]["refused"])' <<<"$output")" = "(['digests', 'keys', 'provenance', 'sbom'], [])" ]
	# One rule alone, and a builder with any rest.
	fleet "keys: [k.pub]" "provenance: {builder: \"https://slipway.dev/*\", keys: [k.pub]}"
	deploy
}

@test "trust: unsigned, wrongly signed, and signed under a tag of another digest are refused before kubectl is called" {
	image "${FULL[@]}"
	good=$DIGEST
	fleet "keys: [other.pub]"
	refused "trust.keys: $REG/team/app:v1@$DIGEST: it is not signed by 'other.pub'"
	[[ $output == *"slipway.yaml:"*"keys: [other.pub]"*"slipway sign --key KEY $REG/team/app:v1@$DIGEST"* ]]
	fleet "keys: [k.pub]" "annotations: {stage: release}"
	refused "it has no annotation 'stage'"
	fleet "keys: [k.pub, other.pub]"
	refused "it is not signed by 'other.pub'"
	echo changed >tree/share/a.txt
	image
	[ "$DIGEST" != "$good" ]
	fleet "keys: [k.pub]"
	refused "$DIGEST: it is not signed"
	# The good image's signature, under the tag where this one's would be.
	curl -sSf -H 'Accept: application/vnd.oci.image.manifest.v1+json' "http://$REG/v2/team/app/manifests/${good/:/-}.sig" -o sig.json
	curl -sSf -X PUT -H 'Content-Type: application/vnd.oci.image.manifest.v1+json' --data-binary @sig.json \
		"http://$REG/v2/team/app/manifests/${DIGEST/:/-}.sig"
	refused "it is a signature of another image: $good"
	# The tag alone says nothing: the good digest is deployed.
	deploy --image-digest "$good"
}

@test "trust: provenance that is unsigned, by another builder or by another key, and a missing SBOM are refused" {
	image 'sign: {key: k.pem}' 'provenance: true'
	fleet "keys: [k.pub]" "provenance: https://github.com/actions/runner/github-hosted"
	refused "was built by '$BUILDER', not by 'https://github.com/actions/runner/github-hosted'"
	fleet "provenance: {builder: $BUILDER, keys: [other.pub]}"
	refused "has no provenance that 'other.pub' has signed: it is signed by another key"
	fleet "keys: [k.pub]" "sbom: true"
	refused "trust.sbom: $REG/team/app:v1@$DIGEST: linux/amd64 sha256:"
	[[ $output == *"has no bill of materials"*"sbom: true"* ]]
	# Whoever may push may attach a statement: without a signature it does not count.
	echo changed >tree/share/a.txt
	image 'provenance: true'
	"$SLIPWAY" sign --key k.pem --progress none "$REG/team/app:v1" >/dev/null
	"$SLIPWAY" inspect --tree "$REG/team/app:v1" | grep -q in-toto
	fleet "keys: [k.pub]" "provenance: $BUILDER"
	refused "has no provenance that 'k.pub' has signed"
	"$SLIPWAY" sign --key k.pem --provenance --progress none "$REG/team/app:v1" >/dev/null
	deploy
}

@test "trust: what cannot be found out is refused: a registry that is down, a key that is not there, an image of no rule" {
	image "${FULL[@]}"
	fleet "keys: [absent.pub]"
	refused "absent.pub"
	fleet "images: [$REG/other/*]" "keys: [k.pub]"
	refused "no rule of \`trust\` is for it"
	fleet "vulnerabilities: high"
	refused "'$REG' is no registry that scans images"
	fleet "digests: [\"sha256:$(printf '0%.0s' {1..64})\"]"
	refused "is not among those of the rule"
	fleet "keys: [k.pub]"
	kill "${PIDS[0]}" && wait "${PIDS[0]}" || true
	refused "trust: $REG/team/app:v1@$DIGEST" --image-digest "$DIGEST" --retries 0
	[[ $output == *"slipway: error: deploy: 1 of 1 image is not what \`trust\` in the spec asks for"* ]]
}

# osv NAME VERSION: a database that knows one critical vulnerability, fixed in this version.
osv() {
	cat >osv.json <<-JSON
		{"id": "DEBIAN-CVE-2026-0001", "modified": "2026-11-01T00:00:00Z", "upstream": ["CVE-2026-0001"],
		 "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
		 "affected": [{"package": {"ecosystem": "Debian:$(sed -n 's/^VERSION_ID="\(.*\)"$/\1/p' /etc/os-release)", "name": "$1"},
		               "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "$2"}]}]}]}
	JSON
}

@test "trust: a finding that is too severe is refused, and so is a database that says nothing" {
	grep -q '^ID=debian' /etc/os-release || skip "this machine's packages are not Debian's"
	make_spec image.yaml "repository: $REG/team/app" "platforms: [linux/amd64]" 'sbom: true'
	sed -i "s|^    - name: data|    - {name: program, closure: [/bin/true]}\n&|" image.yaml
	"$SLIPWAY" build -f image.yaml --push --progress none -o out >build.out 2>&1
	fleet "vulnerabilities: {severity: high, db: [osv.json]}"
	refused "osv.json"
	osv glibc 9:1
	refused "1 finding of severity HIGH or worse, as CVE-2026-0001 in libc6 "
	fleet "vulnerabilities: {severity: high, db: [osv.json], vex: [vex.json]}"
	cat >vex.json <<-'JSON'
		{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "x", "author": "a", "timestamp": "2026-11-01T00:00:00Z", "version": 1,
		 "statements": [{"vulnerability": {"name": "CVE-2026-0001"}, "products": [{"@id": "pkg:deb/debian/libc6"}],
		                 "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path"}]}
	JSON
	deploy
	fleet "vulnerabilities: {severity: high, db: [osv.json]}"
	osv glibc 1
	deploy
}

@test "trust: every image of the job's pods is looked at, and a tag is pinned" {
	image "${FULL[@]}"
	helper=$("$SLIPWAY" push --progress none out "$REG/team/helper:v1" | digest_line)
	fleet "keys: [k.pub]"
	sed -i "s|^job: .*|job: {nodes: 1, scheduler: job, user: 1000, group: 1000, init: [{name: wait, image: \"$REG/team/helper:v1\", command: [run]}]}|" slipway.yaml
	refused "$REG/team/helper:v1@$helper: it is not signed"
	"$SLIPWAY" sign --key k.pem --progress none "$REG/team/helper:v1" >/dev/null
	deploy >said
	grep -q "^trust       $REG/team/helper:v1@$helper: keys$" said
	objects 'json.dumps(d)' | grep -qF "\"$REG/team/helper:v1@$helper\""
	run ! grep -qF "\"$REG/team/helper:v1\"" "$FAKEKUBE/objects.json"
	# By a patch as well.
	cat >>slipway.yaml <<-YAML
		patches:
		  - kind: Job
		    name: "*"
		    json: [{op: add, path: /spec/template/spec/containers/-, value: {name: extra, image: "$REG/team/third:v1"}}]
	YAML
	run deploy
	[ "$status" -eq 3 ]
	[[ $output == *"trust: $REG/team/third:v1: "* ]]
}

@test "trust: a dry run says what would be refused, and shows the rest" {
	image
	fleet "keys: [k.pub]"
	run deploy --dry-run=client
	[ "$status" -eq 3 ]
	[[ $output == *"it is not signed"* && $output == *"jobs        Job sample-g5"* ]]
	[ ! -e "$FAKEKUBE/calls" ]
	run deploy --diff
	[ "$status" -eq 3 ]
	[[ $output == *"it is not signed"* && $output == *"create Job sample/sample-g5"* ]]
	[ ! -e "$FAKEKUBE/objects.json" ]
}

@test "trust: a former run is brought back only when its images are trusted still" {
	image "${FULL[@]}"
	fleet "keys: [k.pub]"
	deploy
	deploy --set job.grace=77
	fleet "keys: [other.pub]"
	before=$(wc -l <"$FAKEKUBE/calls")
	run "$SLIPWAY" rollback --progress none
	[ "$status" -eq 3 ]
	[[ $output == *"it is not signed by 'other.pub'"* ]]
	run ! grep -qE ' (apply|create|delete|replace|patch) ' <(tail -n "+$((before + 1))" "$FAKEKUBE/calls")
	fleet "keys: [k.pub]"
	"$SLIPWAY" rollback --progress none
}

@test "trust: the deploy in the cluster runs what was looked at here" {
	image "${FULL[@]}"
	fleet "keys: [k.pub]"
	sed -i "s|^fleet:|&\n  failover: {image: \"$REG/deployer@$DIGEST\"}|" slipway.yaml
	deploy --in-cluster
	objects '[v for k, v in d.items() if k.endswith("|sample-deploy") and k.startswith("jobs")][0]' >job.out
	grep -qF "'trust=[]'" job.out
	grep -qF "job.digest=$DIGEST" job.out
	"$SLIPWAY" push --progress none out "$REG/team/helper:v1" >/dev/null
	"$SLIPWAY" sign --key k.pem --progress none "$REG/team/helper:v1" >/dev/null
	sed -i "s|^job: .*|job: {nodes: 1, scheduler: job, user: 1000, group: 1000, init: [{name: wait, image: \"$REG/team/helper:v1\", command: [run]}]}|" slipway.yaml
	refused "it is named by a tag" --in-cluster
}

@test "verify: --trust holds an image against the spec's rules" {
	image "${FULL[@]}"
	fleet "keys: [k.pub]" "sbom: true"
	run "$SLIPWAY" verify --trust slipway.yaml --progress none "$REG/team/app:v1"
	[ "$status" -eq 0 ]
	[ "$(digest_line <<<"$output")" = "$DIGEST" ]
	[[ $output == *"1 rule is met: keys, sbom"* ]]
	fleet "keys: [other.pub]"
	run "$SLIPWAY" verify --trust slipway.yaml --output json "$REG/team/app:v1"
	[ "$status" -eq 3 ]
	[[ $output == *'"asked":'*'"keys"'* ]]
	run "$SLIPWAY" verify --trust slipway.yaml --key k.pub "$REG/team/app:v1"
	[ "$status" -eq 2 ]
	run "$SLIPWAY" verify --trust image.yaml "$REG/team/app:v1"
	[ "$status" -eq 2 ]
}

@test "trust: cosign reads the provenance that push signs, and what cosign attests counts" {
	COSIGN=$ROOT/${BUILD:-build}/judges/cosign
	if [[ ! -x $COSIGN ]]; then
		[[ ${SLIPWAY_TEST_REQUIRE:-} != *cosign* ]]
		skip "cosign is not built: tests/judges/build build/judges"
	fi
	image "${FULL[@]}"
	for digest in $DIGEST $("$SLIPWAY" inspect --output json "$REG/team/app:v1" | json '" ".join(i["digest"] for i in d["images"])'); do
		"$COSIGN" verify-attestation --key k.pub --insecure-ignore-tlog=true --allow-insecure-registry \
			--type slsaprovenance1 "$REG/team/app@$digest" >attested.out 2>&1
		grep -q '"payload"' attested.out
	done
	# An image without: cosign says who built it.
	echo changed >tree/share/a.txt
	image 'sign: {key: k.pem}'
	fleet "keys: [k.pub]" "provenance: https://ci.example.com/builder"
	refused "has no provenance that 'k.pub' has signed"
	echo '{"buildDefinition": {"buildType": "x", "externalParameters": {}}, "runDetails": {"builder": {"id": "https://ci.example.com/builder"}}}' >predicate.json
	for digest in $("$SLIPWAY" inspect --output json "$REG/team/app:v1" | json '" ".join(i["digest"] for i in d["images"])'); do
		COSIGN_PASSWORD=pw "$COSIGN" import-key-pair --key k.pem --output-key-prefix imported >/dev/null 2>&1 || true
		COSIGN_PASSWORD=pw "$COSIGN" attest --yes --key imported.key --use-signing-config=false --tlog-upload=false \
			--allow-insecure-registry --type slsaprovenance1 --predicate predicate.json "$REG/team/app@$digest" >attest.out 2>&1
	done
	deploy
}
