/*
 * Every kernel: MODULE(source, oldest device) for the files, KERNEL(source, name, its struct,
 * threads per block, bytes of shared memory) for what is in them. The devices' texts, their
 * embedding, the host's table and the tests are all made from this list.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_LIST_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_LIST_H

#include "trainer/cuda/kernels/args.h"
#include "trainer/cuda/kernels/fold_args.h"
#include "trainer/cuda/kernels/shared.h"

#define CUDA_MODULES(MODULE)                                                                       \
	MODULE(each, 75)                                                                           \
	MODULE(norm, 75)                                                                           \
	MODULE(sums, 75)                                                                           \
	MODULE(loss, 75)                                                                           \
	MODULE(optimizer, 75)                                                                      \
	MODULE(clip, 75)                                                                           \
	MODULE(input, 75)                                                                          \
	MODULE(product_f32, 75)                                                                    \
	MODULE(product_f16, 75)                                                                    \
	MODULE(product_f16_64, 80)                                                                 \
	MODULE(product_f16_128, 80)                                                                \
	MODULE(product_bf16_64, 80)                                                                \
	MODULE(product_bf16_128, 80)                                                               \
	MODULE(product_tf32_64, 80)                                                                \
	MODULE(product_tf32_128, 80)                                                               \
	MODULE(product_tf32x3_64, 80)                                                              \
	MODULE(product_tf32x3_128, 80)                                                             \
	MODULE(attention, 75)                                                                      \
	MODULE(attention_f16, 75)                                                                  \
	MODULE(attention_bf16, 80)                                                                 \
	MODULE(fold_rows, 75)                                                                      \
	MODULE(fold_sums, 75)                                                                      \
	MODULE(fold_f32, 75)                                                                       \
	MODULE(fold_f16, 75)                                                                       \
	MODULE(fold_bf16, 80)                                                                      \
	MODULE(peak, 75)                                                                           \
	MODULE(peak_bf16, 80)

#define CUDA_KERNELS(KERNEL)                                                                       \
	KERNEL(each, gelu_forward, gelu_launch, EACH_THREADS, 0)                                   \
	KERNEL(each, gelu_backward, gelu_launch, EACH_THREADS, 0)                                  \
	KERNEL(each, average, average_launch, EACH_THREADS, 0)                                     \
	KERNEL(each, exchange, exchange_launch, EACH_THREADS, 0)                                   \
	KERNEL(each, onehot, onehot_launch, EACH_THREADS, 0)                                       \
	KERNEL(each, repeat, repeat_launch, EACH_THREADS, 0)                                       \
	KERNEL(norm, norm_forward, norm_forward_launch, ROW_WARPS * 32, 0)                         \
	KERNEL(norm, norm_backward, norm_backward_launch, ROW_WARPS * 32, 0)                       \
	KERNEL(norm, norm_sums, norm_sums_launch, COLUMN_WARPS * 32, sizeof(struct column_shared)) \
	KERNEL(sums, column_sums, column_sums_launch, COLUMN_WARPS * 32,                           \
	       sizeof(struct column_shared))                                                       \
	KERNEL(sums, add_parts, add_parts_launch, EACH_THREADS, 0)                                 \
	KERNEL(sums, add_doubles, add_doubles_launch, 32, 0)                                       \
	KERNEL(loss, absolute_loss, absolute_launch, EACH_THREADS, sizeof(struct loss_shared))     \
	KERNEL(loss, entropy, entropy_launch, ROW_WARPS * 32, 0)                                   \
	KERNEL(optimizer, vote, vote_launch, 32, 0)                                                \
	KERNEL(optimizer, judge, judge_launch, 32, 0)                                              \
	KERNEL(optimizer, sgd, sgd_launch, EACH_THREADS, 0)                                        \
	KERNEL(optimizer, adamw, adamw_launch, EACH_THREADS, 0)                                    \
	KERNEL(optimizer, sum_squares, total_launch, EACH_THREADS, sizeof(struct loss_shared))     \
	KERNEL(optimizer, count_bad, total_launch, EACH_THREADS, sizeof(struct loss_shared))       \
	KERNEL(clip, clip_video, clip_launch, EACH_THREADS, 0)                                     \
	KERNEL(clip, clip_sound, clip_launch, EACH_THREADS, 0)                                     \
	KERNEL(input, patches_of_floats, patches_launch, EACH_THREADS, 0)                          \
	KERNEL(input, patches_of_bytes, patches_launch, EACH_THREADS, 0)                           \
	KERNEL(input, queries, queries_launch, EACH_THREADS, 0)                                    \
	KERNEL(input, tokens, tokens_launch, EACH_THREADS, 0)                                      \
	KERNEL(input, token_sums, token_sums_launch, COLUMN_WARPS * 32,                            \
	       sizeof(struct column_shared))                                                       \
	CUDA_PRODUCTS(KERNEL, product_f32, struct product_shared_f32)                              \
	CUDA_PRODUCTS(KERNEL, product_f16, struct product_shared_half)                             \
	CUDA_PRODUCTS_AHEAD(KERNEL, product_f16)                                                   \
	CUDA_PRODUCTS_AHEAD(KERNEL, product_bf16)                                                  \
	CUDA_PRODUCTS_AHEAD(KERNEL, product_tf32)                                                  \
	CUDA_PRODUCTS_AHEAD(KERNEL, product_tf32x3)                                                \
	CUDA_ATTENTION(KERNEL, attention_forward)                                                  \
	KERNEL(attention, attention_delta, attention_launch, ROW_WARPS * 32, 0)                    \
	CUDA_ATTENTION(KERNEL, attention_dq)                                                       \
	CUDA_ATTENTION(KERNEL, attention_dk)                                                       \
	CUDA_ATTENTION(KERNEL, attention_dv)                                                       \
	CUDA_ATTENTION_HALF(KERNEL, attention_f16)                                                 \
	CUDA_ATTENTION_HALF(KERNEL, attention_bf16)                                                \
	KERNEL(fold_rows, fold_lines, fold_lines_launch, ROW_WARPS * 32, 0)                        \
	KERNEL(fold_rows, fold_tokens, fold_tokens_launch, ROW_WARPS * 32, 0)                      \
	KERNEL(fold_rows, fold_rows, fold_rows_launch, ROW_WARPS * 32, 0)                          \
	CUDA_FOLD(KERNEL, fold_f32, struct attention_shared)                                       \
	CUDA_FOLD(KERNEL, fold_f16, struct fold_shared_half)                                       \
	CUDA_FOLD(KERNEL, fold_bf16, struct fold_shared_half)                                      \
	KERNEL(fold_sums, fold_totals, fold_totals_launch, ROW_WARPS * 32, 0)                      \
	KERNEL(fold_sums, fold_spread, fold_spread_launch, ATTENTION_THREADS, 0)                   \
	KERNEL(fold_sums, fold_scale, fold_scale_launch, EACH_THREADS, 0)                          \
	KERNEL(fold_sums, fold_columns, fold_columns_launch, COLUMN_WARPS * 32,                    \
	       sizeof(struct column_shared))                                                       \
	KERNEL(fold_sums, fold_slopes, fold_slopes_launch, COLUMN_WARPS * 32,                      \
	       sizeof(struct column_shared))                                                       \
	KERNEL(fold_sums, fold_gradients, fold_gradients_launch, EACH_THREADS,                     \
	       sizeof(struct loss_shared))                                                         \
	KERNEL(peak, peak_f32, peak_launch, PEAK_THREADS, 0)                                       \
	KERNEL(peak, peak_f16, peak_launch, PEAK_THREADS, 0)                                       \
	KERNEL(peak_bf16, peak_bf16, peak_launch, PEAK_THREADS, 0)

#define CUDA_FOLD(KERNEL, source, type)                                                            \
	KERNEL(source, source##_forward, fold_sweep_launch, ATTENTION_THREADS, sizeof(type))       \
	KERNEL(source, source##_backward, fold_sweep_launch, ATTENTION_THREADS, sizeof(type))

#define CUDA_PRODUCTS(KERNEL, source, type)                                                        \
	KERNEL(source, source##_nt, product_launch, PRODUCT_THREADS, sizeof(type))                 \
	KERNEL(source, source##_nn, product_launch, PRODUCT_THREADS, sizeof(type))                 \
	KERNEL(source, source##_tn, product_launch, PRODUCT_THREADS, sizeof(type))

#define CUDA_PRODUCTS_AHEAD(KERNEL, format)                                                        \
	CUDA_PRODUCTS(KERNEL, format##_64, struct product_ahead_64)                                \
	CUDA_PRODUCTS(KERNEL, format##_128, struct product_ahead_128)

#define CUDA_ATTENTION(KERNEL, name)                                                               \
	KERNEL(attention, name, attention_launch, ATTENTION_THREADS,                               \
	       sizeof(struct attention_shared))

#define CUDA_ATTENTION_HALF(KERNEL, source)                                                        \
	CUDA_ATTENTION_ONE(KERNEL, source, source##_forward)                                       \
	CUDA_ATTENTION_ONE(KERNEL, source, source##_dq)                                            \
	CUDA_ATTENTION_ONE(KERNEL, source, source##_dk)                                            \
	CUDA_ATTENTION_ONE(KERNEL, source, source##_dv)

#define CUDA_ATTENTION_ONE(KERNEL, source, name)                                                   \
	KERNEL(source, name, attention_launch, ATTENTION_THREADS,                                  \
	       sizeof(struct attention_shared_half))

#endif
