/*
 * The model's modules, read and run by an interpreter of our own (tests/neuron), beside the CPU's
 * ops. XLA's word on the same modules is tests/neuron/judge and judge-courses.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/neuron/course.h"
#include "tests/neuron/module_run.h"
#include "tests/unit/random_model.h"
#include "trainer/hlo/gradient.h"
#include "trainer/hlo/module.h"
#include "trainer/neuron/feed.h"
#include "trainer/neuron/modules.h"

/* ---- the whole way ---------------------------------------------------------------------------- */

static void check_course(const struct course *c, bool ran)
{
	CHECK(ran);
	for (size_t i = 0; ran && i < c->n; i++)
		CHECK(execution_is_the_cpus(&c->of[i]));
	if (!test_state.ok)
		printf("# %s\n", c->what);
}

/* XLA runs the same ones (tests/neuron/judge-courses). */
static void fifty_courses_are_the_cpus(void)
{
	const uint64_t n = 50;
	size_t compared = 0;

	for (uint64_t i = 0; i < n && test_state.ok; i++) {
		struct course c;

		check_course(&c, course_run(i, false, &c));
		for (size_t k = 0; k < c.n; k++)
			for (size_t r = 0; r < c.of[k].net.results.n; r++)
				compared += c.of[k].expected[r] != NULL;
		course_done(&c);
	}
	/* every tensor's gradient twice, itself, a moment at least */
	CHECK(compared > n * 4 * 40);
}

/* Products of bfloat16 are no CPU's: they must run, and not be those of float32. */
static void courses_round_their_products(void)
{
	struct course rounded, plain;

	CHECK(course_run(4, true, &rounded) && course_run(4, false, &plain));
	CHECK(rounded.of[0].bytes.len > plain.of[0].bytes.len);
	CHECK(memcmp(rounded.of[0].results[0][0], plain.of[0].results[0][0], 6 * sizeof(float)) !=
	      0);
	course_done(&rounded);
	course_done(&plain);
}

static void replicas_sum_to_the_larger_batch(void)
{
	const unsigned replicas[] = {2, 4};

	for (size_t i = 0; i < ARRAY_LEN(replicas); i++)
		for (uint64_t number = 0; number < 2; number++) {
			struct course c;

			check_course(&c, course_of_replicas(number, replicas[i], &c));
			course_done(&c);
		}
}

/* ---- what a reader refuses -------------------------------------------------------------------- */

static struct strbuf tiny_module(struct hlo_graph *g)
{
	struct strbuf bytes = {0};
	unsigned x = hlo_parameter(g, &HLO_SHAPE(HLO_F32, 2, 3), "x"), y;
	struct hlo_module m = {.name = "tiny", .graph = g, .results = &y, .n = 1};

	y = hlo_reduce(g, HLO_SUM, hlo_with(g, HLO_MULTIPLY, x, 2), HLO_DIMS(1));
	hlo_encode(&m, &bytes);
	return bytes;
}

static void a_module_that_is_changed_is_refused_or_runs(void)
{
	struct hlo_graph g = {.replicas = 1};
	struct strbuf bytes = tiny_module(&g);
	float x[6] = {1, 2, 3, 4, 5, 6}, y[1024];
	const void *inputs[] = {x, x, x, x};
	void *results[] = {y, y, y, y};
	struct read_module m;
	size_t refused = 0;

	CHECK(read_module(bytes.ptr, bytes.len, &m));
	CHECK(run_module(&m, inputs, results, NULL));
	CHECK(y[0] == 12 && y[1] == 30);
	read_module_done(&m);
	for (size_t i = 0; i < bytes.len; i++) {
		refused += !read_module(bytes.ptr, i, &m);
		read_module_done(&m);
	}
	CHECK(refused == bytes.len);
	strbuf_done(&bytes);
	hlo_graph_done(&g);
}

static void the_same_network_gives_the_same_bytes(void)
{
	struct model_config c = model_config_tiny();
	struct neuron_shape shape = {
		.batch = 1, .n_out_image = 4, .n_out_audio = 4, .training = true, .replicas = 1};
	struct strbuf bytes[2] = {{0}}, text[2] = {{0}};

	for (int i = 0; i < 2; i++) {
		struct neuron_net n;

		neuron_step(&n, &c, &shape);
		neuron_write(&n, "step", &bytes[i], &text[i]);
		neuron_net_done(&n);
	}
	CHECK(bytes[0].len == bytes[1].len &&
	      memcmp(bytes[0].ptr, bytes[1].ptr, bytes[0].len) == 0);
	CHECK(strcmp(strbuf_str(&text[0]), strbuf_str(&text[1])) == 0);
	for (int i = 0; i < 2; i++) {
		strbuf_done(&bytes[i]);
		strbuf_done(&text[i]);
	}
}

int main(void)
{
	TEST("neuron: steps that add up, updates and evaluations of fifty random configurations "
	     "are "
	     "the CPU's",
	     fifty_courses_are_the_cpus);
	TEST("neuron: products are rounded where they are to be", courses_round_their_products);
	TEST("neuron: 2 and 4 replicas sum to the larger batch", replicas_sum_to_the_larger_batch);
	TEST("neuron: a module cut short is refused", a_module_that_is_changed_is_refused_or_runs);
	TEST("neuron: the same network gives the same bytes",
	     the_same_network_gives_the_same_bytes);
	return test_done();
}
