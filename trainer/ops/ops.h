/*
 * The op contract: all that is computed on a model's data is an op, so that an implementation of
 * this table and of struct op_device (trainer/ops/device.h) is all that a device needs. Here: the
 * network's ops; trainer/ops/ops_data.h: inputs, queries, losses; trainer/ops/ops_update.h: the
 * optimizer's. There are the plain reference (readable loops, double accumulators: the oracle) and
 * the fast ops of a CPU (own kernels by instruction set, threads). All give the same numbers within
 * rounding; each gives the same bits for the same input, whatever the number of threads.
 *
 * Conventions: all arrays are F32, row-major and dense unless a stride is named; weights are
 * [out, in]. `d` before a name is the loss's derivative by it. Parameter derivatives are ADDED to
 * their arrays, activation derivatives are set unless the field says otherwise; a NULL derivative
 * is not wanted. Sizes are the caller's promise.
 *
 * Every array that a struct points at, results in double included, lies in the device's memory,
 * 4-byte aligned (doubles 8, buffers 64): the host may move such a pointer, and not look through it
 * unless the device is shared. The structs themselves are the host's, and may be gone when an op
 * returns. An op happens after the ops asked for before it. What goes wrong sticks (ops_fail), and
 * an op after that does nothing.
 */
#ifndef SLIPWAY_TRAINER_OPS_OPS_H
#define SLIPWAY_TRAINER_OPS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trainer/ops/device.h"
#include "trainer/ops/gemm_choice.h"
#include "trainer/ops/ops_data.h"
#include "trainer/ops/ops_update.h"
#include "trainer/ops/precision.h"

enum gelu_form { GELU_ERF, GELU_TANH }; /* hidden_act "gelu", "gelu_new" */

/* y[rows, out] = x[rows, in] w^T + bias (+ residual[rows, out]) */
struct op_linear {
	size_t rows, in, out;
	const float *x, *w, *bias, *residual; /* residual may be NULL */
	float *y;
	/* backward */
	const float *dy;
	float *dx, *dw, *dbias;
	bool add_dx; /* add to dx instead of setting it */
};

/* y = (x - mean) * rstd * gain + shift, over the last `width` values of each row; eps 1e-5 */
struct op_norm {
	size_t rows, width;
	const float *x, *gain, *shift;
	float *y, *mean, *rstd; /* mean, rstd: [rows], kept for backward */
	/* backward */
	const float *dy;
	float *dx, *dgain, *dshift;
	bool add_dx;
};

struct op_gelu {
	size_t n;
	enum gelu_form form;
	const float *x;
	float *y;
	/* backward */
	const float *dy;
	float *dx;
};

/*
 * A linear layer and GELU. Forward: the layer, then GELU of its y, which is gelu.x. Backward: of a
 * layer after a GELU, then of that GELU, where dx lies (gelu.dy and gelu.dx are linear.dx, and
 * add_dx is false). One pass over memory where products can end so.
 */
struct op_linear_gelu {
	struct op_linear linear;
	struct op_gelu gelu;
};

/*
 * Dropout of attention probabilities. Row (head, query) and column (key) have a Philox word of
 * their own: word column % 4 of block row * ceil(columns / 4) + column / 4, keyed by (seed, layer,
 * sample). Kept, and scaled by 1 / (1 - p), when the word is at least p * 2^32. p == 0: none.
 */
struct op_dropout {
	double p;
	uint64_t seed;
	uint32_t layer;
	const uint64_t *sample; /* [batch]; NULL: 0, 1, ... */
};

/* o = softmax(q k^T / sqrt(qk)) v per clip and head; head h owns columns [h*qk, (h+1)*qk) of q and
 * k, and [h*v, ...) of values and o. */
struct op_attention {
	size_t batch, heads, nq, nk, qk, v; /* qk, v: per head */
	const float *q;                     /* [batch, nq, heads*qk], or [nq, ...] when q_shared */
	const float *k, *values;            /* [batch, nk, heads*(qk|v)] */
	bool q_shared;                      /* all clips have the same queries */
	struct op_dropout dropout;
	float *o;   /* [batch, nq, heads*v] */
	float *lse; /* [batch, heads, nq]: log of the softmax's denominator, kept for backward */
	/* backward */
	const float *d_o;
	float *dq, *dk, *dvalues; /* dq is summed over the clips when q_shared */
};

/*
 * The encoder's input, described rather than formed. A token is [data | positions | padding],
 * `channels` wide, or wholly the modality's mask vector where mask is 1. The token's index is
 * row-major over dim. With K bands, dimension d of ndim gives the position channels
 *
 *   d                         column 0 of position[d]
 *   ndim + d*K + ..           columns 1..K, sines
 *   ndim + ndim*K + d*K + ..  columns K+1..2K, cosines
 */
struct op_tokens {
	size_t n, n_data, n_pad;
	size_t ndim, dim[3], bands;    /* ndim 0: no positions; else n = product of dim */
	const float *data;             /* [batch, n, n_data] */
	const float *mask;             /* [batch, n] or NULL */
	const float *position[3];      /* [dim[d], 1 + 2*bands] */
	const float *pad, *mask_token; /* [n_pad], [channels] */
	float *dpad, *dmask_token;
};

enum { OP_TOKEN_GROUPS = 3 };

/*
 * The encoder's cross attention up to its output projection, the same queries for every clip:
 * context = softmax(q (LN(x) wk^T + bk)^T / sqrt(qk per head)) (LN(x) wv^T + bv)
 */
