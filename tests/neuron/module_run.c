#include "tests/neuron/module_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

union word {
	float f;
	uint32_t u;
};

struct run {
	struct read_module *m;
	const struct read_computation *c;
	union word **value; /* by instruction; NULL when it is gone */
	unsigned *uses;     /* left */
	const void *const *inputs;
	const struct run_replicas *replicas;
};

static bool wrong(struct run *r, const struct read_node *node, const char *why)
{
	snprintf(r->m->why, sizeof(r->m->why), "%.90s (%s): %s", node->name, read_op_name(node->op),
	         why);
	return false;
}

static const struct read_node *operand(const struct run *r, const struct read_node *node,
                                       unsigned i)
{
	return &r->c->nodes[node->operand[i]];
}

static bool same_dims(const struct read_shape *a, const struct read_shape *b)
{
	return a->rank == b->rank &&
	       (a->rank == 0 || memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0);
}

static bool same(const struct read_shape *a, const struct read_shape *b)
{
	return a->type == b->type && same_dims(a, b);
}

static void strides_of(const struct read_shape *s, size_t ret[READ_RANK])
{
	size_t n = 1;

	for (unsigned i = s->rank; i-- > 0; n *= (size_t)s->dim[i])
		ret[i] = n;
}

/* The place in another array of each element of a shape, by that array's strides; freed by the
 * caller. */
static size_t *places(const struct read_shape *s, const size_t step[READ_RANK], size_t first)
{
	size_t n = read_elements(s), *to = malloc((n + 1) * sizeof(*to)), at[READ_RANK] = {0};

	for (size_t i = 0, place = first; i < n; i++) {
		to[i] = place;
		for (unsigned d = s->rank; d-- > 0;) {
			place += step[d];
			if (++at[d] < (size_t)s->dim[d])
				break;
			place -= step[d] * (size_t)s->dim[d];
			at[d] = 0;
		}
	}
	return to;
}

static float round_bf16(float x)
{
	union word w = {.f = x};

	if (isnan(x))
		return x;
	w.u += 0x7fff + (w.u >> 16 & 1);
	w.u &= 0xffff0000;
	return w.f;
}

static float unary(enum read_op op, float x)
{
	switch (op) {
	case READ_ABS:
		return fabsf(x);
	case READ_ERF:
		return (float)erf(x);
	case READ_EXP:
		return (float)exp(x);
	case READ_LOG:
		return (float)log(x);
	case READ_NEGATE:
		return -x;
	case READ_RSQRT:
		return (float)(1 / sqrt(x));
	case READ_SIGN:
		return x > 0 ? 1 : x < 0 ? -1 : x;
	case READ_SQRT:
		return sqrtf(x);
	default:
		return (float)tanh(x);
	}
}

static float binary(enum read_op op, float a, float b)
{
	switch (op) {
	case READ_ADD:
		return a + b;
	case READ_SUBTRACT:
		return a - b;
	case READ_MULTIPLY:
		return a * b;
	case READ_DIVIDE:
		return a / b;
	default:
		return a > b ? a : b;
	}
}

static uint32_t bits(enum read_op op, uint32_t a, uint32_t b)
{
	switch (op) {
	case READ_ADD:
		return a + b;
	case READ_SUBTRACT:
		return a - b;
	case READ_MULTIPLY:
		return a * b;
	case READ_AND:
		return a & b;
	case READ_XOR:
		return a ^ b;
	case READ_SHIFT_RIGHT:
		return b < 32 ? a >> b : 0;
	default:
		return a > b ? a : b;
	}
}

static bool run_unary(struct run *r, const struct read_node *node, union word *out)
{
	const union word *x = r->value[node->operand[0]];

	if (!same(&node->shape, &operand(r, node, 0)->shape) || node->shape.type != READ_F32)
		return wrong(r, node, "the shape is not its operand's, of f32");
	for (size_t i = 0, n = read_elements(&node->shape); i < n; i++)
		out[i].f = unary(node->op, x[i].f);
	return true;
}

