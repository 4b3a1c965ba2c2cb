#include "trainer/ops/attention_fast.h"

#include <math.h>

#include "trainer/ops/gemm.h"

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t attention_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

size_t attention_lay_out(const struct piece *pieces, size_t n, float *at)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++) {
		if (at != NULL)
			*pieces[i].to = at + total;
		total += attention_up(pieces[i].n, 16);
	}
	return total;
}

/* About WIDE panels of keys; whole strips but for one, since the last one costs as many steps. */
static size_t strip_width(size_t keys, size_t nr)
{
	enum { WIDE = 8 };
	size_t panels = attention_up(keys, nr) / nr, strips = (panels + WIDE / 2) / WIDE;

	strips = strips > 0 ? strips : 1;
	return attention_up(panels, strips) / strips * nr;
}

struct attention_run attention_start(const struct cpu *ops, const struct op_attention *p)
{
	const struct product_kernels *products = ops->products;
	size_t strip = strip_width(p->nk, ops->kernels->nr);

	return (struct attention_run){.kernels = ops->kernels,
	                              .products = products,
	                              .p = p,
	                              .qk_places = gemm_places(products, p->qk),
	                              .v_places = gemm_places(products, p->v),
	                              .nq_places = gemm_places(products, p->nq),
	                              .nk_places = gemm_places(products, p->nk),
	                              .strip = strip,
	                              .strips = (p->nk + strip - 1) / strip,
	                              .q_blocks =
	                                      (p->nq + ATTENTION_QUERIES - 1) / ATTENTION_QUERIES,
	                              .ld_qk = p->heads * p->qk,
	                              .ld_v = p->heads * p->v,
	                              .scale = 1 / sqrtf((float)p->qk)};
}

struct query_block attention_block(const struct attention_run *r, size_t b, size_t h, size_t i)
{
	size_t q0 = i * ATTENTION_QUERIES;

	return (struct query_block){b, h, q0, least(ATTENTION_QUERIES, r->p->nq - q0)};
}

struct strip attention_strip(const struct attention_run *r, size_t i)
{
	size_t k0 = i * r->strip, n = least(r->strip, r->p->nk - k0);

	return (struct strip){k0, n, attention_up(n, r->kernels->nr / 2)};
}

const float *attention_q(const struct attention_run *r, size_t b, size_t h)
{
	const struct op_attention *p = r->p;

	return p->q + (p->q_shared ? 0 : b * p->nq * r->ld_qk) + h * p->qk;
}

const float *attention_k(const struct attention_run *r, size_t b, size_t h)
{
	return r->p->k + b * r->p->nk * r->ld_qk + h * r->p->qk;
}

const float *attention_values(const struct attention_run *r, size_t b, size_t h)
{
	return r->p->values + b * r->p->nk * r->ld_v + h * r->p->v;
}

size_t attention_o_at(const struct attention_run *r, size_t b, size_t h)
{
	return b * r->p->nq * r->ld_v + h * r->p->v;
}

void attention_pack(const struct attention_run *r, size_t k, size_t n, const float *b, size_t b_row,
                    size_t b_col, float *out)
{
	size_t nr = r->kernels->nr, places = gemm_places(r->products, k);

	for (size_t i = 0; i < n; i += nr)
		r->products->pack(k, least(nr, n - i), b + i * b_col, b_row, b_col,
		                  out + i * places);
}

size_t attention_copy_room(const struct attention_run *r, size_t n)
{
	return gemm_left_room(r->kernels, r->products, ATTENTION_QUERIES, n);
}

void attention_copy_rows(const struct attention_run *r, const struct query_block *q, size_t n,
                         const float *x, size_t x_row, float *copy)
{
	gemm_left(r->kernels, r->products,
	          &(struct gemm_left){q->rows, n, x + q->q0 * x_row, x_row}, copy);
}

void attention_scores(const struct attention_run *r, const struct query_block *q,
                      const struct strip *strip, size_t depth, const float *copy,
                      const float *packed, float *s)
{
	struct gemm_block g = {.m = q->rows,
	                       .n = strip->padded,
	                       .k = depth,
	                       .b = packed,
	                       .b_panel = r->kernels->nr * depth,
	                       .c = s,
	                       .c_row = r->strip,
	                       .near = true};

	gemm_left_of(r->kernels, r->products, copy, &g);
	r->products->gemm(&g);
}

void attention_gather(const struct attention_run *r, const struct query_block *q,
                      const struct strip *strip, size_t n, const struct attention_sum *sum)
{
	struct gemm_block g = {.m = q->rows,
	                       .n = attention_up(n, r->kernels->nr),
	                       .k = gemm_places(r->products, strip->n),
	                       .a = sum->weights,
	                       .a_row = r->strip,
	                       .a_col = 1,
	                       .b = sum->packed,
	                       .b_panel = sum->panel,
	                       .c = sum->to,
	                       .c_row = sum->to_row,
	                       .accumulate = sum->accumulate,
	                       .near = true};

	for (size_t i = 0; r->products->rounds && i < q->rows; i++)
		r->products->pack_row(strip->n, sum->weights + i * r->strip,
		                      sum->weights + i * r->strip);
	r->products->gemm(&g);
}

const float *attention_keep(const struct attention_run *r, const struct query_block *q,
                            const struct strip *strip, float *keep)
{
	const struct op_dropout *d = &r->p->dropout;
	uint64_t sample = d->sample != NULL ? d->sample[q->b] : q->b;
	size_t blocks = (r->p->nk + 3) / 4;

	if (d->p == 0)
		return NULL;
	for (size_t i = 0; i < q->rows; i++) {
		size_t row = q->h * r->p->nq + q->q0 + i;

		r->kernels->dropout(d, sample, (uint32_t)(row * blocks + strip->k0 / 4), strip->n,
		                    keep + i * r->strip);
	}
	return keep;
}
