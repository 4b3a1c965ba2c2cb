# slipway: one Makefile, no recursion. `make help` lists the targets.
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
# The README's commands build on all processors; whoever gives -j decides it.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

VERSION  := 0.1.0
BUILD    ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=

CC       := gcc
CC_amd64 := x86_64-linux-gnu-gcc
CC_arm64 := aarch64-linux-gnu-gcc
STRIP_amd64 := x86_64-linux-gnu-strip
STRIP_arm64 := aarch64-linux-gnu-strip
AR       := ar

STD      := -std=c17 -D_GNU_SOURCE
# Warnings are errors for us (WERROR=1: CI, make lint), not for whoever packages this with a later compiler.
WERROR   ?=
WARN      = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes \
            -Wstrict-prototypes -Wvla -Wformat=2 $(if $(WERROR),-Werror)
HARDEN   := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
OPT      ?= -O2 -g
# Debug information names files relative to the tree, so that any working directory gives one binary.
REPRO    := -ffile-prefix-map=$(CURDIR)=.
CFLAGS    = $(STD) $(WARN) $(HARDEN) $(OPT) $(REPRO) -I. -include base/banned.h -DSLIPWAY_VERSION='"$(VERSION)"' $(EXTRA_CFLAGS)
LDFLAGS  := -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(EXTRA_LDFLAGS)
# The encoders are linked statically: the bits of a layer then belong to the binary. So is libarchive, of which only
# the tar format and the decompressors stay: as a shared library it wants an XML parser and Unicode's tables, 38 MB.
# What updates should reach without a new slipway stays shared: TLS, HTTP, the decompressors of other people's files.
LIBS     := -Wl,--gc-sections -Wl,-Bstatic -larchive -lyaml -lexpat -lz -lzstd -ldeflate -Wl,-Bdynamic \
            -l:liblzma.so.5 -l:libbz2.so.1.0 -l:liblz4.so.1 -l:libnettle.so.8 -l:libacl.so.1 \
            -lcurl -lcrypto -lsodium -lsqlite3 -lcjson -lpthread -lm