static bool run_convert(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_node *from = operand(r, node, 0);
	const union word *x = r->value[node->operand[0]];
	bool floats = (node->shape.type == READ_F32 || node->shape.type == READ_BF16) &&
	              (from->shape.type == READ_F32 || from->shape.type == READ_BF16);

	if (!same_dims(&node->shape, &from->shape) || !floats)
		return wrong(r, node, "only f32 and bf16 of one shape are converted");
	for (size_t i = 0, n = read_elements(&node->shape); i < n; i++)
		out[i].f = node->shape.type == READ_BF16 ? round_bf16(x[i].f) : x[i].f;
	return true;
}

static bool run_binary(struct run *r, const struct read_node *node, union word *out)
{
	const union word *a = r->value[node->operand[0]], *b = r->value[node->operand[1]];
	bool of_bits = node->op >= READ_AND && node->op <= READ_SHIFT_RIGHT;
	enum read_type type = node->shape.type;

	if (!same(&node->shape, &operand(r, node, 0)->shape) ||
	    !same(&node->shape, &operand(r, node, 1)->shape) ||
	    (type != READ_U32 && (type != READ_F32 || of_bits)))
		return wrong(r, node, "the operands are not alike, or of another type");
	for (size_t i = 0, n = read_elements(&node->shape); i < n; i++) {
		if (type == READ_F32)
			out[i].f = binary(node->op, a[i].f, b[i].f);
		else
			out[i].u = bits(node->op, a[i].u, b[i].u);
	}
	return true;
}

static bool run_compare(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;
	const union word *a = r->value[node->operand[0]], *b = r->value[node->operand[1]];

	if (!node->at_least || node->shape.type != READ_PRED || !same_dims(&node->shape, s) ||
	    !same(s, &operand(r, node, 1)->shape))
		return wrong(r, node, "only GE of operands that are alike gives a pred");
	for (size_t i = 0, n = read_elements(s); i < n; i++)
		out[i].u = s->type == READ_F32 ? a[i].f >= b[i].f : a[i].u >= b[i].u;
	return true;
}

static bool run_select(struct run *r, const struct read_node *node, union word *out)
{
	const union word *which = r->value[node->operand[0]], *a = r->value[node->operand[1]],
			 *b = r->value[node->operand[2]];

	if (operand(r, node, 0)->shape.type != READ_PRED ||
	    !same_dims(&node->shape, &operand(r, node, 0)->shape) ||
	    !same(&node->shape, &operand(r, node, 1)->shape) ||
	    !same(&node->shape, &operand(r, node, 2)->shape))
		return wrong(r, node, "the operands do not fit");
	for (size_t i = 0, n = read_elements(&node->shape); i < n; i++)
		out[i] = which[i].u != 0 ? a[i] : b[i];
	return true;
}

/* out[i] = x[place of i], the places by the operand's strides in the result's dimensions. */
static void gather(const struct read_shape *s, const size_t step[READ_RANK], size_t first,
                   const union word *x, union word *out)
{
	size_t *from = places(s, step, first);

	for (size_t i = 0, n = read_elements(s); i < n; i++)
		out[i] = x[from[i]];
	free(from);
}

static bool run_broadcast(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;
	size_t strides[READ_RANK], step[READ_RANK] = {0};

	if (node->dims.n != s->rank || s->type != node->shape.type)
		return wrong(r, node, "not every dimension has a place");
	strides_of(s, strides);
	for (unsigned i = 0; i < s->rank; i++) {
		int64_t to = node->dims.at[i];

		if (to < 0 || to >= node->shape.rank || node->shape.dim[to] != s->dim[i] ||
		    (i > 0 && to <= node->dims.at[i - 1]))
			return wrong(r, node, "a dimension does not fit its place");
		step[to] = strides[i];
	}
	gather(&node->shape, step, 0, r->value[node->operand[0]], out);
	return true;
}

static bool run_reshape(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;

	if (s->type != node->shape.type || read_elements(s) != read_elements(&node->shape))
		return wrong(r, node, "the number of elements changes");
	memcpy(out, r->value[node->operand[0]], read_elements(s) * sizeof(*out));
	return true;
}

