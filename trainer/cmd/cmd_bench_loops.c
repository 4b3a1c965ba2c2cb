/*
 * bench --bounds: the loops of each part's kernels, once over tiles of its shapes. Whoever calls
 * them says where the operands lie (cmd_bench_loops.h).
 */
#include "trainer/cmd/cmd_bench_loops.h"

struct loop_memory loop_spread(float *at)
{
	struct loop_memory m;

	for (size_t i = 0; i < LOOP_AREAS; i++, at += LOOP_AREA)
		m.area[i] = at;
	m.sums = at;
	at += LOOP_SUMS;
	for (size_t i = 0; i < LOOP_SMALL; i++, at += (size_t)2 * KERNEL_NR_MAX)
		m.small[i] = at;
	m.rows = m.columns = m.area[0];
	m.panel = m.area[0] + LOOP_TOKENS * LOOP_CHANNELS;
	m.next_rows = m.next_columns = NULL;
	return m;
}

/* c[m, n] = a[m, k] b[k, n]; a by rows, or by columns and added to c. */
static void rows_times(const struct cpu *ops, size_t m, size_t n, size_t k, const float *a,
                       const float *b, float *c, size_t c_row, bool add)
{
	size_t places = k / ops->products->per;
	struct gemm_block g = {.m = m,
	                       .n = n,
	                       .k = places,
	                       .a = a,
	                       .a_row = places,
	                       .a_col = 1,
	                       .b = b,
	                       .b_panel = places * ops->kernels->nr,
	                       .c = c,
	                       .c_row = c_row,
	                       .accumulate = add,
	                       .near = true};

	ops->products->gemm(&g);
}

double loop_tile(const struct cpu *ops, const struct loop_memory *m)
{
	const struct kernels *k = ops->kernels;
	size_t depth = LOOP_TILE_PANEL / k->nr;
	struct gemm_block g = {.m = k->mr,
	                       .n = k->nr,
	                       .k = depth,
	                       .a = m->area[0],
	                       .a_row = 1,
	                       .a_col = k->mr,
	                       .b = m->area[1],
	                       .a_piece = k->mr * depth,
	                       .b_panel = depth * k->nr,
	                       .c = m->area[3],
	                       .c_row = k->nr,
	                       .near = true};

	ops->products->gemm(&g);
	return 2.0 * (double)(g.m * g.n * g.k * ops->products->per);
}

static size_t strip_of(const struct cpu *ops)
{
	return 8 * ops->kernels->nr;
}

/* What a strip of weights is summed into: its rows turned into places where they lie. */
static void gather(const struct cpu *ops, float *weights, const float *packed, float *to)
{
	size_t strip = strip_of(ops);

	for (size_t i = 0; ops->products->rounds && i < LOOP_QUERIES; i++)
		ops->products->pack_row(strip, weights + i * strip, weights + i * strip);
	rows_times(ops, LOOP_QUERIES, LOOP_DEPTH, strip, weights, packed, to, LOOP_DEPTH, true);
}

double loop_softmax(const struct cpu *ops, const struct loop_memory *m)
{
	size_t strip = strip_of(ops);
	struct softmax_tile t = {.rows = LOOP_QUERIES,
	                         .n = strip,
	                         .row = strip,
	                         .s = m->area[2],
	                         .max = m->small[0],
	                         .sum = m->sums,
	                         .o = m->area[4],
	                         .o_row = LOOP_DEPTH};

	rows_times(ops, LOOP_QUERIES, strip, LOOP_DEPTH, m->area[0], m->area[1], t.s, strip, false);
	ops->kernels->softmax(&t);
	gather(ops, t.s, m->area[3], t.o);
	return (double)(LOOP_QUERIES * strip);
}

double loop_softmax_gradient(const struct cpu *ops, const struct loop_memory *m)
{
	size_t strip = strip_of(ops);
	struct softmax_gradient t = {.rows = LOOP_QUERIES,
	                             .n = strip,
	                             .row = strip,
	                             .lse = m->small[0],
	                             .delta = m->small[2],
	                             .s = m->area[2],
	                             .ds = m->area[3]};

	rows_times(ops, LOOP_QUERIES, strip, LOOP_DEPTH, m->area[0], m->area[1], t.s, strip, false);
	rows_times(ops, LOOP_QUERIES, strip, LOOP_DEPTH, m->area[0], m->area[1], t.ds, strip,
	           false);
	ops->kernels->softmax_gradient(&t);
	if (ops->products->rounds) {
		ops->products->pack_columns(LOOP_QUERIES, strip, t.s, strip, m->area[5]);
		ops->products->pack_columns(LOOP_QUERIES, strip, t.ds, strip, m->area[5]);
	}
	gather(ops, t.ds, m->area[1], m->area[4]);
	return (double)(LOOP_QUERIES * strip);
}

