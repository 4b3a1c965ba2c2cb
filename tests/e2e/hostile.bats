#!/usr/bin/env bats
# Layouts and archives that someone made to do harm: an error each, no crash, nothing written outside.

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >/dev/null
	# Something else to compare with: equal digests are equal, whatever else the layouts hold.
	cp -r tree changed && echo more >>changed/share/a.txt
	sed 's/from: tree/from: changed/' slipway.yaml >changed.yaml
	"$SLIPWAY" build --progress none -f changed.yaml -o good >/dev/null
}
teardown() { common_teardown; }

# refused COMMAND...: a plain error with a message, soon; neither success nor a signal.
refused() {
	run timeout 90 "$@"
	echo "status $status: $output"
	[ "$status" -ge 1 ]
	[ "$status" -le 5 ]
	[[ $output == *"error:"* ]]
}

# every_reader REF: all commands that read an image.
every_reader() {
	refused "$SLIPWAY" inspect "$1"
	refused "$SLIPWAY" verify --progress none "$1"
	refused "$SLIPWAY" diff "$1" oci:good
}

# change_index EXPRESSION: runs Python on `d`, index.json of ./image.
change_index() {
	python3 - "$1" <<-'EOF'
		import json, sys
		d = json.load(open("image/index.json"))
		exec(sys.argv[1])
		json.dump(d, open("image/index.json", "w"))
	EOF
}

@test "hostile: index.json cut at any length is refused" {
	cp image/index.json whole.json
	size=$(stat -c %s image/index.json)
	for n in 0 1 $((size / 2)) $((size - 2)); do
		head -c "$n" whole.json >image/index.json
		every_reader oci:image
	done
}

@test "hostile: absurd index.json documents are refused" {
	for text in null '[]' '{}' '{"schemaVersion":2,"manifests":7}' '{"schemaVersion":2,"manifests":[null]}' \
		'{"schemaVersion":2,"manifests":[{"digest":"sha256:00","size":1,"mediaType":"x"}]}'; do
		printf '%s' "$text" >image/index.json
		refused "$SLIPWAY" verify --progress none oci:image
	done
	python3 -c 'print("[" * 200000)' >image/index.json
	every_reader oci:image
	head -c 6000000 /dev/zero | tr '\0' ' ' >image/index.json
	every_reader oci:image
}

@test "hostile: a digest that is a path leaves the layout alone" {
	printf 'planted' >outside
	for digest in 'sha256:../../../outside' '../../outside' "sha256:$(printf 'x%.0s' {1..64})" 'sha256:'; do
		change_index "d['manifests'][0]['digest'] = '$digest'"
		every_reader oci:image
		[[ $output != *planted* ]]
	done
}

@test "hostile: a size that lies or is absurd is refused" {
	for size in -1 0 1 9223372036854775807 18446744073709551616 1e300 '"12"'; do
		change_index "d['manifests'][0]['size'] = $size"
		refused "$SLIPWAY" verify --progress none oci:image
	done
}

@test "hostile: a blob that is a link to a file, a folder or a pipe is refused" {
	blob=image/blobs/sha256/$(root_of oci:image | cut -d: -f2)
	rm -f "$blob" && mkfifo "$blob"
	every_reader oci:image
	rm -f "$blob" && mkdir "$blob"
	every_reader oci:image
	rmdir "$blob" && ln -s /dev/zero "$blob"
	every_reader oci:image
}

# wrap N: puts N more indexes around the image.
wrap() {
	python3 - "$1" <<-'EOF'
		import hashlib, json, sys
		kind = "application/vnd.oci.image.index.v1+json"
		entry = json.load(open("image/index.json"))["manifests"][0]
		for _ in range(int(sys.argv[1])):
		    data = json.dumps({"schemaVersion": 2, "mediaType": kind, "manifests": [entry]}).encode()
		    digest = hashlib.sha256(data).hexdigest()
		    open("image/blobs/sha256/" + digest, "wb").write(data)
		    entry = {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}
		json.dump({"schemaVersion": 2, "manifests": [entry]}, open("image/index.json", "w"))
	EOF
}

@test "hostile: an image does not pass the check by hiding in an index of an index" {
	printf 'machine example.com login me password hunter2\n' >tree/.netrc
	for depth in 0 1 2 200; do
		rm -rf image
		"$SLIPWAY" build --progress none --no-check -o image >/dev/null
		wrap "$depth"
		refused "$SLIPWAY" verify --progress none oci:image
		[ "$status" -eq 3 ] || [ "$depth" -eq 200 ]
	done
}

