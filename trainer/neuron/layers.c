#include "trainer/neuron/layers.h"

#include <math.h>

/* first, first + 1, ..., n of them */
static struct hlo_dims dims_from(unsigned first, unsigned n)
{
	struct hlo_dims dims = {.n = n};

	for (unsigned i = 0; i < n; i++)
		dims.at[i] = first + i;
	return dims;
}

unsigned neuron_product(struct hlo_graph *g, unsigned x, unsigned w)
{
	struct hlo_dot dot = {.contracted = {HLO_DIMS(hlo_shape_of(g, x)->rank - 1), HLO_DIMS(1)}};

	return hlo_dot(g, x, w, &dot);
}

/* A value whose last dimension is gone, or a vector along the last dimension, as x's shape. */
static unsigned spread(struct hlo_graph *g, unsigned x, unsigned value)
{
	struct hlo_shape shape = *hlo_shape_of(g, x);

	return hlo_broadcast(g, value, &shape, dims_from(0, shape.rank - 1));
}

static unsigned along(struct hlo_graph *g, unsigned x, unsigned row)
{
	struct hlo_shape shape = *hlo_shape_of(g, x);

	return hlo_broadcast(g, row, &shape, dims_from(shape.rank - 1, 1));
}

unsigned neuron_add_row(struct hlo_graph *g, unsigned x, unsigned row)
{
	return hlo_binary(g, HLO_ADD, x, along(g, x, row));
}

static unsigned reduce_last(struct hlo_graph *g, enum hlo_op op, unsigned x)
{
	return hlo_reduce(g, op, x, HLO_DIMS(hlo_shape_of(g, x)->rank - 1));
}

unsigned neuron_norm(struct hlo_graph *g, unsigned x, unsigned gain, unsigned shift)
{
	const struct hlo_shape *shape = hlo_shape_of(g, x);
	double part = 1 / (double)shape->dim[shape->rank - 1];
	unsigned mean = hlo_with(g, HLO_MULTIPLY, reduce_last(g, HLO_SUM, x), part);
	unsigned off = hlo_binary(g, HLO_SUBTRACT, x, spread(g, x, mean));
	unsigned squares = reduce_last(g, HLO_SUM, hlo_binary(g, HLO_MULTIPLY, off, off));
	unsigned variance = hlo_with(g, HLO_MULTIPLY, squares, part);
	unsigned rstd = hlo_unary(g, HLO_RSQRT, hlo_with(g, HLO_ADD, variance, 1e-5));
	unsigned normal = hlo_binary(g, HLO_MULTIPLY, off, spread(g, x, rstd));

	return neuron_add_row(g, hlo_binary(g, HLO_MULTIPLY, normal, along(g, x, gain)), shift);
}

/* sqrt(2 / pi) (x + 0.044715 x^3): Hendrycks and Gimpel 2016 */
static unsigned tanh_argument(struct hlo_graph *g, unsigned x)
{
	unsigned cube = hlo_binary(g, HLO_MULTIPLY, hlo_binary(g, HLO_MULTIPLY, x, x), x);
	unsigned sum = hlo_binary(g, HLO_ADD, x, hlo_with(g, HLO_MULTIPLY, cube, 0.044715));

	return hlo_with(g, HLO_MULTIPLY, sum, 0.7978845608028654);
}

unsigned neuron_gelu(struct hlo_graph *g, unsigned x, enum gelu_form form)
{
	unsigned bend = form == GELU_ERF
	                        ? hlo_unary(g, HLO_ERF, hlo_with(g, HLO_MULTIPLY, x, M_SQRT1_2))
	                        : hlo_unary(g, HLO_TANH, tanh_argument(g, x));
	unsigned half = hlo_with(g, HLO_MULTIPLY, x, 0.5);

	return hlo_binary(g, HLO_MULTIPLY, half, hlo_with(g, HLO_ADD, bend, 1));
}

unsigned neuron_softmax(struct hlo_graph *g, unsigned x)
{
	unsigned below =
		hlo_binary(g, HLO_SUBTRACT, x, spread(g, x, reduce_last(g, HLO_LARGEST, x)));
	unsigned powers = hlo_unary(g, HLO_EXP, below);

	return hlo_binary(g, HLO_DIVIDE, powers, spread(g, x, reduce_last(g, HLO_SUM, powers)));
}

unsigned neuron_log_sum(struct hlo_graph *g, unsigned x)
{
	unsigned largest = reduce_last(g, HLO_LARGEST, x);
	unsigned below = hlo_binary(g, HLO_SUBTRACT, x, spread(g, x, largest));
	unsigned sum = reduce_last(g, HLO_SUM, hlo_unary(g, HLO_EXP, below));

	return hlo_binary(g, HLO_ADD, hlo_unary(g, HLO_LOG, sum), largest);
}

unsigned neuron_repeat(struct hlo_graph *g, unsigned x, int64_t n)
{
	struct hlo_shape was = *hlo_shape_of(g, x),
			 shape = {.type = was.type, .rank = was.rank + 1};

	shape.dim[0] = n;
	for (unsigned i = 0; i < was.rank; i++)
		shape.dim[i + 1] = was.dim[i];
	return hlo_broadcast(g, x, &shape, dims_from(1, was.rank));
}