static bool run_transpose(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;
	size_t strides[READ_RANK], step[READ_RANK] = {0};
	unsigned seen = 0;

	if (node->dims.n != s->rank || s->rank != node->shape.rank)
		return wrong(r, node, "the rank changes");
	strides_of(s, strides);
	for (unsigned i = 0; i < s->rank; i++) {
		int64_t from = node->dims.at[i];

		if (from < 0 || from >= s->rank || s->dim[from] != node->shape.dim[i] ||
		    (seen >> from & 1) != 0)
			return wrong(r, node, "it is not a permutation");
		seen |= 1u << from;
		step[i] = strides[from];
	}
	gather(&node->shape, step, 0, r->value[node->operand[0]], out);
	return true;
}

static bool run_slice(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;
	size_t strides[READ_RANK], first = 0;

	if (node->n_ranges != s->rank || s->rank != node->shape.rank)
		return wrong(r, node, "the rank changes");
	strides_of(s, strides);
	for (unsigned i = 0; i < s->rank; i++) {
		if (node->low[i] < 0 || node->high[i] > s->dim[i] ||
		    node->high[i] - node->low[i] != node->shape.dim[i])
			return wrong(r, node, "a range is not within its dimension");
		first += strides[i] * (size_t)node->low[i];
	}
	gather(&node->shape, strides, first, r->value[node->operand[0]], out);
	return true;
}

static bool run_pad(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;
	const union word *x = r->value[node->operand[0]], *with = r->value[node->operand[1]];
	size_t strides[READ_RANK], first = 0, *to;

	if (node->n_ranges != s->rank || s->rank != node->shape.rank)
		return wrong(r, node, "the rank changes");
	strides_of(&node->shape, strides);
	for (unsigned i = 0; i < s->rank; i++) {
		if (node->low[i] < 0 || node->high[i] < 0 ||
		    node->shape.dim[i] != s->dim[i] + node->low[i] + node->high[i])
			return wrong(r, node, "a dimension has another size");
		first += strides[i] * (size_t)node->low[i];
	}
	for (size_t i = 0, n = read_elements(&node->shape); i < n; i++)
		out[i] = *with;
	to = places(s, strides, first);
	for (size_t i = 0, n = read_elements(s); i < n; i++)
		out[to[i]] = x[i];
	free(to);
	return true;
}

static bool run_concatenate(struct run *r, const struct read_node *node, union word *out)
{
	unsigned dim = (unsigned)node->dims.at[0];
	size_t strides[READ_RANK];
	int64_t first = 0;

	if (node->dims.n != 1 || dim >= node->shape.rank)
		return wrong(r, node, "it goes along no dimension");
	strides_of(&node->shape, strides);
	for (unsigned k = 0; k < node->n; k++) {
		const struct read_shape *s = &operand(r, node, k)->shape;
		const union word *x = r->value[node->operand[k]];
		struct read_shape as = node->shape;
		size_t *to;

		as.dim[dim] = s->dim[dim];
		if (!same(&as, s) || first + s->dim[dim] > node->shape.dim[dim])
			return wrong(r, node, "an operand does not fit");
		to = places(s, strides, strides[dim] * (size_t)first);
		for (size_t i = 0, n = read_elements(s); i < n; i++)
			out[to[i]] = x[i];
		free(to);
		first += s->dim[dim];
	}
	return first == node->shape.dim[dim] || wrong(r, node, "something is missing");
}

/* The listed dimensions of a shape as one of their own, and the places of its elements. */
struct part {
	struct read_shape shape;
	size_t *at, n;
};

static struct part part_of(const struct read_shape *s, const struct read_dims *dims)
{
	struct part p = {.shape = {.rank = dims->n}};
	size_t strides[READ_RANK], step[READ_RANK] = {0};

	strides_of(s, strides);
	for (unsigned i = 0; i < dims->n; i++) {
		p.shape.dim[i] = s->dim[dims->at[i]];
		step[i] = strides[dims->at[i]];
	}
	p.n = read_elements(&p.shape);
	p.at = places(&p.shape, step, 0);
	return p;
}

