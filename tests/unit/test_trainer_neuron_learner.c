/*
 * The learner of compiled modules beside the CPU's, over the stand-ins of neuronx-cc and of
 * libnrt.so.1 (tests/neuron). No Neuron device was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "tests/harness.h"
#include "tests/neuron/standin.h"
#include "tests/unit/random_model.h"
#include "trainer/neuron/compiler.h"
#include "trainer/neuron/learner.h"
#include "trainer/neuron/runtime.h"
#include "trainer/neuron/uses.h"

enum { CLIPS = 3, IMAGES = 5, AUDIOS = 3, HARDWARE = 6 };

static const struct loss_weights weights = {0.5, 1, 0.3};

static struct {
	void (*reset)(size_t fail_at, int status);
	struct standin_nrt_state (*state)(void);
} standin;
static char folder[] = "/tmp/neuron-learner-XXXXXX";

static void find_standin(void)
{
	void *library = dlopen(NEURON_STANDIN, RTLD_NOW);

	if (library == NULL || mkdtemp(folder) == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_nrt_reset");
	*(void **)&standin.state = dlsym(library, "standin_nrt_state");
}

/* ---- a run, a batch, two learners ------------------------------------------------------------- */

/* More clips and points than the module measures at once, two to train on. */
struct course {
	struct neuron_run run;
	struct clip_memory clips;
	struct batch train;
	struct ops cpu;
	struct learner *want, *got;
};

static struct neuron_shape shape(bool training)
{
	return (struct neuron_shape){.batch = 2,
	                             .n_out_image = 2,
	                             .n_out_audio = 2,
	                             .decode_label = true,
	                             .masked = true,
	                             .training = training,
	                             .replicas = 1};
}

static void draw_clips(struct course *c, struct philox *r)
{
	do {
		free_clips(&c->clips);
		c->clips = random_clips(r, &c->run.config);
	} while (c->clips.b.n != CLIPS || !c->clips.b.decode_label ||
	         c->clips.b.n_out_image < IMAGES || c->clips.b.n_out_audio < AUDIOS);
	c->clips.b.n_out_image = IMAGES;
	c->clips.b.n_out_audio = AUDIOS;
	c->train = c->clips.b;
	c->train.n = c->train.n_out_image = c->train.n_out_audio = 2;
}

static void compile_all(const struct neuron_run *run, struct err *err)
{
	struct neuron_compiler cc = {.program = "tests/neuron/neuronx-cc"};

	CHECK_OK(neuron_target_find("trn1", &cc.target, err), err);
	CHECK_OK(neuron_compiler_open(&cc, err), err);
	for (enum neuron_module m = 0; m < NEURON_MODULES && test_state.ok; m++) {
		AUTO(strbuf) struct strbuf module = {0};
		struct neuron_net net;
		char path[PATH_MAX];
		bool there;

		neuron_module_build(run, m, &net);
		neuron_write(&net, neuron_module_name(m), &module, NULL);
		neuron_net_done(&net);
		CHECK_OK(neuron_compile(&cc, folder, neuron_module_name(m), &module, &there, path,
		                        err),
		         err);
	}
}

/* For sampling: a clip at a time, and so few points that it takes several executions. */
static void use_shapes(struct neuron_run *run)
{
	neuron_use_shapes(run, 2, false);
	run->sample.n_out_image = run->sample.n_out_audio = 2;
}

static struct course new_course(void)
{
	struct philox r = philox_start(17, STREAM_SYNTHETIC, 1);
	struct course c = {.run = {.config = random_config(&r),
	                           .step = shape(true),
	                           .measure = shape(false),
	                           .optimizer = {.kind = OPTIMIZER_ADAMW,
	                                         .beta1 = 0.9,
	                                         .beta2 = 0.999,
	                                         .eps = 1e-8,
	                                         .weight_decay = 0.1,
	                                         .ema_decay = 0.8}}};
	struct err err = {0};

	use_shapes(&c.run);
	draw_clips(&c, &r);
	compile_all(&c.run, &err);
	return c;
}

static void say_command(void *ctx, const char *target, struct strbuf *sb)
{
	strbuf_addf(sb, "COMPILE %s for %s", (const char *)ctx, target);
}

static struct neuron_start start_in(const char *cache)
{
	return (struct neuron_start){.ranks = 1,
	                             .cache = cache,
	                             .wanted = {true, true, true},
	                             .command = say_command,
	                             .ctx = "this"};
}

