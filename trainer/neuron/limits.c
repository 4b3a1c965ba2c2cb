#include "trainer/neuron/limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/hlo/scan.h"

/* NCC_EVRF024: no value is larger. */
#define VALUE_BYTES_MAX (4.0 * 1024 * 1024 * 1024)

/*
 * Sources: AWS Neuron, "Supported operators [XLA]", by whose names the operators of the first kind
 * go; for the second, which that list does not have, "NKI Language" (nki.language), which names
 * what the engines compute. A parameter is an argument, and in no list.
 */
static const struct listed {
	const char *opcode, *name;
	bool by_nki;
} operators[] = {
	{"parameter", "", false},
	{"constant", "Constant", false},
	{"abs", "Abs", false},
	{"exponential", "Exp", false},
	{"log", "Log", false},
	{"negate", "Neg", false},
	{"rsqrt", "Rsqrt", false},
	{"sign", "Sign", false},
	{"sqrt", "Sqrt", false},
	{"tanh", "Tanh", false},
	{"convert", "ConvertElementType", false},
	{"add", "Add", false},
	{"subtract", "Sub", false},
	{"maximum", "Max", false},
	{"minimum", "Min", false},
	{"multiply", "Mul", false},
	{"divide", "Div", false},
	{"shift-right-logical", "ShiftRightLogical", false},
	{"compare", "Ge", false},
	{"select", "Select", false},
	{"broadcast", "BroadcastInDim", false},
	{"reshape", "Reshape", false},
	{"transpose", "Transpose", false},
	{"slice", "Slice", false},
	{"pad", "Pad", false},
	{"concatenate", "Concatenate", false},
	{"dot", "DotGeneral", false},
	{"reduce", "Reduce", false},
	{"all-reduce", "Allreduce", false},
	{"tuple", "Tuple", false},
	{"erf", "nki.language.erf", true},
	{"and", "nki.language.bitwise_and", true},
	{"xor", "nki.language.bitwise_xor", true},
};

/* What the engines have of PrimitiveType, in "NKI API Common Fields"; NCC_ESPP004 for others. */
static const struct type {
	int type;
	unsigned bytes;
	bool is_float;
} types[] = {
	{1, 1, false},                                /* PRED */
	{2, 1, false},  {3, 2, false}, {4, 4, false}, /* S8, S16, S32 */
	{6, 1, false},  {7, 2, false}, {8, 4, false}, /* U8, U16, U32 */
	{10, 2, true},  {11, 4, true}, {16, 2, true}, /* F16, F32, BF16 */
	{13, 0, false},                               /* TUPLE */
};

/* "Reduce": no other computations are supported. */
static const char *const reducers[] = {"add", "maximum", "minimum", "multiply"};

enum { REDUCER_NODES = 3 };

/* A walk over a module. */
struct limits_check {
	const char *name;
	struct neuron_checked checked;
	VEC(int64_t) constants; /* their ids */
	size_t computation;     /* the one that it is in, and its instructions so far */
	size_t nodes;
	bool reduces; /* the last of them may end a reduction's computation */
};

static bool is_text(const struct hlo_text *t, const char *text)
{
	return strlen(text) == t->n && memcmp(t->at, text, t->n) == 0;
}

static const struct listed *find_operator(const struct hlo_text *opcode)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++)
		if (is_text(opcode, operators[i].opcode))
			return &operators[i];
	return NULL;
}

bool neuron_is_listed(const char *opcode)
{
	const struct hlo_text text = {opcode, strlen(opcode)};
	const struct listed *found = find_operator(&text);

	return found != NULL && !found->by_nki;
}

static const struct type *find_type(int type)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}

static int width(const struct hlo_text *t)
{
	return t->n < 60 ? (int)t->n : 60;
}

static int refuse(const struct limits_check *c, const struct hlo_seen *s, struct err *err,
                  const char *why)
{
	err_set(err, ERR_UNSUPPORTED, "module %s: %.*s (%.*s) %s", c->name, width(&s->name),
	        s->name.n > 0 ? s->name.at : "", width(&s->opcode),
	        s->opcode.n > 0 ? s->opcode.at : "", why);
	return err_hint(err, "neuronx-cc list-operators --framework XLA names what a compiler of "
	                     "yours takes.");
}

static bool is_reducer(const struct hlo_text *opcode)
{
	for (size_t i = 0; i < ARRAY_LEN(reducers); i++)
		if (is_text(opcode, reducers[i]))
			return true;
	return false;
}

/* All computations but the last, which is the entry, are reductions'. */
static int enter(struct limits_check *c, const struct hlo_seen *s, struct err *err)
{
	if (s->computation != c->computation) {
		if (c->nodes != REDUCER_NODES || !c->reduces)
			return err_set(err, ERR_UNSUPPORTED,
			               "module %s: its computation %zu is not one by which the "
			               "compiler reduces (add, maximum, minimum, multiply)",
			               c->name, c->computation + 1);
		c->computation = s->computation;
		c->nodes = 0;
	}
	c->nodes++;
	c->reduces = is_reducer(&s->opcode);
	return 0;
}

static bool is_constant(const struct limits_check *c, int64_t id)
{
	for (size_t i = c->constants.n; i-- > 0;)
		if (c->constants.at[i] == id)
			return true;
	return false;
}

static int check_value(struct limits_check *c, const struct hlo_seen *s, struct err *err)
{
	const struct type *type = find_type(s->type);
	double bytes;

	if (type == NULL)
		return refuse(c, s, err, "has a type that the engines do not have");
	bytes = s->elements * type->bytes;
	if (!(bytes >= 0 && bytes <= VALUE_BYTES_MAX)) {
		err_set(err, ERR_LIMIT, "module %s: %.*s has %.0f bytes, the compiler takes 4 GiB",
		        c->name, width(&s->name), s->name.n > 0 ? s->name.at : "", bytes);
		return err_hint(err,
		                "Fewer clips a step (--batch_size) or points make it smaller.");
	}
	c->checked.largest = bytes > c->checked.largest ? bytes : c->checked.largest;
	if (!type->is_float && (is_text(&s->opcode, "dot") || is_text(&s->opcode, "all-reduce")))
		return refuse(c, s, err, "is of whole numbers, which it cannot be");
	return 0;
}

static int see(void *ctx, const struct hlo_seen *s, struct err *err)
{
	struct limits_check *c = ctx;
	const struct listed *found = find_operator(&s->opcode);

	if (enter(c, s, err) != 0)
		return -1;
	if (found == NULL)
		return refuse(c, s, err, "is an operator that no document of AWS's names");
	c->checked.instructions++;
	c->checked.unlisted += found->by_nki;
	if (is_text(&s->opcode, "constant"))
		vec_push(&c->constants, s->id);
	if (is_text(&s->opcode, "reduce") && (s->n_operands != 2 || !is_constant(c, s->operand[1])))
		return refuse(c, s, err, "does not begin with a constant");
	return check_value(c, s, err);
}

int neuron_check(const char *name, const void *bytes, size_t n, struct neuron_checked *ret,
                 struct err *err)
{
	struct limits_check c = {.name = name};
	int rc = hlo_scan(bytes, n, see, &c, err);

	if (rc == 0 && c.checked.instructions == 0)
		rc = err_set(err, ERR_FORMAT, "module %s: it has no instructions", name);
	vec_done(&c.constants);
	if (rc == 0)
		*ret = c.checked;
	return rc;
}
