/*
 * What a judge of the modules needs.
 *
 * `emit GOLDEN OUT [bf16]`, of a golden folder: into OUT the modules as protocol buffers and as
 * text, what each is given and gives in order (NAME.json), and the inputs of the folder's batches
 * (inputs.safetensors: "step0.4" is input 4 of the step on batch 0, "measure0.7" of the decode of
 * all points, and so on for what classify and sample run).
 * `emit operators OUT`: a module for each row of tests/neuron/operators.c and its inputs, a line
 * each, and the rows' names.
 * `emit course N [bf16] OUT`, `emit replicas N REPLICAS OUT`: a course's executions
 * (tests/neuron/emit_course.h).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/neuron/emit_course.h"
#include "tests/neuron/operators.h"
#include "trainer/cmd/golden.h"
#include "trainer/neuron/feed.h"

static void put(const char *dir, const char *name, const char *end, const struct strbuf *bytes)
{
	emit_file(dir, name, end, bytes->ptr, bytes->len);
}

static void put_module(const char *dir, const char *name, const struct neuron_net *n)
{
	struct strbuf module = {0}, text = {0}, json = {0};

	neuron_write(n, name, &module, &text);
	emit_order(n, 1, &json);
	put(dir, name, ".hlo.pb", &module);
	put(dir, name, ".hlo.txt", &text);
	put(dir, name, ".json", &json);
	strbuf_done(&module);
	strbuf_done(&text);
	strbuf_done(&json);
}

static struct neuron_shape shape_of(const struct batch *b, bool training, bool rounds)
{
	return (struct neuron_shape){.batch = b->n,
	                             .n_out_image = b->n_out_image,
	                             .n_out_audio = b->n_out_audio,
	                             .decode_label = b->decode_label,
	                             .masked = true,
	                             .training = training,
	                             .rounds = rounds,
	                             .replicas = 1};
}

/* ---- a golden folder -------------------------------------------------------------------------- */

/* All inputs of all batches, in one file. */
struct inputs {
	const struct golden *g;
	VEC(struct st_item) items;
};

static void add_input(struct inputs *to, const struct neuron_net *n, size_t i, const char *module,
                      size_t number, const struct batch *b)
{
	const struct neuron_value *v = &n->inputs.at[i];
	const struct hlo_shape *s = hlo_shape_of(&n->graph, v->value);
	void *data = mem_calloc(hlo_elements(s), sizeof(float));
	char name[64];
	struct st_item item = {
		.dtype = s->type == HLO_F32 ? ST_F32 : ST_I32, .ndim = (int)s->rank, .data = data};

	snprintf(name, sizeof(name), "%s%zu.%zu", module, number, i);
	item.name = mem_strdup(name);
	for (unsigned d = 0; d < s->rank; d++)
		item.shape[d] = (size_t)s->dim[d];
	neuron_feed(n, v, b, &to->g->weights, 1, data);
	vec_push(&to->items, item);
}

/* But for weights and their like, and what another module gives. */
static void add_inputs(struct inputs *to, const struct neuron_net *n, const char *module,
                       size_t number, const struct batch *b)
{
	for (size_t i = 0; i < n->inputs.n; i++)
		if (n->inputs.at[i].kind > NEURON_AVERAGE && n->inputs.at[i].kind != NEURON_LATENTS)
			add_input(to, n, i, module, number, b);
}