static bool listed(const struct read_dims *dims, unsigned d)
{
	for (unsigned i = 0; i < dims->n; i++)
		if (dims->at[i] == (int64_t)d)
			return true;
	return false;
}

static struct read_dims rest_of(unsigned rank, const struct read_dims *a, const struct read_dims *b)
{
	struct read_dims rest = {0};

	for (unsigned i = 0; i < rank; i++)
		if (!listed(a, i) && !listed(b, i))
			rest.at[rest.n++] = i;
	return rest;
}

static bool within(const struct read_dims *dims, unsigned rank)
{
	for (unsigned i = 0; i < dims->n; i++)
		if (dims->at[i] < 0 || dims->at[i] >= rank)
			return false;
	return true;
}

/* The parts of both operands: [0] batch, [1] free, [2] contracted. */
static void multiply(const struct part a[3], const struct part b[3], const union word *x,
                     const union word *y, union word *out)
{
	for (size_t g = 0; g < a[0].n; g++) {
		for (size_t i = 0; i < a[1].n; i++) {
			const union word *row = x + a[0].at[g] + a[1].at[i];

			for (size_t k = 0; k < b[1].n; k++, out++) {
				const union word *column = y + b[0].at[g] + b[1].at[k];
				double sum = 0;

				for (size_t c = 0; c < a[2].n; c++)
					sum += (double)row[a[2].at[c]].f * column[b[2].at[c]].f;
				out->f = (float)sum;
			}
		}
	}
}

static bool check_dot(struct run *r, const struct read_node *node, const struct part a[3],
                      const struct part b[3])
{
	struct read_shape want = {.type = READ_F32};
	const struct read_shape *parts[] = {&a[0].shape, &a[1].shape, &b[1].shape};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned d = 0; d < parts[i]->rank && want.rank < READ_RANK; d++)
			want.dim[want.rank++] = parts[i]->dim[d];
	if (!same_dims(&a[0].shape, &b[0].shape) || !same_dims(&a[2].shape, &b[2].shape))
		return wrong(r, node, "the operands' dimensions do not fit");
	return same(&want, &node->shape) || wrong(r, node, "the result has another shape");
}

static bool run_dot(struct run *r, const struct read_node *node, union word *out)
{
	struct part parts[2][3];
	bool fine;

	for (unsigned side = 0; side < 2; side++) {
		const struct read_shape *s = &operand(r, node, side)->shape;
		const struct read_dims *batch = &node->batch[side], *sum = &node->contracted[side];
		struct read_dims rest;

		if (!within(batch, s->rank) || !within(sum, s->rank) ||
		    s->type != operand(r, node, 0)->shape.type ||
		    (s->type != READ_F32 && s->type != READ_BF16))
			return wrong(r, node, "an operand does not fit");
		rest = rest_of(s->rank, batch, sum);
		parts[side][0] = part_of(s, batch);
		parts[side][1] = part_of(s, &rest);
		parts[side][2] = part_of(s, sum);
	}
	fine = check_dot(r, node, parts[0], parts[1]);
	if (fine)
		multiply(parts[0], parts[1], r->value[node->operand[0]], r->value[node->operand[1]],
		         out);
	for (unsigned i = 0; i < 6; i++)
		free(parts[i / 3][i % 3].at);
	return fine;
}

/* What a called computation of two scalars does with them. */
static enum read_op combines(const struct run *r, const struct read_node *node)
{
	for (size_t i = 0; i < r->m->n; i++)
		if (r->m->computations[i].id == node->called && r->m->computations[i].n == 3)
			return r->m->computations[i].combines;
	return READ_OPS;
}

