#!/usr/bin/env bats
# A registry that misbehaves: every fault ends in a complete push or a clear error, and no credential goes
# to another host.

load lib
setup() {
	common_setup
	make_tree tree
	head -c 300000 /dev/urandom >tree/share/deep/noise
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >/dev/null
	mkdir docker
}
teardown() { common_teardown; }

login() { printf '{"auths":{"%s":{"auth":"%s"}}}' "$REG" "$(printf user:secret | base64)" >docker/config.json; }
push() { "$SLIPWAY" push --progress plain --insecure image "$REG/app:v1"; }
complete() { "$SLIPWAY" verify --progress none --insecure "$REG/app:v1" >/dev/null; }
other_saw_credentials() { grep '"port": "other"' "$REGLOG" | grep -vq '"auth": ""'; }

@test "faults: a connection cut after k bytes of an upload is taken up in a new session" {
	for k in 0 1 100000; do
		FAULTS="[{\"method\":\"PUT\",\"path\":\"blobs/uploads\",\"do\":{\"cut_request\":$k}}]" start_faultreg
		run push
		[ "$status" -eq 0 ]
		[[ $output == *"trying again"* ]]
		complete
	done
}

@test "faults: 429 with Retry-After in seconds and as a date" {
	date=$(LC_ALL=C TZ=GMT date -d '+1 second' '+%a, %d %b %Y %H:%M:%S GMT')
	FAULTS="[{\"method\":\"POST\",\"path\":\"uploads\",\"do\":{\"status\":429,\"headers\":{\"Retry-After\":\"1\"}}},
	         {\"method\":\"PUT\",\"path\":\"manifests\",\"do\":{\"status\":429,\"headers\":{\"Retry-After\":\"$date\"}}}]" start_faultreg
	run push
	[ "$status" -eq 0 ]
	[[ $output == *"429"*"trying again in 1.0 s"* ]]
	complete
}

@test "faults: 500, 502, 503 and 504 are tried again" {
	FAULTS='[{"method":"POST","do":{"status":500}},{"method":"PUT","path":"blobs","do":{"status":502}},
	         {"method":"HEAD","do":{"status":503}},{"method":"PUT","path":"manifests","do":{"status":504}}]' start_faultreg
	push
	complete
}

@test "faults: a server that stays broken exits 5" {
	FAULTS='[{"times":1000,"do":{"status":503}}]' start_faultreg
	run "$SLIPWAY" push --progress none --insecure --retries 2 image "$REG/app:v1"
	[ "$status" -eq 5 ]
	[[ $output == *"gave up"* ]]
}

@test "faults: nobody listening exits 5" {
	run "$SLIPWAY" push --progress none --insecure --retries 1 image 127.0.0.1:1/app:v1
	[ "$status" -eq 5 ]
}

@test "faults: 401 in the middle of a push is answered with a new token" {
	FAULTS='[{"method":"PUT","path":"blobs","do":{"status":401,"headers":{"WWW-Authenticate":"Basic realm=x"}}}]' \
		start_faultreg --auth basic
	login
	push
	complete_with_login() { "$SLIPWAY" verify --progress none --insecure "$REG/app:v1"; }
	complete_with_login
}

@test "faults: a manifest stored under another digest is refused" {
	FAULTS='[{"method":"PUT","path":"manifests","do":{"header":{"Docker-Content-Digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}}}]' start_faultreg
	run push
	[ "$status" -eq 1 ]
	[[ $output == *"another digest"* ]]
}

@test "faults: relative and absolute Locations are followed" {
	for style in relative absolute; do
		FAULTS="[{\"method\":\"POST\",\"times\":100,\"do\":{\"location\":\"$style\"}}]" start_faultreg --auth basic
		login
		push
	done
}

@test "faults: an upload to another host carries no credentials" {
	FAULTS='[{"method":"POST","times":100,"do":{"location":"other"}}]' start_faultreg --auth basic
	login
	push
	grep -q '"port": "other", "method": "PUT"' "$REGLOG"
	run ! other_saw_credentials
}

@test "faults: a blob behind a redirect to another host is pulled without credentials" {
	FAULTS='[{"method":"GET","path":"blobs","times":100,"do":{"redirect":"other"}}]' start_faultreg --auth basic
	login
	push
	complete
	grep -q '"port": "other", "method": "GET"' "$REGLOG"
	run ! other_saw_credentials
}