static int open_neuron(struct course *c, struct err *err)
{
	struct neuron_start start = start_in(folder);

	unsetenv("NEURON_RT_VISIBLE_CORES");
	if (neuron_learner_new(&c->run, &start, &c->got, err) != 0)
		return -1;
	learner_prepare(c->got, &c->run.optimizer);
	return 0;
}

static void open_cpu(struct course *c)
{
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &c->cpu));
	c->want = learner_new(&c->run.config, &c->cpu, (struct recompute){0});
	learner_init(c->want, 3);
	learner_prepare(c->want, &c->run.optimizer);
}

static void close_course(struct course *c)
{
	learner_free(c->got);
	if (c->want != NULL) {
		learner_free(c->want);
		ops_done(&c->cpu);
	}
	free_clips(&c->clips);
	CHECK_STR(standin.state().complaint, "");
	CHECK_INT(standin.state().models + standin.state().tensors + standin.state().sets, 0);
}

static int step(struct learner *l, const struct course *c, struct losses *losses, double *norm,
                struct err *err)
{
	learner_begin(l);
	for (int micro = 0; micro < 2; micro++)
		if (learner_accumulate(l, &c->train, &weights, 0.5, losses, err) != 0)
			return -1;
	return learner_norm(l, norm, err) != 0 ? -1 : learner_apply(l, 1e-3, 0.5, err);
}

static void both_step(struct course *c)
{
	struct losses got = {0}, want = {0};
	double norm = 0, norm_want = 0;
	struct err err = {0};

	CHECK_OK(step(c->got, c, &got, &norm, &err), &err);
	CHECK_OK(step(c->want, c, &want, &norm_want, &err), &err);
	CHECK(fabs(got.total - want.total) <= 1e-4 * (1 + fabs(want.total)));
	CHECK(fabs(norm - norm_want) <= 1e-4 * (1 + fabs(norm_want)));
}

/* The two learners' values of a set. */
static void same(struct course *c, enum learner_set which)
{
	struct tensors got, want;
	struct err err = {0};

	tensors_like(learner_table(c->got), NULL, NULL, &got);
	tensors_like(learner_table(c->want), NULL, NULL, &want);
	CHECK_OK(learner_get(c->got, which, &got, &err), &err);
	CHECK_OK(learner_get(c->want, which, &want, &err), &err);
	for (size_t i = 0; i < want.n_values && test_state.ok; i++)
		CHECK(fabs((double)got.data[i] - want.data[i]) <=
		      5e-4 * (1 + fabs((double)want.data[i])));
	tensors_done(&got);
	tensors_done(&want);
}