# One list of files: compiling, lint, format, coverage and fuzzing all start from it. A folder with .c files is a room,
# and a room is an archive; tests/lint/rooms says which rooms stand below which.
HOUSE   := $(wildcard base builder k8s karpenter pipeline trainer)
# A release's launcher is a program of its own, without the house's rooms.
LAUNCHER := builder/packaging/launcher.c
# The trainer's kernels for GPUs are compiled to PTX, not for the host (below).
KERNELS := $(sort $(wildcard trainer/cuda/kernels/*.c))
SRC     := $(filter-out $(KERNELS) $(LAUNCHER),$(sort $(shell find $(HOUSE) -name '*.c')))
HEADERS := $(sort $(shell find $(HOUSE) tests -name '*.h'))
# Bodies that a .c file includes once for each of its variants.
BODIES  := $(sort $(shell find $(HOUSE) -name '*.inc'))
MAINS   := builder/cli/main.c trainer/main.c trainer/prepare/main.c
ROOMS   := $(patsubst %/,%,$(sort $(dir $(SRC))))
HOST_ARCH := $(shell dpkg --print-architecture)
# What tests link of the trainer is what this architecture's trainer is made of.
HOST      := $(BUILD)/$(HOST_ARCH)
CC_$(HOST_ARCH) := $(CC)

# slipway is every room but the trainer's; the trainer takes base/, which needs no foreign library, and its own. What
# decodes videos (trainer/prepare) is linked with FFmpeg's libraries, for this machine, and is a program of its own.
TOOL_ROOMS    := $(filter-out trainer trainer/%,$(ROOMS))
TRAINER_ROOMS := base $(filter-out trainer trainer/prepare,$(filter trainer trainer/%,$(ROOMS)))
PREPARE_LIBS  := -lavformat -lavcodec -lswscale -lswresample -lavutil -lpthread -lm
# Arithmetic wants the optimiser, and one rounding for a*b+c wherever the processor has it.
TRAINER_FLAGS := -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math
TRAINER_LIBS  := -ldl -lm -lpthread

# Where releases live; unset: nowhere, and the documents show the installation from source.
RELEASE_URL ?=
CHECKS_VERSION := $(BUILD)/obj/builder/cli/version_check.o
$(CHECKS_VERSION): EXTRA_CFLAGS += -DSLIPWAY_RELEASE_URL='"$(RELEASE_URL)"'

# archives DIR,ROOMS: their files.  group ARCHIVES: as the linker wants them, in any order.
archives = $(foreach room,$(2),$(1)/lib/$(subst /,-,$(room)).a)
group    = -Wl,--start-group $(1) -Wl,--end-group
# objects DIR,ROOM: of a room without its main().
objects  = $(patsubst %.c,$(1)/obj/%.o,$(filter-out $(MAINS),$(wildcard $(2)/*.c)))

TOOL_LIB    := $(call archives,$(BUILD),$(TOOL_ROOMS))
TRAINER_LIB := $(call archives,$(HOST),$(TRAINER_ROOMS))
UNIT        := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
# A third of the time where the machine has it; what is shipped is linked by the default linker.
$(UNIT): private LDFLAGS += $(if $(shell command -v ld.gold),-fuse-ld=gold)

.PHONY: all
all: $(BUILD)/slipway $(HOST)/slipway-prepare $(BUILD)/amd64/slipway-trainer $(BUILD)/arm64/slipway-trainer

# objects_rule DIR,CC,FLAGS: DIR/obj/*.o
define objects_rule
$(1)/obj/%.o: %.c
	@mkdir -p $$(@D)
	$(2) $$(CFLAGS) $(3) -MMD -MP -c $$< -o $$@
endef

# archive_rule DIR,ROOM: DIR/lib/ROOM.a
define archive_rule
$(call archives,$(1),$(2)): $(call objects,$(1),$(2))
	@mkdir -p $$(@D) && rm -f $$@
	$$(AR) rcsD $$@ $$^
endef

$(eval $(call objects_rule,$(BUILD),$(CC),))
$(foreach room,$(TOOL_ROOMS),$(eval $(call archive_rule,$(BUILD),$(room))))
$(eval $(call archive_rule,$(HOST),trainer/prepare))

# What `slipway init` writes is made of these texts.
$(BUILD)/obj/builder/init/parts.o: $(wildcard builder/init/parts/*)

$(CHECKS_VERSION): $(BUILD)/release-url
.PHONY: changed-by-hand
$(BUILD)/release-url: changed-by-hand
	@mkdir -p $(@D) && { echo '$(RELEASE_URL)' | cmp -s - $@ || echo '$(RELEASE_URL)' >$@; }

$(BUILD)/slipway: $(BUILD)/obj/builder/cli/main.o $(TOOL_LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) $< $(call group,$(TOOL_LIB)) $(LIBS) -o $@

$(HOST)/slipway-prepare: $(HOST)/obj/trainer/prepare/main.o $(call archives,$(HOST),trainer/prepare) $(TRAINER_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $< $(call group,$(filter %.a,$^)) $(PREPARE_LIBS) -o $@

# The trainer, per architecture.
# Images carry it without symbols, a quarter of its size; with them it lies beside it. Sanitizers need them inside.
define trainer_rule
$(call objects_rule,$(BUILD)/$(1),$(CC_$(1)),$(TRAINER_FLAGS))
$(foreach room,$(TRAINER_ROOMS),$(call archive_rule,$(BUILD)/$(1),$(room))
)
$(BUILD)/$(1)/slipway-trainer: $(BUILD)/$(1)/obj/trainer/main.o $(call archives,$(BUILD)/$(1),$(TRAINER_ROOMS))
	$(CC_$(1)) $$(CFLAGS) $$(LDFLAGS) $$< $$(call group,$$(filter %.a,$$^)) $$(TRAINER_LIBS) -o $$@
	$$(if $$(EXTRA_CFLAGS),,$(STRIP_$(1)) $$@ -o $$@.stripped && mv $$@ $$@.debug && mv $$@.stripped $$@)
endef
$(foreach arch,amd64 arm64,$(eval $(call trainer_rule,$(arch))))

# ---- kernels for NVIDIA's GPUs: C to PTX by clang, taken into the trainer by the assembler --------
#
# clang 14 knows kernels in C only by their calling convention, so its intermediate text is where it is written: every
# function that other files may call is one. A text runs on its device and all later ones. The same bytes everywhere.

PTX_SMS     := 75 80
PTX_VERSION_75 := 65
PTX_VERSION_80 := 70
PTX_FLAGS    = --target=nvptx64-nvidia-cuda -march=sm_$(1) -Xclang -target-feature -Xclang +ptx$(PTX_VERSION_$(1)) -O3
PTX_C_FLAGS := -std=c17 -ffreestanding -ffp-contract=off -Xclang -fconvergent-functions -Wall -Wextra -I.
PTX         := $(foreach sm,$(PTX_SMS),$(KERNELS:trainer/cuda/kernels/%.c=$(BUILD)/ptx/sm_$(sm)/%.ptx))

define ptx_rule
$(BUILD)/ptx/sm_$(1)/%.ptx: trainer/cuda/kernels/%.c
	@mkdir -p $$(@D)
	@command -v clang >/dev/null || { echo "clang is missing: it compiles the trainer's kernels (apt-get install clang)" >&2; exit 1; }
	clang $(call PTX_FLAGS,$(1)) $(PTX_C_FLAGS) -DSM=$(1) -MMD -MP -MT $$@ -MF $$(@:.ptx=.d) -S -emit-llvm $$< -o $$(@:.ptx=.c.ll)
	sed -E 's/^define (dso_local )?void @/define \1ptx_kernel void @/' $$(@:.ptx=.c.ll) >$$(@:.ptx=.ll)
	clang $(call PTX_FLAGS,$(1)) -x ir -S $$(@:.ptx=.ll) -o $$@
endef
$(foreach sm,$(PTX_SMS),$(eval $(call ptx_rule,$(sm))))

PTX_TAKERS := $(foreach dir,amd64 arm64,$(BUILD)/$(dir)/obj/trainer/cuda/kernels.o)
$(PTX_TAKERS): $(PTX)
# The sanitizers give theirs on the command line, which nothing but an override adds to.
$(PTX_TAKERS): override EXTRA_CFLAGS += -Wa,-I$(BUILD)/ptx

# Where there is no GPU: the kernels compiled for the host, and their PTX turned into C (tests/cuda).
CUDA_FLAGS = $(CFLAGS) -fPIC -ffp-contract=off -Wno-missing-prototypes
CUDA_TEST_OBJ := $(patsubst tests/cuda/%.c,$(BUILD)/cuda/%.o,$(filter-out tests/cuda/standin% tests/cuda/%_standin.c,$(wildcard tests/cuda/*.c))) \
                 $(KERNELS:trainer/cuda/kernels/%.c=$(BUILD)/cuda/host/%.o) \
                 $(PTX:$(BUILD)/ptx/%.ptx=$(BUILD)/cuda/ptx/%.o)

# Rounds as libm's does, without a call; what is made here runs here.
HOST_FMA := $(shell grep -qw fma /proc/cpuinfo && echo -mfma)
$(BUILD)/cuda/%.o: tests/cuda/%.c
	@mkdir -p $(@D)
	$(CC) $(CUDA_FLAGS) $(HOST_FMA) -MMD -MP -c $< -o $@
$(BUILD)/cuda/host/%.o: trainer/cuda/kernels/%.c
	@mkdir -p $(@D)
	$(CC) $(CUDA_FLAGS) $(HOST_FMA) -MMD -MP -c $< -o $@
$(BUILD)/cuda/ptx/%.c: $(BUILD)/ptx/%.ptx tests/cuda/translate
	@mkdir -p $(@D)
	tests/cuda/translate $(patsubst sm_%/,%,$(dir $*)) $< >$@
$(BUILD)/cuda/ptx/%.o: $(BUILD)/cuda/ptx/%.c
	$(CC) $(STD) -I. -O1 -ffp-contract=off -fPIE $(HOST_FMA) $(EXTRA_CFLAGS) -MMD -MP -c $< -o $@
.PRECIOUS: $(BUILD)/cuda/ptx/%.c

# Stands in for the driver, for programs of either architecture: it asks for the libraries that a driver's asks for.
CUDA_NEEDS := -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -l:librt.so.1 -lm
CUDA_STANDIN_SRC := $(patsubst %,tests/cuda/%.c,standin standin_streams emulate emulate_matrix copies fiber)
CUDA_STANDIN := $(BUILD)/cuda/libcuda.so.1
OTHER_ARCH := $(filter-out $(HOST_ARCH),amd64 arm64)
CUDA_STANDINS := $(CUDA_STANDIN) $(OTHER_ARCH:%=$(BUILD)/cuda/%/libcuda.so.1)
$(CUDA_STANDIN): $(CUDA_STANDIN_SRC:tests/%.c=$(BUILD)/%.o) $(KERNELS:trainer/cuda/kernels/%.c=$(BUILD)/cuda/host/%.o)
	$(CC) -shared $(EXTRA_LDFLAGS) -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 $^ $(CUDA_NEEDS) -o $@
define standin_rule
$(BUILD)/cuda/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$(CC_$(1)) $$(CUDA_FLAGS) -MMD -MP -c $$< -o $$@
$(BUILD)/cuda/$(1)/libcuda.so.1: $(patsubst %.c,$(BUILD)/cuda/$(1)/%.o,$(CUDA_STANDIN_SRC) $(KERNELS))
	$(CC_$(1)) -shared -Wl,-soname,libcuda.so.1 $$^ $(CUDA_NEEDS) -o $$@
endef
$(foreach arch,$(OTHER_ARCH),$(eval $(call standin_rule,$(arch))))
# In a folder of its own, so that a test has it or not.
NCCL_STANDIN := $(BUILD)/cuda/nccl/libnccl.so.2
$(NCCL_STANDIN): $(BUILD)/cuda/nccl_standin.o $(CUDA_STANDIN)
	@mkdir -p $(@D)
	$(CC) -shared $(EXTRA_LDFLAGS) -Wl,-soname,libnccl.so.2 $< -L$(BUILD)/cuda -l:libcuda.so.1 -o $@
CUBLASLT_STANDIN := $(BUILD)/cuda/cublaslt/libcublasLt.so.12
$(CUBLASLT_STANDIN): $(BUILD)/cuda/cublaslt_standin.o $(CUDA_STANDIN)
	@mkdir -p $(@D)
	$(CC) -shared $(EXTRA_LDFLAGS) -Wl,-soname,libcublasLt.so.12 $< -L$(BUILD)/cuda -l:libcuda.so.1 -o $@
NVML_STANDIN := $(BUILD)/cuda/nvml/libnvidia-ml.so.1
$(NVML_STANDIN): $(BUILD)/cuda/nvml_standin.o
	@mkdir -p $(@D)
	$(CC) -shared $(EXTRA_LDFLAGS) -Wl,-soname,libnvidia-ml.so.1 $< -o $@
$(patsubst %,$(BUILD)/unit/test_trainer_cuda_%,driver backend step slopes random): $(CUDA_STANDIN)
$(BUILD)/unit/test_trainer_cuda_nccl: $(NCCL_STANDIN)
$(patsubst %,$(BUILD)/unit/test_trainer_cuda_%,gemm random): $(CUBLASLT_STANDIN)

$(filter $(BUILD)/unit/test_trainer_cuda%,$(UNIT)): $(BUILD)/unit/%: tests/unit/%.c $(CUDA_TEST_OBJ) $(TRAINER_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes -DCUDA_STANDIN='"$(CUDA_STANDIN)"' -DNCCL_STANDIN='"$(NCCL_STANDIN)"' -DCUBLASLT_STANDIN='"$(CUBLASLT_STANDIN)"' -MMD -MP $(LDFLAGS) $< $(CUDA_TEST_OBJ) $(call group,$(TRAINER_LIB)) $(TRAINER_LIBS) -o $@

# Random networks as a program of the other architecture, of which qemu-user runs a few (tests/e2e/trainer-cuda.bats).
CUDA_ELSEWHERE := $(OTHER_ARCH:%=$(BUILD)/cuda/%/test_trainer_cuda_random)
define elsewhere_rule
$(BUILD)/cuda/$(1)/libcublasLt.so.12: $(BUILD)/cuda/$(1)/tests/cuda/cublaslt_standin.o $(BUILD)/cuda/$(1)/libcuda.so.1
	$(CC_$(1)) -shared -Wl,-soname,libcublasLt.so.12 $$< -L$$(@D) -l:libcuda.so.1 -o $$@
$(BUILD)/cuda/$(1)/test_trainer_cuda_random: tests/unit/test_trainer_cuda_random.c $(BUILD)/cuda/$(1)/libcublasLt.so.12 $(call archives,$(BUILD)/$(1),$(TRAINER_ROOMS))
	$(CC_$(1)) $$(CFLAGS) -Wno-missing-prototypes -DCUDA_STANDIN='"$(BUILD)/cuda/$(1)/libcuda.so.1"' -DCUBLASLT_STANDIN='"$(BUILD)/cuda/$(1)/libcublasLt.so.12"' -MMD -MP $$(LDFLAGS) $$< $$(call group,$$(filter %.a,$$^)) $$(TRAINER_LIBS) -o $$@
endef
$(foreach arch,$(OTHER_ARCH),$(eval $(call elsewhere_rule,$(arch))))

# Where there is no Trainium: an interpreter of the modules, and what a judge of them is given (tests/neuron).
NEURON_TEST_OBJ := $(patsubst %,$(BUILD)/neuron/%.o,module_read module_run operators course course_run)
$(BUILD)/neuron/%.o: tests/neuron/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -Wno-missing-prototypes -MMD -MP -c $< -o $@
$(BUILD)/neuron/emit: $(BUILD)/neuron/emit.o $(BUILD)/neuron/emit_course.o $(NEURON_TEST_OBJ) $(TRAINER_LIB)
	$(CC) $(LDFLAGS) $< $(BUILD)/neuron/emit_course.o $(NEURON_TEST_OBJ) $(call group,$(TRAINER_LIB)) $(TRAINER_LIBS) -o $@
NEURON_STANDIN := $(BUILD)/neuron/libnrt.so.1
$(NEURON_STANDIN): $(patsubst %,$(BUILD)/neuron/%.o,standin module_read module_run)
	$(CC) -shared $(EXTRA_LDFLAGS) -Wl,-soname,libnrt.so.1 $^ -lm -lpthread -o $@
$(patsubst %,$(BUILD)/unit/test_trainer_neuron_%,engine learner): $(NEURON_STANDIN)
$(filter $(BUILD)/unit/test_trainer_neuron%,$(UNIT)): $(BUILD)/unit/%: tests/unit/%.c $(NEURON_TEST_OBJ) $(TRAINER_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes -DNEURON_STANDIN='"$(NEURON_STANDIN)"' -MMD -MP $(LDFLAGS) $< $(NEURON_TEST_OBJ) $(call group,$(TRAINER_LIB)) $(TRAINER_LIBS) -o $@

$(BUILD)/unit/test_trainer_%: tests/unit/test_trainer_%.c $(TRAINER_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes -MMD -MP $(LDFLAGS) $< $(call group,$(TRAINER_LIB)) $(TRAINER_LIBS) -o $@

$(BUILD)/unit/%: tests/unit/%.c $(TOOL_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes -MMD -MP $(LDFLAGS) $< $(call group,$(TOOL_LIB)) $(LIBS) -o $@

# The tool for an architecture, against a sysroot of Debian's packages: what its image is made of.
SYSROOT_PACKAGES := libc6-dev libarchive-dev libssl-dev libcurl4-openssl-dev libcjson-dev libexpat1-dev libyaml-dev \
                    zlib1g-dev libzstd-dev libdeflate-dev libsodium-dev libsqlite3-dev
define tool_rule
$(BUILD)/sysroot-$(1)/.complete: builder/packaging/sysroot
	builder/packaging/sysroot $(1) $(BUILD)/sysroot-$(1) $(SYSROOT_PACKAGES)

$(BUILD)/$(1)/slipway: $(filter-out trainer/%,$(SRC)) $(HEADERS) $(BUILD)/release-url $(BUILD)/sysroot-$(1)/.complete
	@mkdir -p $$(@D)
	$$(MAKE) BUILD=$(BUILD)/tool-$(1) CC='$(CC_$(1)) --sysroot=$(CURDIR)/$(BUILD)/sysroot-$(1)' \
	  REPRO='-ffile-prefix-map=$(CURDIR)=.' $(BUILD)/tool-$(1)/slipway
	install -m 0755 $(BUILD)/tool-$(1)/slipway $$@
endef
$(foreach arch,amd64 arm64,$(eval $(call tool_rule,$(arch))))

# What the trainer's image takes its libraries from, MPICH among them: Debian's packages, not installed.
MPI_PACKAGES  := libmpich12
MPI_SYSROOTS  := $(foreach arch,amd64 arm64,$(BUILD)/sysroot-mpi-$(arch)/.complete)
$(BUILD)/sysroot-mpi-%/.complete: builder/packaging/sysroot
	builder/packaging/sysroot $* $(@D) $(MPI_PACKAGES)

-include $(shell find $(BUILD) -type f -name '*.d' -not -path '*/sysroot-*' 2>/dev/null)

# ---- what a person calls -------------------------------------------------------------------------

.PHONY: help
help:
	@sed -n 's/^## //p' Makefile

## make all      build the tool and the trainer for both architectures
## make tool     install the tool's own libraries and build slipway alone
## make demo     install what is needed, build everything, assemble the image, check it, render the fleet
## make deploy   the fleet and one job into kubectl's cluster (DRY_RUN=client|server, JOB=TARGET, ARGS=...)
## make undeploy show what would go; YES=1 deletes it, KEEP_DATA=1 leaves the file system
## make test     install what is needed, build, run every test
## make test-long  all tests but the fuzzers, their long series whole (networks on a GPU, kills, images, specs): an hour or more
## make test-cluster  deploys on a live control plane with Karpenter, built from Go modules (Go on PATH)
## make judges   what images and pipelines are held against and Debian lacks: cosign, crane, oras, syft, actionlint (Go on PATH), cfn-lint
## make check    the quick tests: unit only
## make bless    renew the golden files of specs and manifests; look at the difference
## make lint     clang-tidy, cppcheck, include direction, size limits, format
## make asan     unit tests and fuzz smoke runs under AddressSanitizer and UBSan
## make valgrind unit tests under valgrind
## make cover    line coverage of all but trainer/ (floor 85 %)
## make fuzz     fuzzers, T=seconds each (default 30)
## make test-sid  make all with the newest compilers, in a root of Debian unstable (SID_ROOT=DIR keeps it)
## make tsan-trainer  the trainer's tests and a short run under ThreadSanitizer
## make bench-trainer  speed and memory of the trainer, beside PyTorch when it is installed (BASE=COMMIT: and a former one; ROUNDS=N)
## make bench-kernels  registers, shared memory and occupancy of the GPU kernels by ptxas, rooflines on paper, into docs/bench/kernels.md
## make test-gpu   the trainer on this machine's GPU: goldens, the CPU's curve, kill and resume, bad gradients, no memory
## make test-neuron  the trainer on this machine's Neuron device: compile, the CPU's curve, kill and resume, ranks, speed (NEURON_CC=neuronx-cc)
## make bench-gpu  its speed there, into docs/bench/gpu.md
## make bench-cluster  status and logs of a fleet of 64 pods on a live control plane, into docs/bench/cluster.md (Go on PATH)
## make bench-compare  this build beside another one's in turns, five rounds (BEFORE=BUILD_FOLDER)
## make bench-supply  builds with documents, pushes while building, copies, beside their peers, into docs/bench/supply.md (ONLY=ROW)
## make bench    speed and memory beside umoci, buildah, zstd and pigz, into docs/bench/
## make docs     every generated page under docs/: SPEC.md, the schema, man pages, completion, errors, the fleet
## make site     docs/ as a static site with a search, into build/site; any web server can show it
## make recording  the README's terminal session anew, into docs/recording.svg
## make format   clang-format the tree
## make install  into DESTDIR/PREFIX
## make image    slipway's own image for both architectures, built with slipway, into build/slipway-image
## make deployer  that image with kubectl in it, for deploy --in-cluster (KUBECTL_DIR=DIR with ARCH/kubectl)
## make deb      a Debian package of the tool
## make tarball  slipway with its own loader and libraries, for this architecture, into build/release
## make release  tarballs, .deb, images, bills of materials, checksums (RELEASE_KEY=PEM signs; KUBECTL_DIR=DIR: a deployer)
## make clean    remove build folders

.PHONY: demo
demo: deps
	$(MAKE) $(PARALLEL) all $(MPI_SYSROOTS)
	$(BUILD)/slipway build -f slipway.yaml -o $(BUILD)/image
	$(BUILD)/slipway verify oci:$(BUILD)/image
	tests/demo-run $(BUILD)/image
	$(BUILD)/slipway render -f slipway.yaml -o $(BUILD)/manifests

.PHONY: tool
tool: tool-deps
	$(MAKE) $(PARALLEL) $(BUILD)/slipway

.PHONY: deploy undeploy
deploy: $(BUILD)/slipway
	$(BUILD)/slipway deploy $(if $(DRY_RUN),--dry-run=$(DRY_RUN)) $(if $(JOB),--job $(JOB)) $(ARGS)
undeploy: $(BUILD)/slipway
	$(BUILD)/slipway undeploy $(if $(YES),--yes) $(if $(KEEP_DATA),--keep-data) $(ARGS)

.PHONY: test
test: deps test-deps
	$(MAKE) $(PARALLEL) all units fuzzers $(BUILD)/neuron/emit $(NEURON_STANDIN) $(CUDA_STANDINS) $(CUDA_ELSEWHERE) $(NCCL_STANDIN) $(CUBLASLT_STANDIN) $(NVML_STANDIN) $(MPI_SYSROOTS)
	tests/run

.PHONY: test-long
test-long: deps test-deps
	@tests/install-deps $(CLUSTER_DEPS)
	$(MAKE) $(PARALLEL) all units $(BUILD)/neuron/emit $(NEURON_STANDIN) $(CUDA_STANDINS) $(CUDA_ELSEWHERE) $(NCCL_STANDIN) $(CUBLASLT_STANDIN) $(NVML_STANDIN) $(MPI_SYSROOTS)
	SLIPWAY_TEST_LONG=1 tests/run unit e2e cluster

# Programs, definitions and KWOK's stages go to build/cluster; what Go fetches and compiles stays in its own caches.
.PHONY: test-cluster
test-cluster: deps $(BUILD)/slipway
	@tests/install-deps $(CLUSTER_DEPS)
	tests/run cluster

# The judges that Debian does not have, from Go modules and from PyPI. Tests that want one are skipped without it.
.PHONY: judges
judges:
	tests/judges/build $(BUILD)/judges
	tests/judges/cfn-lint $(BUILD)/judges

.PHONY: check
check: units
	tests/run unit

.PHONY: bless
bless: $(BUILD)/unit/test_spec $(BUILD)/unit/test_fleet
	BLESS=1 $(BUILD)/unit/test_spec
	BLESS=1 $(BUILD)/unit/test_fleet

.PHONY: units
units: $(UNIT)

# ---- packages ------------------------------------------------------------------------------------

# The compiler for the other architecture; the machine's own comes with gcc.
CROSS_amd64 := gcc-aarch64-linux-gnu libc6-dev-arm64-cross
CROSS_arm64 := gcc-x86-64-linux-gnu libc6-dev-amd64-cross
# slipway alone needs a compiler and its own libraries; the trainer, its images and what runs them need the rest.
TOOL_DEPS := gcc make libc6-dev ca-certificates libarchive-dev libssl-dev libcurl4-openssl-dev libcjson-dev libexpat1-dev \
        libyaml-dev zlib1g-dev libzstd-dev libdeflate-dev libsodium-dev libsqlite3-dev
DEPS := $(TOOL_DEPS) clang qemu-user-static \
        libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libswresample-dev \
        $(CROSS_$(shell dpkg --print-architecture))
TEST_DEPS := bats python3 python3-yaml openssl curl awscli iproute2 skopeo umoci docker-registry podman runc uidmap \
        apache2-utils binutils \
        python3-jsonschema python3-jmespath binfmt-support attr libcap2-bin clang libclang-rt-14-dev libarchive-tools zstd git \
        openmpi-bin procps g++ locales tzdata python3-pip mmdebstrap rpm zsh fish shellcheck mandoc protobuf-compiler \
        busybox-static musl-tools wget $(SITE_DEPS)
SITE_DEPS := mkdocs mkdocs-material python3
CLUSTER_DEPS := bats jq python3 python3-yaml openssl curl procps etcd-server
LINT_DEPS := clang-tidy clang-format cppcheck shellcheck python3
BENCH_DEPS := umoci buildah skopeo docker-registry pigz zstd python3

.PHONY: deps tool-deps test-deps lint-deps bench-deps list-deps
# What building needs, for scripts that install it elsewhere.
list-deps:
	@echo $(DEPS)
deps:
	@tests/install-deps $(DEPS)
tool-deps:
	@tests/install-deps $(TOOL_DEPS)
# npm brings the Kubernetes models that manifests are held against; it and kubectl may be there from elsewhere.
test-deps:
	@tests/install-deps $(TEST_DEPS)
	@command -v npm >/dev/null || tests/install-deps npm
	@command -v kubectl >/dev/null || tests/install-deps kubernetes-client
lint-deps:
	@tests/install-deps $(LINT_DEPS)
bench-deps:
	@tests/install-deps $(BENCH_DEPS)

# ---- quality -------------------------------------------------------------------------------------

.PHONY: lint
lint: WERROR = 1
lint: lint-deps layers headers sizes names
	@clang-format --dry-run -Werror $(SRC) $(KERNELS) $(LAUNCHER) $(FORMATTED) $(BODIES)
	@tests/lint/tidy $(TIDY_SRC)
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	  --error-exitcode=1 --suppress=missingIncludeSystem -I. $(TIDY_SRC)
	@shellcheck $$(grep -lE '^#!.*(bash|/sh)' -r tests builder/packaging .ci --exclude-dir=corpus -I)

FORMATTED := $(filter-out base/banned.h,$(HEADERS))
TIDY_SRC  := $(filter-out trainer/prepare/%,$(SRC))

.PHONY: layers headers sizes names list-files
layers: $(TOOL_LIB) $(TRAINER_LIB) $(call archives,$(HOST),trainer/prepare)
	tests/lint/layers
	tests/lint/link $(BUILD)
sizes:
	tests/lint/sizes
names:
	tests/lint/names
headers:
	@for h in $(filter-out tests/%,$(FORMATTED)); do \
	  echo "#include \"$$h\"" | $(CC) $(CFLAGS) -x c -fsyntax-only - || exit 1; done
# Every source and header of ours, for scripts.
list-files:
	@printf '%s\n' $(SRC) $(KERNELS) $(filter-out tests/%,$(HEADERS)) $(BODIES)

.PHONY: format
format:
	clang-format -i $(SRC) $(KERNELS) $(LAUNCHER) $(FORMATTED) $(BODIES)

# gcc 12 sees truncation that cannot be when the sanitizers have rewritten the code.
ASAN := -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-format-truncation -Wno-maybe-uninitialized

.PHONY: asan
asan: test-deps
	$(MAKE) BUILD=build-asan OPT='-O1 -g -U_FORTIFY_SOURCE' EXTRA_CFLAGS='$(ASAN)' EXTRA_LDFLAGS='$(ASAN)' units
	BUILD=build-asan tests/run unit

TSAN := -fsanitize=thread -fno-omit-frame-pointer -Wno-format-truncation -Wno-maybe-uninitialized
TSAN_BUILD := build-tsan
TSAN_TESTS := ops attention model train data loader store reduce

# The trainer's threads: its tests, and a short run with a reader and a background writer.
.PHONY: tsan-trainer
tsan-trainer:
	$(MAKE) BUILD=$(TSAN_BUILD) OPT='-O1 -g -U_FORTIFY_SOURCE' EXTRA_CFLAGS='$(TSAN)' EXTRA_LDFLAGS='$(TSAN)' \
	  $(TSAN_TESTS:%=$(TSAN_BUILD)/unit/test_trainer_%) $(TSAN_BUILD)/$(HOST_ARCH)/slipway-trainer
	for t in $(TSAN_TESTS); do TSAN_OPTIONS=halt_on_error=1 $(TSAN_BUILD)/unit/test_trainer_$$t || exit 1; done
	rm -rf $(TSAN_BUILD)/out && TSAN_OPTIONS=halt_on_error=1 $(TSAN_BUILD)/$(HOST_ARCH)/slipway-trainer train \
	  --config_file_path tiny --threads 2 --num_workers 2 --max_steps 20 --checkpoint_steps 5 --precision bf16 \
	  --output_dir $(TSAN_BUILD)/out --logdir $(TSAN_BUILD)/out/logs --metrics_port 0

# Today's compilers of Debian unstable, in a root of their own; needs root, and is not part of CI.
.PHONY: test-sid
test-sid:
	@tests/install-deps debootstrap
	tests/sid $(SID_ROOT)

.PHONY: valgrind
valgrind: units
	WRAPPER='valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' tests/run unit

.PHONY: cover
cover: test-deps all
	@tests/install-deps gcovr
	$(MAKE) BUILD=build-cover OPT='-O0 -g' EXTRA_CFLAGS='--coverage -fprofile-update=atomic -U_FORTIFY_SOURCE -Wno-format-truncation' EXTRA_LDFLAGS='--coverage' \
	  build-cover/slipway units
	BUILD=build-cover tests/run unit e2e
	gcovr --root . --object-directory build-cover/obj $(foreach top,$(filter-out trainer,$(HOUSE)),--filter '$(top)/') \
	  --exclude 'builder/cli/main.c' --print-summary --fail-under-line 85

# ---- fuzzers (clang, libFuzzer) ------------------------------------------------------------------

T ?= 30
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS  := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
FUZZ_FLAGS := $(STD) -O1 -gline-tables-only -I. -include base/banned.h -DSLIPWAY_VERSION='"$(VERSION)"' \
              -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# No fuzzer reaches the commands, or the arithmetic, whose kernels take clang a minute, or what trains: of these rooms only what
# reads somebody's bytes, and the commands' list of renderers. A fuzzer that needs more of them says so when it is linked.
UNFUZZED := $(addsuffix /%,builder/cli builder/gate builder/image builder/init trainer/classify trainer/cmd trainer/comm \
              trainer/cuda trainer/export trainer/hlo trainer/log trainer/model trainer/neuron trainer/ops trainer/prepare \
              trainer/sample trainer/session trainer/train)
STILL_FUZZED := builder/cli/renderers.c builder/image/attach.c trainer/comm/pmi_store.c trainer/hlo/scan.c \
              $(wildcard trainer/model/config*.c) $(addprefix trainer/neuron/,cache.c limits.c neff.c)
FUZZ_OBJ := $(patsubst %.c,$(BUILD)/fuzz/obj/%.o,$(filter-out $(MAINS) $(UNFUZZED),$(SRC)) $(STILL_FUZZED))

.PHONY: fuzzers fuzz
fuzzers: $(FUZZERS)

$(BUILD)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/fuzz/libslipway.a: $(FUZZ_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $^

$(BUILD)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(BUILD)/fuzz/libslipway.a
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer $< $(BUILD)/fuzz/libslipway.a $(LIBS) -o $@

fuzz: test-deps fuzzers
	tests/fuzz/run $(BUILD) $(T)

# ---- measurements, documents, installation -------------------------------------------------------

.PHONY: bench
bench: bench-deps $(BUILD)/slipway
	tests/bench/bench $(BUILD)/slipway docs/bench

.PHONY: bench-supply
bench-supply: bench-deps $(BUILD)/slipway
	tests/bench/supply $(BUILD)/slipway docs/bench $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS))

# Two builds in turns: was anything made slower? BEFORE=DIR is the build folder of another checkout.
.PHONY: bench-cluster
bench-cluster: $(BUILD)/slipway
	@tests/install-deps $(CLUSTER_DEPS)
	tests/cluster/build $(BUILD)/cluster
	tests/bench/cluster $(BUILD)/slipway $(BUILD)/cluster docs/bench

.PHONY: bench-compare
bench-compare: all
	tests/bench/compare "$(or $(BEFORE),$(error name the build folder to compare with: BEFORE=DIR))" $(BUILD) $(BUILD)/compare.md

.PHONY: bench-trainer
bench-trainer: $(HOST)/slipway-trainer $(HOST)/slipway-prepare \
               $(BUILD)/amd64/slipway-trainer $(BUILD)/arm64/slipway-trainer
	tests/bench/trainer $< docs/bench $(if $(BASE),--base $(BASE)) $(if $(ROUNDS),--rounds $(ROUNDS))

.PHONY: bench-kernels
bench-kernels: $(PTX)
	tests/cuda/judge $(BUILD) >$(BUILD)/judged.md
	tests/bench/rooflines $(BUILD) <$(BUILD)/judged.md >$(BUILD)/kernels.md
	mv $(BUILD)/kernels.md docs/bench/kernels.md

# On a machine with a GPU and its driver; what they do is tested on the tests' stand-in (tests/e2e/trainer-cuda.bats).
.PHONY: test-neuron
test-neuron: $(HOST)/slipway-trainer
	tests/neuron/trainium $< --compiler $(or $(NEURON_CC),neuronx-cc)

.PHONY: test-gpu bench-gpu
test-gpu: $(HOST)/slipway-trainer
	tests/gpu/gpu test $<
bench-gpu: $(HOST)/slipway-trainer
	tests/gpu/gpu bench $< docs/bench

.PHONY: docs
docs: $(BUILD)/slipway
	BUILD=$(BUILD) tests/lint/generated --write

.PHONY: recording
recording: $(BUILD)/slipway
	@tests/install-deps gcc
	builder/packaging/recording $(BUILD)/slipway docs/recording.svg

# The site's search answers to node (npm brings it); its pictures want chromium, half a gigabyte that CI does without.
.PHONY: site
site:
	@tests/install-deps $(SITE_DEPS)
	builder/packaging/site/build $(BUILD)/site

# What is installed and packaged; a release packages another architecture's, too.
PROGRAM ?= $(BUILD)/slipway
.PHONY: install
install: $(PROGRAM)
	install -D -m 0755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/slipway
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 0644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(DESTDIR)$(PREFIX)/share/doc/slipway
	cp -r README.md LICENSE docs $(DESTDIR)$(PREFIX)/share/doc/slipway/
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/share/doc/slipway/docs/,man completion)
	chmod -R u=rwX,go=rX $(DESTDIR)$(PREFIX)/share/doc/slipway
	install -D -m 0644 docs/completion/slipway.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/slipway
	install -D -m 0644 docs/completion/slipway.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_slipway
	install -D -m 0644 docs/completion/slipway.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/slipway.fish