struct op_cross {
	size_t batch, heads, nq, qk, v, channels; /* qk, v: all heads together */
	struct op_tokens groups[OP_TOKEN_GROUPS]; /* in the order of their tokens */
	const float *gain, *shift;                /* of LN, [channels] */
	const float *q;                           /* [nq, qk] */
	const float *wk, *bk, *wv, *bv;           /* [qk, channels], [qk], [v, channels], [v] */
	struct op_dropout dropout;
	float *context; /* [batch, nq, v] */
	void *state; /* the implementation's, from cross_state_new; forward fills, backward reads */
	/* backward */
	const float *dcontext;
	float *dgain, *dshift, *dwk, *dbk, *dwv, *dbv;
	float *dq; /* [nq, qk], summed over the clips */
};

struct ops;

/* Every op: its name, and the struct that it is given. Tables, wrappers and members come from
 * this list; what trainer/ops/ops_data.h and trainer/ops/ops_update.h explain comes last. */
#define EACH_OP(X)                                                                                 \
	X(linear_forward, op_linear)                                                               \
	X(linear_backward, op_linear)                                                              \
	X(norm_forward, op_norm)                                                                   \
	X(norm_backward, op_norm)                                                                  \
	X(gelu_forward, op_gelu)                                                                   \
	X(gelu_backward, op_gelu)                                                                  \
	X(linear_gelu_forward, op_linear_gelu)                                                     \
	X(linear_gelu_backward, op_linear_gelu)                                                    \
	X(attention_forward, op_attention)                                                         \
	X(attention_backward, op_attention)                                                        \
	X(cross_forward, op_cross)                                                                 \
	X(cross_backward, op_cross)                                                                \
	X(clip, op_clip)                                                                           \
	X(patches, op_patches)                                                                     \
	X(onehot, op_onehot)                                                                       \
	X(repeat_forward, op_repeat)                                                               \
	X(repeat_backward, op_repeat)                                                              \
	X(queries_forward, op_queries)                                                             \
	X(queries_backward, op_queries)                                                            \
	X(l1_forward, op_l1)                                                                       \
	X(l1_backward, op_l1)                                                                      \
	X(entropy_forward, op_entropy)                                                             \
	X(entropy_backward, op_entropy)                                                            \
	X(sum_squares, op_sum_squares)                                                             \
	X(count_bad, op_count_bad)                                                                 \
	X(vote, op_vote)                                                                           \
	X(judge, op_judge)                                                                         \
	X(sgd, op_update)                                                                          \
	X(adamw, op_update)                                                                        \
	X(average, op_average)                                                                     \
	X(exchange, op_exchange)

struct op_table {
	const char *name;
#define OP_MEMBER(op, type) void (*(op))(struct ops * ops, const struct type *p);
	EACH_OP(OP_MEMBER)
#undef OP_MEMBER
	/* only the shape fields of p are read */
	void *(*cross_state_new)(struct ops *ops, const struct op_cross *p);
	void (*cross_state_free)(struct ops *ops, void *state);
};

struct profile; /* trainer/ops/profile.h */

struct ops {
	const struct op_table *table;
	const struct op_device *device;
	bool has_failed; /* with this, the first error */
	struct err failure;
	struct buffer figures, figures_seen; /* the device's, and the host's copy of them */
	double no_figures[OPS_FIGURES];      /* theirs, of a device that has failed */
	void *own;                           /* the implementation's, which alone looks at it */
	enum op_precision rounds;            /* what products round their operands to */
	const char *part;        /* of the network, named by the graph for the profile */
	struct profile *profile; /* NULL: nothing is measured */
};

/* What ops_open is asked for. */
struct ops_options {
	bool reference; /* in float32 only */
	enum op_precision precision;
	const char *isa;    /* "avx512", "avx2", "neon", "generic"; NULL: the best this CPU has */
	unsigned n_threads; /* 0: one per usable CPU */
	enum op_gemm gemm;  /* a GPU's; processors have kernels of their own alone */
	bool unrecorded;  /* a device that records (trainer/ops/recording.h) does not: same bits */
	bool plain_cross; /* fast ops, but keys and values formed as in the reference: for tests */
};

/* false when the asked instruction set is unknown or this CPU does not have it, for the reference
 * in bf16, and for f16, which no CPU's ops have. */
bool ops_open(const struct ops_options *options, struct ops *ret);

/* ops_open for a user's options: ERR_USAGE says what is missing and what to do. */
int ops_require(const struct ops_options *options, struct ops *ret, struct err *err) MUST_USE;

void ops_done(struct ops *ops);

/* A product of known size by these ops beside the plain reference: ERR_MACHINE when they differ by
 * more than rounding. Milliseconds; selftest compares a whole network. */
int ops_check_machine(struct ops *ops, struct err *err) MUST_USE;

/* What computes, for the log: "2 threads, avx512, f32". */
void ops_describe(const struct ops *ops, struct strbuf *sb);

/* Who computes matrix products, as far as it is known; nothing where there is no choice. */
void ops_products(const struct ops *ops, struct strbuf *sb);

/* "reference", or the instruction set in use. */
const char *ops_isa(const struct ops *ops);
unsigned ops_threads(const struct ops *ops);

/* "f32"; "bf16"; or "bf16 by f32 arithmetic" where the set has no products of bf16: the same
 * rounding, no gain in speed. */
const char *ops_precision(const struct ops *ops);
enum op_precision ops_rounds(const struct ops *ops);

/* The reference table; its functions may also be called one by one (tests). */
extern const struct op_table ops_reference;

/* Forms tokens [n_tokens, channels] of clip b as the definition says: the oracle of cross. */
void op_tokens_form(const struct op_cross *p, size_t b, float *out);

/* Position channel of column `column` of dimension d. */
size_t op_position_channel(const struct op_tokens *g, size_t d, size_t column);

/* The keep factor of one probability of clip b: 0 or 1 / (1 - p). */
float op_dropout_factor(const struct op_dropout *d, size_t b, size_t row, size_t columns,
                        size_t column);

#endif
