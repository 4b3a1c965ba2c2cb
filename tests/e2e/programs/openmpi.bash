# shellcheck shell=bash disable=SC2034,SC2154
source "$PROGRAMS/mpi.bash"
PACKAGES="openmpi-bin libopenmpi-dev libc6-dev"
INCLUDE=lib/%s/openmpi/include
LIBRARY=lib/%s/openmpi/lib/libmpi.so

# One library has its name only by an alternative, which the package's script makes when it is installed.
prepare() {
	local psm=../libpsm1/libpsm_infinipath.so.1.16 folder=roots/amd64/usr/lib/x86_64-linux-gnu
	[[ $arch != amd64 || -e $folder/libpsm_infinipath.so.1 ]] || ln -s "$psm" "$folder/libpsm_infinipath.so.1"
	sum_of_ranks
}

work() {
	run --separate-stderr run_image --oversubscribe -n 2 /usr/bin/app
	echo "$output"
	echo "$stderr"
	[ "$output" = "2 ranks: 41" ]
	[ -z "$stderr" ]
}