@test "faults: a mount that is refused falls back to an upload" {
	start_faultreg
	"$SLIPWAY" push --progress none --insecure image "$REG/base:v1" >/dev/null
	kill "${PIDS[-1]}"
	for fault in '{"no_mount":true}' '{"status":500}' '{"status":403}'; do
		FAULTS="[{\"method\":\"POST\",\"path\":\"mount=\",\"times\":9,\"do\":$fault}]" start_faultreg
		"$SLIPWAY" push --progress none --insecure image "$REG/base:v1" >/dev/null
		make_spec app.yaml "base: $REG/base:v1"
		sed -i 's#/opt/sample#/opt/app#' app.yaml
		"$SLIPWAY" build --progress none --insecure -f app.yaml -o app >/dev/null
		"$SLIPWAY" push --progress plain --insecure --retries 1 app "$REG/app:v1" 2>said | digest_line
		complete
		# A mount that is not granted is an answer, and no failure.
		run ! grep ': failed' said
	done
}

@test "faults: a pull that is cut goes on where it stopped" {
	FAULTS='[{"method":"GET","path":"blobs","times":2,"do":{"cut_response":1000}}]' start_faultreg
	push
	run "$SLIPWAY" verify --progress plain --insecure "$REG/app:v1"
	[ "$status" -eq 0 ]
	grep -q '"range": "bytes=1' "$REGLOG"
}

@test "faults: a corrupt blob is refused by its digest" {
	FAULTS='[{"method":"GET","path":"blobs","times":100,"do":{"corrupt":true}}]' start_faultreg
	push
	run "$SLIPWAY" verify --progress none --insecure "$REG/app:v1"
	[ "$status" -ne 0 ]
	[[ $output == *"digest"* ]]
}

@test "faults: a slow peer is waited for" {
	FAULTS='[{"method":"GET","path":"blobs","times":1,"do":{"slow":400000}}]' start_faultreg
	push
	complete
}

@test "faults: an HTML page in place of an error is no crash" {
	FAULTS='[{"method":"POST","times":9,"do":{"status":403,"headers":{"Content-Type":"text/html"},"body":"<html>blocked by proxy</html>"}}]' start_faultreg
	run push
	[ "$status" -eq 4 ]
	[[ $output == *"403"* ]]
}

@test "faults: a manifest over 4 MiB and garbage JSON are refused" {
	start_faultreg
	push >/dev/null
	kill "${PIDS[-1]}"
	FAULTS='[{"method":"GET","path":"manifests","times":9,"do":{"status":200,"headers":{"Content-Type":"application/vnd.oci.image.index.v1+json"},"body":"{\"schemaVersion\":2,"}},
	         {"method":"HEAD","path":"manifests","times":9,"do":{"status":200,"headers":{"Content-Type":"application/vnd.oci.image.index.v1+json","Content-Length":"5000000","Docker-Content-Digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}}}]' start_faultreg
	run "$SLIPWAY" inspect --insecure "$REG/app:v1"
	[ "$status" -eq 1 ]
}

@test "faults: an answer that gets lost after the work was done is no failure" {
	# The registry has the manifest, the client does not know: sent again, it is the same manifest.
	FAULTS='[{"method":"PUT","path":"manifests","times":2,"do":{"drop":true}},
	         {"method":"PUT","path":"uploads","do":{"drop":true}}]' start_faultreg
	push
	complete
}

@test "faults: every request of a push may lose its connection once" {
	start_faultreg
	push >/dev/null
	total=$(wc -l <"$REGLOG")
	kill "${PIDS[-1]}"
	for ((n = 0; n < total; n++)); do
		FAULTS="[{\"skip\":$n,\"do\":{\"drop\":true}}]" start_faultreg
		push 2>/dev/null
		complete
		kill "${PIDS[-1]}"
	done
	[ "$total" -gt 5 ]
}

@test "faults: an upload session that is gone is begun again" {
	FAULTS='[{"method":"PUT","path":"uploads","do":{"status":404,"body":"{\"errors\":[{\"code\":\"BLOB_UPLOAD_UNKNOWN\"}]}"}}]' start_faultreg
	push
	complete
}

@test "faults: a pull whose server knows no ranges begins again" {
	FAULTS='[{"method":"GET","path":"blobs","times":2,"do":{"cut_response":1000}},
	         {"method":"GET","path":"blobs","times":9,"do":{"no_range":true}}]' start_faultreg
	push
	complete
}

@test "faults: redirects in a circle end" {
	FAULTS='[{"method":"GET","path":"blobs","times":999,"do":{"redirect":"self"}}]' start_faultreg
	push
	run timeout 90 "$SLIPWAY" verify --progress none --insecure --retries 1 "$REG/app:v1"
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	[[ $output == *"redirect"* ]]
}

@test "faults: a redirect to a file or to the machine's own metadata service is refused" {
	printf 'planted\n' >private
	for to in "file://$PWD/private" 'http://169.254.169.254/latest/meta-data/'; do
		FAULTS="[{\"method\":\"GET\",\"path\":\"blobs\",\"times\":999,\"do\":{\"redirect\":\"$to\"}}]" start_faultreg
		push
		run timeout 90 "$SLIPWAY" verify --progress none --insecure --retries 0 "$REG/app:v1"
		[ "$status" -ne 0 ]
		[ "$status" -ne 124 ]
		[[ $output != *planted* ]]
		kill "${PIDS[-1]}"
	done
}

@test "faults: a permission that is denied exits 4, a bad request exits 1, neither is tried again" {
	for case in 403:DENIED:4 400:MANIFEST_INVALID:1; do
		IFS=: read -r code name want <<<"$case"
		FAULTS="[{\"method\":\"PUT\",\"path\":\"manifests\",\"times\":999,\"do\":{\"status\":$code,\"body\":\"{\\\"errors\\\":[{\\\"code\\\":\\\"$name\\\",\\\"message\\\":\\\"not you\\\"}]}\"}}]" start_faultreg
		run push
		[ "$status" -eq "$want" ]
		[[ $output == *"not you"* ]]
		[[ $output != *"trying again"* ]]
		kill "${PIDS[-1]}"
	done
}

@test "faults: what a server says reaches the terminal without its control bytes" {
	FAULTS='[{"method":"POST","times":9,"do":{"status":403,"body":"{\"errors\":[{\"code\":\"DENIED\",\"message\":\"a\\u001b[31mb\\u0007\"}]}"}}]' start_faultreg
	run push
	[ "$status" -eq 4 ]
	[[ $output == *DENIED* || $output == *denied* || $output == *403* ]]
	[[ $output != *$'\e'* && $output != *$'\a'* ]]
}

@test "faults: a Warning header is shown" {
	FAULTS='[{"times":99,"do":{"header":{"Warning":"299 - \"this registry closes soon\""}}}]' start_faultreg
	run push
	[ "$status" -eq 0 ]
	[ "$(grep -c 'this registry closes soon' <<<"$output")" -eq 1 ]
}

@test "faults: an absurd Retry-After is not waited for" {
	FAULTS='[{"method":"POST","do":{"status":429,"headers":{"Retry-After":"99999999999999999999"}}},
	         {"method":"HEAD","do":{"status":503,"headers":{"Retry-After":"-5"}}},
	         {"method":"PUT","do":{"status":503,"headers":{"Retry-After":"soon"}}}]' start_faultreg
	run timeout 90 "$SLIPWAY" push --progress none --insecure --retries 1 image "$REG/app:v1"
	[ "$status" -eq 0 ] || [ "$status" -eq 5 ]
}

