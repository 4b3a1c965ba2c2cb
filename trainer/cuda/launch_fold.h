/* The folded cross attention: what its forward pass (launch_fold.c) and its backward pass
 * (launch_fold_backward.c) share. */
#ifndef SLIPWAY_TRAINER_CUDA_LAUNCH_FOLD_H
#define SLIPWAY_TRAINER_CUDA_LAUNCH_FOLD_H

#include "trainer/cuda/launch_cross.h"
#include "trainer/cuda/launch_products.h"

/* Sums of probabilities after dropout; NULL: they are 1. */
const float *cuda_fold_kept(const struct op_cross *p, const struct cuda_fold *f);

/* 1 / sqrt(qk) */
float cuda_fold_factor(const struct op_cross *p);

/* The rest of l, and its launch. */
void cuda_fold_rows(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                    struct fold_rows_launch *l);

/* Products of folded rows with all lines: of_clips: into d_table, else into table. */
void cuda_fold_tables(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                      const float *folded, size_t rows, bool of_clips);

void cuda_fold_sweep(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                     bool backward);

/* Totals, and the sums by channel to out; spoils d_table. */
void cuda_fold_end_sweep(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                         bool backward, float *out);

void cuda_fold_scale(struct cuda_queue *q, const struct fold_scale_launch *l);

#endif
