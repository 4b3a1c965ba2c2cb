/* The backward pass of the folded cross attention. */
#include "trainer/cuda/launch_fold.h"

static unsigned parts_of(size_t n, unsigned each)
{
	return (unsigned)((n + each - 1) / each);
}

/* both += the sums down columns of x * y, and weighted += those of weight * y; either may be NULL.
 */
static void add_columns(struct cuda_queue *q, struct fold_columns_launch *l, float *both,
                        float *weighted)
{
	unsigned parts = parts_of(l->rows, COLUMN_ROWS);
	size_t width = l->width;

	l->partial = q->scratch(q, parts * 2 * width * sizeof(float));
	q->launch(q, KERNEL_fold_columns, (const unsigned[3]){parts_of(width, 32), parts, 1}, l);
	if (both != NULL)
		cuda_add_parts(q, l->partial, width, parts, 2 * width, both);
	if (weighted != NULL)
		cuda_add_parts(q, l->partial + width, width, parts, 2 * width, weighted);
}

/* The side of the values: their weight and bias, the gain and the shift; dU. */
static void unfold_values(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f)
{
	uint32_t rows = (uint32_t)(p->batch * p->nq), c = (uint32_t)p->channels, v = (uint32_t)p->v;
	struct product_launch dwv = {.a = p->dcontext,
	                             .b = f->z,
	                             .c = p->dwv,
	                             .m = v,
	                             .n = c,
	                             .k = rows,
	                             .lda = v,
	                             .ldb = c,
	                             .ldc = c,
	                             .accumulate = 1};
	struct product_launch dz = {.a = p->dcontext,
	                            .b = p->wv,
	                            .c = f->d,
	                            .m = rows,
	                            .n = c,
	                            .k = v,
	                            .lda = v,
	                            .ldb = c,
	                            .ldc = c};
	struct fold_columns_launch bias = {
		.y = p->dcontext, .weight = cuda_fold_kept(p, f), .rows = rows, .width = v};
	struct fold_columns_launch norm = {
		.x = f->u, .y = f->d, .weight = bias.weight, .rows = rows, .width = c};
	struct fold_rows_launch fold = {.x = f->d,
	                                .folded = f->d,
	                                .constants = f->d_constants,
	                                .u = f->u,
	                                .kept = bias.weight,
	                                .shift = p->shift,
	                                .d_context = p->dcontext,
	                                .bias = p->bv,
	                                .delta = f->delta,
	                                .d_kept = f->d_kept,
	                                .rows = rows,
	                                .v = v,
	                                .scale = 1};

	cuda_multiply(q, PRODUCT_TN, &dwv);
	add_columns(q, &bias, NULL, p->dbv);
	cuda_multiply(q, PRODUCT_NN, &dz);
	add_columns(q, &norm, p->dgain, p->dshift);
	cuda_fold_rows(q, p, f, &fold);
	cuda_fold_tables(q, p, f, f->d, rows, true);
}

/* The side of queries and keys: dT = gain / sqrt(qk) dq'', dq = dT Wk^T, dWk = q^T dT. The key's
 * bias and the shift move a query's scores all alike: no derivative. */
static void unfold_queries(struct cuda_queue *q, const struct op_cross *p,
                           const struct cuda_fold *f)
{
	uint32_t nq = (uint32_t)p->nq, c = (uint32_t)p->channels, qk = (uint32_t)p->qk;
	struct fold_columns_launch gain = {.x = f->t, .y = f->dq, .rows = nq, .width = c};
	struct fold_scale_launch scale = {.x = f->dq,
	                                  .gain = p->gain,
	                                  .out = f->dq,
	                                  .n = p->nq * p->channels,
	                                  .width = c,
	                                  .factor = cuda_fold_factor(p)};
	struct product_launch dq = {.a = f->dq,
	                            .b = p->wk,
	                            .c = p->dq,
	                            .m = nq,
	                            .n = qk,
	                            .k = c,
	                            .lda = c,
	                            .ldb = c,
	                            .ldc = qk};
	struct product_launch dwk = {.a = p->q,
	                             .b = f->dq,
	                             .c = p->dwk,
	                             .m = qk,
	                             .n = c,
	                             .k = nq,
	                             .lda = qk,
	                             .ldb = c,
	                             .ldc = c,
	                             .accumulate = 1};

	add_columns(q, &gain, p->dgain, NULL);
	cuda_fold_scale(q, &scale);
	cuda_multiply(q, PRODUCT_NT, &dq);
	cuda_multiply(q, PRODUCT_TN, &dwk);
}

/* Data and positions are constants: a token's derivative goes to its padding, or to its mask. */
static void token_gradients(struct cuda_queue *q, const struct op_cross *p,
                            const struct cuda_fold *f)
{
	uint32_t rows = (uint32_t)(p->batch * p->nq), c = (uint32_t)p->channels;
	unsigned parts = parts_of(rows, COLUMN_ROWS);
	struct fold_slopes_launch slopes = {
		.d = f->d,
		.q = f->q,
		.weights = f->totals,
		.slopes = f->slopes,
		.partial = q->scratch(q, (size_t)parts * 2 * OP_TOKEN_GROUPS * c * sizeof(float)),
		.rows = rows,
		.nq = (uint32_t)p->nq,
		.channels = c};
	struct fold_gradients_launch gradients = {.partial = slopes.partial,
	                                          .slopes = f->slopes,
	                                          .masked = f->masked,
	                                          .parts = parts,
	                                          .nq = slopes.nq,
	                                          .channels = c};

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		const struct op_tokens *t = &p->groups[g];

		gradients.pad[g] = t->pad;
		gradients.n_pad[g] = (uint32_t)t->n_pad;
		gradients.dpad[g] = t->n > 0 ? t->dpad : NULL;
		gradients.dmask[g] = t->n > 0 && t->mask != NULL ? t->dmask_token : NULL;
	}
	q->launch(q, KERNEL_fold_slopes, (const unsigned[3]){parts_of(c, 32), parts, 1}, &slopes);
	q->launch(q, KERNEL_fold_gradients, (const unsigned[3]){OP_TOKEN_GROUPS, 1, 1}, &gradients);
}

void cuda_fold_backward(struct cuda_queue *q, const struct op_cross *p)
{
	const struct cuda_fold *f = &((const struct cuda_cross *)p->state)->fold;

	if (p->batch * p->nq == 0)
		return;
	unfold_values(q, p, f);
	cuda_fold_sweep(q, p, f, true);
	cuda_fold_end_sweep(q, p, f, true, f->dq);
	token_gradients(q, p, f);
	unfold_queries(q, p, f);
}
