/*
 * A computation as XLA's HLO has it, being built: values in the order in which they are made, each
 * the result of one operator on earlier ones. There are plain operators only, and no shape changes
 * at run time. What reads a graph: trainer/hlo/gradient.h, trainer/hlo/module.h.
 *
 * A value is a number, counted from 0. Shapes are the caller's promise: a builder that is given
 * shapes that do not fit ends the program, since no input of a user's leads there
 * (model_config_check comes first). Source of the operators' meaning: XLA's "Operation Semantics".
 */
#ifndef SLIPWAY_TRAINER_HLO_GRAPH_H
#define SLIPWAY_TRAINER_HLO_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

enum hlo_type { HLO_PRED, HLO_S32, HLO_U32, HLO_BF16, HLO_F32, HLO_TYPES };

enum { HLO_RANK_MAX = 6 };

struct hlo_shape {
	enum hlo_type type;
	unsigned rank; /* 0: a scalar */
	int64_t dim[HLO_RANK_MAX];
};

/* Every operator: its member, its name in HLO, its operands (-1: any number). */
#define EACH_HLO_OP(X)                                                                             \
	X(HLO_PARAMETER, "parameter", 0)                                                           \
	X(HLO_CONSTANT, "constant", 0)                                                             \
	X(HLO_ABS, "abs", 1)                                                                       \
	X(HLO_ERF, "erf", 1)                                                                       \
	X(HLO_EXP, "exponential", 1)                                                               \
	X(HLO_LOG, "log", 1)                                                                       \
	X(HLO_NEGATE, "negate", 1)                                                                 \
	X(HLO_RSQRT, "rsqrt", 1)                                                                   \
	X(HLO_SIGN, "sign", 1)                                                                     \
	X(HLO_SQRT, "sqrt", 1)                                                                     \
	X(HLO_TANH, "tanh", 1)                                                                     \
	X(HLO_CONVERT, "convert", 1)                                                               \
	X(HLO_ADD, "add", 2)                                                                       \
	X(HLO_SUBTRACT, "subtract", 2)                                                             \
	X(HLO_MAXIMUM, "maximum", 2)                                                               \
	X(HLO_MULTIPLY, "multiply", 2)                                                             \
	X(HLO_DIVIDE, "divide", 2)                                                                 \
	X(HLO_AND, "and", 2)                                                                       \
	X(HLO_XOR, "xor", 2)                                                                       \
	X(HLO_SHIFT_RIGHT, "shift-right-logical", 2)                                               \
	X(HLO_AT_LEAST, "compare", 2)                                                              \
	X(HLO_SELECT, "select", 3)                                                                 \
	X(HLO_BROADCAST, "broadcast", 1)                                                           \
	X(HLO_RESHAPE, "reshape", 1)                                                               \
	X(HLO_TRANSPOSE, "transpose", 1)                                                           \
	X(HLO_SLICE, "slice", 1)                                                                   \
	X(HLO_PAD, "pad", 2)                                                                       \
	X(HLO_CONCATENATE, "concatenate", -1)                                                      \
	X(HLO_DOT, "dot", 2)                                                                       \
	X(HLO_SUM, "reduce", 2)                                                                    \
	X(HLO_LARGEST, "reduce", 2)                                                                \
	X(HLO_ALL_REDUCE, "all-reduce", 1)

enum hlo_op {
#define HLO_MEMBER(op, name, operands) op,
	EACH_HLO_OP(HLO_MEMBER)
#undef HLO_MEMBER
		HLO_OPS
};

const char *hlo_op_name(enum hlo_op op);
const char *hlo_type_name(enum hlo_type type); /* "f32" */

/* A list of dimensions of one operand. */
struct hlo_dims {
	unsigned n;
	int64_t at[HLO_RANK_MAX];
};

/* Which dimensions of a product's operands belong together. The result's are the batch's, then
 * those of the left operand that are left, then those of the right one. */
struct hlo_dot {
	struct hlo_dims batch[2], contracted[2]; /* of the left and of the right operand */
};