static void write_inputs(struct inputs *to, const char *dir)
{
	char path[PATH_MAX];
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/inputs.safetensors", dir);
	if (st_write(path, to->items.at, to->items.n, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (size_t i = 0; i < to->items.n; i++) {
		free((void *)(uintptr_t)to->items.at[i].data);
		free((void *)(uintptr_t)to->items.at[i].name);
	}
	vec_done(&to->items);
}

static void put_steps(const char *dir, const struct golden *g, bool rounds, struct inputs *to)
{
	struct neuron_shape shape = shape_of(&g->batches[0], true, rounds);
	struct neuron_net n;

	neuron_step(&n, &g->config, &shape);
	put_module(dir, "step", &n);
	for (size_t i = 0; i < GOLDEN_STEPS; i++)
		add_inputs(to, &n, "step", i, &g->batches[i]);
	neuron_net_done(&n);
}

/* ---- modules without derivatives ---- */

typedef void build_fn(struct neuron_net *n, const struct model_config *config,
                      const struct neuron_shape *shape);

static const struct {
	const char *name;
	build_fn *build;
	bool label_alone;
} forwards[] = {
	{"measure", neuron_measure, false},
	{"classify", neuron_classify, true},
	{"encode", neuron_encode, false},
	{"decode", neuron_decode, false},
};

/* The first batch's clips with all labels hidden, and every output point asked for, as the folder's
 * eval. */
struct whole_clips {
	struct batch b;
	int32_t *points;
	float *hidden;
};

static struct whole_clips whole_clips_of(const struct golden *g)
{
	struct model_dims d = model_dims(&g->config);
	struct whole_clips w = {.b = g->batches[0]};

	w.points = mem_calloc(d.n_pixels + d.n_audio, sizeof(*w.points));
	w.hidden = mem_calloc(w.b.n, sizeof(*w.hidden));
	for (size_t i = 0; i < d.n_pixels; i++)
		w.points[i] = (int32_t)i;
	for (size_t i = 0; i < d.n_audio; i++)
		w.points[d.n_pixels + i] = (int32_t)i;
	for (size_t i = 0; i < w.b.n; i++)
		w.hidden[i] = 1;
	w.b.mask_image = w.b.mask_audio = NULL;
	w.b.mask_label = w.hidden;
	w.b.out_image = w.points;
	w.b.n_out_image = d.n_pixels;
	w.b.out_audio = w.points + d.n_pixels;
	w.b.n_out_audio = d.n_audio;
	w.b.decode_label = true;
	return w;
}

static void put_forwards(const char *dir, const struct golden *g, bool rounds, struct inputs *to)
{
	struct whole_clips w = whole_clips_of(g);

	for (size_t i = 0; i < sizeof(forwards) / sizeof(forwards[0]); i++) {
		struct neuron_shape shape = shape_of(&w.b, false, rounds);
		struct neuron_net n;

		if (forwards[i].label_alone)
			shape.n_out_image = shape.n_out_audio = 0;
		forwards[i].build(&n, &g->config, &shape);
		put_module(dir, forwards[i].name, &n);
		add_inputs(to, &n, forwards[i].name, 0, &w.b);
		neuron_net_done(&n);
	}
	free(w.points);
	free(w.hidden);
}

static int put_golden(const char *folder, const char *dir, bool rounds)
{
	struct golden g = {0};
	struct inputs inputs = {.g = &g};
	struct neuron_net n;
	struct err err = {0};

	if (golden_open(folder, &g, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	put_steps(dir, &g, rounds, &inputs);
	put_forwards(dir, &g, rounds, &inputs);
	for (size_t i = 0; i < GOLDEN_RUNS; i++) {
		neuron_update(&n, &g.config, &g.runs[i].options);
		put_module(dir, g.runs[i].name, &n);
		neuron_net_done(&n);
	}
	write_inputs(&inputs, dir);
	golden_done(&g);
	return 0;
}

/* ---- operators -------------------------------------------------------------------------------- */

/* "f32 3,2 00000000 ...", an input a line. */
static void add_operand(const struct operator_case *c, unsigned which, struct strbuf *sb)
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
			add_operand(&c, k, &inputs);
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

/* ---- courses ---------------------------------------------------------------------------------- */

static int put_course(const char *number, unsigned replicas, bool rounds, const char *dir)
{
	uint64_t which = strtoull(number, NULL, 10);
	struct course c;
	bool ok = replicas > 1 ? course_of_replicas(which, replicas, &c)
	                       : course_run(which, rounds, &c);

	if (ok)
		emit_course(dir, &c);
	course_done(&c);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	bool rounds = argc == 5 && strcmp(argv[3], "bf16") == 0;

	if (argc == 3 && strcmp(argv[1], "operators") == 0)
		return put_operators(argv[2]);
	if ((argc == 4 || rounds) && strcmp(argv[1], "course") == 0)
		return put_course(argv[2], 1, rounds, argv[argc - 1]);
	if (argc == 5 && strcmp(argv[1], "replicas") == 0)
		return put_course(argv[2], (unsigned)strtoul(argv[3], NULL, 10), false, argv[4]);
	if (argc == 3 || (argc == 4 && strcmp(argv[3], "bf16") == 0))
		return put_golden(argv[1], argv[2], argc == 4);
	fprintf(stderr, "emit GOLDEN OUT [bf16] | operators OUT | course N [bf16] OUT | "
	                "replicas N REPLICAS OUT\n");
	return 2;
}
