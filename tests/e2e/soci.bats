#!/usr/bin/env bats
# What lets nodes start sooner: image.soci, an index of the layers' contents beside the image; large layers in parts.

load lib

setup() {
	common_setup
	mkdir -p tree
	head -c 11000000 /dev/urandom >tree/noise
	seq 1 1200000 >tree/numbers
}
teardown() { common_teardown; }

build() { "$SLIPWAY" build --progress none --no-check "$@"; }

blob() { cat "$1/blobs/sha256/${2#sha256:}"; }

# soci_of LAYOUT: the digest of the first SOCI index in a layout's image.
soci_of() {
	blob "$1" "$(root_of "$1")" |
		json '[m["digest"] for m in d["manifests"] if m.get("artifactType") == "application/vnd.amazon.soci.index.v2+json"][0]'
}

# judged LAYOUT: each zTOC of the layout is the one that SOCI's own builder makes of its layer.
judged() {
	local layer span ztoc
	judge_needed ztoc
	while read -r layer span ztoc; do
		[[ $("$JUDGES/ztoc" "$1/blobs/sha256/${layer#sha256:}" "$span" slipway) == "$ztoc" ]]
	done < <(blob "$1" "$(soci_of "$1")" | json '"\n".join(" ".join([l["annotations"]["com.amazon.soci.image-layer-digest"],
		l["annotations"]["com.amazon.soci.span-size"], l["digest"]]) for l in d["layers"])')
}

@test "soci: the image's manifest names the index, which stands behind all images" {
	make_spec slipway.yaml 'soci: true'
	build -o image
	blob image "$(root_of image)" >index.json
	[[ $(json '[m.get("artifactType", "image") for m in d["manifests"]].index("application/vnd.amazon.soci.index.v2+json")' <index.json) == 2 ]]
	soci=$(soci_of image)
	blob image "$(json 'd["manifests"][0]["digest"]' <index.json)" >manifest.json
	[[ $(json 'd["annotations"]["com.amazon.soci.index-digest"]' <manifest.json) == "$soci" ]]
	[[ $(json 'd["layers"][0]["mediaType"]' <manifest.json) == *tar+gzip ]]
	[[ $(json 'd["manifests"][2]["annotations"]["com.amazon.soci.image-manifest-digest"]' <index.json) == \
		"$(json 'd["manifests"][0]["digest"]' <index.json)" ]]
	blob image "$soci" >soci.json
	[[ $(json '[l["annotations"]["com.amazon.soci.image-layer-digest"] for l in d["layers"]]' <soci.json) == \
		"$(json '[l["digest"] for l in d["layers"]]' <manifest.json)" ]]
	"$SLIPWAY" verify --progress none image
	judged image
}

@test "soci: packed anew, remembered or read from a cached layer, the index is the same" {
	make_spec slipway.yaml 'compression: gzip'
	build -o plain
	fresh=$(build --no-cache --set image.soci=true -o fresh | digest_line)
	read=$(build --set image.soci=true -o read | digest_line)
	remembered=$(build --set image.soci=true -o remembered | digest_line)
	[[ $fresh == "$read" && $fresh == "$remembered" ]]
	[[ $(soci_of fresh) == $(soci_of read) ]]
}

@test "soci: small layers have none, and the build says so" {
	rm tree/noise
	make_spec slipway.yaml 'soci: true'
	run "$SLIPWAY" build --progress plain --no-check -o image
	[[ $status == 0 && $output == *'has no SOCI index: none of its layers is a gzip layer of 10 MiB or more'* ]]
	[[ $(blob image "$(root_of image)" | json 'len(d["manifests"])') == 2 ]]
}

@test "soci: layers of another codec are refused" {
	make_spec slipway.yaml 'soci: true' 'compression: zstd:3'
	run "$SLIPWAY" build -o image
	[[ $status == 3 && $output == *'image.soci needs gzip layers'* && $output == *'write compression: gzip'* ]]
}

@test "soci: a base's layers are indexed too, in a sparse build as in a whole one" {
	start_registry
	make_spec base.yaml 'compression: gzip' "repository: $REG/team/base"
	build -f base.yaml -o base --insecure --push >/dev/null
	mkdir small && echo own >small/file
	make_spec app.yaml 'soci: true' "base: $REG/team/base:v1"
	sed -i 's/from: tree/from: small/' app.yaml
	whole=$(build -f app.yaml -o whole --insecure | digest_line)
	sparse=$(build -f app.yaml -o sparse --insecure --sparse --no-cache | digest_line)
	[[ $whole == "$sparse" ]]
	[[ $(blob whole "$(soci_of whole)" | json 'len(d["layers"])') == 1 ]]
	judged whole
}

@test "pull plan: a large layer comes in parts, and a large image says how large its largest is" {
	mkdir big
	for i in {1..36}; do mkdir "big/$i" && truncate -s 30M "big/$i/file"; done
	make_spec slipway.yaml 'platforms: [linux/amd64]'
	sed -i 's/from: tree/from: big/' slipway.yaml
	build --no-cache --output json -o parts >built.json
	(($(json 'len(d["images"][0]["layers"])' <built.json) > 3))
	[[ $(json 'd["images"][0]["largest_layer"] == max(l["size"] for l in d["images"][0]["layers"])' <built.json) == True ]]
	build --no-cache --output json --set image.layers='[{name: data, split: 2GiB, files: [{from: big, to: /opt}]}]' -o one >built.json
	[[ $(json 'len(d["images"][0]["layers"])' <built.json) == 1 ]]
	head -c 70000000 /dev/urandom >tree/noise
	sed -i 's/from: big/from: tree/' slipway.yaml
	run build --set image.compression=none -o noise
	[[ $output == *'largest layer 100 % of the bytes: nodes would pull faster with it in parts'* ]]
}

@test "soci: pushed whole or in parts, the index is in the registry" {
	start_registry
	make_spec slipway.yaml 'soci: true' "repository: $REG/team/app"
	whole=$(build -o whole --insecure --push | digest_line)
	soci=$(soci_of whole)
	curl -fsS -H 'Accept: application/vnd.oci.image.manifest.v1+json' "http://$REG/v2/team/app/manifests/$soci" >soci.json
	[[ $(json 'd["config"]["mediaType"]' <soci.json) == application/vnd.amazon.soci.index.v2+json ]]
	curl -fsS -o ztoc "http://$REG/v2/team/app/blobs/$(json 'd["layers"][0]["digest"]' <soci.json)"
	[[ sha256:$(sha256sum <ztoc | cut -d ' ' -f 1) == "$(json 'd["layers"][0]["digest"]' <soci.json)" ]]
	for arch in arm64 amd64; do
		build --insecure -o "part-$arch" --platform "linux/$arch" --push-by-digest --result-file "$arch.json" \
			--set image.layers=['{name: data, share: false, files: [{from: tree, to: /opt/sample}]}'] >/dev/null
	done
	joined=$("$SLIPWAY" index create --progress none --insecure "$REG/team/app:joined" arm64.json amd64.json | digest_line)
	[[ $joined == "$whole" ]]
}
