#!/usr/bin/env bats
# Programs of Debian in images of their closure and their run-time data, nothing else: each is built, checked and put to
# work by podman, on both platforms. A program has a file programs/NAME.bash:
#
#     PACKAGES="..."       Debian's packages that its root is unpacked from; empty for none
#     prepare() { ... }    makes what the spec names besides: $arch is the platform's architecture
#     work() { ... }       runs the image and fails unless the program did its work
#
# Its spec is the recipe of this name in docs/HOWTO.md, or programs/NAME.yaml.

load lib

setup() {
	common_setup
	PROGRAMS=$ROOT/tests/e2e/programs
}
teardown() {
	if [[ -d ${WORK:-}/podman ]]; then podman_here rm --all --force --time 0 >/dev/null 2>&1 || true; fi
	common_teardown
}

# recipe NAME: the block of docs/HOWTO.md that describes the image of this name.
recipe() {
	awk -v name="name: $1" '/^```yaml$/ {on = 1; text = ""; next} /^```$/ {if (on && found) printf "%s", text; on = found = 0}
		on {text = text $0 "\n"; if ($0 == name) found = 1}' "$ROOT/docs/HOWTO.md"
}

# apt_of_debian: apt asks Debian 12 alone, whatever else this machine asks.
apt_of_debian() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e "$key" ] || skip "Debian's keys are not on this machine"
	mkdir -p sources
	cat >sources/debian.sources <<-END
		Types: deb
		URIs: http://deb.debian.org/debian
		Suites: bookworm bookworm-updates
		Components: main
		Signed-By: $key

		Types: deb
		URIs: http://deb.debian.org/debian-security
		Suites: bookworm-security
		Components: main
		Signed-By: $key
	END
	printf 'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "%s";\nAcquire::Languages "none";\n' "$WORK/sources" >apt.conf
}

# root NAME: roots/ARCH, unpacked once into the build folder, below a name in which make looks for nothing.
root() {
	local dir
	mkdir -p roots
	[[ -n $PACKAGES ]] || return 0
	dir=$ROOT/${BUILD:-build}/sysroot-programs/$1-$(cksum <<<"$PACKAGES" | cut -d ' ' -f 1)/$arch
	if [ ! -e "$dir/.complete" ]; then
		apt_of_debian
		# shellcheck disable=SC2086 # packages are words
		APT_CONFIG=$WORK/apt.conf "$ROOT/builder/packaging/sysroot" "$arch" "$dir" $PACKAGES >apt.log 2>&1 ||
			{ cat apt.log && ! grep -q 'Failed to fetch\|Could not resolve\|Could not connect' apt.log; } ||
			skip "Debian's packages cannot be fetched"
	fi
	[ -e "$dir/.complete" ]
	ln -sfn "$dir" "roots/$arch"
}

# compile FILE SOURCE OPTIONS...: a program for the platform, of its root's headers and libraries.
compile() {
	local target=x86_64-linux-gnu compiler=clang
	[[ $arch == amd64 ]] || target=aarch64-linux-gnu
	[[ $2 != *.cc ]] || compiler=clang++
	need "$compiler"
	[[ $arch == amd64 ]] || need aarch64-linux-gnu-ld
	mkdir -p "$(dirname "$1")"
	"$compiler" --target="$target" --sysroot="$WORK/roots/$arch" -O1 -o "$1" "$2" "${@:3}"
}

# run_image ARGS...: a container of the image; podman's options in OPTIONS.
run_image() { podman_run --arch "$arch" "${OPTIONS[@]}" "$IMAGE" "$@"; }

# serve ARGS...: the same in the background, under the name `server`.
serve() {
	podman_here run --detach --name server --network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --arch "$arch" "${OPTIONS[@]}" "$IMAGE" "$@" >/dev/null
}

# in_server COMMAND...: another program of the image, beside the server.
in_server() { podman_here exec server "$@"; }

# until_done COMMAND...: tries until it succeeds, for a minute.
until_done() {
	local i
	for ((i = 0; i < 240; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.25
	done
	"$@"
}

# volume DIR UID: a folder of the user, to be mounted.
volume() { install -d -m 0700 -o "$2" -g "$2" "$1"; }

# build NAME: the image, without a finding.
build() {
	if [ -e "$PROGRAMS/$1.yaml" ]; then cp "$PROGRAMS/$1.yaml" slipway.yaml; else recipe "$1" >slipway.yaml; fi
	"$SLIPWAY" build --progress none --platform "linux/$arch" -o "image-$arch" >report 2>&1 || { cat report && return 1; }
	cat report
	run ! grep -E '(error|warning): ' report
	printf '# %s %s: %s\n' "$1" "$arch" "$(sed -n 's/^linux.* sha256:[0-9a-f]*  //p' report)" >&3
	IMAGE=$(podman_here pull --quiet --arch "$arch" "oci:$WORK/image-$arch")
}

# program NAME: on both platforms; a fixed tenth of the series is two programs on amd64.
program() {
	local arch platforms=(amd64)
	containers_needed
	[[ -n ${SLIPWAY_TEST_LONG:-} || $1 == sqlite3 || $1 == perl ]] || skip "a long series, from the network"
	if [[ -n ${SLIPWAY_TEST_LONG:-} ]]; then
		platforms=(amd64 arm64)
		emulation_needed
	fi
	prepare() { :; }
	# shellcheck source=/dev/null
	source "$PROGRAMS/$1.bash"
	for arch in "${platforms[@]}"; do
		OPTIONS=()
		root "$1"
		prepare
		build "$1"
		work
		podman_here rm --all --force --time 0 >/dev/null
	done
}

@test "programs: nginx serves files" { program nginx; }
@test "programs: Redis stores values, and has them after a restart" { program redis; }
@test "programs: PostgreSQL makes a cluster and answers SQL" { program postgres; }
@test "programs: git makes a repository, commits and shows its history" { program git; }
@test "programs: Python imports its whole library, checks certificates, asks SQLite and calls C" { program python3; }
@test "programs: Node hashes, compresses, writes files and knows languages" { program node; }
@test "programs: SQLite computes" { program sqlite3; }
@test "programs: curl fetches over TLS by the image's own authorities" { program curl; }
@test "programs: a C++ program has locale, time zone, threads, exceptions and its user's name" { program cxx; }
@test "programs: a Go program has authorities, time zones and its user's name" { program go; }
@test "programs: a Rust program searches files" { program rust; }
@test "programs: Perl loads POSIX, List::Util and all of its libraries" { program perl; }
@test "programs: ImageMagick converts between formats" { program imagemagick; }
@test "programs: two ranks of an MPI program add up by MPICH" { program mpi; }
@test "programs: and by Open MPI" { program openmpi; }

@test "programs: every recipe of docs/HOWTO.md for them is among these" {
	local name
	awk '/^```yaml$/ {on = 1; next} /^```$/ {if (root) print name; on = root = 0} on && /^name: / {name = $2} on && /sysroot: roots\// {root = 1}' \
		"$ROOT/docs/HOWTO.md" >names
	[ "$(sort -u names | wc -l)" -ge 6 ]
	while read -r name; do grep -q "{ program $name; }" "$BATS_TEST_FILENAME"; done <names
}