struct hlo_node {
	enum hlo_op op;
	struct hlo_shape shape;
	unsigned n;        /* operands */
	unsigned *operand; /* owned */
	/* broadcast: where each of the operand's dimensions goes; transpose: where each of the
	 * result's comes from; reduce: those that vanish; concatenate: the one along which */
	struct hlo_dims dims;
	int64_t low[HLO_RANK_MAX], high[HLO_RANK_MAX]; /* slice: [low, high); pad: how many */
	struct hlo_dot dot;
	uint32_t bits;  /* constant: the value of a scalar */
	unsigned index; /* parameter: which one */
	char *name;     /* parameter: owned */
};

struct hlo_graph {
	VEC(struct hlo_node) nodes;
	unsigned n_parameters;
	bool rounds;       /* products round their operands to bfloat16; sums stay float32 */
	unsigned replicas; /* how many run the graph side by side; 1 unless they sum */
};

void hlo_graph_done(struct hlo_graph *g);

const struct hlo_shape *hlo_shape_of(const struct hlo_graph *g, unsigned value);
size_t hlo_elements(const struct hlo_shape *s);
bool hlo_shape_equal(const struct hlo_shape *a, const struct hlo_shape *b);

/* "HLO_SHAPE(HLO_F32, 2, 3)": a value */
#define HLO_SHAPE(of, ...)                                                                         \
	((struct hlo_shape){.type = (of),                                                          \
	                    .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),            \
	                    .dim = {__VA_ARGS__}})
#define HLO_DIMS(...)                                                                              \
	((struct hlo_dims){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})

/* The next parameter of the computation. The name is copied; it is for readers of the text. */
unsigned hlo_parameter(struct hlo_graph *g, const struct hlo_shape *shape, const char *name);

/* The same value everywhere; shape->type is HLO_F32 or HLO_U32. */
unsigned hlo_fill(struct hlo_graph *g, const struct hlo_shape *shape, double value);
unsigned hlo_fill_u32(struct hlo_graph *g, const struct hlo_shape *shape, uint32_t value);

/* Element by element; two operands have the same shape. */
unsigned hlo_unary(struct hlo_graph *g, enum hlo_op op, unsigned x);
unsigned hlo_binary(struct hlo_graph *g, enum hlo_op op, unsigned a, unsigned b);
/* With a number beside a value of float32. */
unsigned hlo_with(struct hlo_graph *g, enum hlo_op op, unsigned x, double number);
unsigned hlo_convert(struct hlo_graph *g, unsigned x, enum hlo_type type);
/* a where `which` is true, else b */
unsigned hlo_select(struct hlo_graph *g, unsigned which, unsigned a, unsigned b);

/* x's dimension i becomes dimension to.at[i] of `shape` (ascending); all others repeat it. */
unsigned hlo_broadcast(struct hlo_graph *g, unsigned x, const struct hlo_shape *shape,
                       struct hlo_dims to);
unsigned hlo_reshape(struct hlo_graph *g, unsigned x, const struct hlo_shape *shape);
/* Dimension i of the result is dimension from.at[i] of x. */
unsigned hlo_transpose(struct hlo_graph *g, unsigned x, struct hlo_dims from);
/* [first, end) of one dimension. */
unsigned hlo_slice(struct hlo_graph *g, unsigned x, unsigned dim, int64_t first, int64_t end);
/* Zeros before and behind, along one dimension. */
unsigned hlo_pad(struct hlo_graph *g, unsigned x, unsigned dim, int64_t before, int64_t behind);
unsigned hlo_concatenate(struct hlo_graph *g, const unsigned *parts, unsigned n, unsigned dim);

/* Sums of products, in float32; the operands are rounded first where the graph rounds. */
unsigned hlo_dot(struct hlo_graph *g, unsigned a, unsigned b, const struct hlo_dot *dims);

/* HLO_SUM or HLO_LARGEST over dimensions, which vanish. */
unsigned hlo_reduce(struct hlo_graph *g, enum hlo_op op, unsigned x, struct hlo_dims over);

/* The sum over all replicas; x itself where there is only one. */
unsigned hlo_all_reduce(struct hlo_graph *g, unsigned x);

#endif
