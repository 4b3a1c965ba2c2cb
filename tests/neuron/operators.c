#include "tests/neuron/operators.h"

#include <stdio.h>
#include <string.h>

#include "trainer/hlo/module.h"

static unsigned input(struct operator_case *c, struct hlo_shape shape)
{
	char name[16];
	unsigned value;

	snprintf(name, sizeof(name), "input%u", c->n_inputs);
	value = hlo_parameter(&c->graph, &shape, name);

	c->inputs[c->n_inputs++] = value;
	return value;
}

/* The shape of what is computed element by element; positive values alone where `positive`. */
static unsigned vector(struct operator_case *c, bool positive)
{
	unsigned x = input(c, HLO_SHAPE(HLO_F32, 32));

	return positive ? hlo_with(&c->graph, HLO_ADD, hlo_unary(&c->graph, HLO_ABS, x), 0.125) : x;
}

static unsigned bits(struct operator_case *c)
{
	return input(c, HLO_SHAPE(HLO_U32, 32));
}

#define UNARY(name, op, positive)                                                                  \
	static void name(struct operator_case *c)                                                  \
	{                                                                                          \
		c->result = hlo_unary(&c->graph, op, vector(c, positive));                         \
	}
#define BINARY(name, op, make)                                                                     \
	static void name(struct operator_case *c)                                                  \
	{                                                                                          \
		unsigned a = make, b = make;                                                       \
                                                                                                   \
		c->result = hlo_binary(&c->graph, op, a, b);                                       \
	}

UNARY(absolute, HLO_ABS, false)
UNARY(error_function, HLO_ERF, false)
UNARY(exponential, HLO_EXP, false)
UNARY(logarithm, HLO_LOG, true)
UNARY(negate, HLO_NEGATE, false)
UNARY(rsqrt, HLO_RSQRT, true)
UNARY(sign, HLO_SIGN, false)
UNARY(root, HLO_SQRT, true)
UNARY(hyperbolic, HLO_TANH, false)
BINARY(add, HLO_ADD, vector(c, false))
BINARY(subtract, HLO_SUBTRACT, vector(c, false))
BINARY(maximum, HLO_MAXIMUM, vector(c, false))
BINARY(multiply, HLO_MULTIPLY, vector(c, false))
BINARY(divide, HLO_DIVIDE, vector(c, true))
BINARY(add_bits, HLO_ADD, bits(c))
BINARY(multiply_bits, HLO_MULTIPLY, bits(c))
BINARY(and_bits, HLO_AND, bits(c))
BINARY(xor_bits, HLO_XOR, bits(c))

static void shift(struct operator_case *c)
{
	unsigned x = bits(c), by = hlo_fill_u32(&c->graph, &HLO_SHAPE(HLO_U32, 32), 13);

	c->result = hlo_binary(&c->graph, HLO_SHIFT_RIGHT, x, by);
}

/* To the nearest, ties to even. */
static void convert_bf16(struct operator_case *c)
{
	unsigned x = hlo_with(&c->graph, HLO_MULTIPLY, vector(c, false), 1.0 + 1.0 / 256);

	c->result = hlo_convert(&c->graph, hlo_convert(&c->graph, x, HLO_BF16), HLO_F32);
}

static void compare_select(struct operator_case *c)
{
	unsigned a = vector(c, false), b = vector(c, false);

	c->result = hlo_select(&c->graph, hlo_binary(&c->graph, HLO_AT_LEAST, a, b), b, a);
}

static void broadcast(struct operator_case *c)
{
	unsigned x = input(c, HLO_SHAPE(HLO_F32, 3, 2));

	c->result = hlo_broadcast(&c->graph, x, &HLO_SHAPE(HLO_F32, 3, 4, 2), HLO_DIMS(0, 2));
}

static void reshape_transpose(struct operator_case *c)
{
	unsigned x = input(c, HLO_SHAPE(HLO_F32, 4, 6));

	x = hlo_reshape(&c->graph, x, &HLO_SHAPE(HLO_F32, 2, 3, 4));
	c->result = hlo_transpose(&c->graph, x, HLO_DIMS(2, 0, 1));
}

