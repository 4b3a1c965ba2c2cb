/*
 * Ops as launches: what each op of trainer/ops/ops.h asks a device for. A queue is whatever starts
 * kernels in order: a driver's stream, or an emulator. The arrays of an op lie in the device's
 * memory; sizes are the caller's promise, below 2^31 rows and columns. Nothing here fails or waits:
 * what goes wrong is the queue's to keep.
 */
#ifndef SLIPWAY_TRAINER_CUDA_LAUNCH_H
#define SLIPWAY_TRAINER_CUDA_LAUNCH_H

#include "trainer/cuda/kernels.h"
#include "trainer/ops/ops.h"

/* What products round their operands to: f16 for devices before 8.0, bf16 and tf32 from it on. With
 * tf32 these are linear layers alone: attentions, and sweeps over tokens, are those of f32. */
enum cuda_operands { OPERANDS_F32, OPERANDS_F16, OPERANDS_BF16, OPERANDS_TF32 };

/* c = a b^T, a b or a^T b (struct product_launch). */
enum product_form { PRODUCT_NT, PRODUCT_NN, PRODUCT_TN, PRODUCT_FORMS };

struct cuda_queue {
	/* Starts `kernel` on grid[0] x grid[1] x grid[2] blocks, none of them 0; `params` is
	 * copied. */
	void (*launch)(struct cuda_queue *q, enum cuda_kernel kernel, const unsigned grid[3],
	               const void *params);
	/* Sets n bytes of the device's memory to 0, in order. */
	void (*zero)(struct cuda_queue *q, void *to, size_t n);
	/* At least n bytes of the device's memory, a multiple of 256; valid until the next call.
	 * NULL when there are none, and then launches do nothing. */
	void *(*scratch)(struct cuda_queue *q, size_t n);
	/* Somebody else may compute a product: false when it is the kernels'
	 * (launch_products.h). NULL: it always is. */
	bool (*product)(struct cuda_queue *q, enum product_form form,
	                const struct product_launch *l);
	enum cuda_operands operands;
	/* Of the device: 80 is 8.0; 0: not known, as many as is usual. */
	unsigned compute, multiprocessors;
	/* Products in f32 are three of tf32, 8.0 on, and no multiply-adds. */
	bool by_three;
};

void cuda_linear_forward(struct cuda_queue *q, const struct op_linear *p);
void cuda_linear_backward(struct cuda_queue *q, const struct op_linear *p);
void cuda_norm_forward(struct cuda_queue *q, const struct op_norm *p);
void cuda_norm_backward(struct cuda_queue *q, const struct op_norm *p);
void cuda_gelu_forward(struct cuda_queue *q, const struct op_gelu *p);
void cuda_gelu_backward(struct cuda_queue *q, const struct op_gelu *p);
void cuda_linear_gelu_forward(struct cuda_queue *q, const struct op_linear_gelu *p);
void cuda_linear_gelu_backward(struct cuda_queue *q, const struct op_linear_gelu *p);
void cuda_attention_forward(struct cuda_queue *q, const struct op_attention *p);
void cuda_attention_backward(struct cuda_queue *q, const struct op_attention *p);

void cuda_clip(struct cuda_queue *q, const struct op_clip *p);
void cuda_patches(struct cuda_queue *q, const struct op_patches *p);
void cuda_onehot(struct cuda_queue *q, const struct op_onehot *p);
void cuda_repeat_forward(struct cuda_queue *q, const struct op_repeat *p);
void cuda_repeat_backward(struct cuda_queue *q, const struct op_repeat *p);
void cuda_queries_forward(struct cuda_queue *q, const struct op_queries *p);
void cuda_queries_backward(struct cuda_queue *q, const struct op_queries *p);
void cuda_l1_forward(struct cuda_queue *q, const struct op_l1 *p);
void cuda_l1_backward(struct cuda_queue *q, const struct op_l1 *p);
void cuda_entropy_forward(struct cuda_queue *q, const struct op_entropy *p);
void cuda_entropy_backward(struct cuda_queue *q, const struct op_entropy *p);

void cuda_sum_squares(struct cuda_queue *q, const struct op_sum_squares *p);
void cuda_count_bad(struct cuda_queue *q, const struct op_count_bad *p);
void cuda_vote(struct cuda_queue *q, const struct op_vote *p);
void cuda_judge(struct cuda_queue *q, const struct op_judge *p);
void cuda_sgd(struct cuda_queue *q, const struct op_update *p);
void cuda_adamw(struct cuda_queue *q, const struct op_update *p);
void cuda_average(struct cuda_queue *q, const struct op_average *p);
void cuda_exchange(struct cuda_queue *q, const struct op_exchange *p);

/* out[width] += the sums over rows of x[rows, width], whose rows lie `stride` values apart. */
void cuda_add_columns(struct cuda_queue *q, const float *x, size_t rows, size_t width,
                      size_t stride, float *out);

/*
 * Starts `rounds` turns of multiply-adds in registers alone, by what products are computed with
 * (struct peak_launch), on `blocks` blocks; returns how many floating operations they are.
 */
double cuda_peak(struct cuda_queue *q, unsigned blocks, uint32_t rounds);

/* A dropout as kernels take it. */
struct dropout_launch cuda_dropout(const struct op_dropout *d);

/* The grid of a kernel that takes n values one by one: enough blocks to fill any device. */
unsigned cuda_each_blocks(size_t n);

#endif
