/*
 * bench --bounds: the loops of each part's kernels (cmd_bench_loops.c), with all operands near or,
 * as cmd_bench_far.c has it, where a step's operands lie.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_BENCH_LOOPS_H
#define SLIPWAY_TRAINER_CMD_CMD_BENCH_LOOPS_H

#include "trainer/ops/cpu.h"
#include "trainer/ops/kernels.h"

enum {
	LOOP_TOKENS = 56, /* of a tile of the folded cross attention: a row of the grid */
	LOOP_CHANNELS = 48,
	LOOP_QUERIES = 28, /* of a block of another attention */
	LOOP_DEPTH = 64,   /* of its head */
	LOOP_STRIP = 8 * KERNEL_NR_MAX,
	LOOP_TILE_PANEL = 3584,              /* values of the register tile's panel: 14 KB */
	LOOP_AREA = LOOP_DEPTH * LOOP_STRIP, /* the largest matrix of a loop */
	LOOP_AREAS = 6,
	LOOP_SMALL = 16, /* vectors: of KERNEL_NR_MAX or LOOP_TOKENS values */
	LOOP_SUMS = LOOP_QUERIES * KERNEL_NR_MAX,
	LOOP_ROOM = LOOP_AREAS * LOOP_AREA + LOOP_SUMS + LOOP_SMALL * 2 * KERNEL_NR_MAX
};

/* A task's memory, all 0: then a repeated loop stays at numbers of ordinary size. */
struct loop_memory {
	float *area[LOOP_AREAS], *sums, *small[LOOP_SMALL];
	/* of the folded attention: a tile's data by rows and by columns in places, the panel, and
	 * the next tile's data, which are asked for on the way; NULL: none */
	const float *rows, *columns, *panel, *next_rows, *next_columns;
};

/* Spreads LOOP_ROOM values from `at` on; the data lie there, too. */
struct loop_memory loop_spread(float *at);

/* Each does its work once and returns how much that was: floating operations or scores. */
typedef double loop_once(const struct cpu *ops, const struct loop_memory *m);
loop_once loop_tile, loop_softmax, loop_softmax_gradient, loop_cross_forward, loop_cross_backward;

#endif
