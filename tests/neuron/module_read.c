#include "tests/neuron/module_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int operands; /* -1: any number */
} ops[READ_OPS] = {
	[READ_PARAMETER] = {"parameter", 0},
	[READ_CONSTANT] = {"constant", 0},
	[READ_ABS] = {"abs", 1},
	[READ_ERF] = {"erf", 1},
	[READ_EXP] = {"exponential", 1},
	[READ_LOG] = {"log", 1},
	[READ_NEGATE] = {"negate", 1},
	[READ_RSQRT] = {"rsqrt", 1},
	[READ_SIGN] = {"sign", 1},
	[READ_SQRT] = {"sqrt", 1},
	[READ_TANH] = {"tanh", 1},
	[READ_CONVERT] = {"convert", 1},
	[READ_ADD] = {"add", 2},
	[READ_SUBTRACT] = {"subtract", 2},
	[READ_MULTIPLY] = {"multiply", 2},
	[READ_DIVIDE] = {"divide", 2},
	[READ_MAXIMUM] = {"maximum", 2},
	[READ_AND] = {"and", 2},
	[READ_XOR] = {"xor", 2},
	[READ_SHIFT_RIGHT] = {"shift-right-logical", 2},
	[READ_COMPARE] = {"compare", 2},
	[READ_SELECT] = {"select", 3},
	[READ_BROADCAST] = {"broadcast", 1},
	[READ_RESHAPE] = {"reshape", 1},
	[READ_TRANSPOSE] = {"transpose", 1},
	[READ_SLICE] = {"slice", 1},
	[READ_PAD] = {"pad", 2},
	[READ_CONCATENATE] = {"concatenate", -1},
	[READ_DOT] = {"dot", 2},
	[READ_REDUCE] = {"reduce", 2},
	[READ_ALL_REDUCE] = {"all-reduce", 1},
	[READ_TUPLE] = {"tuple", -1},
};

const char *read_op_name(enum read_op op)
{
	return ops[op].name;
}

size_t read_elements(const struct read_shape *s)
{
	size_t n = 1;

	for (unsigned i = 0; i < s->rank; i++)
		n *= (size_t)s->dim[i];
	return n;
}

static bool refuse(struct read_module *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (m->why[0] == '\0')
		vsnprintf(m->why, sizeof(m->why), fmt, args);
	va_end(args);
	return false;
}

/* ---- the wire ---- */

struct span {
	const uint8_t *at, *end;
};

struct field {
	unsigned number, type;
	uint64_t value;
	struct span bytes;
};

