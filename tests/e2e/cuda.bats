#!/usr/bin/env bats
# The PTX of the trainer's kernels: what the tests know of it, and what NVIDIA's assembler says. No GPU is needed.

load lib
setup() {
	common_setup
	TEXTS=$ROOT/${BUILD:-build}/ptx
}
teardown() { common_teardown; }

# entry STATEMENT: a text with one kernel of one statement.
entry() {
	printf '.version 7.0\n.target sm_80\n.address_size 64\n\n.visible .entry planted(\n\t.param .align 8 .b8 planted_param_0[8]\n)\n'
	printf '{\n\t.reg .f32 %%f<3>;\n\t.reg .b32 %%r<3>;\n\n\t%s\n\tret;\n\n}\n' "$1"
}

@test "kernels: every form of PTX that tests can run is one that a kernel has" {
	run "$ROOT/tests/cuda/translate" --unused "$TEXTS"/sm_*/*.ptx
	[ "$status" = 0 ]
	[ "$output" = "" ]
	entry 'fma.rn.f32 %f1, %f2, %f2, %f2;' >one.ptx
	run "$ROOT/tests/cuda/translate" --unused one.ptx
	[ "$status" = 1 ]
	[[ $output == *"no kernel has add.s32 any more"* ]]
}

@test "kernels: a form of PTX, an operand or a register that is not known stops the tests" {
	entry 'fma.rn.f32 %f1, %f2, %f2, %f2;' >good.ptx
	"$ROOT/tests/cuda/translate" 80 good.ptx | grep -q 'f1 = fmaf(f2, f2, f2);'
	local planted
	for planted in 'fma.rz.f32 %f1, %f2, %f2, %f2;' 'atom.global.add.f32 %f1, [%f2], %f2;' 'fma.rn.f32 %f1, %f2, %f2;' \
		'fma.rn.f32 %f1, %f2, %f2, %r1;' 'fma.rn.f32 %f1, %f2, %f2, 1.0;' '@!%p1 exit;' 'bar.sync 1;'; do
		entry "$planted" >bad.ptx
		run "$ROOT/tests/cuda/translate" 80 bad.ptx
		[ "$status" = 1 ]
		[[ $output == *"bad.ptx: unknown planted: "* ]]
	done
}

@test "kernels: PTX is the same bytes wherever it is built" {
	cp -r "$ROOT/Makefile" "$ROOT/trainer" .
	mkdir -p tests
	make -s BUILD=elsewhere elsewhere/ptx/sm_75/norm.ptx elsewhere/ptx/sm_80/product_bf16.ptx
	cmp elsewhere/ptx/sm_75/norm.ptx "$TEXTS/sm_75/norm.ptx"
	cmp elsewhere/ptx/sm_80/product_bf16.ptx "$TEXTS/sm_80/product_bf16.ptx"
}

@test "kernels: a build without clang says what is missing" {
	cp -r "$ROOT/Makefile" "$ROOT/trainer" .
	mkdir -p tests bin
	local program
	for program in make bash sh mkdir dirname find dpkg nproc; do ln -s "$(command -v "$program")" bin/; done
	run env PATH="$PWD/bin" make -s BUILD=elsewhere elsewhere/ptx/sm_80/norm.ptx
	[ "$status" != 0 ]
	[[ $output == *"clang is missing: it compiles the trainer's kernels (apt-get install clang)"* ]]
}

@test "kernels: ptxas takes every text for every device, without a spill" {
	cd "$ROOT"
	run tests/cuda/judge "${BUILD:-build}"
	if [[ $status == 77 && ${SLIPWAY_TEST_REQUIRE:-} != *ptxas* ]]; then skip "$output"; fi
	[ "$status" = 0 ]
	# The table in the tree is of these kernels, where it was made with this compiler.
	if [[ $output == *"$(grep -o 'with clang .* and ptxas [0-9.]*[0-9]' docs/bench/kernels.md)"* ]]; then
		diff <(echo "$output") docs/bench/kernels.md
	fi
}

@test "kernels: a text that ptxas refuses, or a kernel that spills, fails" {
	[ -x "$ROOT/${BUILD:-build}/ptxas/12.9.86/ptxas" ] || skip "there is no ptxas"
	mkdir -p planted/ptx
	cp -r "$TEXTS"/sm_75 "$TEXTS"/sm_80 planted/ptx/
	sed -i 's/fma.rn.f32/fma.rn.f33/' planted/ptx/sm_80/norm.ptx
	local here=$PWD
	cd "$ROOT"
	PTXAS=$ROOT/${BUILD:-build}/ptxas/12.9.86/ptxas run tests/cuda/judge "$here/planted"
	[ "$status" = 1 ]
	[[ $output == *"norm.ptx for 8.0"* ]]
	cp "$TEXTS/sm_80/norm.ptx" "$here/planted/ptx/sm_80/"
	# After the entry's parameters: no more than 32 registers.
	sed -i '/entry attention_dk(/,/^{/ s/^{/.maxnreg 32\n{/' "$here/planted/ptx/sm_80/attention.ptx"
	PTXAS=$ROOT/${BUILD:-build}/ptxas/12.9.86/ptxas run tests/cuda/judge "$here/planted"
	[ "$status" = 1 ]
	[[ $output == *"attention_dk for 8.0"*"bytes spilled"* ]]
}
