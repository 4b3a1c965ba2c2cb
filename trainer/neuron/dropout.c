#include "trainer/neuron/dropout.h"

#include <math.h>

#include "trainer/ops/philox.h"

enum { WORDS = 4, ROUNDS = 10 };

int64_t neuron_dropout_counters(int64_t rows, int64_t columns)
{
	int64_t blocks = (columns + WORDS - 1) / WORDS;

	return rows > blocks ? rows : blocks;
}

static unsigned constant(struct hlo_graph *g, unsigned like, uint32_t value)
{
	struct hlo_shape shape = *hlo_shape_of(g, like);

	return hlo_fill_u32(g, &shape, value);
}

static unsigned with(struct hlo_graph *g, enum hlo_op op, unsigned x, uint32_t value)
{
	return hlo_binary(g, op, x, constant(g, x, value));
}

static unsigned low_half(struct hlo_graph *g, unsigned x)
{
	return with(g, HLO_AND, x, 0xffff);
}

static unsigned high_half(struct hlo_graph *g, unsigned x)
{
	return with(g, HLO_SHIFT_RIGHT, x, 16);
}

static unsigned add(struct hlo_graph *g, unsigned a, unsigned b)
{
	return hlo_binary(g, HLO_ADD, a, b);
}

/* The upper 32 bits of x * by, from four products of halves. */
static unsigned multiply_high(struct hlo_graph *g, unsigned x, uint32_t by)
{
	unsigned x0 = low_half(g, x), x1 = high_half(g, x);
	unsigned low = with(g, HLO_MULTIPLY, x0, by & 0xffff);
	unsigned middle = with(g, HLO_MULTIPLY, x0, by >> 16);
	unsigned other = with(g, HLO_MULTIPLY, x1, by & 0xffff);
	unsigned high = with(g, HLO_MULTIPLY, x1, by >> 16);
	unsigned carry = add(g, add(g, high_half(g, low), low_half(g, middle)), low_half(g, other));

	high = add(g, add(g, high, high_half(g, middle)), high_half(g, other));
	return add(g, high, high_half(g, carry));
}

/* One round of trainer/ops/philox.c; k: the key's words as they are in this round. */
static void turn(struct hlo_graph *g, unsigned x[WORDS], const unsigned k[2])
{
	const uint32_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u;
	unsigned high0 = multiply_high(g, x[0], m0), low0 = with(g, HLO_MULTIPLY, x[0], m0);
	unsigned high1 = multiply_high(g, x[2], m1), low1 = with(g, HLO_MULTIPLY, x[2], m1);

	x[0] = hlo_binary(g, HLO_XOR, hlo_binary(g, HLO_XOR, high1, x[1]), k[0]);
	x[1] = low1;
	x[2] = hlo_binary(g, HLO_XOR, hlo_binary(g, HLO_XOR, high0, x[3]), k[1]);
	x[3] = low0;
}

/* Element i of the last dimension of seed [2] or sample [batch, 2], as `shape`. */
static unsigned word(struct hlo_graph *g, unsigned x, int64_t i, const struct hlo_shape *shape)
{
	unsigned dim = hlo_shape_of(g, x)->rank - 1;
	struct hlo_shape rest = {.type = HLO_U32, .rank = dim, .dim = {shape->dim[0]}};
	unsigned one = hlo_reshape(g, hlo_slice(g, x, dim, i, i + 1), &rest);

	return hlo_broadcast(g, one, shape, dim == 0 ? (struct hlo_dims){0} : HLO_DIMS(0));
}

/* block = row * blocks + column's block, [batch, rows, blocks] */
static unsigned block_numbers(struct hlo_graph *g, const struct neuron_dropout *d,
                              const struct hlo_shape *shape)
{
	unsigned rows = hlo_slice(g, d->counter, 0, 0, shape->dim[1]);
	unsigned blocks = hlo_slice(g, d->counter, 0, 0, shape->dim[2]);

	rows = with(g, HLO_MULTIPLY, rows, (uint32_t)shape->dim[2]);
	return add(g, hlo_broadcast(g, rows, shape, HLO_DIMS(1)),
	           hlo_broadcast(g, blocks, shape, HLO_DIMS(2)));
}

/* Four words for each block: [batch, rows, 4 * blocks] */
static unsigned words(struct hlo_graph *g, const struct neuron_dropout *d,
                      const struct hlo_shape *blocks)
{
	struct hlo_shape one = *blocks, all = *blocks;
	unsigned k[2] = {word(g, d->seed, 0, blocks), word(g, d->seed, 1, blocks)};
	unsigned x[WORDS] = {block_numbers(g, d, blocks),
	                     hlo_fill_u32(g, blocks, (uint32_t)STREAM_DROPOUT << 16 | d->layer),
	                     word(g, d->sample, 0, blocks), word(g, d->sample, 1, blocks)};

	for (int i = 0; i < ROUNDS; i++) {
		turn(g, x, k);
		k[0] = with(g, HLO_ADD, k[0], 0x9E3779B9u);
		k[1] = with(g, HLO_ADD, k[1], 0xBB67AE85u);
	}
	one.dim[one.rank++] = 1;
	for (int i = 0; i < WORDS; i++)
		x[i] = hlo_reshape(g, x[i], &one);
	all.dim[2] *= WORDS;
	return hlo_reshape(g, hlo_concatenate(g, x, WORDS, 3), &all);
}

unsigned neuron_drop(struct hlo_graph *g, const struct neuron_dropout *d, unsigned probabilities)
{
	struct hlo_shape shape = *hlo_shape_of(g, probabilities), blocks = shape;
	unsigned random, kept;

	if (d->p == 0)
		return probabilities;
	blocks.type = HLO_U32;
	blocks.dim[2] = (shape.dim[2] + WORDS - 1) / WORDS;
	random = hlo_slice(g, words(g, d, &blocks), 2, 0, shape.dim[2]);
	kept = with(g, HLO_AT_LEAST, random, (uint32_t)fmin(ceil(d->p * 0x1p32), UINT32_MAX));
	return hlo_select(g, kept, hlo_with(g, HLO_MULTIPLY, probabilities, 1 / (1 - d->p)),
	                  hlo_fill(g, &shape, 0));
}
