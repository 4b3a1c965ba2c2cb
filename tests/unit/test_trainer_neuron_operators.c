/*
 * Each operator by our interpreter, beside what XLA's CPU client made of the same bytes
 * (tests/neuron/operators.golden).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "tests/harness.h"
#include "tests/neuron/module_run.h"
#include "tests/neuron/operators.h"

/* The words after a name in the golden file; how many. */
static size_t golden(const char *text, const char *name, uint32_t ret[OPERATOR_VALUES])
{
	char start[64];
	const char *at;
	size_t n = 0;

	snprintf(start, sizeof(start), "\n%s ", name);
	at = strstr(text, start);
	if (at == NULL)
		return 0;
	at += strlen(start);
	while (*at != '\n' && *at != '\0' && n < OPERATOR_VALUES) {
		char *end;

		ret[n++] = (uint32_t)strtoul(at, &end, 16);
		at = *end == ' ' ? end + 1 : end;
	}
	return n;
}

static bool same_word(bool is_float, uint32_t got, uint32_t want)
{
	float a, b;

	if (!is_float)
		return got == want;
	memcpy(&a, &got, sizeof(a));
	memcpy(&b, &want, sizeof(b));
	return fabsf(a - b) <= 2e-6F * (1 + fabsf(b));
}

static void compare(unsigned i, const char *text)
{
	uint32_t given[OPERATOR_INPUTS][OPERATOR_VALUES], got[OPERATOR_VALUES] = {0};
	uint32_t want[OPERATOR_VALUES] = {0};
	const void *inputs[OPERATOR_INPUTS];
	void *results[] = {got};
	AUTO(strbuf) struct strbuf bytes = {0};
	struct operator_case c;
	struct read_module m;
	const struct hlo_shape *shape;

	operator_build(i, &c);
	operator_write(&c, &bytes);
	for (unsigned k = 0; k < c.n_inputs; k++) {
		(void)operator_input(&c, k, given[k]);
		inputs[k] = given[k];
	}
	shape = hlo_shape_of(&c.graph, c.result);
	CHECK(read_module(bytes.ptr, bytes.len, &m) && run_module(&m, inputs, results, NULL));
	if (m.why[0] != '\0')
		printf("# %s: %s\n", operator_name(i), m.why);
	CHECK_INT(golden(text, operator_name(i), want), hlo_elements(shape));
	for (size_t k = 0; k < hlo_elements(shape) && test_state.ok; k++)
		if (!same_word(shape->type == HLO_F32, got[k], want[k])) {
			printf("# %s[%zu]: %08x, XLA %08x\n", operator_name(i), k, got[k], want[k]);
			CHECK(false);
		}
	read_module_done(&m);
	hlo_graph_done(&c.graph);
}

static void operators_are_xlas(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct err err = {0};

	CHECK_OK(fs_read_file("tests/neuron/operators.golden", 1 << 20, &text, &err), &err);
	for (unsigned i = 0; operator_name(i) != NULL && test_state.ok; i++)
		compare(i, strbuf_str(&text));
}

/* Nothing that a graph can be made of is left out. */
static void every_operator_has_a_row(void)
{
	bool seen[HLO_OPS] = {[HLO_ALL_REDUCE] = true};

	for (unsigned i = 0; operator_name(i) != NULL; i++) {
		struct operator_case c;

		operator_build(i, &c);
		for (size_t k = 0; k < c.graph.nodes.n; k++)
			seen[c.graph.nodes.at[k].op] = true;
		hlo_graph_done(&c.graph);
	}
	for (enum hlo_op op = 0; op < HLO_OPS; op++)
		if (!seen[op]) {
			printf("# %s\n", hlo_op_name(op));
			CHECK(false);
		}
}

int main(void)
{
	TEST("neuron operators: each is XLA's", operators_are_xlas);
	TEST("neuron operators: every operator has a row", every_operator_has_a_row);
	return test_done();
}
