#include "trainer/ops/gemm.h"

#include <string.h>

#include "trainer/ops/threads.h"

/* Values of k of one pass: a panel of it stays in the second cache. Even, for pairs. */
enum { DEPTH = 1088 };

size_t gemm_places(const struct product_kernels *products, size_t k)
{
	return (k + products->per - 1) / products->per;
}

struct gemm_pass {
	const struct kernels *kernels;
	const struct product_kernels *products;
	const struct gemm *g;
	size_t nr, mr;
	size_t k0, depth;                 /* the pass */
	size_t row_blocks, rows, columns; /* of a task */
	size_t whole, last;               /* blocks of `rows` rows; the rows of those after them */
	size_t panels, blocks;            /* tasks */
	atomic_size_t ready;              /* of these, packed */
	float *packed, *work;
	size_t packed_n, work_each;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void pack_panel(struct gemm_pass *j, size_t i)
{
	const struct gemm *g = j->g;

	j->products->pack(j->depth, least(j->nr, g->n - i * j->nr),
	                  g->b + j->k0 * g->b_row + i * j->nr * g->b_col, g->b_row, g->b_col,
	                  j->packed + i * j->nr * gemm_places(j->products, j->depth));
	threads_done(&j->ready);
}

size_t gemm_piece(size_t mr, size_t k)
{
	return (mr * k + 16 + 15) / 16 * 16;
}

size_t gemm_stride(size_t n)
{
	return ((n + 15) / 16 | 1) * 16;
}

static size_t pieces_of(const struct kernels *kernels, size_t m)
{
	return (m + kernels->mr - 1) / kernels->mr;
}

size_t gemm_left_room(const struct kernels *kernels, const struct product_kernels *products,
                      size_t m, size_t k)
{
	size_t places = gemm_places(products, k);

	if (products->pack_piece != NULL)
		return pieces_of(kernels, m) * gemm_piece(kernels->mr, places);
	return m * gemm_stride(places);
}

void gemm_left(const struct kernels *kernels, const struct product_kernels *products,
               const struct gemm_left *left, float *out)
{
	size_t pieces = pieces_of(kernels, left->m), places = gemm_places(products, left->k);

	if (products->pack_piece == NULL)
		for (size_t i = 0; i < left->m; i++)
			products->pack_row(left->k, left->x + i * left->x_row,
			                   out + i * gemm_stride(places));
	else
		for (size_t i = 0; i < pieces; i++) {
			size_t from = left->m * i / pieces, end = left->m * (i + 1) / pieces;

			products->pack_piece(left->k, end - from, left->x + from * left->x_row,
			                     left->x_row,
			                     out + i * gemm_piece(kernels->mr, places));
		}
}

void gemm_left_of(const struct kernels *kernels, const struct product_kernels *products,
                  const float *packed, struct gemm_block *g)
{
	bool pieces = products->pack_piece != NULL;

	g->a = packed;
	g->a_row = pieces ? 1 : gemm_stride(g->k);
	g->a_col = 1;
	g->a_piece = pieces ? gemm_piece(kernels->mr, g->k) : 0;
}

/* The product with rows of floats, packed; k counts values. */
static void gemm_copied(const struct kernels *kernels, const struct product_kernels *products,
                        const struct gemm_block *g, float *work)
{
	struct gemm_block block = *g;

	block.k = gemm_places(products, g->k);
	gemm_left(kernels, products, &(struct gemm_left){g->m, g->k, g->a, g->a_row}, work);
	gemm_left_of(kernels, products, work, &block);
	products->gemm(&block);
}

/* Asks for a piece's lines of the columns [k, end), which the processor does not see coming. */
static void fetch_columns(const struct gemm_block *g, size_t from, size_t rows, size_t k,
                          size_t end)
{
	for (; k < end; k++) {
		__builtin_prefetch(g->a + from + k * g->a_col);
		__builtin_prefetch(g->a + from + rows - 1 + k * g->a_col);
	}
}

/*
 * By a few of k at a time for all pieces: the rows of a that are read lie a power of two apart
 * where a layer is as wide, and more of them would drive each other out of the cache before the
 * next piece reads the rest of their lines.
 */
void gemm_transposed(size_t mr, const struct product_kernels *products, const struct gemm_block *g,
                     float *work)
{
	enum { AT_ONCE = 16 };
	size_t pieces = (g->m + mr - 1) / mr;
	struct gemm_block block = *g;

	block.k = gemm_places(products, g->k);
	block.a = work;
	block.a_row = 1;
	block.a_piece = gemm_piece(mr, block.k);
	for (size_t k = 0; k < g->k; k += AT_ONCE) {
		for (size_t i = 0; i < pieces; i++) {
			size_t from = g->m * i / pieces, rows = g->m * (i + 1) / pieces - from;

			fetch_columns(g, from, rows, k + AT_ONCE, least(k + 2 * AT_ONCE, g->k));
			products->pack_columns(least(AT_ONCE, g->k - k), rows,
			                       g->a + from + k * g->a_col, g->a_col,
			                       work + i * block.a_piece + k / products->per * rows);
		}
	}
	products->gemm(&block);
}

static void multiply_block(const struct gemm_pass *j, size_t i, unsigned worker)
{
	const struct gemm *g = j->g;
	size_t block_row = i % j->row_blocks, column = i / j->row_blocks * j->columns;
	size_t before = least(block_row, j->whole);
	size_t row = before * j->rows + (block_row - before) * j->last;
	size_t places = gemm_places(j->products, j->depth);
	bool first = j->k0 == 0, last = j->k0 + j->depth == g->k;
	struct gemm_block block = {.m = least(block_row < j->whole ? j->rows : j->last, g->m - row),
	                           .n = least(j->columns, g->n - column),
	                           .k = j->depth,
	                           .a = g->a + row * g->a_row + j->k0 * g->a_col,
	                           .a_row = g->a_row,
	                           .a_col = g->a_col,
	                           .b = j->packed + column * places,
	                           .b_panel = j->nr * places,
	                           .c = g->c + row * g->c_row + column,
	                           .c_row = g->c_row,
	                           .accumulate = g->accumulate || !first,
	                           .bias = last && g->bias != NULL ? g->bias + column : NULL,
	                           .residual = last && g->residual != NULL
	                                               ? g->residual + row * g->c_row + column
	                                               : NULL};

	if (g->a_row == 1 && g->m > 1)
		gemm_transposed(j->mr, j->products, &block, j->work + worker * j->work_each);
	else
		gemm_copied(j->kernels, j->products, &block, j->work + worker * j->work_each);
}

/* Whether the threads have something to do for most of the time that n equal tasks take. */
static bool busy(size_t n, size_t threads)
{
	size_t rounds = (n + threads - 1) / threads;

	return n >= 12 * threads || 16 * n >= 15 * rounds * threads;
}

/* Whole pieces, where a block has many of them: one that lacks a row of few is dearer than blocks
 * that are not even. */
static size_t whole_pieces(const struct gemm_pass *j, size_t rows)
{
	enum { MANY = 8 };

	return j->rows >= MANY * j->mr ? (rows + j->mr - 1) / j->mr * j->mr : rows;
}

/*
 * Each thread's last block becomes smaller ones: a thread that began late, or was kept from its
 * processor, is waited for by a piece instead of a block.
 */
static void cut_last(struct gemm_pass *j, unsigned threads)
{
	enum { PIECES = 4 };
	size_t rest;

	j->whole = j->row_blocks - threads;
	rest = j->g->m - j->whole * j->rows;
	j->last = whole_pieces(j, (j->rows + PIECES - 1) / PIECES);
	j->row_blocks = j->whole + (rest + j->last - 1) / j->last;
}

/*
 * Blocks of nearly equal height, as many for each thread; and as few groups of columns as keep
 * every thread busy: each packs the block of rows again. ends: nothing follows in the round.
 */
static void cut(struct gemm_pass *j, unsigned threads, bool ends)
{
	const struct gemm *g = j->g;
	size_t nr = j->nr, most = KERNEL_BLOCK_ROWS / j->mr * j->mr, groups = 1;

	j->row_blocks = (g->m + most - 1) / most;
	if (j->row_blocks > threads)
		j->row_blocks = (j->row_blocks + threads - 1) / threads * threads;
	j->rows = (g->m + j->row_blocks - 1) / j->row_blocks;
	j->rows = whole_pieces(j, j->rows);
	j->row_blocks = (g->m + j->rows - 1) / j->rows;
	while (groups * nr < g->n && !busy(j->row_blocks * groups, threads))
		groups *= 2;
	j->columns = ((g->n + groups - 1) / groups + nr - 1) / nr * nr;
	j->whole = j->row_blocks;
	j->last = j->rows;
	if (ends && groups == 1 && j->row_blocks >= 2 * threads)
		cut_last(j, threads);
	j->blocks = j->row_blocks * ((g->n + j->columns - 1) / j->columns);
}

static struct gemm_pass start_pass(const struct cpu *ops, const struct gemm *g, bool ends)
{
	struct gemm_pass j = {.kernels = ops->kernels,
	                      .products = ops->products,
	                      .g = g,
	                      .nr = ops->kernels->nr,
	                      .mr = ops->kernels->mr};
	unsigned threads = threads_count(ops->threads);
	size_t depth = gemm_places(j.products, least(g->k, DEPTH));

