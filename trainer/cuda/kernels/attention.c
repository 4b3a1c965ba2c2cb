/*
 * Attention without its matrix of scores (Dao et al. 2022): a block walks over the keys of its
 * queries, or the queries of its keys, a tile at a time, and computes their scores again in every
 * kernel. In float32. Columns beyond ATTENTION_COLUMNS of the output are other blocks' work, which
 * compute the same scores: wide heads pay for that once per 128 columns.
 */
#include "trainer/cuda/kernels/attention.h"

INLINE void keep_factors(const struct attention_launch *p, const struct attended *t, uint32_t query,
                         uint32_t key, float ret[4])
{
	ret[0] = ret[1] = ret[2] = ret[3] = 1.0f;
	if (p->dropout.threshold > 0)
		dropout_factors(&p->dropout, t->clip, (uint64_t)t->head * p->nq + query, p->nk, key,
		                ret);
}

/* Of the eight threads that share a row of a tile. */
INLINE float row_largest(float value)
{
	for (unsigned mask = 4; mask > 0; mask /= 2)
		value = larger(value, warp_xor(value, mask));
	return value;
}
INLINE float row_sum(float value)
{
	for (unsigned mask = 4; mask > 0; mask /= 2)
		value += warp_xor(value, mask);
	return value;
}

INLINE void write_columns(const struct columns *sum, float *to, uint32_t first, uint32_t rows,
                          uint32_t stride, uint32_t column, uint32_t width)
{
	UNROLL
	for (unsigned i = 0; i < 8; i++) {
		UNROLL
		for (unsigned j = 0; j < 4; j++) {
			uint32_t r = first + columns_row(i), c = column + columns_column(j);

			if (r < rows && c < width)
				to[(size_t)r * stride + c] = sum->at[i][j];
		}
	}
}

/* ---- forward ---- */

struct softmax {
	float largest[2], sum[2]; /* of a thread's two rows */
};

/* Scores to weights relative to the largest seen; s->factor is what former sums are to be taken
 * times. */
INLINE void soften(SHARED struct attention_shared *s, const struct attention_launch *p,
                   const struct attended *t, const struct tile_part *score, struct softmax *state)
{
	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		float value[4], keep[4], largest = state->largest[i], sum = 0;

		UNROLL
		for (unsigned j = 0; j < 4; j++) {
			value[j] = t->k.first + part_column(j) < p->nk ? score->at[i][j] * p->scale
			                                               : -__builtin_inff();
			largest = larger(largest, value[j]);
		}
		largest = row_largest(largest);
		keep_factors(p, t, t->q.first + part_row(i), t->k.first + part_column(0), keep);
		UNROLL
		for (unsigned j = 0; j < 4; j++) {
			float weight = exponential(value[j] - largest);

			sum += weight;
			s->weights[part_row(i)][part_column(j)] = weight * keep[j];
		}
		float factor = exponential(state->largest[i] - largest);

		state->sum[i] = fused(state->sum[i], factor, row_sum(sum));
		state->largest[i] = largest;
		if (thread_index() % 8 == 0)
			s->factor[part_row(i)] = factor;
	}
}

/* The rows' statistics, for the other threads and for backward. */
INLINE void end_rows(SHARED struct attention_shared *s, const struct attention_launch *p,
                     const struct attended *t, const struct softmax *state)
{
	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		uint32_t query = t->q.first + part_row(i);

		if (thread_index() % 8 != 0)
			continue;
		s->factor[part_row(i)] = 1.0f / state->sum[i];
		if (block_y() == 0 && query < p->nq)
			p->lse[t->statistics + query] =
				fused(log2_fast(state->sum[i]), 0.693147182f, state->largest[i]);
	}
}

INLINE void scale_columns(const SHARED struct attention_shared *s, struct columns *sum)
{
	UNROLL
	for (unsigned i = 0; i < 8; i++) {
		UNROLL
		for (unsigned j = 0; j < 4; j++)
			sum->at[i][j] *= s->factor[columns_row(i)];
	}
}

void attention_forward(struct attention_launch p)
{
	SHARED struct attention_shared *s = SHARED_AS(struct attention_shared);
	struct attended t = attended(&p, block_z() / p.heads, block_z() % p.heads);
	struct softmax state = {{-__builtin_inff(), -__builtin_inff()}, {0, 0}};
	struct columns out = {{{0}}};
	uint32_t column = block_y() * ATTENTION_COLUMNS;

	t.q.first = block_x() * ATTENTION_TILE;
	for (; t.k.first < p.nk; t.k.first += ATTENTION_TILE) {
		struct tile_part score = scores(s, &t.q, &t.k);

		soften(s, &p, &t, &score, &state);
		block_sync();
		scale_columns(s, &out);
		t.v.first = t.k.first;
		add_weighted(s, &t.v, column, &out);
	}
	end_rows(s, &p, &t, &state);
	block_sync();
	scale_columns(s, &out);
	write_columns(&out, p.o + (size_t)t.clip * p.nq * p.heads * p.v + (size_t)t.head * p.v,
	              t.q.first, p.nq, p.heads * p.v, column, p.v);
}

/* ---- backward ---- */