static bool run_reduce(struct run *r, const struct read_node *node, union word *out)
{
	const struct read_shape *s = &operand(r, node, 0)->shape;
	const union word *x = r->value[node->operand[0]], *start = r->value[node->operand[1]];
	enum read_op by = combines(r, node);
	struct read_dims none = {0}, rest;
	struct part left, over;

	if (!within(&node->dims, s->rank) || (by != READ_ADD && by != READ_MAXIMUM) ||
	    s->type != READ_F32)
		return wrong(r, node, "it is not a sum or a maximum of f32");
	rest = rest_of(s->rank, &node->dims, &none);
	left = part_of(s, &rest);
	over = part_of(s, &node->dims);
	for (size_t i = 0; i < left.n && same_dims(&left.shape, &node->shape); i++) {
		double all = start->f;

		for (size_t k = 0; k < over.n; k++) {
			double one = x[left.at[i] + over.at[k]].f;

			all = by == READ_ADD ? all + one : one > all ? one : all;
		}
		out[i].f = (float)all;
	}
	free(left.at);
	free(over.at);
	return same_dims(&left.shape, &node->shape) ||
	       wrong(r, node, "the result has another shape");
}

static bool run_all_reduce(struct run *r, const struct read_node *node, union word *out)
{
	size_t n = read_elements(&node->shape);

	if (!same(&node->shape, &operand(r, node, 0)->shape) || combines(r, node) != READ_ADD ||
	    r->replicas == NULL || r->replicas->sum == NULL)
		return wrong(r, node, "there is nobody to sum with");
	memcpy(out, r->value[node->operand[0]], n * sizeof(*out));
	r->replicas->sum(r->replicas->ctx, &out->f, n);
	return true;
}

static bool run_input(struct run *r, const struct read_node *node, union word *out)
{
	if (node->op == READ_CONSTANT)
		out->u = node->bits;
	else
		memcpy(out, r->inputs[node->parameter], read_elements(&node->shape) * sizeof(*out));
	return true;
}

typedef bool runner(struct run *r, const struct read_node *node, union word *out);

static runner *runner_of(enum read_op op)
{
	static runner *const of[READ_OPS] = {
		[READ_PARAMETER] = run_input,
		[READ_CONSTANT] = run_input,
		[READ_CONVERT] = run_convert,
		[READ_COMPARE] = run_compare,
		[READ_SELECT] = run_select,
		[READ_BROADCAST] = run_broadcast,
		[READ_RESHAPE] = run_reshape,
		[READ_TRANSPOSE] = run_transpose,
		[READ_SLICE] = run_slice,
		[READ_PAD] = run_pad,
		[READ_CONCATENATE] = run_concatenate,
		[READ_DOT] = run_dot,
		[READ_REDUCE] = run_reduce,
		[READ_ALL_REDUCE] = run_all_reduce,
	};

	if (of[op] != NULL)
		return of[op];
	return op >= READ_ABS && op <= READ_TANH ? run_unary : run_binary;
}

static void let_go(struct run *r, const struct read_node *node)
{
	for (unsigned k = 0; k < node->n; k++) {
		size_t at = (size_t)node->operand[k];

		if (--r->uses[at] > 0)
			continue;
		free(r->value[at]);
		r->value[at] = NULL;
	}
}

static bool run_all(struct run *r, void *const *results)
{
	const struct read_node *root = &r->c->nodes[r->c->n - 1];

	for (size_t i = 0; i < r->c->n; i++)
		for (unsigned k = 0; k < r->c->nodes[i].n; k++)
			r->uses[r->c->nodes[i].operand[k]]++;
	for (size_t i = 0; i + 1 < r->c->n; i++) {
		const struct read_node *node = &r->c->nodes[i];

		r->value[i] = malloc((read_elements(&node->shape) + 1) * sizeof(union word));
		if (!runner_of(node->op)(r, node, r->value[i]))
			return false;
		let_go(r, node);
	}
	for (unsigned i = 0; i < root->n; i++)
		memcpy(results[i], r->value[root->operand[i]],
		       read_elements(&operand(r, root, i)->shape) * sizeof(union word));
	return true;
}

bool run_module(struct read_module *m, const void *const *inputs, void *const *results,
                const struct run_replicas *replicas)
{
	struct run r = {.m = m, .c = m->entry, .inputs = inputs, .replicas = replicas};
	bool fine;

	r.value = calloc(m->entry->n, sizeof(*r.value));
	r.uses = calloc(m->entry->n, sizeof(*r.uses));
	fine = run_all(&r, results);
	for (size_t i = 0; i < m->entry->n; i++)
		free(r.value[i]);
	free(r.value);
	free(r.uses);
	return fine;
}