@test "faults: a manifest that turns out to have 5 MiB is refused" {
	FAULTS='[{"method":"GET","path":"manifests","times":9,"do":{"status":200,"headers":{"Content-Type":"application/vnd.oci.image.index.v1+json"},"body":"{}","fill":5242880}}]' start_faultreg
	push >/dev/null
	run "$SLIPWAY" inspect --insecure "$REG/app:v1"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"the reply is larger than 4194304 bytes"* ]]
}

@test "faults: a manifest with another content than its digest is refused" {
	start_faultreg
	push >/dev/null
	digest=$(root_of oci:image)
	kill "${PIDS[-1]}"
	FAULTS='[{"method":"GET","path":"manifests/sha256","times":99,"do":{"corrupt":true}}]' start_faultreg
	push >/dev/null
	run "$SLIPWAY" inspect --insecure "$REG/app@$digest"
	[ "$status" -eq 1 ]
	[[ $output == *"digest"* ]]
}

@test "faults: garbage from the token server is a clear error" {
	for body in '' '<html>' '[]' '{\"token\":5}' '{\"token\":\"\"}'; do
		FAULTS="[{\"path\":\"^/token\",\"times\":99,\"do\":{\"status\":200,\"body\":\"$body\"}}]" start_faultreg --auth bearer
		login
		run "$SLIPWAY" push --progress none --insecure --retries 1 image "$REG/app:v1"
		[ "$status" -ne 0 ]
		[ "$status" -lt 6 ]
		[[ $output == *"error:"* && $output != *secret* ]]
		kill "${PIDS[-1]}"
	done
}

@test "faults: a token server on another host gets no credentials" {
	FAULTS='[{"path":"/v2/app","times":99,"do":{"status":401,"headers":{"WWW-Authenticate":"Bearer realm=\"http://10.0.0.1/token\",service=\"x\""}}}]' start_faultreg
	login
	run "$SLIPWAY" push --progress none --insecure image "$REG/app:v1"
	[ "$status" -eq 4 ]
	[[ $output == *"private address"* ]]
}
