/* The sweeps of the folded cross attention in float32, by multiply-adds on tiles of 32 by 32. */
#include "trainer/cuda/kernels/attention.h"

enum { OWN = ATTENTION_TILE, PLACES = 4, GROUP = 4, PITCH = ATTENTION_COLUMNS + 4 };

#define SLOPES_TIMES   1.0f
#define fold_shared    attention_shared
#define fold_tile      tile_part
#define AT(tile, i, n) ((tile).at[i][n])
#define tile_row(i)    part_row(i)
#define tile_column(n) part_column(n)
#define fold_data      fold_data_f32
#define is_first()     (thread_index() % 8 == 0)

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

#include "trainer/cuda/kernels/fold_tile.inc"

/* The eight rows of a warp, and columns that are 32 apart. */
struct fold_data_f32 {
	float at[8][FOLD_COLUMNS / WARP];
};

INLINE void keep_group(const struct fold_sweep_launch *p, const struct fold_at *at, unsigned n,
                       float ret[GROUP][2])
{
	uint32_t token = p->first + at->row * p->grid.length + at->place + part_column(n);

	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		float keep[GROUP] = {1, 1, 1, 1};

		if (p->dropout.threshold > 0)
			fold_keep(p, at->clip, at->query + part_row(i), token, keep);
		UNROLL
		for (unsigned h = 0; h < GROUP; h++)
			ret[h][i] = keep[h];
	}
}

INLINE struct tile_part tile_products(SHARED struct fold_shared *s,
                                      const struct fold_sweep_launch *p, const struct fold_at *at,
                                      struct tile_part *d)
{
	struct tile_rows tokens = data_rows(p, at), q = folded_rows(p, at, &p->q, false);

	if (d != NULL) {
		struct tile_rows own = folded_rows(p, at, &p->d, true);

		*d = scores(s, &own, &tokens);
	}
	return scores(s, &q, &tokens);
}

INLINE void add_data(SHARED struct fold_shared *s, const struct fold_sweep_launch *p,
                     const struct fold_at *at, const struct tile_part *weights, const float *factor,
                     struct fold_data *data)
{
	struct tile_rows tokens = data_rows(p, at);

	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		UNROLL
		for (unsigned n = 0; n < PLACES; n++)
			s->weights[part_row(i)][part_column(n)] = weights->at[i][n];
		if (factor != NULL && is_first())
			s->factor[part_row(i)] = factor[i];
	}
	UNROLL_BY(1)
	for (unsigned part = 0; part < FOLD_COLUMNS; part += WARP)
		fetch(&s->right[0][part], PITCH, &tokens, at->chunk * FOLD_COLUMNS + part);
	block_sync();
	UNROLL
	for (unsigned i = 0; i < 8 && factor != NULL; i++) {
		UNROLL
		for (unsigned j = 0; j < FOLD_COLUMNS / WARP; j++)
			data->at[i][j] *= s->factor[columns_row(i)];
	}
	UNROLL_BY(2)
	for (unsigned k = 0; k < ATTENTION_TILE; k++) {
		UNROLL
		for (unsigned j = 0; j < FOLD_COLUMNS / WARP; j++) {
			float value = s->right[k][j * WARP + lane_index()];

			UNROLL
			for (unsigned i = 0; i < 8; i++)
				data->at[i][j] =
					fused(s->weights[columns_row(i)][k], value, data->at[i][j]);
		}
	}
	block_sync();
}

INLINE void write_data(const struct fold_sweep_launch *p, const struct fold_at *at,
                       const struct fold_data *data, float times)
{
	UNROLL
	for (unsigned i = 0; i < 8; i++) {
		uint32_t query = at->query + columns_row(i);
		size_t row = ((size_t)at->part * p->clips + at->clip) * p->nq + query;

		UNROLL
		for (unsigned j = 0; j < FOLD_COLUMNS / WARP; j++) {
			uint32_t column = at->chunk * FOLD_COLUMNS + j * WARP + lane_index();

			if (query < p->nq && column < p->grid.n_data)
				p->sums[row * p->grid.width + column] = data->at[i][j] * times;
		}
	}
}

#include "trainer/cuda/kernels/fold_sweep.inc"

void fold_f32_forward(struct fold_sweep_launch p)
{
	sweep_forward(&p);
}

void fold_f32_backward(struct fold_sweep_launch p)
{
	sweep_backward(&p);
}
