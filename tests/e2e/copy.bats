#!/usr/bin/env bats
# slipway copy: images go anywhere with what is attached to them, and keep their digest.

load lib

setup() {
	common_setup
	make_tree tree
}
teardown() { common_teardown; }

copy() { "$SLIPWAY" copy --progress none --insecure "$@"; }

# built NAME: an image of two platforms in the layout NAME; prints its digest.
built() {
	make_spec slipway.yaml "annotations: {copy: $1}"
	"$SLIPWAY" build --progress none --no-check -o "$1" | digest_line
}

# put_blob REPOSITORY FILE: into the registry, by REST; prints the digest.
put_blob() {
	local digest location
	digest=sha256:$(sha256sum <"$2" | cut -d ' ' -f 1)
	location=$(curl -fsS -o /dev/null -D - -X POST "http://$REG/v2/$1/blobs/uploads/" | tr -d '\r' | sed -n 's/^[Ll]ocation: //p')
	curl -fsS -o /dev/null -X PUT -H 'Content-Type: application/octet-stream' --data-binary "@$2" "$location&digest=$digest"
	echo "$digest"
}

# put_manifest REPOSITORY REFERENCE TYPE FILE
put_manifest() {
	curl -fsS -o /dev/null -X PUT -H "Content-Type: $3" --data-binary "@$4" "http://$REG/v2/$1/manifests/$2"
}

# attach REPOSITORY DIGEST SIZE: a referrer as other clients write it, with the list under its tag; prints its digest.
attach() {
	local config layer digest
	printf '{}' >empty.json && printf '{"sbom": true}' >sbom.json
	config=$(put_blob "$1" empty.json)
	layer=$(put_blob "$1" sbom.json)
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/spdx+json","config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"%s","size":2},"layers":[{"mediaType":"application/spdx+json","digest":"%s","size":14}],"subject":{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"%s","size":%s}}' \
		"$config" "$layer" "$2" "$3" >referrer.json
	digest=sha256:$(sha256sum <referrer.json | cut -d ' ' -f 1)
	put_manifest "$1" "$digest" application/vnd.oci.image.manifest.v1+json referrer.json
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"%s","size":%s,"artifactType":"application/spdx+json"}]}' \
		"$digest" "$(stat -c %s referrer.json)" >list.json
	put_manifest "$1" "sha256-${2#sha256:}" application/vnd.oci.image.index.v1+json list.json
	# cosign's older form: a manifest of its own, under a tag.
	sed 's/,"subject".*/}/' referrer.json >signature.json
	put_manifest "$1" "sha256-${2#sha256:}.sig" application/vnd.oci.image.manifest.v1+json signature.json
	echo "$digest"
}

manifest() { curl -fsS -H 'Accept: application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json' "http://$REG/v2/$1/manifests/$2"; }

@test "copy: around by registry, layout and archive, digest and attachments stay" {
	start_registry
	digest=$(built image)
	[[ $(copy oci:image:v1 "$REG/team/app:v1" | digest_line) == "$digest" ]]
	referrer=$(attach team/app "$digest" "$(manifest team/app v1 | wc -c)")

	[[ $(copy "$REG/team/app:v1" oci:here:v1 | digest_line) == "$digest" ]]
	[[ $(copy oci:here:v1 there.tar | digest_line) == "$digest" ]]
	[[ $(copy there.tar "$REG/other/app:v2" | digest_line) == "$digest" ]]
	[[ $(copy "$REG/other/app:v2" "$REG/third/app" | digest_line) == "$digest" ]]

	for repository in other third; do
		manifest $repository/app "$referrer" | cmp - referrer.json
		[[ $(manifest $repository/app "sha256-${digest#sha256:}" | json 'd["manifests"][0]["digest"]') == "$referrer" ]]
		manifest $repository/app "sha256-${digest#sha256:}.sig" | cmp - signature.json
		manifest $repository/app v2 | sha256sum | grep -q "${digest#sha256:}"
	done
	[[ $(root_of oci:here:v1) == "$digest" ]]
	[[ $(copy "$REG/third/app:v2" oci-archive:again.tar | digest_line) == "$digest" ]]
}

