#!/usr/bin/env bats
# What people do with registries, and what registries do: one on this machine without TLS, HEAD that is refused
# or false, indexes in indexes, redirects to where nobody should go; and the AWS CLI's files and habits.

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >/dev/null
}
teardown() { common_teardown; }

push() { "$SLIPWAY" push --progress plain "$@" image "$REG/app:v1"; }
verify() { "$SLIPWAY" verify --progress plain "$@" "$REG/app:v1"; }

# wrap_index LAYOUT: what index.json names becomes an index in an index, beside an artifact and an attestation.
wrap_index() {
	python3 - "$1" <<-'END'
		import hashlib, json, os, sys
		INDEX, MANIFEST = ("application/vnd.oci.image.%s.v1+json" % kind for kind in ("index", "manifest"))
		root = sys.argv[1]
		def put(media_type, doc, **more):
		    data = json.dumps(doc).encode()
		    name = hashlib.sha256(data).hexdigest()
		    with open(os.path.join(root, "blobs/sha256", name), "wb") as file:
		        file.write(data)
		    return {"mediaType": media_type, "digest": "sha256:" + name, "size": len(data), **more}
		with open(os.path.join(root, "index.json")) as file:
		    top = json.load(file)
		named = top["manifests"][0]
		notes = named.pop("annotations", {})
		def manifest(config, **more):
		    return {"schemaVersion": 2, "mediaType": MANIFEST, "config": put(config, {}), "layers": [], **more}
		empty = "application/vnd.oci.empty.v1+json"
		chart = put(MANIFEST, manifest(empty, artifactType="application/vnd.example.chart"))
		told = put(MANIFEST, manifest("application/vnd.in-toto+json"),
		           platform={"os": "unknown", "architecture": "unknown"})
		inner = put(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": [chart, named]})
		outer = put(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": [told, inner]})
		top["manifests"] = [{**outer, "annotations": notes}]
		with open(os.path.join(root, "index.json"), "w") as file:
		    json.dump(top, file)
	END
}

@test "habits: on this machine plain HTTP is used where no TLS is spoken" {
	start_faultreg
	for host in "$REG" "localhost:${REG##*:}"; do
		run "$SLIPWAY" push --progress plain image "$host/app:v1"
		[ "$status" -eq 0 ]
		[[ $output == *"$host does not speak TLS: plain HTTP is used"* ]]
	done
	verify
}

@test "habits: a certificate that is not trusted is no reason for plain HTTP, nor for another try" {
	make_certificate
	start_faultreg --tls cert.pem key.pem
	run push
	[ "$status" -eq 1 ]
	[[ $output == *certificate*"--ca"* && $output != *"trying again"* && $output != *"plain HTTP is used"* ]]
	[ ! -s "$REGLOG" ]
	run push --ca ca.pem
	[ "$status" -eq 0 ]
	[[ $output != *"plain HTTP is used"* ]]
}

@test "habits: any other host has to speak TLS, and is not asked twice" {
	start_faultreg
	run "$SLIPWAY" push --progress plain --connect-to "r.example:443:127.0.0.1:${REG##*:}" image r.example/app:v1
	[ "$status" -eq 1 ]
	[[ $output == *"speak TLS"* && $output != *"trying again"* ]]
	! grep -q '/v2/' "$REGLOG"
}

@test "habits: --retries 0 means none" {
	FAULTS='[{"path":"/v2/app","times":99,"do":{"status":503}}]' start_faultreg
	run push --insecure --retries 0
	[ "$status" -eq 5 ]
	[[ $output == *503* && $output != *"trying again"* && $output != *"gave up"* ]]
}

@test "habits: a HEAD that is refused or false gives way to GET" {
	none=sha256:0000000000000000000000000000000000000000000000000000000000000000
	for fault in '"status":405' '"header":{"Content-Length":"0"}'; do
		FAULTS="[{\"method\":\"HEAD\",\"path\":\"manifests\",\"times\":99,\"do\":{$fault}}]" start_faultreg
		push --insecure
		run verify --insecure
		[ "$status" -eq 0 ]
		[[ $output != *disagree* ]]
		kill "${PIDS[-1]}"
	done
	for fault in '"Content-Length":"77"' "\"Docker-Content-Digest\":\"$none\""; do
		FAULTS="[{\"method\":\"HEAD\",\"path\":\"manifests\",\"times\":99,\"do\":{\"header\":{$fault}}}]" start_faultreg
		push --insecure
		run verify --insecure
		[ "$status" -eq 0 ]
		[[ $output == *"HEAD and GET of manifest 'v1' disagree"* ]]
		kill "${PIDS[-1]}"
	done
}

@test "habits: an index in an index is read, artifacts in it are passed over and named" {
	wrap_index image
	run "$SLIPWAY" verify --progress plain oci:image
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"not checked: 1 attestation and 1 artifact (application/vnd.example.chart)"* ]]
	[[ $output == *"linux/amd64: "*"linux/arm64: "* ]]
}

@test "habits: a base's platform is found through an index in an index" {
	wrap_index image
	mv image base
	sed 's/^  base: .*/  base: oci:base/' slipway.yaml >derived.yaml
	grep -q 'base: oci:base' derived.yaml || sed 's/^image:/image:\n  base: oci:base/' slipway.yaml >derived.yaml
	"$SLIPWAY" build --progress none -f derived.yaml -o derived
	run "$SLIPWAY" inspect --progress none --output json oci:derived
	[ "$status" -eq 0 ]
	[[ $output == *arm64* && $output == *amd64* ]]
}

@test "habits: redirects obey the rule of token servers" {
	for to in https://0xa9fea9fe/latest/meta-data/ https://localhost:1/x http://storage.example/x; do
		FAULTS="[{\"method\":\"GET\",\"path\":\"blobs\",\"times\":99,\"do\":{\"redirect\":\"$to\"}}]" start_faultreg
		push --insecure
		run timeout 90 "$SLIPWAY" verify --progress plain --insecure "$REG/app:v1"
		echo "$to: $output"
		[ "$status" -eq 4 ]
		[[ $output == *"the registry redirects to a "@(private address|host without TLS)* ]]
		[[ $output == *hint:* && $output != *"trying again"* ]]
		kill "${PIDS[-1]}"
	done
}

@test "habits: a build cache that others can write to is refused" {
	mkdir -m 0777 shared
	XDG_CACHE_HOME=$WORK/shared run "$SLIPWAY" build --progress none -o again
	[ "$status" -eq 4 ]
	[[ $output == *"others may write to"*"hint:"*"--no-cache"* ]]
	[ ! -e shared/slipway ]
	XDG_CACHE_HOME=$WORK/shared "$SLIPWAY" build --progress none --no-cache -o again
}

@test "habits: the AWS CLI that is installed reads the recorded files as they were recorded" {
	/usr/bin/python3 -c 'import awscli' 2>/dev/null || skip "awscli is not installed"
	/usr/bin/python3 "$ROOT/tests/servers/aws-judge" "$ROOT/tests/golden/aws-config/cases.json"
}

@test "habits: certificates that are missing do not matter where plain HTTP is spoken" {
	start_faultreg
	AWS_CA_BUNDLE=$WORK/none.pem push --insecure
	AWS_CA_BUNDLE=$WORK/none.pem run "$SLIPWAY" verify --progress none --retries 0 r.example/app:v1
	[ "$status" -ne 0 ]
	[[ $output == *"certificate file '$WORK/none.pem' does not exist"* ]]
}