/* d_o . o of every query, clip and head: what softmax's derivative subtracts. */
void attention_delta(struct attention_launch p)
{
	uint32_t row = block_x() * ROW_WARPS + warp_index();
	float sum = 0;

	if (row >= p.batch * p.heads * p.nq)
		return;
	size_t clip = row / p.nq / p.heads, head = row / p.nq % p.heads;
	size_t at = ((clip * p.nq + row % p.nq) * p.heads + head) * p.v;

	for (uint32_t i = lane_index(); i < p.v; i += WARP)
		sum = fused(p.d_o[at + i], p.o[at + i], sum);
	sum = warp_sum(sum);
	if (lane_index() == 0)
		p.delta[row] = sum;
}

/* The tile's probabilities again, 0 outside of the matrix. */
INLINE struct tile_part probabilities(const struct attention_launch *p, const struct attended *t,
                                      const struct tile_part *score)
{
	struct tile_part ret;

	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		uint32_t query = t->q.first + part_row(i);
		float lse = query < p->nq ? p->lse[t->statistics + query] : 0.0f;

		UNROLL
		for (unsigned j = 0; j < 4; j++) {
			bool inside = query < p->nq && t->k.first + part_column(j) < p->nk;

			ret.at[i][j] =
				inside ? exponential(fused(score->at[i][j], p->scale, -lse)) : 0.0f;
		}
	}
	return ret;
}

/* The tile of the scores' derivatives, as weights; `turned`: [key][query]. */
INLINE void score_derivatives(SHARED struct attention_shared *s, const struct attention_launch *p,
                              const struct attended *t, bool turned)
{
	struct tile_part score = scores(s, &t->q, &t->k);
	struct tile_part prob = probabilities(p, t, &score);
	struct tile_part d = scores(s, &t->d_o, &t->v);

	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		uint32_t query = t->q.first + part_row(i);
		float delta = query < p->nq ? p->delta[t->statistics + query] : 0.0f, keep[4];

		keep_factors(p, t, query, t->k.first + part_column(0), keep);
		UNROLL
		for (unsigned j = 0; j < 4; j++) {
			float value = prob.at[i][j] * p->scale * fused(d.at[i][j], keep[j], -delta);

			if (turned)
				s->weights[part_column(j)][part_row(i)] = value;
			else
				s->weights[part_row(i)][part_column(j)] = value;
		}
	}
}

/* Queries that all clips share: a block sums over the clips. */
void attention_dq(struct attention_launch p)
{
	SHARED struct attention_shared *s = SHARED_AS(struct attention_shared);
	uint32_t head = block_z() % p.heads, column = block_y() * ATTENTION_COLUMNS;
	uint32_t clip = p.q_shared ? 0 : block_z() / p.heads, first = block_x() * ATTENTION_TILE;
	uint32_t end = p.q_shared ? p.batch : clip + 1;
	struct columns sum = {{{0}}};
	size_t rows_before = p.q_shared ? 0 : (size_t)clip * p.nq;

	for (; clip < end; clip++) {
		struct attended t = attended(&p, clip, head);

		t.q.first = t.d_o.first = first;
		for (; t.k.first < p.nk; t.k.first += ATTENTION_TILE) {
			t.v.first = t.k.first;
			score_derivatives(s, &p, &t, false);
			add_weighted(s, &t.k, column, &sum);
		}
	}
	write_columns(&sum, p.dq + (rows_before * p.heads + head) * p.qk, first, p.nq,
	              p.heads * p.qk, column, p.qk);
}

void attention_dk(struct attention_launch p)
{
	SHARED struct attention_shared *s = SHARED_AS(struct attention_shared);
	struct attended t = attended(&p, block_z() / p.heads, block_z() % p.heads);
	uint32_t column = block_y() * ATTENTION_COLUMNS;
	struct columns sum = {{{0}}};

	t.k.first = t.v.first = block_x() * ATTENTION_TILE;
	for (; t.q.first < p.nq; t.q.first += ATTENTION_TILE) {
		t.d_o.first = t.q.first;
		score_derivatives(s, &p, &t, true);
		add_weighted(s, &t.q, column, &sum);
	}
	write_columns(&sum, p.dk + ((size_t)t.clip * p.nk * p.heads + t.head) * p.qk, t.k.first,
	              p.nk, p.heads * p.qk, column, p.qk);
}

void attention_dv(struct attention_launch p)
{
	SHARED struct attention_shared *s = SHARED_AS(struct attention_shared);
	struct attended t = attended(&p, block_z() / p.heads, block_z() % p.heads);
	uint32_t column = block_y() * ATTENTION_COLUMNS;
	struct columns sum = {{{0}}};

	t.k.first = block_x() * ATTENTION_TILE;
	for (; t.q.first < p.nq; t.q.first += ATTENTION_TILE) {
		struct tile_part score = scores(s, &t.q, &t.k),
				 prob = probabilities(&p, &t, &score);

		t.d_o.first = t.q.first;
		UNROLL
		for (unsigned i = 0; i < 2; i++) {
			float keep[4];

			keep_factors(&p, &t, t.q.first + part_row(i), t.k.first + part_column(0),
			             keep);
			UNROLL
			for (unsigned j = 0; j < 4; j++)
				s->weights[part_column(j)][part_row(i)] = prob.at[i][j] * keep[j];
		}
		add_weighted(s, &t.d_o, column, &sum);
	}
	write_columns(&sum, p.dvalues + ((size_t)t.clip * p.nk * p.heads + t.head) * p.v, t.k.first,
	              p.nk, p.heads * p.v, column, p.v);
}