static void same_sets(struct course *c)
{
	for (enum learner_set k = 0; k < LEARNER_SETS; k++) {
		CHECK(learner_has(c->got, k) && learner_has(c->want, k));
		if (k != LEARNER_GRADIENTS)
			same(c, k);
	}
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void state_goes_back_and_averages_take_its_place(void)
{
	struct course c = new_course();
	double mean = 0;
	bool finite = false;
	struct err err = {0};

	standin.reset(0, 0);
	open_cpu(&c);
	CHECK_OK(open_neuron(&c, &err), &err);
	learner_init(c.got, 3);
	CHECK(!learner_go_back(c.got, &mean) && !learner_exchange_average(c.got));
	both_step(&c);
	both_step(&c);
	same_sets(&c);
	learner_keep(c.got, 7);
	learner_keep(c.want, 7);
	both_step(&c);
	CHECK(learner_go_back(c.got, &mean) && mean == 7 && learner_go_back(c.want, &mean));
	CHECK_INT(learner_counts(c.got).updates, 2);
	same_sets(&c);
	both_step(&c);
	CHECK(learner_exchange_average(c.got) && learner_exchange_average(c.want));
	same_sets(&c);
	CHECK(learner_exchange_average(c.got) && learner_exchange_average(c.want));
	same_sets(&c);
	CHECK_OK(learner_is_finite(c.got, &finite, &err), &err);
	CHECK(finite);
	close_course(&c);
}

static void close_floats(const float *got, const float *want, size_t n)
{
	for (size_t i = 0; i < n && test_state.ok; i++)
		CHECK(fabs((double)got[i] - want[i]) <= 1e-4 * (1 + fabs((double)want[i])));
}

static void same_logits(const struct course *c, const struct logits *got, const struct logits *want,
                        const struct batch *b)
{
	close_floats(got->image, want->image, b->n * b->n_out_image * 3);
	close_floats(got->audio, want->audio,
	             b->n * b->n_out_audio * c->run.config.samples_per_patch);
	close_floats(got->label, want->label, b->n * c->run.config.num_labels);
}

static void any_number_of_clips_and_points_is_decoded(void)
{
	struct course c = new_course();
	struct logits got, want;
	struct losses losses, losses_want;
	struct batch b = c.clips.b;
	struct err err = {0};

	standin.reset(0, 0);
	open_cpu(&c);
	CHECK_OK(open_neuron(&c, &err), &err);
	learner_init(c.got, 3);
	CHECK_OK(learner_forward(c.got, &b, &got, &err), &err);
	CHECK_OK(learner_forward(c.want, &b, &want, &err), &err);
	same_logits(&c, &got, &want, &b);
	/* other points, of which the clips are no part */
	b = (struct batch){.n = CLIPS,
	                   .out_image = c.clips.b.out_image + 1,
	                   .out_audio = c.clips.b.out_audio + 1,
	                   .n_out_image = IMAGES - 1,
	                   .n_out_audio = 1,
	                   .decode_label = true};
	CHECK_OK(learner_decode(c.got, &b, &got, &err), &err);
	CHECK_OK(learner_decode(c.want, &b, &want, &err), &err);
	same_logits(&c, &got, &want, &b);
	b = c.train;
	b.n = 1;
	CHECK_OK(learner_measure(c.got, &b, &weights, &losses, &err), &err);
	CHECK_OK(learner_measure(c.want, &b, &weights, &losses_want, &err), &err);
	CHECK(fabs(losses.total - losses_want.total) <= 1e-4 * (1 + losses_want.total));
	b.n_out_image = 1;
	CHECK(learner_measure(c.got, &b, &weights, &losses, &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	close_course(&c);
}

/* A learner of the modules that a command needs, with the CPU's weights. */
static void open_for(struct course *c, enum neuron_use use)
{
	struct neuron_start start = start_in(folder);
	struct tensors weights_now;
	struct err err = {0};

	for (enum neuron_module m = 0; m < NEURON_MODULES; m++)
		start.wanted[m] = neuron_use_needs(use, m);
	unsetenv("NEURON_RT_VISIBLE_CORES");
	standin.reset(0, 0);
	open_cpu(c);
	tensors_like(learner_table(c->want), NULL, NULL, &weights_now);
	CHECK_OK(learner_get(c->want, LEARNER_WEIGHTS, &weights_now, &err), &err);
	CHECK_OK(neuron_learner_new(&c->run, &start, &c->got, &err), &err);
	CHECK_OK(learner_set(c->got, LEARNER_WEIGHTS, &weights_now, &err), &err);
	tensors_done(&weights_now);
}

static void the_label_alone_is_decoded(void)
{
	struct course c = new_course();
	struct logits got, want;
	struct batch b = c.clips.b;
	struct err err = {0};

	open_for(&c, NEURON_CLASSIFIES);
	b.n_out_image = b.n_out_audio = 0;
	CHECK_OK(learner_forward(c.got, &b, &got, &err), &err);
	CHECK_OK(learner_forward(c.want, &b, &want, &err), &err);
	close_floats(got.label, want.label, b.n * c.run.config.num_labels);
	/* three clips, two at a time */
	CHECK_INT(standin.state().executions, 2);
	b.n_out_image = 1;
	CHECK(learner_forward(c.got, &b, &got, &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	close_course(&c);
}

static void a_clip_is_encoded_once_and_decoded_point_by_point(void)
{
	struct course c = new_course();
	struct logits got, want;
	struct batch b = c.clips.b, points;
	struct err err = {0};

	open_for(&c, NEURON_SAMPLES);
	b.n = 1;
	CHECK_OK(learner_forward(c.got, &b, &got, &err), &err);
	CHECK_OK(learner_forward(c.want, &b, &want, &err), &err);
	same_logits(&c, &got, &want, &b);
	/* encoded once; five pixels, two at a time */
	CHECK_INT(standin.state().executions, 1 + 3);
	points = (struct batch){.n = 1,
	                        .out_image = c.clips.b.out_image + 1,
	                        .out_audio = c.clips.b.out_audio + 1,
	                        .n_out_image = IMAGES - 1,
	                        .n_out_audio = 1};
	CHECK_OK(learner_decode(c.got, &points, &got, &err), &err);
	CHECK_OK(learner_decode(c.want, &points, &want, &err), &err);
	close_floats(got.image, want.image, points.n_out_image * 3);
	close_floats(got.audio, want.audio, c.run.config.samples_per_patch);
	CHECK_INT(standin.state().executions, 4 + 2);
	/* another clip takes the place of the one before */
	b.image = c.clips.b.image + 3 * learner_dims(c.want)->n_pixels;
	CHECK_OK(learner_forward(c.got, &b, &got, &err), &err);
	CHECK_OK(learner_forward(c.want, &b, &want, &err), &err);
	same_logits(&c, &got, &want, &b);
	b.n = 2;
	CHECK(learner_forward(c.got, &b, &got, &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	close_course(&c);
}

/* All kinds of calls; how far it came. */
static int whole_way(struct course *c, struct err *err)
{
	struct losses losses;
	struct logits logits;
	double norm;
	bool finite;

	if (open_neuron(c, err) != 0)
		return -1;
	learner_init(c->got, 3);
	learner_keep(c->got, 0);
	if (step(c->got, c, &losses, &norm, err) != 0)
		return -1;
	learner_exchange_average(c->got);
	learner_go_back(c->got, &norm);
	if (learner_measure(c->got, &c->train, &weights, &losses, err) != 0 ||
	    learner_forward(c->got, &c->train, &logits, err) != 0)
		return -1;
	return learner_is_finite(c->got, &finite, err);
}

static void a_failure_sticks_and_nothing_is_left(void)
{
	struct course c = new_course();
	struct err err = {0}, later = {0};
	size_t calls, failed = 0, every = getenv("SLIPWAY_TEST_LONG") != NULL ? 11 : 151;
	bool finite;

	standin.reset(0, 0);
	CHECK_OK(whole_way(&c, &err), &err);
	learner_free(c.got);
	calls = standin.state().calls;
	for (size_t at = 1; at <= calls && test_state.ok; at += every) {
		c.got = NULL;
		standin.reset(at, HARDWARE);
		err = later = (struct err){0};
		if (whole_way(&c, &err) != 0) {
			failed++;
			CHECK_INT(err.code, ERR_MACHINE);
			if (c.got != NULL) {
				CHECK(learner_is_finite(c.got, &finite, &later) != 0);
				CHECK_STR(later.msg, err.msg);
			}
		}
		learner_free(c.got);
		CHECK_STR(standin.state().complaint, "");
		CHECK_INT(standin.state().tensors + standin.state().sets, 0);
	}
	CHECK(failed > calls / every / 3);
	c.got = NULL;
	free_clips(&c.clips);
}

static void missing_modules_are_named_before_anything_is_taken(void)
{
	struct course c = {.run = {.config = model_config_tiny(),
	                           .step = shape(true),
	                           .measure = shape(false)}};
	struct neuron_start start = start_in("/nonexistent");
	struct err err = {0};

	standin.reset(0, 0);
	start.wanted[NEURON_UPDATE] = false;
	CHECK(neuron_learner_new(&c.run, &start, &c.got, &err) != 0);
	CHECK_INT(err.code, ERR_USAGE);
	CHECK(strstr(err.msg, "'/nonexistent' lacks step, measure") != NULL);
	CHECK(strstr(err.hint, "COMPILE this for trn1") != NULL);
	CHECK_INT(standin.state().tensors + standin.state().models, 0);
}

static void a_core_is_found_in_a_list(void)
{
	const struct {
		const char *list;
		unsigned index;
		int core;
	} rows[] = {{"0-3,8", 0, 0}, {"0-3,8", 3, 3},  {"0-3,8", 4, 8}, {"0-3,8", 5, -1},
	            {"5", 0, 5},     {"5", 1, -1},     {"", 0, -1},     {"3-1", 0, -1},
	            {"1,", 1, -1},   {"-3", 0, -1},    {"1;2", 1, -1},  {"99999999999", 0, -1},
	            {"0-", 0, -1},   {"0-4096", 9, -1}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(neuron_core_of(rows[i].list, rows[i].index), rows[i].core);
}

int main(void)
{
	struct err err = {0};

	find_standin();
	TEST("neuron learner: state goes back, and averages take its place, as on the CPU",
	     state_goes_back_and_averages_take_its_place);
	TEST("neuron learner: any number of clips and points is decoded",
	     any_number_of_clips_and_points_is_decoded);
	TEST("neuron learner: for classify the label alone is decoded", the_label_alone_is_decoded);
	TEST("neuron learner: for sample a clip is encoded once, and decoded point by point",
	     a_clip_is_encoded_once_and_decoded_point_by_point);
	TEST("neuron learner: a failure sticks, and nothing is left",
	     a_failure_sticks_and_nothing_is_left);
	TEST("neuron learner: missing modules are named before anything is taken",
	     missing_modules_are_named_before_anything_is_taken);
	TEST("neuron learner: a core is found in a list", a_core_is_found_in_a_list);
	(void)!fs_remove_tree(folder, &err);
	return test_done();
}
