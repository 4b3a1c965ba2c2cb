/*
 * What a judge of the modules needs, from a golden folder: `emit GOLDEN OUT [bf16]` writes into OUT
 * the modules as protocol buffers and as text, what each is given and gives in order (NAME.json),
 * and the inputs of the folder's batches (inputs.safetensors: "step0.4" is input 4 of batch 0).
 * `emit operators OUT` writes a module for each row of tests/neuron/operators.c and its inputs,
 * a line each, and the rows' names.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/neuron/operators.h"
#include "trainer/cmd/golden.h"
#include "trainer/neuron/feed.h"
#include "trainer/neuron/modules.h"

static void put(const char *dir, const char *name, const char *end, const struct strbuf *bytes)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, end);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(bytes->ptr, 1, bytes->len, f) != bytes->len || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void list(struct strbuf *to, const struct neuron_net *n, const char *key,
                 const struct neuron_value *values, size_t count)
{
	strbuf_addf(to, "\"%s\": [", key);
	for (size_t i = 0; i < count; i++) {
		bool tensor = values[i].kind <= NEURON_AVERAGE;

		strbuf_addf(to, "%s[%d, %zu, \"%s\"]", i > 0 ? ", " : "", (int)values[i].kind,
		            values[i].index, tensor ? n->table.at[values[i].index].name : "");
	}
	strbuf_addc(to, ']');
}

static void put_module(const char *dir, const char *name, const struct neuron_net *n)
{
	struct strbuf module = {0}, text = {0}, json = {0};

	neuron_write(n, name, &module, &text);
	strbuf_addc(&json, '{');
	list(&json, n, "inputs", n->inputs.at, n->inputs.n);
	strbuf_adds(&json, ", ");
	list(&json, n, "results", n->results.at, n->results.n);
	strbuf_adds(&json, "}\n");
	put(dir, name, ".hlo.pb", &module);
	put(dir, name, ".hlo.txt", &text);
	put(dir, name, ".json", &json);
	strbuf_done(&module);
	strbuf_done(&text);
	strbuf_done(&json);
}

static struct neuron_shape shape_of(const struct golden *g, bool rounds)
{
	const struct batch *b = &g->batches[0];

	return (struct neuron_shape){.batch = b->n,
	                             .n_out_image = b->n_out_image,
	                             .n_out_audio = b->n_out_audio,
	                             .decode_label = b->decode_label,
	                             .masked = true,
	                             .training = true,
	                             .rounds = rounds,
	                             .replicas = 1};
}

static void put_inputs(const char *dir, const struct golden *g, const struct neuron_net *n)
{
	size_t max = GOLDEN_STEPS * n->inputs.n, count = 0;
	struct st_item *items = mem_calloc(max, sizeof(*items));
	char(*names)[64] = mem_calloc(max, sizeof(*names)), path[PATH_MAX];
	struct err err = {0};

	for (size_t i = 0; i < max; i++) {
		const struct neuron_value *v = &n->inputs.at[i % n->inputs.n];
		const struct hlo_shape *s = hlo_shape_of(&n->graph, v->value);
		struct st_item *item = &items[count];
		void *data;

		if (v->kind <= NEURON_AVERAGE)
			continue;
		data = mem_calloc(hlo_elements(s), sizeof(float));
		neuron_feed(n, v, &g->batches[i / n->inputs.n], &g->weights, 1, data);
		snprintf(names[count], sizeof(names[0]), "step%zu.%zu", i / n->inputs.n,
		         i % n->inputs.n);
		*item = (struct st_item){.name = names[count],
		                         .dtype = s->type == HLO_F32 ? ST_F32 : ST_I32,
		                         .ndim = (int)s->rank,
		                         .data = data};
		for (unsigned d = 0; d < s->rank; d++)
			item->shape[d] = (size_t)s->dim[d];
		count++;
	}
	snprintf(path, sizeof(path), "%s/inputs.safetensors", dir);
	if (st_write(path, items, count, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (size_t i = 0; i < count; i++)
		free((void *)items[i].data);
	free(items);
	free(names);
}

/* "f32 3,2 00000000 ...", an input a line. */
static void add_input(const struct operator_case *c, unsigned which, struct strbuf *sb)
{
	const struct hlo_shape *s = hlo_shape_of(&c->graph, c->inputs[which]);
	uint32_t words[OPERATOR_VALUES];
	size_t n = operator_input(c, which, words);

	strbuf_addf(sb, "%s ", hlo_type_name(s->type));
	for (unsigned d = 0; d < s->rank; d++)
		strbuf_addf(sb, "%s%lld", d > 0 ? "," : "", (long long)s->dim[d]);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(sb, " %08x", words[i]);
	strbuf_addc(sb, '\n');
}

static int put_operators(const char *dir)
{
	struct strbuf names = {0};

	for (unsigned i = 0; operator_name(i) != NULL; i++) {
		struct strbuf module = {0}, inputs = {0};
		struct operator_case c;

		operator_build(i, &c);
		operator_write(&c, &module);
		for (unsigned k = 0; k < c.n_inputs; k++)
			add_input(&c, k, &inputs);
		put(dir, operator_name(i), ".hlo.pb", &module);
		put(dir, operator_name(i), ".in", &inputs);
		strbuf_addf(&names, "%s\n", operator_name(i));
		strbuf_done(&module);
		strbuf_done(&inputs);
		hlo_graph_done(&c.graph);
	}
	put(dir, "rows", "", &names);
	strbuf_done(&names);
	return 0;
}

int main(int argc, char **argv)
{
	struct golden g = {0};
	struct neuron_net n;
	struct neuron_shape shape;
	struct err err = {0};

	if (argc == 3 && strcmp(argv[1], "operators") == 0)
		return put_operators(argv[2]);
	if (argc < 3 || golden_open(argv[1], &g, &err) != 0) {
		fprintf(stderr, "emit GOLDEN OUT [bf16]: %s\n", err.msg);
		return 2;
	}
	shape = shape_of(&g, argc > 3);
	neuron_step(&n, &g.config, &shape);
	put_module(argv[2], "step", &n);
	put_inputs(argv[2], &g, &n);
	neuron_net_done(&n);
	for (size_t i = 0; i < GOLDEN_RUNS; i++) {
		neuron_update(&n, &g.config, &g.runs[i].options);
		put_module(argv[2], g.runs[i].name, &n);
		neuron_net_done(&n);
	}
	golden_done(&g);
	return 0;
}
