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
	make -s BUILD=elsewhere elsewhere/ptx/sm_75/norm.ptx elsewhere/ptx/sm_80/product_bf16_64.ptx
	cmp elsewhere/ptx/sm_75/norm.ptx "$TEXTS/sm_75/norm.ptx"
	cmp elsewhere/ptx/sm_80/product_bf16_64.ptx "$TEXTS/sm_80/product_bf16_64.ptx"
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
		diff <(tests/bench/rooflines "${BUILD:-build}" <<<"$output") docs/bench/kernels.md
	fi
}

# A loop of eight multiply-adds on sixteen bytes, beside a way for edges that nobody is to count; 8 warps of a T4G's 32.
@test "kernels: a roofline counts the hot way through the hottest loop" {
	mkdir -p planted/ptx/sm_75 planted/ptx/sm_80
	{
		printf '.visible .entry planted(\n.param .b8 x[8]\n)\n{\n\tmov.u32 %%r1, 0;\n$L_1:\n\t@%%p1 bra $L_2;\n'
		printf '\tld.global.v4.f32 {%%f1,%%f2,%%f3,%%f4}, [%%rd1];\n\tbra.uni $L_3;\n$L_2:\n'
		for _ in 1 2 3 4 5 6 7 8; do printf '\tld.global.f32 %%f1, [%%rd1];\n'; done
		printf '$L_3:\n'
		for _ in $(seq 16); do printf '\tfma.rn.f32 %%f1, %%f2, %%f3, %%f4;\n'; done
		printf '\t@%%p2 bra $L_1;\n\tret;\n}\n'
	} >planted/ptx/sm_75/one.ptx
	cp planted/ptx/sm_75/one.ptx planted/ptx/sm_80/
	printf '%s\n' '# Kernels' '| kernel | threads | shared | 7.5 | 8.0 | 8.6 | 9.0 |' '|---|' '| planted | 256 | 0 | 32, 25 % | 32, 25 % | 32, 25 % | 32, 25 % |' |
		"$ROOT/tests/bench/rooflines" planted >page
	# 20 instructions and 16 bytes: 320 GB/s carry 20 G turns a second of 32 FLOP; the units do 4 times 64 lanes.
	grep '^| planted | 20 | 16 | 2.0 | 0.546 TFLOP/s, latency | ' page
	run "$ROOT/tests/bench/rooflines" planted <<<'no page'
	[ "$status" = 1 ]
}

@test "kernels: a text that ptxas refuses, or a kernel that spills, fails" {
	[ -x "$ROOT/${BUILD:-build}/ptxas/12.9.86/ptxas" ] || skip "there is no ptxas"
	mkdir -p planted/ptx/sm_75 planted/ptx/sm_80
	cp "$TEXTS"/sm_75/norm.ptx planted/ptx/sm_75/
	cp "$TEXTS"/sm_80/{norm,attention}.ptx planted/ptx/sm_80/
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