static void slice_pad(struct operator_case *c)
{
	unsigned x = hlo_slice(&c->graph, input(c, HLO_SHAPE(HLO_F32, 5, 4)), 0, 1, 4);

	c->result = hlo_pad(&c->graph, x, 1, 2, 1);
}

static void concatenate(struct operator_case *c)
{
	const unsigned parts[] = {input(c, HLO_SHAPE(HLO_F32, 3, 2)),
	                          input(c, HLO_SHAPE(HLO_F32, 3, 4))};

	c->result = hlo_concatenate(&c->graph, parts, 2, 1);
}

static void dot(struct operator_case *c)
{
	const struct hlo_dot dims = {.batch = {HLO_DIMS(0), HLO_DIMS(0)},
	                             .contracted = {HLO_DIMS(2), HLO_DIMS(1)}};
	unsigned a = input(c, HLO_SHAPE(HLO_F32, 2, 3, 5));
	unsigned b = input(c, HLO_SHAPE(HLO_F32, 2, 5, 4));

	c->result = hlo_dot(&c->graph, a, b, &dims);
}

static void dot_bf16(struct operator_case *c)
{
	c->graph.rounds = true;
	dot(c);
}

static void sum(struct operator_case *c)
{
	unsigned x = input(c, HLO_SHAPE(HLO_F32, 3, 4, 5));

	c->result = hlo_reduce(&c->graph, HLO_SUM, x, HLO_DIMS(0, 2));
}

static void largest(struct operator_case *c)
{
	c->result =
		hlo_reduce(&c->graph, HLO_LARGEST, input(c, HLO_SHAPE(HLO_F32, 6, 8)), HLO_DIMS(1));
}

static const struct {
	const char *name;
	void (*build)(struct operator_case *c);
} rows[] = {
	{"abs", absolute},
	{"erf", error_function},
	{"exponential", exponential},
	{"log", logarithm},
	{"negate", negate},
	{"rsqrt", rsqrt},
	{"sign", sign},
	{"sqrt", root},
	{"tanh", hyperbolic},
	{"add", add},
	{"subtract", subtract},
	{"maximum", maximum},
	{"multiply", multiply},
	{"divide", divide},
	{"add-u32", add_bits},
	{"multiply-u32", multiply_bits},
	{"and-u32", and_bits},
	{"xor-u32", xor_bits},
	{"shift-right-logical", shift},
	{"convert-bf16", convert_bf16},
	{"compare-select", compare_select},
	{"broadcast", broadcast},
	{"reshape-transpose", reshape_transpose},
	{"slice-pad", slice_pad},
	{"concatenate", concatenate},
	{"dot", dot},
	{"dot-bf16", dot_bf16},
	{"reduce-sum", sum},
	{"reduce-largest", largest},
};

const char *operator_name(unsigned i)
{
	return i < ARRAY_LEN(rows) ? rows[i].name : NULL;
}

void operator_build(unsigned i, struct operator_case *ret)
{
	*ret = (struct operator_case){.graph.replicas = 1};
	rows[i].build(ret);
}

void operator_write(const struct operator_case *c, struct strbuf *ret)
{
	const struct hlo_module m = {
		.name = "operator", .graph = &c->graph, .results = &c->result, .n = 1};

	hlo_encode(&m, ret);
}

/* Floats between -5 and 5 that no two inputs share; words of many bits. */
static uint32_t value(bool is_float, unsigned which, size_t i)
{
	uint32_t word = ((uint32_t)i * 7 + which * 3 + 1) * 2654435761U;
	float number = (float)(word >> 12) / (float)(1 << 20) * 10 - 5;

	if (is_float)
		memcpy(&word, &number, sizeof(word));
	return word;
}

size_t operator_input(const struct operator_case *c, unsigned which, uint32_t ret[OPERATOR_VALUES])
{
	const struct hlo_shape *shape = hlo_shape_of(&c->graph, c->inputs[which]);
	size_t n = hlo_elements(shape);

	for (size_t i = 0; i < n; i++)
		ret[i] = value(shape->type == HLO_F32, which, i);
	return n;
}
