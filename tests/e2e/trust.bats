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

# put_referrer SUBJECT TYPE FILE: attaches a document by HTTP alone, as anybody who may push can.
put_referrer() {
	REPO=http://$REG/v2/team/app python3 - "$@" <<-'PYTHON'
		import hashlib, json, os, sys, urllib.request
		subject, kind, path = sys.argv[1:]
		repo, manifest_type = os.environ["REPO"], "application/vnd.oci.image.manifest.v1+json"
		index_type = "application/vnd.oci.image.index.v1+json"
		def send(method, url, data, kind="application/octet-stream"):
		    return urllib.request.urlopen(urllib.request.Request(url, data, {"Content-Type": kind}, method=method)).headers
		def digest(data): return "sha256:" + hashlib.sha256(data).hexdigest()
		def blob(data):
		    where = send("POST", repo + "/blobs/uploads/", b"")["Location"]
		    send("PUT", where + ("&" if "?" in where else "?") + "digest=" + digest(data), data)
		    return {"digest": digest(data), "size": len(data)}
		def put(doc, name=None, kind=manifest_type):
		    data = json.dumps(doc).encode()
		    send("PUT", repo + "/manifests/" + (name or digest(data)), data, kind)
		    return {"mediaType": kind, "digest": digest(data), "size": len(data)}
		made = put({"schemaVersion": 2, "mediaType": manifest_type, "artifactType": kind,
		            "config": {"mediaType": "application/vnd.oci.empty.v1+json", **blob(b"{}")},
		            "layers": [{"mediaType": kind, **blob(open(path, "rb").read())}],
		            "subject": {"mediaType": manifest_type, "digest": subject, "size": 1}})
		tag = subject.replace(":", "-")
		try:
		    old = json.load(urllib.request.urlopen(urllib.request.Request(repo + "/manifests/" + tag, headers={"Accept": index_type})))
		except urllib.error.HTTPError:
		    old = {"schemaVersion": 2, "mediaType": index_type, "manifests": []}
		old["manifests"].append({**made, "artifactType": kind})
		put(old, tag, index_type)
	PYTHON
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

# first_child: the digest of the first platform's manifest
first_child() { "$SLIPWAY" inspect --output json "$REG/team/app:v1" | json 'd["images"][0]["digest"]'; }

@test "trust: a bill of materials that the rule's keys have not signed does not count, whoever attached it" {
	image "platforms: [linux/amd64]" 'sign: {key: k.pem}'
	first=$(first_child)
	fleet "keys: [k.pub]" "sbom: true"
	# A document that anybody with the right to push attaches.
	"$SLIPWAY" sbom "$REG/team/app:v1" >spdx.json 2>/dev/null
	put_referrer "$first" application/spdx+json spdx.json
	"$SLIPWAY" sbom "$REG/team/app:v1" 2>/dev/null | cmp - spdx.json
	refused "has no bill of materials that 'k.pub' has signed"
	[[ $output == *"slipway sign --sbom --key KEY"* ]]
	# Without keys it is there to be read.
	fleet "sbom: true"
	deploy >said
	grep -q "sbom$" said
	# Signed by another key, and by the right one.
	"$SLIPWAY" sign --key other.pem --sbom --progress none "$REG/team/app:v1" >/dev/null
	fleet "keys: [k.pub]" "sbom: true"
	refused "it is signed by another key"
	run "$SLIPWAY" verify --key k.pub --sbom --progress none "$REG/team/app:v1"
	[ "$status" -eq 3 ]
	[[ $output == *"it is signed by another key"*"has signed no bill of materials of $first"* ]]
	run "$SLIPWAY" sbom --key k.pub "$REG/team/app:v1"
	[ "$status" -eq 3 ]
	"$SLIPWAY" sign --key k.pem --sbom "$REG/team/app:v1" 2>&1 | grep -q "bill of materials: 1 signed, 0 already there"
	"$SLIPWAY" sign --key k.pem --sbom "$REG/team/app:v1" 2>&1 | grep -q "bill of materials: 0 signed, 1 already there"
	deploy
	"$SLIPWAY" sbom --key k.pub "$REG/team/app:v1" | cmp - spdx.json
	"$SLIPWAY" verify --key k.pub --sbom --progress none "$REG/team/app:v1" | grep -q "^  spdx of $first, bundle sha256:"
	# The keys of provenance go first, and each of several has to vouch for the same document.
	fleet "keys: [k.pub]" "sbom: true" "provenance: {builder: x, keys: [k.pub, other.pub]}"
	refused "has no provenance that 'k.pub' has signed"
	[[ $output != *"bill of materials"* ]]
	# Of two documents nobody can say which one is meant.
	sed 's/"name":"[^"]*"/"name":"forged"/' spdx.json >forged.json
	put_referrer "$first" application/spdx+json forged.json
	run "$SLIPWAY" sign --key k.pem --sbom --progress none "$REG/team/app:v1"
	[ "$status" -eq 3 ]
	[[ $output == *"2 spdx documents are attached to $first: which one is vouched for?"* ]]
	# What counts is what was signed before.
	fleet "keys: [k.pub]" "sbom: true"
	deploy
	"$SLIPWAY" sbom --key k.pub "$REG/team/app:v1" | cmp - spdx.json
}

@test "trust: every forged bill of materials is refused, with its reason, and severity is judged by a signed one" {
	local n=0 forgery words
	grep -q '^ID=debian' /etc/os-release || skip "this machine's packages are not Debian's"
	make_spec image.yaml "repository: $REG/team/app" "platforms: [linux/amd64]" 'sbom: {formats: [spdx]}'
	sed -i "s|^    - name: data|    - {name: program, closure: [/bin/true]}\n&|" image.yaml
	"$SLIPWAY" build -f image.yaml --push --progress none -o out >build.out 2>&1
	osv glibc 9:1
	# The attached document names a package with a finding; a signed one that has none is not believed by its looks.
	fleet "vulnerabilities: {severity: high, db: [osv.json]}" "keys: [k.pub]"
	"$SLIPWAY" sign --key k.pem --progress none "$REG/team/app:v1" >/dev/null
	refused "linux/amd64 has no bill of materials that the key has signed"
	"$SLIPWAY" sign --key k.pem --sbom --progress none "$REG/team/app:v1" >/dev/null
	refused "1 finding of severity HIGH or worse, as CVE-2026-0001 in libc6 "
	run "$SLIPWAY" scan --db osv.json --key k.pub "$REG/team/app:v1"
	[ "$status" -eq 3 ]
	[[ $output == *CVE-2026-0001* ]]
	run "$SLIPWAY" scan --db osv.json --key other.pub "$REG/team/app:v1"
	[ "$status" -eq 3 ]
	[[ $output == *"no bill of materials that the key has signed"* ]]
	echo changed >tree/share/a.txt
	image "platforms: [linux/amd64]"
	first=$(first_child)
	fleet "provenance: {builder: x, keys: [k.pub]}" "sbom: true"
	while IFS=$'\t' read -r forgery words; do
		"$ROOT/tests/servers/forge" "$REG/team/app" "$first" k.pem "$forgery" "$DIGEST"
		if [[ -z $words ]]; then
			"$SLIPWAY" sbom --key k.pub "$REG/team/app:v1" | grep -q '"name":"forged"'
			continue
		fi
		run "$SLIPWAY" verify --trust slipway.yaml --progress none "$REG/team/app:v1"
		if [[ $status != 3 || $output != *"trust.sbom: "*"$words"* ]]; then
			echo "$forgery: status $status: $output"
			return 1
		fi
		n=$((n + 1))
	done < <("$ROOT/tests/servers/forge" --list-sboms)
	[ "$n" -ge 8 ]
}

@test "trust: what is attached is read once, whatever is asked of it" {
	start_faultreg
	image 'sbom: true' 'provenance: true' 'sign: {key: k.pem}'
	fleet "- {keys: [k.pub], provenance: $BUILDER, sbom: true}" "- {keys: [k.pub]}"
	: >"$REGLOG"
	"$SLIPWAY" verify --trust slipway.yaml --progress none "$REG/team/app:v1" >/dev/null
	# The index has a signature and a statement of its provenance, each platform two documents more.
	json_lines() { python3 -c 'import json, sys; [print(r["path"]) for r in map(json.loads, sys.stdin) if r.get("method") == "GET" and "/blobs/" in r.get("path", "")]'; }
	json_lines <"$REGLOG" | sort >blobs
	[ "$(sort -u blobs | wc -l)" -ge 10 ]
	uniq -d blobs
	[ -z "$(uniq -d blobs)" ]
}

@test "trust: a document that no bundle can hold is refused before anything is sent" {
	make_spec image.yaml "repository: $REG/team/app" "platforms: [linux/amd64]" 'sbom: {formats: [spdx]}' 'sign: {key: k.pem}'
	"$SLIPWAY" build -f image.yaml --progress none -o build/image >build.out 2>&1
	first=$("$SLIPWAY" inspect --output json build/image | json 'd["images"][0]["digest"]')
	python3 - "$first" <<-'PYTHON'
		import hashlib, json, os, sys
		def put(data):
		    digest = hashlib.sha256(data).hexdigest()
		    open("build/image/blobs/sha256/" + digest, "wb").write(data)
		    return {"digest": "sha256:" + digest, "size": len(data)}
		index = json.load(open("build/image/index.json"))
		for entry in index["manifests"]:
		    if entry.get("artifactType") != "application/spdx+json":
		        continue
		    manifest = json.load(open("build/image/blobs/sha256/" + entry["digest"][7:]))
		    document = open("build/image/blobs/sha256/" + manifest["layers"][0]["digest"][7:], "rb").read()
		    manifest["layers"][0].update(put(document + b" " * (24 << 20)))
		    entry.update(put(json.dumps(manifest).encode()))
		json.dump(index, open("build/image/index.json", "w"))
	PYTHON
	run "$SLIPWAY" push -f image.yaml --progress none
	[ "$status" -ne 0 ]
	[[ $output == *"the spdx document of linux/amd64 has 25."*"one that is signed has at most"*"files: true"* ]]
	[ "$(curl -s "http://$REG/v2/_catalog" | json 'd["repositories"]')" = "[]" ]
}

@test "trust: what cannot be found out is refused: a registry that is down, a key that is not there, an image of no rule" {
	image "${FULL[@]}"
	fleet "keys: [absent.pub]"
	refused "absent.pub"
	fleet "images: [$REG/other/*]" "keys: [k.pub]"
	refused "no rule of \`trust\` is for it"
	[[ $output == *"- {images: [$REG/team/app], digests: [\"$DIGEST\"]}"* ]]
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
	# One that nobody signs is taken by its digest; what the refusal proposes is the rule.
	"$SLIPWAY" push --progress none --tag v1 out "$REG/others/shell:v1" >/dev/null
	fleet "- {images: [$REG/team/*], keys: [k.pub]}"
	sed -i "s|^job: .*|job: {nodes: 1, scheduler: job, user: 1000, group: 1000, init: [{name: wait, image: \"$REG/others/shell:v1\", command: [run]}]}|" slipway.yaml
	refused "trust: $REG/others/shell:v1: no rule of \`trust\` is for it"
	rule=$(sed -n 's/^.*if you trust that: \(- {.*}\)$/\1/p' <<<"$output")
	echo "  $rule" >>slipway.yaml
	deploy >said
	grep -q "^trust       $REG/others/shell:v1@$helper: digests$" said
	fleet "keys: [k.pub]"
	sed -i "s|^job: .*|job: {nodes: 1, scheduler: job, user: 1000, group: 1000, init: [{name: wait, image: \"$REG/team/helper:v1\", command: [run]}]}|" slipway.yaml
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
	# A bill of materials: cosign reads ours, and takes part in a rule with its own.
	echo again >tree/share/a.txt
	image "${FULL[@]}"
	first=$(first_child)
	for type in spdxjson cyclonedx; do
		"$COSIGN" verify-attestation --key k.pub --insecure-ignore-tlog=true --allow-insecure-registry \
			--type "$type" "$REG/team/app@$first" >attested.out 2>&1
		grep -q '"payload"' attested.out
	done
	echo "and again" >tree/share/a.txt
	image "platforms: [linux/amd64]" 'sign: {key: k.pem}'
	first=$(first_child)
	fleet "keys: [k.pub]" "sbom: true"
	for type in spdxjson cyclonedx; do
		refused "has no bill of materials that 'k.pub' has signed"
		"$SLIPWAY" sbom --format "${type%json}" "$REG/team/app:v1" >sbom.json 2>/dev/null
		COSIGN_PASSWORD=pw "$COSIGN" attest --yes --key imported.key --use-signing-config=false --tlog-upload=false \
			--allow-insecure-registry --type "$type" --predicate sbom.json "$REG/team/app@$first" >attest.out 2>&1
		deploy
		# cosign writes the document anew, with its keys in another order.
		"$SLIPWAY" sbom --format "${type%json}" --key k.pub "$REG/team/app:v1" | json 'd == __import__("json").load(open("sbom.json"))' | grep -qx True
		# Once more without it, in the other form.
		echo "$type" >>tree/share/a.txt
		image "platforms: [linux/amd64]" 'sign: {key: k.pem}'
		first=$(first_child)
	done
}
