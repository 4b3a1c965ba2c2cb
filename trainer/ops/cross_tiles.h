/*
 * What both sweeps of the folded cross attention do with tables, tiles and sums (cross_tiles.c). A
 * panel row is nr values side by side, one per latent of a block.
 */
#ifndef SLIPWAY_TRAINER_OPS_CROSS_TILES_H
#define SLIPWAY_TRAINER_OPS_CROSS_TILES_H

#include "trainer/ops/cross_folded.h"

/* Sums over tokens for one modality: weights by data channel and by grid line; [rows][nr] each. */
struct sums {
	float *data;            /* [n_data] */
	float *line[GRID_DIMS]; /* [dim] */
	float *total, *mean;    /* of weights; of weights times the token's mean */
	size_t rows;            /* of all these together, which lie one after another */
};

/* What the tokens' constant channels give: one value per grid line, and one for the padding. */
struct cross_tables {
	float *line[GRID_DIMS], *pad, *csum;
};

/* A worker's memory; tiles_take() hands it out row by row. */
struct tile_memory {
	float *at;
	size_t nr;
};

/* Sizes of the largest modality. */
struct extent {
	size_t lines, columns, data, sums; /* sums: of all modalities together */
};

/* One tile: tokens [j, j + n) of clip b in row (t, y). */
struct place {
	size_t b, group, block, t, y, x, j, n;
};

/* The next `rows` panel rows of a worker's memory, and larger pieces of it. */
float *tiles_take(struct tile_memory *a, size_t rows);

struct sums tiles_take_sums(struct tile_memory *a, const struct op_tokens *g);

struct cross_tables tiles_take_tables(struct tile_memory *a, size_t lines);

struct extent tiles_extent(const struct op_cross *p);

/* One panel row: to += from. */
void tiles_add(const struct kernels *k, float *to, const float *from);

/* csum = the sum of a panel's rows. */
void tiles_sum_channels(const struct kernels *k, const float *panel, size_t channels, float *csum);

/* Brings the left matrices of a modality into places, for all clips. */
void tiles_place(struct cpu *ops, const struct op_cross *p, size_t group);

/*
 * The lanes of a block that products are made for: all nr, or the half of them where it has no more
 * latents. What the products write is neither written nor read in the other half.
 */
size_t tiles_lanes(const struct sweep *w, size_t block);

/* Fills the tables of at's modality for its panel; rows: room for a gathered dimension. */
void tiles_fill_tables(const struct sweep *w, const struct place *at, const float *panel,
                       struct cross_tables *t, float *rows);

/* panel[channels] += sums over tokens of weight * xh: the reverse of the scores. rows as above; the
 * sums of the lines are spoilt. */
void tiles_spread_sums(const struct sweep *w, const struct place *at, const struct sums *s,
                       float *panel, float *rows);

/* The rows of data channels of a panel in places: the panel itself, or `copy`. */
const float *tiles_data_panel(const struct sweep *w, size_t group, const float *panel, float *copy);

/*
 * Asks for a part of the next tile's data while this tile is worked on. The data are the one thing
 * that a sweep reads from beyond the second cache, anew for every block of latents; asked for all
 * at once they would fill the few slots for outstanding lines and stall what needs them now.
 */
enum { FETCHES = 4 };
void tiles_fetch_next(const struct sweep *w, const struct place *at, size_t part);

/* Products of the tile's data channels with what tiles_data_panel gave. */
void tiles_data_products(const struct sweep *w, const struct place *at, const float *panel,
                         float *s);

/* data[n_data][nr] += the tile's data^T weights; the weights are spoilt */
void tiles_data_sums(const struct sweep *w, const struct place *at, float *weights, float *data);

/* Dropout factors of n tokens from the clip's token `column` on; NULL when there is no dropout. */
const float *tiles_keep(const struct sweep *w, size_t b, size_t block, size_t column, size_t n,
                        float *keep);

/* The tile's description for the kernels; s and max are the caller's. */
struct cross_tile tiles_describe(const struct sweep *w, const struct place *at,
                                 const struct cross_tables *t, const float *row);

/* What all tokens of grid row (t, y) add to their scores. */
void tiles_row_constant(const struct kernels *k, const struct cross_tables *t,
                        const struct place *at, float *row);

/* Calls visit for every tile of a modality, in the tokens' order. */
void tiles_each(const struct op_tokens *g, struct place *at,
                void (*visit)(void *ctx, const struct place *at), void *ctx);

/* Scores of a plain token, [nr]. */
void tiles_plain_scores(const struct kernels *k, const struct op_cross *p,
                        const struct plain_token *t, const float *panel, float *s);

/* Sum of the dropout factors over the tokens that are this one; its count without dropout. */
void tiles_plain_keep(const struct sweep *w, size_t b, size_t block, const struct plain_token *t,
                      float *one, float *sum);

#endif
