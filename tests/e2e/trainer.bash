# What the trainer's tests share. bats loads it with `load trainer`.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

# shellcheck source=tests/e2e/series.bash
source "${BASH_SOURCE[0]%/*}/series.bash"

setup() {
	ROOT="$(cd "$BATS_TEST_DIRNAME/../.." && pwd)"
	BIN="$(cd "$ROOT" && realpath "${BUILD:-build}")/$(dpkg --print-architecture)"
	TRAINER="$BIN/slipway-trainer"
	cd "$BATS_TEST_TMPDIR" || return 1
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	# A short run of the tiny model.
	TINY=(--config_file_path tiny --batch_size 2 --max_steps 60 --lr 1e-3 --threads 1 --attention_dropout 0.1
		--preset paper --logdir logs)
}

# Runs that a failed test leaves: those whose folder is this test's.
teardown() {
	local pid
	for pid in $(pgrep -f "slipway-trainer train "); do
		[ "$(readlink "/proc/$pid/cwd")" != "$BATS_TEST_TMPDIR" ] || kill -KILL "$pid" 2>/dev/null || true
	done
}

# train OUTPUT [OPTIONS]
train() {
	local out=$1
	shift
	"$TRAINER" train "${TINY[@]}" --output_dir "$out" "$@"
}

# ends_with STATUS COMMAND...: the command ends with this status.
ends_with() {
	local want=$1 status=0
	shift
	"$@" >/dev/null || status=$?
	[ "$status" -eq "$want" ]
}

same_weights() {
	cmp "$1/$3/model.safetensors" "$2/$3/model.safetensors"
	cmp "$1/$3/optimizer.safetensors" "$2/$3/optimizer.safetensors"
}

# kill_prepare SECONDS [OPTIONS]: preparing the tiny model's clips into ./data is killed after so long.
kill_prepare() {
	local wait=$1 pid
	shift
	"$BIN/slipway-prepare" --out data --frames 2 --height 32 --width 32 --samples 3840 "$@" >/dev/null 2>&1 3>&- &
	pid=$!
	sleep "$wait"
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" || true
}

# run_when_free COMMAND...: as run; a decoder that was at work may end a moment later than its killed parent.
run_when_free() {
	for _ in $(seq 50); do
		run "$@"
		# shellcheck disable=SC2154  # bats sets output
		[[ "$output" != *"another"* ]] && break
		sleep 0.1
	done
}

# unpack PACKAGE...: Debian packages into ./x, without installing them.
unpack() {
	(mkdir -p debs x && cd debs && apt-get download "$@" >/dev/null 2>&1) || skip "the package mirror is not reachable"
	for package in debs/*.deb; do dpkg-deb -x "$package" x; done
}

# all_linked FILE...: all libraries of these programs and libraries are there. One that is not is a failure: the lists below
# are to be whole on a bare machine.
all_linked() { ! ldd "$@" | grep 'not found'; }

# mpich: MPICH beside whatever is installed, in ./x; sets MPIEXEC. Not installed: it would become the default mpirun.
mpich() {
	unpack mpich libmpich12 hwloc-nox libhwloc15 libslurm38 libmunge2 libucx0 libnuma1
	library=$PWD/x/usr/lib/$(uname -m)-linux-gnu
	export LD_LIBRARY_PATH=$library
	MPIEXEC=x/usr/bin/mpiexec.hydra
	all_linked "$library/libmpich.so.12" "$MPIEXEC"
}

# openmpi: an mpirun of Open MPI: the one that is installed, or else one in ./x.
openmpi() {
	! command -v mpirun >/dev/null || return 0
	unpack openmpi-bin openmpi-common libopenmpi3 libpmix2 libucx0 libfabric1 libpsm2-2 libpsm-infinipath1 librdmacm1 \
		libibverbs1 libnl-3-200 libnl-route-3-200 libmunge2 libhwloc15 libnuma1 libevent-core-2.1-7 \
		libevent-pthreads-2.1-7
	mkdir x/bin
	local usr=$PWD/x/usr library
	library=$usr/lib/$(uname -m)-linux-gnu
	# It was made for /usr.
	cat >x/bin/mpirun <<-SH
		#!/bin/sh
		export OPAL_PREFIX=$usr PMIX_INSTALL_PREFIX=$library/pmix2 LD_LIBRARY_PATH=$library
		exec $usr/bin/orterun "\$@"
	SH
	chmod +x x/bin/mpirun
	LD_LIBRARY_PATH=$library all_linked "$library/libmpi.so.40" "$usr/bin/orterun"
	PATH=$PWD/x/bin:$PATH
}

# shard_dataset FOLDER CLIPS: a prepared folder of one shard, of noise for the tiny model.
shard_dataset() {
	python3 - "$1" "$2" <<-'PY'
		import json, os, random, struct, sys
		folder, n = sys.argv[1], int(sys.argv[2])
		table = []
		for i in range(256):
		    c = i
		    for _ in range(8):
		        c = (c >> 1) ^ (0x82F63B78 if c & 1 else 0)
		    table.append(c)
		def crc(data):
		    c = 0xFFFFFFFF
		    for b in data:
		        c = table[(c ^ b) & 255] ^ (c >> 8)
		    return c ^ 0xFFFFFFFF
		T, H, W, S = (int(x) for x in os.environ["SHAPE"].split())
		size = T * H * W * 3 + 2 * S
		stride = (size + 63) // 64 * 64
		random.seed(1)
		records = [random.randbytes(size) for _ in range(n)]
		head = bytearray(128)
		head[0:8] = b"SLIPCLIP"
		struct.pack_into("<I", head, 8, 1)
		struct.pack_into("<6I", head, 16, T, H, W, S, 25, S // T * 25)
		struct.pack_into("<2Q", head, 40, n, stride)
		struct.pack_into("<I", head, 12, crc(head))
		os.makedirs(f"{folder}/shards/ab", exist_ok=True)
		name = "shards/ab/" + "ab" * 32 + ".clips"
		with open(f"{folder}/{name}", "wb") as f:
		    f.write(head)
		    for r in records:
		        f.write(r.ljust(stride, b"\0"))
		    for i, r in enumerate(records):
		        f.write(struct.pack("<IIQ", crc(r), 0, i * 1000000))
		json.dump({"format": "slipway-dataset/v1", "clip": {"frames": T, "height": H, "width": W, "samples": S},
		           "classes": ["a"], "shards": [{"file": name, "clips": n, "label": 0, "source": "a.mp4"}],
		           "rejected": []}, open(f"{folder}/dataset.json", "w"))
	PY
}

tiny_shape() {
	train shape --max_steps 1 >/dev/null
	SHAPE=$(python3 -c '
import json
c = json.load(open("shape/step-00000001/config.json"))
t, h, w = c["output_shape"][1:4]
print(t, h, w, t * c["audio_samples_per_frame"])')
	export SHAPE
}
