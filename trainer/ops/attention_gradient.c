#include "trainer/ops/attention_gradient.h"

#include <string.h>

#include "trainer/ops/gemm.h"

size_t gradient_lay_out(const struct attention_run *a, float *at, struct gradient_work *w)
{
	size_t tile = ATTENTION_QUERIES * a->strip;
	const struct piece pieces[] = {{&w->q, attention_copy_room(a, a->p->qk)},
	                               {&w->d_o, attention_copy_room(a, a->p->v)},
	                               {&w->keep, tile},
	                               {&w->prob, tile},
	                               {&w->ds, tile}};

	return attention_lay_out(pieces, sizeof(pieces) / sizeof(pieces[0]), at);
}

void gradient_deltas(const struct attention_run *a, const struct query_block *q, float *delta)
{
	const struct op_attention *p = a->p;
	size_t at = attention_o_at(a, q->b, q->h) + q->q0 * a->ld_v;

	for (size_t i = 0; i < q->rows; i++, at += a->ld_v)
		delta[i] = a->kernels->dot(p->d_o + at, p->o + at, p->v);
}

void gradient_start(const struct attention_run *a, const struct query_block *q,
                    const struct gradient_work *w)
{
	const struct op_attention *p = a->p;

	attention_copy_rows(a, q, p->qk, attention_q(a, q->b, q->h), a->ld_qk, w->q);
	attention_copy_rows(a, q, p->v, p->d_o + attention_o_at(a, q->b, q->h), a->ld_v, w->d_o);
}

/* The block's rows of P or dS become places where gradient_sum finds them; floats have been written
 * there. */
static void keep_rows(const struct attention_run *a, const struct query_block *q, const float *tile,
                      float *kept)
{
	if (tile != kept)
		a->products->pack_columns(q->rows, a->strip, tile, a->strip, kept);
}

float *gradient_tile(const struct attention_run *a, const struct query_block *q, const float *delta,
                     const struct gradient_strip *s, const struct gradient_work *w)
{
	const struct op_attention *p = a->p;
	bool floats = !a->products->rounds;
	struct softmax_gradient tile = {.rows = q->rows,
	                                .n = s->strip.padded,
	                                .row = a->strip,
	                                .scale = a->scale,
	                                .lse = p->lse + (q->b * p->heads + q->h) * p->nq + q->q0,
	                                .delta = delta,
	                                .s = floats ? s->prob : w->prob,
	                                .ds = floats ? s->ds : w->ds};

	attention_scores(a, q, &s->strip, a->qk_places, w->q, s->keys_t, tile.s);
	attention_scores(a, q, &s->strip, a->v_places, w->d_o, s->values_t, tile.ds);
	tile.keep = attention_keep(a, q, &s->strip, w->keep);
	a->kernels->softmax_gradient(&tile);
	keep_rows(a, q, tile.s, s->prob);
	keep_rows(a, q, tile.ds, s->ds);
	return tile.ds;
}

void gradient_finish(const struct attention_run *a, const struct query_block *q, const float *from,
                     size_t row)
{
	const struct op_attention *p = a->p;
	size_t first = (p->q_shared ? 0 : q->b * p->nq) + q->q0;
	bool add = p->q_shared && q->b > 0;

	for (size_t i = 0; i < q->rows; i++, from += row) {
		float *dq = p->dq + (first + i) * a->ld_qk + q->h * p->qk;

		if (add)
			a->kernels->add(dq, from, p->qk);
		else
			memcpy(dq, from, p->qk * sizeof(float));
	}
}

void gradient_sum(const struct attention_run *a, const struct strip *strip, size_t n,
                  const struct gradient_sum *s)
{
	struct gemm_block g = {.m = strip->n,
	                       .n = n,
	                       .k = s->places,
	                       .a = s->kept,
	                       .a_row = 1,
	                       .a_col = a->strip,
	                       .b = s->packed,
	                       .b_panel = s->panel,
	                       .c = s->to,
	                       .c_row = s->to_row,
	                       .accumulate = s->accumulate};

	a->products->gemm(&g);
}
