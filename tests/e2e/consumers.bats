#!/usr/bin/env bats
# The image of `make demo` as other programs see it.

load lib
# For its clips; what it sets up is set up below in another way.
load trainer
# The layers are compressed once for all of these tests.
setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export FILE_CACHE=$BATS_FILE_TMPDIR/cache
	XDG_CACHE_HOME=$FILE_CACHE "${BUILD:-build}/slipway" build --progress none -o "$BATS_FILE_TMPDIR/image" >/dev/null
}
setup() {
	common_setup
	export XDG_CACHE_HOME=$FILE_CACHE
	cp -r "$BATS_FILE_TMPDIR/image" "$WORK/image"
	cd "$WORK" || return 1
}
teardown() { common_teardown; }

@test "consumers: an independent reader finds every digest, size and diff ID right" {
	python3 "$ROOT/tests/servers/check-layout" image
}

@test "consumers: the independent reader accepts every codec, and refuses what was changed" {
	make_tree tree
	for codec in zstd gzip none; do
		make_spec slipway.yaml "compression: $codec"
		"$SLIPWAY" build --progress none -o "$codec" >/dev/null
		python3 "$ROOT/tests/servers/check-layout" "$codec"
	done
	for blob in none/blobs/sha256/*; do
		cp -r none damaged
		chmod u+w "damaged/blobs/sha256/$(basename "$blob")"
		printf x >>"damaged/blobs/sha256/$(basename "$blob")"
		run python3 "$ROOT/tests/servers/check-layout" damaged
		[ "$status" -ne 0 ]
		rm -rf damaged
	done
}

@test "consumers: skopeo and podman read the docker archive" {
	need skopeo
	(cd "$ROOT" && "$SLIPWAY" build --progress none --platform linux/amd64 --format docker-archive -o "$WORK/image.tar" >/dev/null)
	skopeo copy -q docker-archive:image.tar oci:converted:v1
	"$SLIPWAY" verify --progress none oci:converted:v1
	need podman
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	run podman --storage-driver vfs --root "$WORK/podman" --runroot "$WORK/podman-run" load -i image.tar
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"Loaded image"*perceiver:v1* ]]
}

@test "consumers: skopeo takes zstd layers to a registry and back" {
	need skopeo
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o zstd >/dev/null
	start_registry
	skopeo copy -q --all --preserve-digests --dest-tls-verify=false oci:zstd:v1 "docker://$REG/app:v1"
	[ "$(root_of --insecure "$REG/app:v1")" = "$(root_of oci:zstd:v1)" ]
	"$SLIPWAY" verify --progress none --insecure "$REG/app:v1"
}

@test "consumers: the arm64 program runs from its own root under qemu-user" {
	need umoci
	need qemu-aarch64-static
	(cd "$ROOT" && "$SLIPWAY" build --progress none --platform linux/arm64 -o "$WORK/arm64" >/dev/null)
	umoci unpack --rootless --image arm64:v1 bundle
	# Its own loader and libraries and nothing of this machine's: -L is where qemu looks for both.
	run qemu-aarch64-static -L "$WORK/bundle/rootfs" bundle/rootfs/usr/bin/slipway-trainer probe
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"architecture: arm64"* ]]
}

@test "consumers: skopeo inspects it and copies it to a registry and back, bit for bit" {
	need skopeo
	skopeo inspect --raw oci:image:v1 | grep -q '"mediaType":"application/vnd.oci.image.index.v1+json"'
	start_registry
	skopeo copy -q --all --preserve-digests --dest-tls-verify=false oci:image:v1 "docker://$REG/app:v1"
	skopeo copy -q --all --preserve-digests --src-tls-verify=false "docker://$REG/app:v1" oci:back:v1
	[ "$("$SLIPWAY" inspect oci:image:v1 | head -n 1)" = "$("$SLIPWAY" inspect oci:back:v1 | head -n 1)" ]
	"$SLIPWAY" verify --progress none oci:back:v1
}

@test "consumers: umoci unpacks each platform" {
	need umoci
	for arch in amd64 arm64; do
		(cd "$ROOT" && "$SLIPWAY" build --progress none --platform "linux/$arch" -o "$WORK/$arch" >/dev/null)
		umoci unpack --rootless --image "$arch:v1" "bundle-$arch"
		[ -x "bundle-$arch/rootfs/usr/bin/slipway-trainer" ]
	done
}

@test "consumers: podman runs the amd64 image" {
	containers_needed
	run podman_run "oci:$WORK/image:v1" probe
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"architecture: amd64"* ]]
}

@test "consumers: podman runs the arm64 image under qemu-user" {
	need podman
	need runc
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null ||
		skip "binfmt_misc cannot be mounted"
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 2>/dev/null ||
		skip "qemu-aarch64 cannot be registered"
	run podman_run --arch arm64 "oci:$WORK/image:v1" probe
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"architecture: arm64"* ]]
}

# trained OUTPUT: the lines that the PyTorch program prints, of a run of three steps.
trained() {
	echo "$1"
	grep -qx "Successfully built the dataset" <<<"$1"
	grep -q "^Namespace(dataset='synthetic', .* max_steps=3, " <<<"$1"
	grep -Eq '^Epoch 1 train begin [0-9]{4}-' <<<"$1"
	grep -Eq '^\| Training Device=cpu:0 Epoch=1 Step=0 Learning_Rate=5e-05 Loss=0\.[0-9]{5} Throughput=[0-9.]+ Time=2' <<<"$1"
	grep -Eq '^Average train throughput: [0-9]+\.[0-9]{4}$' <<<"$1"
}

@test "consumers: podman trains the full model in the amd64 image and prints the PyTorch program's lines" {
	containers_needed
	run podman_run -e BATCH_SIZE=1 "oci:$WORK/image:v1" train --dataset synthetic --max-steps 3
	[ "$status" -eq 0 ]
	trained "$output"
	[[ $output == *" 19858855 parameters"* ]]
}

@test "consumers: podman trains in the arm64 image under qemu-user and prints the same lines" {
	need podman
	need runc
	[ "$EUID" -eq 0 ] || skip "containers need root here"
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 2>/dev/null ||
		skip "qemu-aarch64 cannot be registered"
	# The full model takes minutes a step when every instruction is emulated.
	run podman_run --arch arm64 -e BATCH_SIZE=1 "oci:$WORK/image:v1" train --dataset synthetic --max-steps 3 \
		--config_file_path tiny
	[ "$status" -eq 0 ]
	trained "$output"
	[[ $output == *", neon"* ]]
}

# on_gpu ARCH LIBRARY: three steps in the image of this architecture, with a driver (tests/cuda/standin.h) where a container
# runtime mounts a node's, started as a rendered job is.
on_gpu() {
	mkdir -p driver
	cp "$2" driver/libcuda.so.1
	# A network of a few thousand weights: this GPU is an emulated one.
	cat >driver/small.json <<-'JSON'
		{"num_frames": 1, "image_size": 4, "output_shape": [1, 1, 8, 8], "audio_samples_per_frame": 32, "samples_per_patch": 16,
		 "num_labels": 5, "num_latents": 4, "d_latents": 8, "num_self_attends_per_block": 1, "num_self_attention_heads": 2,
		 "audio_num_bands": 2, "image_num_bands": 2, "output_num_channels": 8, "label_query_channels": 8}
	JSON
	run podman_run --arch "$1" --read-only --tmpfs /tmp -v "$WORK/driver/libcuda.so.1:/usr/lib64/libcuda.so.1:ro" \
		-v "$WORK/driver/small.json:/small.json:ro" "oci:$WORK/image:v1" train --config_file_path /small.json --batch_size 1 \
		--image_points 4 --audio_points 2 --max_steps 3 --log_steps 1 --device cuda
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"on cuda:0: Stand-in, compute capability 8.6, CUDA 12.4, f32"* ]]
	[[ $output == *"Training Device=cuda:0 Epoch=1 Step=2"* ]]
}

@test "consumers: podman trains on a GPU in the amd64 image, with the driver that is mounted" {
	containers_needed
	on_gpu amd64 "$ROOT/${BUILD:-build}/cuda/libcuda.so.1"
}

@test "consumers: podman trains on a GPU in the arm64 image, with the driver that is mounted" {
	containers_needed
	emulation_needed
	on_gpu arm64 "$ROOT/${BUILD:-build}/cuda/arm64/libcuda.so.1"
}

# rendered_pod: the container of the rendered job's pods: NAME=value lines to pod.env (what the pod's metadata tells
# begins with '#') and its arguments to pod.args, one a line. No image has a Neuron device's modules: trn1's ranks compute
# on the processor.
rendered_pod() {
	own_spec >"$WORK/job.yaml"
	(cd "$ROOT" && "$SLIPWAY" render --progress none --only jobs -f "$WORK/job.yaml") 2>/dev/null | python3 -c '
import sys, yaml
job = next(o for o in yaml.safe_load_all(sys.stdin) if o and o.get("kind") == "Job")
pod = job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
open("pod.env", "w").writelines((e["name"] + "=" + e["value"] if "value" in e else "#" + e["name"]) + "\n" for e in pod["env"])
open("pod.args", "w").writelines(a + "\n" for a in pod["args"])'
}

# rank_of_pod IMAGE MASTER RANK: that rank of the rendered job, in a container with ./data for the file system. What it
# renders is run as it is; options behind it make the model and the run small.
rank_of_pod() {
	mapfile -t args <pod.args
	podman_here run --rm --network host --uts private --hostname "worker-$3" --add-host "$2:127.0.0.1" --read-only \
		--env-file pod.env -e "VC_TASK_INDEX=$3" -e SLIPWAY_RUN_TOKEN=perceiver-trn1-0000 -v "$PWD/data:/data" \
		--ulimit nofile=1024:1024 --ulimit nproc=4096:4096 "$1" "${args[@]}" --config_file_path tiny --max_steps 3 \
		--batch_size 2 --join_timeout 60
}

@test "consumers: both ranks of the rendered job train, from this image, in the environment and by the words it renders" {
	containers_needed
	rendered_pod
	grep -qx NNODES=2 pod.env
	grep -qx '#SLIPWAY_RUN_TOKEN' pod.env
	master=$(sed -n 's/^MASTER_ADDR=//p' pod.env)
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
	# One machine stands for both nodes: rank 0 is on it, and its ports are chosen.
	sed -i "/^#/d; s/^MASTER_PORT=.*/MASTER_PORT=$port/; /^METRICS_PORT=/d" pod.env
	# shellcheck disable=SC2034 # trainer.bash uses them
	TRAINER=$(cd "$ROOT" && realpath "${BUILD:-build}")/amd64/slipway-trainer TINY=(--config_file_path tiny)
	tiny_shape
	shard_dataset data 8
	chmod 0777 data
	podman_here pull -q "oci:$WORK/image:v1" >id
	for rank in 1 0; do
		rank_of_pod "$(cat id)" "$master" "$rank" >"log$rank" 2>&1 3>&- &
		ranks[rank]=$!
	done
	for rank in 0 1; do
		wait "${ranks[rank]}" || { cat log0 log1 && false; }
	done
	cat log0
	grep '^2 ranks (MPICH)' log0
	grep 'all 2 ranks have come' log0
	[ "$(cat data/checkpoints/latest)" = step-00000002 ] || [ "$(cat data/checkpoints/latest)" = step-00000003 ]
}

@test "consumers: the demo image has under 18 MB compressed on each platform, under 4 without MPI, and a program without symbols" {
	"$SLIPWAY" inspect --output json oci:image:v1 | python3 -c '
import json, sys
for image in json.load(sys.stdin)["images"]:
    without = sum(layer["size"] for layer in image["layers"] if layer["name"] != "mpi")
    print(image["platform"], image["compressed_size"], without)
    assert image["compressed_size"] < 18_000_000 and without < 4_000_000 and len(image["layers"]) == 3' >&3
	local arch
	for arch in amd64 arm64; do
		readelf -SW "$ROOT/${BUILD:-build}/$arch/slipway-trainer" >sections
		grep -q ' [.]text ' sections
		! grep -E ' [.](symtab|debug_info) ' sections || return 1
	done
}