static struct cross_tile tile_of(const struct loop_memory *m, size_t lanes, float *s)
{
	return (struct cross_tile){.n = LOOP_TOKENS,
	                           .lanes = lanes,
	                           .s = s,
	                           .row = m->small[0],
	                           .column = m->area[1],
	                           .mean = m->small[1],
	                           .rstd = m->small[2],
	                           .bias = m->small[3],
	                           .csum = m->small[4],
	                           .max = m->small[5]};
}

/* Asks for a quarter of the next tile's data, as the sweep does between a tile's steps. */
static void fetch(const struct cpu *ops, const struct loop_memory *m, size_t part)
{
	size_t n = (size_t)LOOP_TOKENS * LOOP_CHANNELS / ops->products->per;

	for (size_t i = n * part / 4; m->next_rows != NULL && i < n * (part + 1) / 4; i += 16) {
		__builtin_prefetch(m->next_rows + i);
		__builtin_prefetch(m->next_columns + i);
	}
}

/* Products of a tile's data with a panel. */
static void data_products(const struct cpu *ops, const struct loop_memory *m, const float *panel,
                          float *s)
{
	size_t nr = ops->kernels->nr, places = LOOP_CHANNELS / ops->products->per;
	struct gemm_block g = {.m = LOOP_TOKENS,
	                       .n = nr,
	                       .k = places,
	                       .a = m->rows,
	                       .a_row = places,
	                       .a_col = 1,
	                       .b = panel,
	                       .c = s,
	                       .c_row = nr,
	                       .near = true};

	ops->products->gemm(&g);
}

static void data_sums(const struct cpu *ops, const struct loop_memory *m, float *weights)
{
	size_t nr = ops->kernels->nr;
	struct gemm_block g = {.m = LOOP_CHANNELS,
	                       .n = nr,
	                       .k = LOOP_TOKENS / ops->products->per,
	                       .a = m->columns,
	                       .a_row = 1,
	                       .a_col = LOOP_CHANNELS,
	                       .b = weights,
	                       .c = m->area[4],
	                       .c_row = nr,
	                       .accumulate = true,
	                       .near = true};

	if (ops->products->rounds)
		ops->products->pack(LOOP_TOKENS, nr, weights, nr, 1, weights);
	ops->products->gemm(&g);
}

double loop_cross_forward(const struct cpu *ops, const struct loop_memory *m)
{
	struct cross_tile t = tile_of(m, ops->kernels->nr, m->area[2]);
	struct cross_sums g = {.sum = m->small[6],
	                       .kept = m->small[7],
	                       .wmean = m->small[8],
	                       .wsum = m->small[9],
	                       .column = m->area[5]};

	data_products(ops, m, m->panel, t.s);
	fetch(ops, m, 0);
	fetch(ops, m, 1);
	ops->kernels->cross_weights(&t, &g);
	fetch(ops, m, 2);
	data_sums(ops, m, t.s);
	fetch(ops, m, 3);
	return (double)(LOOP_TOKENS * ops->kernels->nr);
}

double loop_cross_backward(const struct cpu *ops, const struct loop_memory *m)
{
	struct cross_tile t = tile_of(m, ops->kernels->nr, m->area[2]),
			  d = tile_of(m, ops->kernels->nr, m->area[3]);
	struct cross_gradient g = {.delta = m->small[6],
	                           .dkept = m->small[7],
	                           .sum = m->small[8],
	                           .mean = m->small[9],
	                           .f1 = m->small[10],
	                           .f2 = m->small[11],
	                           .column_sum = m->area[5]};

	data_products(ops, m, m->panel, t.s);
	fetch(ops, m, 0);
	data_products(ops, m, m->panel + LOOP_CHANNELS * ops->kernels->nr, d.s);
	fetch(ops, m, 1);
	ops->kernels->cross_backward(&t, &d, &g);
	fetch(ops, m, 2);
	data_sums(ops, m, d.s);
	fetch(ops, m, 3);
	return (double)(LOOP_TOKENS * ops->kernels->nr);
}