static bool varint(struct span *s, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
		uint8_t byte = *s->at++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* What follows a field's tag. */
static bool content(struct span *s, struct field *f)
{
	uint64_t length;

	if (f->type == 0)
		return varint(s, &f->value);
	if (f->type != 2 || !varint(s, &length) || length > (uint64_t)(s->end - s->at))
		return false;
	f->bytes = (struct span){s->at, s->at + length};
	s->at += length;
	return true;
}

/* The next field of a message; false at its end, and where it is broken (s->at is NULL then). */
static bool next(struct span *s, struct field *f)
{
	uint64_t tag;

	if (s->at == NULL || s->at == s->end)
		return false;
	if (varint(s, &tag)) {
		f->number = (unsigned)(tag >> 3);
		f->type = tag & 7;
		if (content(s, f))
			return true;
	}
	s->at = NULL;
	return false;
}

/* A repeated integer, packed or not. */
static bool integers(const struct field *f, struct read_dims *to)
{
	struct span s = f->bytes;
	uint64_t value;

	if (f->type == 0) {
		if (to->n == READ_RANK)
			return false;
		to->at[to->n++] = (int64_t)f->value;
		return true;
	}
	while (s.at < s.end) {
		if (to->n == READ_RANK || !varint(&s, &value))
			return false;
		to->at[to->n++] = (int64_t)value;
	}
	return true;
}

static bool read_shape_of(struct read_module *m, struct span s, struct read_shape *ret)
{
	struct read_dims dims = {0};
	struct field f;

	while (next(&s, &f)) {
		if (f.number == 2)
			ret->type = (enum read_type)f.value;
		if (f.number == 3 && !integers(&f, &dims))
			return refuse(m, "a shape has more than %d dimensions", READ_RANK);
	}
	if (s.at == NULL)
		return refuse(m, "a shape is broken");
	ret->rank = dims.n;
	memcpy(ret->dim, dims.at, sizeof(dims.at));
	return true;
}

static bool read_literal(struct read_module *m, struct span s, struct read_node *node)
{
	struct field f;

	while (next(&s, &f)) {
		if (f.number == 8 && f.type == 2 && f.bytes.end - f.bytes.at == 4) {
			memcpy(&node->bits, f.bytes.at, 4);
			node->has_literal = true;
		}
		if (f.number == 6) {
			struct read_dims one = {0};

			if (!integers(&f, &one) || one.n != 1)
				return refuse(m, "a literal has other than one value");
			node->bits = (uint32_t)one.at[0];
			node->has_literal = true;
		}
	}
	return s.at != NULL || refuse(m, "a literal is broken");
}

static bool read_range(struct read_module *m, struct span s, struct read_node *node, bool slice)
{
	struct field f;
	int64_t stride = 0;

	if (node->n_ranges == READ_RANK)
		return refuse(m, "%s has too many ranges", node->name);
	while (next(&s, &f)) {
		if (f.number == 1)
			node->low[node->n_ranges] = (int64_t)f.value;
		if (f.number == 2)
			node->high[node->n_ranges] = (int64_t)f.value;
		if (f.number == 3)
			stride = (int64_t)f.value;
	}
	node->n_ranges++;
	if (stride != (slice ? 1 : 0))
		return refuse(m, "%s has a stride of %lld", node->name, (long long)stride);
	return s.at != NULL || refuse(m, "a range is broken");
}

static bool read_padding(struct read_module *m, struct span s, struct read_node *node)
{
	struct field f;

	while (next(&s, &f))
		if (f.number == 1 && !read_range(m, f.bytes, node, false))
			return false;
	return s.at != NULL || refuse(m, "a padding is broken");
}

static bool read_dot(struct read_module *m, struct span s, struct read_node *node)
{
	struct read_dims *to[] = {NULL, &node->contracted[0], &node->contracted[1], &node->batch[0],
	                          &node->batch[1]};
	struct field f;

	while (next(&s, &f))
		if (f.number >= 1 && f.number <= 4 && !integers(&f, to[f.number]))
			return refuse(m, "%s has too many dimensions", node->name);
	return s.at != NULL || refuse(m, "a dot is broken");
}

static bool read_operands(struct read_module *m, struct span s, struct read_node *node)
{
	uint64_t id;

	while (s.at < s.end) {
		if (!varint(&s, &id))
			return refuse(m, "%s has broken operands", node->name);
		node->operand = realloc(node->operand, (node->n + 1) * sizeof(node->operand[0]));
		node->operand[node->n++] = (int64_t)id;
	}
	return true;
}

static void read_replicas(struct span s, struct read_node *node)
{
	struct field f;

	while (next(&s, &f)) {
		struct span ids = f.bytes;
		uint64_t id;

		while (f.number == 1 && ids.at < ids.end && varint(&ids, &id))
			node->replicas++;
	}
}

static bool read_opcode(struct read_module *m, const struct field *f, struct read_node *node)
{
	size_t n = (size_t)(f->bytes.end - f->bytes.at);

	for (unsigned i = 0; i < READ_OPS; i++) {
		if (strlen(ops[i].name) != n || memcmp(ops[i].name, f->bytes.at, n) != 0)
			continue;
		node->op = (enum read_op)i;
		return true;
	}
	return refuse(m, "operator %.*s is not one of ours", (int)n, (const char *)f->bytes.at);
}

static bool read_field(struct read_module *m, const struct field *f, struct read_node *node)
{
	struct read_dims one = {0};

	switch (f->number) {
	case 1:
		snprintf(node->name, sizeof(node->name), "%.*s", (int)(f->bytes.end - f->bytes.at),
		         (const char *)f->bytes.at);
		return true;
	case 2:
		return read_opcode(m, f, node);
	case 3:
		return node->op == READ_TUPLE || read_shape_of(m, f->bytes, &node->shape);
	case 8:
		return read_literal(m, f->bytes, node);
	case 9:
		node->parameter = (int64_t)f->value;
		return true;
	case 14:
		return integers(f, &node->dims) || refuse(m, "%s: too many dimensions", node->name);
	case 17:
		return read_range(m, f->bytes, node, true);
	case 21:
		return read_padding(m, f->bytes, node);
	case 30:
		return read_dot(m, f->bytes, node);
	case 35:
		node->id = (int64_t)f->value;
		return true;
	case 36:
		return read_operands(m, f->bytes, node);
	case 38:
		node->called = integers(f, &one) && one.n == 1 ? one.at[0] : -1;
		return true;
	case 49:
		read_replicas(f->bytes, node);
		return true;
	case 63:
		node->at_least =
			f->bytes.end - f->bytes.at == 2 && memcmp(f->bytes.at, "GE", 2) == 0;
		return true;
	default:
		return refuse(m, "%s has field %u, which is not one of ours", node->name,
		              f->number);
	}
}

static bool read_node_of(struct read_module *m, struct span s, struct read_computation *c)
{
	struct read_node *node;
	struct field f;

	if (c->n == c->cap) {
		c->cap = c->cap > 0 ? 2 * c->cap : 64;
		c->nodes = realloc(c->nodes, c->cap * sizeof(c->nodes[0]));
	}
	node = &c->nodes[c->n++];
	memset(node, 0, sizeof(*node));
	while (next(&s, &f))
		if (!read_field(m, &f, node))
			return false;
	return s.at != NULL || refuse(m, "%s is broken", node->name);
}

static bool read_computation_of(struct read_module *m, struct span s)
{
	struct read_computation *c;
	struct field f;

	m->computations = realloc(m->computations, (m->n + 1) * sizeof(m->computations[0]));
	c = &m->computations[m->n++];
	memset(c, 0, sizeof(*c));
	while (next(&s, &f)) {
		if (f.number == 2 && !read_node_of(m, f.bytes, c))
			return false;
		if (f.number == 5)
			c->id = (int64_t)f.value;
		if (f.number == 6)
			c->root = (int64_t)f.value;
	}
	return s.at != NULL || refuse(m, "a computation is broken");
}

/* ---- what has to fit ---- */

static bool find(const struct read_computation *c, size_t before, int64_t id, int64_t *ret)
{
	/* most operands were made just before */
	for (size_t i = before; i-- > 0;) {
		if (c->nodes[i].id != id)
			continue;
		*ret = (int64_t)i;
		return true;
	}
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_names(struct read_module *m)
{
	const char **names;
	size_t n = 0, total = 0;
	bool fine = true;

	for (size_t i = 0; i < m->n; i++)
		total += m->computations[i].n;
	names = calloc(total + 1, sizeof(*names));
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->computations[i].n; k++)
			names[n++] = m->computations[i].nodes[k].name;
	qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 1; i < n && fine; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			fine = refuse(m, "two instructions are called %s", names[i]);
	free(names);
	return fine;
}

static bool link_node(struct read_module *m, struct read_computation *c, size_t i)
{
	struct read_node *node = &c->nodes[i];

	if (ops[node->op].operands >= 0 && node->n != (unsigned)ops[node->op].operands)
		return refuse(m, "%s (%s) has %u operands", node->name, ops[node->op].name,
		              node->n);
	if (node->op == READ_PARAMETER && node->parameter != c->n_parameters++)
		return refuse(m, "%s is parameter %lld out of turn", node->name,
		              (long long)node->parameter);
	if (node->op == READ_CONSTANT && (!node->has_literal || node->shape.rank != 0))
		return refuse(m, "%s is a constant without a scalar value", node->name);
	for (unsigned k = 0; k < node->n; k++)
		if (!find(c, i, node->operand[k], &node->operand[k]))
			return refuse(m, "%s has an operand that is not before it", node->name);
	return true;
}

/* What a computation of two scalars makes of them. */
static bool link_computation(struct read_module *m, struct read_computation *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!link_node(m, c, i))
			return false;
	if (c->n == 0 || c->nodes[c->n - 1].id != c->root)
		return refuse(m, "the root of computation %lld is not its last instruction",
		              (long long)c->id);
	c->combines = c->nodes[c->n - 1].op;
	return true;
}

bool read_module(const void *bytes, size_t n, struct read_module *ret)
{
	struct span s = {bytes, (const uint8_t *)bytes + n};
	struct field f;
	int64_t entry = 0;

	memset(ret, 0, sizeof(*ret));
	while (next(&s, &f)) {
		if (f.number == 3 && !read_computation_of(ret, f.bytes))
			return false;
		if (f.number == 6)
			entry = (int64_t)f.value;
	}
	if (s.at == NULL)
		return refuse(ret, "the module is broken");
	for (size_t i = 0; i < ret->n; i++)
		if (!link_computation(ret, &ret->computations[i]))
			return false;
	for (size_t i = 0; i < ret->n; i++)
		if (ret->computations[i].id == entry)
			ret->entry = &ret->computations[i];
	if (ret->entry == NULL || ret->entry->combines != READ_TUPLE)
		return refuse(ret, "the module has no entry that gives a tuple");
	return check_names(ret);
}

void read_module_done(struct read_module *m)
{
	for (size_t i = 0; i < m->n; i++) {
		for (size_t k = 0; k < m->computations[i].n; k++)
			free(m->computations[i].nodes[k].operand);
		free(m->computations[i].nodes);
	}
	free(m->computations);
	memset(m, 0, sizeof(*m));
}