@test "hostile: an index without any image does not pass the check" {
	python3 - <<-'EOF'
		import hashlib, json
		kind = "application/vnd.oci.image.index.v1+json"
		data = json.dumps({"schemaVersion": 2, "mediaType": kind, "manifests": []}).encode()
		digest = hashlib.sha256(data).hexdigest()
		open("image/blobs/sha256/" + digest, "wb").write(data)
		entry = {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}
		json.dump({"schemaVersion": 2, "manifests": [entry]}, open("image/index.json", "w"))
	EOF
	refused "$SLIPWAY" verify --progress none oci:image
	[ "$status" -eq 3 ]
}

@test "hostile: a layer that expands without end is bounded in memory" {
	python3 - <<-'EOF'
		import gzip, hashlib, io, json, tarfile
		# 512 MiB of zeros in half a megabyte.
		raw = io.BytesIO()
		packed = gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=9, mtime=0)
		tar, plain = tarfile.TarInfo("zeros"), hashlib.sha256()
		tar.size = 512 << 20
		for piece in [tar.tobuf(tarfile.PAX_FORMAT)] + [bytes(1 << 20)] * 512 + [bytes(1024)]:
		    packed.write(piece)
		    plain.update(piece)
		packed.close()
		def put(data):
		    digest = hashlib.sha256(data).hexdigest()
		    open("image/blobs/sha256/" + digest, "wb").write(data)
		    return {"digest": "sha256:" + digest, "size": len(data)}
		oci = "application/vnd.oci.image."
		layer = {"mediaType": oci + "layer.v1.tar+gzip", **put(raw.getvalue())}
		config = {"mediaType": oci + "config.v1+json", **put(json.dumps({
		    "os": "linux", "architecture": "amd64", "config": {}, "history": [{"created_by": "x"}],
		    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + plain.hexdigest()]}}).encode())}
		manifest = {"mediaType": oci + "manifest.v1+json", **put(json.dumps({
		    "schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": config,
		    "layers": [layer]}).encode())}
		json.dump({"schemaVersion": 2, "manifests": [manifest]}, open("image/index.json", "w"))
	EOF
	run bash -c 'ulimit -v 600000; timeout 90 "$0" verify --progress none --jobs 1 oci:image' "$SLIPWAY"
	echo "status $status: $output"
	[ "$status" -le 5 ]
}

@test "hostile: an archive with paths that leave it writes nothing outside" {
	"$SLIPWAY" build --progress none --format oci-archive -o image.tar >/dev/null
	mkdir inner && cd inner
	for name in ../escaped /tmp/slipway-e2e-escaped-$$ blobs/sha256/../../../escaped; do
		cp ../image.tar bad.tar
		printf planted >payload
		tar --append -f bad.tar --absolute-names --transform "s#payload#$name#" payload
		run timeout 90 "$SLIPWAY" verify --progress none oci-archive:bad.tar
		[ "$status" -le 5 ]
		[ ! -e ../escaped ]
		[ ! -e "/tmp/slipway-e2e-escaped-$$" ]
	done
	for n in 0 100 512 5000; do
		head -c "$n" ../image.tar >cut.tar
		refused "$SLIPWAY" verify --progress none oci-archive:cut.tar
	done
}

@test "hostile: sources that leave their folder or cannot be read are refused" {
	printf planted >outside
	make_spec bad.yaml
	for to in ../../etc/passwd /opt/../../../x; do
		sed "s#to: /opt/sample#to: $to#" slipway.yaml >bad.yaml
		run "$SLIPWAY" build --progress none -f bad.yaml -o bad
		[ "$status" -eq 3 ]
		[[ $output == *"bad.yaml:8:"* ]]
	done
	ln -s ../outside tree/leaves
	sed 's#to: /opt/sample}#to: /opt/sample, follow: true}#' slipway.yaml >bad.yaml
	run "$SLIPWAY" build --progress none -f bad.yaml -o bad
	[ "$status" -eq 3 ]
	[[ $output == *leaves* ]]
}

@test "hostile: specs that are cut, deep, huge or binary are errors with a place" {
	size=$(stat -c %s slipway.yaml)
	for ((n = 1; n < size; n += 7)); do
		head -c "$n" slipway.yaml >cut.yaml
		run timeout 90 "$SLIPWAY" build --progress none --dry-run -f cut.yaml
		[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
		[ "$status" -eq 0 ] || [[ $output == *"cut.yaml:"*": error: "* ]]
	done
	python3 -c 'print("a: " + "[" * 100000)' >deep.yaml
	refused "$SLIPWAY" build --progress none --dry-run -f deep.yaml
	head -c 4096 /dev/urandom >binary.yaml
	refused "$SLIPWAY" build --progress none --dry-run -f binary.yaml
	python3 -c 'print("a: &a [x]\nb: *a")' >alias.yaml
	refused "$SLIPWAY" build --progress none --dry-run -f alias.yaml
	refused "$SLIPWAY" build --progress none --dry-run -f tree
	head -c 40000000 /dev/zero >huge.yaml
	refused "$SLIPWAY" build --progress none --dry-run -f huge.yaml
}
