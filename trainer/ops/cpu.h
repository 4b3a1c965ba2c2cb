/*
 * What both implementations of a CPU share: its memory, and the ops that are the same in the
 * reference and in the fast table, since they are passes over memory, each value by itself. They
 * use the instance's threads where there are any. For this folder, and for benches of its kernels.
 */
#ifndef SLIPWAY_TRAINER_OPS_CPU_H
#define SLIPWAY_TRAINER_OPS_CPU_H

#include "trainer/ops/ops.h"

struct threads;         /* trainer/ops/threads.h */
struct kernels;         /* trainer/ops/kernels.h */
struct product_kernels; /* also there */

/* What ops->own points at. The kernels' files take this, and know nothing else of the instance. */
struct cpu {
	const struct kernels *kernels;          /* NULL in the reference */
	const struct product_kernels *products; /* of these, at the precision asked for */
	struct threads *threads;                /* NULL in the reference */
	float *scratch;                         /* grows, kept between calls */
	size_t scratch_n;
};

static inline struct cpu *cpu_of(const struct ops *ops)
{
	return ops->own;
}

/* At least n floats, 64-byte aligned, content undefined; valid until the next op runs. */
float *ops_scratch(struct cpu *ops, size_t n);

/* The fast ops with the same kernels, on the calling thread alone; ops_done. */
struct ops cpu_alone(const struct ops *ops);

extern const struct op_device cpu_device; /* cpu_device.c: shared, never behind */

/* cpu_data.c */
void cpu_clip(struct ops *ops, const struct op_clip *p);
void cpu_patches(struct ops *ops, const struct op_patches *p);
void cpu_onehot(struct ops *ops, const struct op_onehot *p);
void cpu_repeat_forward(struct ops *ops, const struct op_repeat *p);
void cpu_repeat_backward(struct ops *ops, const struct op_repeat *p);
void cpu_queries_forward(struct ops *ops, const struct op_queries *p);
void cpu_queries_backward(struct ops *ops, const struct op_queries *p);

/* cpu_loss.c */
void cpu_l1_forward(struct ops *ops, const struct op_l1 *p);
void cpu_l1_backward(struct ops *ops, const struct op_l1 *p);
void cpu_entropy_forward(struct ops *ops, const struct op_entropy *p);
void cpu_entropy_backward(struct ops *ops, const struct op_entropy *p);

/* cpu_update.c */
void cpu_sum_squares(struct ops *ops, const struct op_sum_squares *p);
void cpu_count_bad(struct ops *ops, const struct op_count_bad *p);
void cpu_vote(struct ops *ops, const struct op_vote *p);
void cpu_judge(struct ops *ops, const struct op_judge *p);
void cpu_sgd(struct ops *ops, const struct op_update *p);
void cpu_adamw(struct ops *ops, const struct op_update *p);
void cpu_average(struct ops *ops, const struct op_average *p);
void cpu_exchange(struct ops *ops, const struct op_exchange *p);

/* One op after the other, by the table in use (linear_gelu.c). */
void linear_then_gelu(struct ops *ops, const struct op_linear_gelu *p);
void linear_then_gelu_backward(struct ops *ops, const struct op_linear_gelu *p);

/* Their rows of a table. */
#define CPU_OPS                                                                                    \
	.linear_gelu_forward = linear_then_gelu,                                                   \
	.linear_gelu_backward = linear_then_gelu_backward, .clip = cpu_clip,                       \
	.patches = cpu_patches, .onehot = cpu_onehot, .repeat_forward = cpu_repeat_forward,        \
	.repeat_backward = cpu_repeat_backward, .queries_forward = cpu_queries_forward,            \
	.queries_backward = cpu_queries_backward, .l1_forward = cpu_l1_forward,                    \
	.l1_backward = cpu_l1_backward, .entropy_forward = cpu_entropy_forward,                    \
	.entropy_backward = cpu_entropy_backward, .sum_squares = cpu_sum_squares,                  \
	.count_bad = cpu_count_bad, .vote = cpu_vote, .judge = cpu_judge, .sgd = cpu_sgd,          \
	.adamw = cpu_adamw, .average = cpu_average, .exchange = cpu_exchange

#endif