# As BuildKit keeps provenance: an entry of the index that is about another entry.
@test "copy: a manifest that an index names and that is attached to another one is both in the copy" {
	start_registry
	built image >/dev/null
	copy --platform linux/amd64 oci:image:v1 "$REG/team/app:amd64" >/dev/null
	manifest team/app amd64 >child.json
	child=sha256:$(sha256sum <child.json | cut -d ' ' -f 1)
	attached=$(attach team/app "$child" "$(stat -c %s child.json)")
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"%s","size":%s,"platform":{"os":"linux","architecture":"amd64"}},{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"%s","size":%s,"platform":{"os":"unknown","architecture":"unknown"}}]}' \
		"$child" "$(stat -c %s child.json)" "$attached" "$(stat -c %s referrer.json)" >index.json
	put_manifest team/app v1 application/vnd.oci.image.index.v1+json index.json
	digest=sha256:$(sha256sum <index.json | cut -d ' ' -f 1)
	[[ $(copy "$REG/team/app:v1" oci:here:v1 | digest_line) == "$digest" ]]
	for from in "$REG/team/app:v1" oci:here:v1; do
		name=copy$((++n))/app
		[[ $(copy "$from" "$REG/$name:v1" | digest_line) == "$digest" ]]
		manifest $name "$attached" | cmp - referrer.json
		[[ $(manifest $name "sha256-${child#sha256:}" | json 'd["manifests"][0]["digest"]') == "$attached" ]]
	done
	[[ $("$SLIPWAY" push --progress none --insecure here "$REG/pushed/app:v1" | digest_line) == "$digest" ]]
	[[ $(manifest pushed/app "sha256-${child#sha256:}" | json 'd["manifests"][0]["digest"]') == "$attached" ]]
}

@test "copy: what is there already is not sent, blobs of the registry are mounted" {
	start_registry
	digest=$(built image)
	copy oci:image:v1 "$REG/team/app:v1" >/dev/null
	copy --output json "$REG/team/app:v1" "$REG/team/promoted:v1" >first.json
	[[ $(json 'd["blobs_uploaded"], d["blobs_mounted"] > 0' <first.json) == '(0, True)' ]]
	: >"$REGLOG"
	copy --output json "$REG/team/app:v1" "$REG/team/promoted:v1" >second.json
	[[ $(json 'd["blobs_uploaded"], d["blobs_mounted"], d["manifests_put"], d["digest"]' <second.json) == "(0, 0, 0, '$digest')" ]]
	run ! grep -E '(POST|PUT|PATCH) /v2/' "$REGLOG"
	run ! grep -E 'GET /v2/[a-z/]*/blobs/' "$REGLOG"
}

@test "copy: an index to which nothing is attached is put once, by its tag" {
	start_registry
	digest=$(built image)
	copy --output json oci:image:v1 "$REG/team/app:v1" >copied.json
	[[ $(json 'd["digest"]' <copied.json) == "$digest" ]]
	[[ $(grep -o '"PUT /v2/team/app/manifests/[^ ]*' "$REGLOG" | grep -vc sha256) == 1 ]]
	run ! grep "PUT /v2/team/app/manifests/$digest" "$REGLOG"
	manifest team/app "$digest" | sha256sum | grep -q "${digest#sha256:}"
}

@test "copy: one that failed leaves no tag, and the next run sends what is missing" {
	start_registry
	digest=$(built image)
	copy oci:image:v1 "$REG/team/app:v1" >/dev/null
	source=$REG
	FAULTS='[{"method":"PUT","path":"manifests","do":{"status":403}}]' start_faultreg
	run copy "$source/team/app:v1" "$REG/team/app:v1"
	[[ $status != 0 ]]
	run ! manifest team/app v1
	copy --output json "$source/team/app:v1" "$REG/team/app:v1" >second.json
	[[ $(json 'd["digest"], d["blobs_uploaded"]' <second.json) == "('$digest', 0)" ]]
	manifest team/app v1 | sha256sum | grep -q "${digest#sha256:}"
}