	cut(&j, threads, ends);
	j.depth = least(DEPTH, g->k);
	j.panels = (g->n + j.nr - 1) / j.nr;
	j.packed_n = j.panels * j.nr * depth;
	j.work_each = gemm_left_room(j.kernels, j.products, j.rows, least(g->k, DEPTH));
	if (g->a_row == 1)
		j.work_each = (j.rows + j.mr - 1) / j.mr * gemm_piece(j.mr, depth);
	return j;
}

static size_t tasks_of(const struct gemm_pass *j)
{
	return j->panels + j->blocks + (j->k0 == 0 ? j->g->beside_n : 0);
}

/* Products whose tasks are one round: those of the second follow those of the first. */
struct gemm_round {
	struct gemm_pass pass[2];
};

/*
 * Panels are tasks before blocks, in one round: whoever comes to a block waits at most for the
 * panels that others have begun, and a thread that wakes late keeps nobody waiting.
 */
static void run_task(void *ctx, size_t i, unsigned worker)
{
	struct gemm_round *r = ctx;
	struct gemm_pass *j = &r->pass[0];

	if (i >= tasks_of(j)) {
		i -= tasks_of(j);
		j = &r->pass[1];
	}
	if (i < j->panels) {
		pack_panel(j, i);
		return;
	}
	i -= j->panels;
	if (i >= j->blocks) {
		j->g->beside(j->g->beside_ctx, i - j->blocks, worker);
		return;
	}
	threads_await(&j->ready, j->panels);
	multiply_block(j, i, worker);
}

void gemm(struct cpu *ops, const struct gemm *g)
{
	struct gemm_round r = {.pass[0] = start_pass(ops, g, true)};
	struct gemm_pass *j = &r.pass[0];

	j->packed = ops_scratch(ops, j->packed_n + threads_count(ops->threads) * j->work_each);
	j->work = j->packed + j->packed_n;
	for (; j->k0 < g->k; j->k0 += j->depth) {
		j->depth = least(DEPTH, g->k - j->k0);
		atomic_store_explicit(&j->ready, 0, memory_order_relaxed);
		threads_run(ops->threads, tasks_of(j), run_task, &r);
	}
}

/* In one round where both are one pass: a thread that is done with the first begins the second. */
void gemm_both(struct cpu *ops, const struct gemm *first, const struct gemm *second)
{
	struct gemm_round r;
	struct gemm_pass *a = &r.pass[0], *b = &r.pass[1];
	size_t work;

	if (first->k > DEPTH || second->k > DEPTH) {
		gemm(ops, first);
		gemm(ops, second);
		return;
	}
	r = (struct gemm_round){{start_pass(ops, first, false), start_pass(ops, second, true)}};
	work = a->work_each > b->work_each ? a->work_each : b->work_each;
	a->work_each = b->work_each = work;
	a->packed =
		ops_scratch(ops, a->packed_n + b->packed_n + threads_count(ops->threads) * work);
	b->packed = a->packed + a->packed_n;
	a->work = b->work = b->packed + b->packed_n;
	threads_run(ops->threads, tasks_of(a) + tasks_of(b), run_task, &r);
}