.PHONY: image
image: deps $(BUILD)/slipway $(BUILD)/amd64/slipway $(BUILD)/arm64/slipway
	$(BUILD)/slipway build -f builder/packaging/image.yaml -o $(BUILD)/slipway-image

.PHONY: deployer
deployer: deps $(BUILD)/slipway $(BUILD)/amd64/slipway $(BUILD)/arm64/slipway
	KUBECTL_DIR="$(abspath $(or $(KUBECTL_DIR),$(error name the folder with ARCH/kubectl: KUBECTL_DIR=DIR)))" \
		$(BUILD)/slipway build -f builder/packaging/deployer.yaml -o $(BUILD)/deployer-image

# ---- a release: the same bytes wherever it is made -----------------------------------------------

RELEASE      := $(BUILD)/release/$(VERSION)
# Static, for whichever libc the machine has; what it starts brings its own.
LAUNCHER_FLAGS := $(STD) $(filter-out -fPIE,$(HARDEN)) -O2 $(REPRO) -static -Wl,--gc-sections
LOADER_amd64 := ld-linux-x86-64.so.2
LOADER_arm64 := ld-linux-aarch64.so.1

define launcher_rule
$(BUILD)/$(1)/launcher: $(LAUNCHER)
	@mkdir -p $$(@D)
	$(CC_$(1)) $$(WARN) $$(LAUNCHER_FLAGS) -DLOADER='"$(LOADER_$(1))"' $$< -o $$@