@test "copy: one platform, all tags, a promised digest" {
	start_registry
	digest=$(built image)
	copy oci:image:v1 "$REG/team/app:v1" >/dev/null
	copy oci:image:v1 "$REG/team/app:v2" >/dev/null
	attach team/app "$digest" "$(manifest team/app v1 | wc -c)" >/dev/null
	arm=$(manifest team/app v1 | json 'd["manifests"][1]["digest"]')
	[[ $(copy --platform linux/arm64 "$REG/team/app:v1" "$REG/arm/app:v1" | digest_line) == "$arm" ]]
	copy --all-tags --output json "$REG/team/app" "$REG/all/app" >all.json
	[[ $(json 'sorted(d["tags"])' <all.json) == "['v1', 'v2']" ]]
	[[ $(curl -fsS "http://$REG/v2/all/app/tags/list" | json 'sorted(t for t in d["tags"] if t[0] == "v")') == "['v1', 'v2']" ]]
	run copy "$REG/team/app:v1" "$REG/team/else:v1@$arm"
	[[ $status != 0 && $output == *"is to have digest $arm, and the source is $digest"* ]]
	run ! manifest team/else v1
	run copy --all-tags "$REG/team/app:v1" "$REG/all/app"
	[[ $status == 2 && $output == *'neither side may name a tag'* ]]
}

@test "copy: docker's archive of one platform, and back" {
	built image >/dev/null
	run copy oci:image:v1 docker-archive:image.tar
	[[ $status == 2 && $output == *'--platform linux/amd64'* ]]
	copy --platform linux/amd64 oci:image:v1 docker-archive:image.tar
	copy docker-archive:image.tar oci:back:v1
	"$SLIPWAY" diff --progress none oci:back:v1 oci:image:v1 >/dev/null || true
	[[ -d back/blobs ]]
}

@test "copy: an archive has what is attached to its image, and a push of it sends that too" {
	start_registry
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out k.pem 2>/dev/null
	openssl pkey -in k.pem -pubout -out k.pub
	make_spec slipway.yaml 'sbom: true'
	digest=$("$SLIPWAY" build --progress none --no-check --format oci-archive -o built.tar | digest_line)
	[[ $("$SLIPWAY" inspect --tree built.tar | grep -c application/spdx+json) == 2 ]]
	copy built.tar oci:image:v1
	"$SLIPWAY" sign --progress none --key k.pem --format bundle --format tag oci:image:v1 >/dev/null
	copy oci:image:v1 signed.tar
	"$SLIPWAY" verify --progress none --key k.pub --recursive signed.tar >/dev/null
	# What belongs to another image stays where it is.
	echo other >tree/share/a.txt
	"$SLIPWAY" build --progress none --no-check --set image.tags='[v2]' --set name=other -o image >/dev/null
	copy oci:image:v2 other.tar
	run ! tar -tf other.tar "blobs/sha256/${digest#sha256:}"
	"$SLIPWAY" push --progress none --insecure --output json signed.tar "$REG/team/app:v1" >pushed.json
	# Two documents and a bundle for each platform, a bundle for the index, a signature under a tag for each of the three.
	[[ $(json 'd["attached"]' <pushed.json) == 10 ]]
	"$SLIPWAY" verify --progress none --key k.pub --recursive "$REG/team/app:v1" >verified
	[[ $(grep -c '^  tag ' verified) == 1 && $(tail -n 1 verified) == "$digest" ]]
	"$SLIPWAY" sbom "$REG/team/app:v1" --platform linux/arm64 | json 'd["spdxVersion"]' | grep -qx SPDX-2.3
}

@test "copy: skopeo reads what was copied" {
	need skopeo
	start_registry
	digest=$(built image)
	copy oci:image:v1 "$REG/team/app:v1" >/dev/null
	[[ $(skopeo inspect --tls-verify=false --raw "docker://$REG/team/app:v1" | sha256sum) == "${digest#sha256:}"* ]]
	skopeo copy --quiet --all --src-tls-verify=false "docker://$REG/team/app:v1" oci:theirs:v1
	copy oci:theirs:v1 "$REG/again/app:v1"
	manifest again/app v1 | sha256sum | grep -q "${digest#sha256:}"
}
