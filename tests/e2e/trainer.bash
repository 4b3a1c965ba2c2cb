# What the trainer's tests share. bats loads it with `load trainer`.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

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

# unpack PACKAGE...: Debian packages into ./x, without installing them.
unpack() {
	(mkdir -p debs x && cd debs && apt-get download "$@" >/dev/null 2>&1) || skip "the package mirror is not reachable"
	for package in debs/*.deb; do dpkg-deb -x "$package" x; done
}

# mpich: MPICH beside whatever is installed, in ./x; sets MPIEXEC. Not installed: it would become the default mpirun.
mpich() {
	unpack mpich libmpich12 hwloc-nox libslurm38 libmunge2
	library=$PWD/x/usr/lib/$(uname -m)-linux-gnu
	export LD_LIBRARY_PATH=$library
	MPIEXEC=x/usr/bin/mpiexec.hydra
	! ldd "$library/libmpich.so.12" "$MPIEXEC" | grep 'not found' || skip "libraries of MPICH are missing"
}