endef
$(foreach arch,amd64 arm64,$(eval $(call launcher_rule,$(arch))))

.PHONY: tarball release
# This machine's own, of what is built: for tests, and for who wants one without a release.
tarball: $(BUILD)/slipway $(HOST)/launcher
	builder/packaging/tarball $(BUILD)/slipway $(HOST_ARCH) $(VERSION) $(BUILD)/slipway $(HOST)/launcher / $(RELEASE)

release: deps $(foreach arch,amd64 arm64,$(BUILD)/$(arch)/slipway $(BUILD)/$(arch)/launcher)
	RELEASE_URL="$(RELEASE_URL)" RELEASE_KEY="$(RELEASE_KEY)" KUBECTL_DIR="$(KUBECTL_DIR)" MAKE="$(MAKE)" \
	  builder/packaging/release $(BUILD) $(VERSION) $(RELEASE)

# The same bytes wherever it is built: no time, no owner of the machine's.
STRIP_amd64 := x86_64-linux-gnu-strip
STRIP_arm64 := aarch64-linux-gnu-strip
DEB_ARCH = $(shell dpkg --print-architecture)
# Who builds a package answers for it: as Debian's tools are told, or the author of the commit.
DEB_MAINTAINER = $(or $(if $(DEBEMAIL),$(or $(DEBFULLNAME),$(DEBEMAIL)) <$(DEBEMAIL)>),$(shell git log -1 --format='%an <%ae>' 2>/dev/null),$(error who maintains this package? DEBFULLNAME and DEBEMAIL say it))
.PHONY: deb
deb: $(PROGRAM)
	rm -rf $(BUILD)/deb
	$(MAKE) -o $(PROGRAM) install PROGRAM=$(PROGRAM) DESTDIR=$(BUILD)/deb PREFIX=/usr
	$(STRIP_$(DEB_ARCH)) --strip-unneeded $(BUILD)/deb/usr/bin/slipway
	mv $(BUILD)/deb/usr/share/doc/slipway/LICENSE $(BUILD)/deb/usr/share/doc/slipway/copyright
	find $(BUILD)/deb/usr/share/man -type f -exec gzip -9n {} +
	install -d -m 0755 $(BUILD)/deb/DEBIAN
	sed -e 's/@VERSION@/$(VERSION)/' -e 's/@ARCH@/$(DEB_ARCH)/' -e 's|@MAINTAINER@|$(DEB_MAINTAINER)|' \
	  -e "s/@SIZE@/$$(find $(BUILD)/deb/usr -printf '%y %s\n' | awk '{n += $$1 == "f" ? int(($$2 + 1023) / 1024) : 1} END {print n}')/" builder/packaging/control >$(BUILD)/deb/DEBIAN/control
	chmod -R u=rwX,go=rX $(BUILD)/deb
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-0} dpkg-deb --root-owner-group -Zxz --threads-max=1 --build $(BUILD)/deb \
	  $(BUILD)/slipway_$(VERSION)_$(DEB_ARCH).deb

.PHONY: clean
clean:
	rm -rf build build-asan build-cover $(TSAN_BUILD)
