/*
 * Reads a serialized HloModuleProto with field numbers of its own, and holds it against what a
 * compiler would: unique ids and names, operands before users, shapes that follow from the operands,
 * only the operators that are listed here. Written from XLA's hlo.proto and "Operation Semantics",
 * without a look at trainer/hlo: two readings of one source that have to agree.
 */
#ifndef SLIPWAY_TESTS_NEURON_MODULE_READ_H
#define SLIPWAY_TESTS_NEURON_MODULE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READ_RANK = 6, READ_WHY = 200 };

enum read_type { READ_PRED = 1, READ_S32 = 4, READ_U32 = 8, READ_F32 = 11, READ_BF16 = 16 };

struct read_shape {
	enum read_type type;
	unsigned rank;
	int64_t dim[READ_RANK];
};

struct read_dims {
	unsigned n;
	int64_t at[READ_RANK];
};

enum read_op {
	READ_PARAMETER,
	READ_CONSTANT,
	READ_ABS,
	READ_ERF,
	READ_EXP,
	READ_LOG,
	READ_NEGATE,
	READ_RSQRT,
	READ_SIGN,
	READ_SQRT,
	READ_TANH,
	READ_CONVERT,
	READ_ADD,
	READ_SUBTRACT,
	READ_MULTIPLY,
	READ_DIVIDE,
	READ_MAXIMUM,
	READ_AND,
	READ_XOR,
	READ_SHIFT_RIGHT,
	READ_COMPARE,
	READ_SELECT,
	READ_BROADCAST,
	READ_RESHAPE,
	READ_TRANSPOSE,
	READ_SLICE,
	READ_PAD,
	READ_CONCATENATE,
	READ_DOT,
	READ_REDUCE,
	READ_ALL_REDUCE,
	READ_TUPLE,
	READ_OPS
};

struct read_node {
	enum read_op op;
	char name[320];
	struct read_shape shape; /* of a tuple: unused */
	int64_t id, parameter, called;
	unsigned n;
	int64_t *operand; /* ids while reading, then indices; owned */
	struct read_dims dims, contracted[2], batch[2];
	int64_t low[READ_RANK], high[READ_RANK]; /* slice, pad */
	unsigned n_ranges;
	uint32_t bits;
	unsigned replicas;
	bool has_literal, at_least;
};

struct read_computation {
	int64_t id, root;
	struct read_node *nodes; /* owned */
	size_t n, cap;
	unsigned n_parameters;
	enum read_op combines; /* of a computation of two scalars: what it does with them */
};

struct read_module {
	struct read_computation *computations; /* owned */
	size_t n;
	const struct read_computation *entry;
	char why[READ_WHY];
};

/* false, and m->why, for what a compiler would not take. read_module_done in any case. */
bool read_module(const void *bytes, size_t n, struct read_module *ret);
void read_module_done(struct read_module *m);

size_t read_elements(const struct read_shape *s);
const char *read_op_name(enum read_op op);

#endif
