/*
 * Training on a NeuronCore, by way of all that stands between: modules compiled by the stand-in of
 * neuronx-cc, loaded and run by the stand-in of libnrt.so.1 (tests/neuron), beside the CPU's
 * learner. No Neuron device was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "tests/harness.h"
#include "tests/neuron/standin.h"
#include "tests/unit/random_model.h"
#include "trainer/neuron/compiler.h"
#include "trainer/neuron/engine.h"
#include "trainer/train/learner.h"

enum { STEPS = 3 };

#define RATE 1e-3

static const struct loss_weights weights = {0.5, 1, 0.3};

static struct {
	void (*reset)(size_t fail_at, int status);
	struct standin_nrt_state (*state)(void);
} standin;
static char folder[] = "/tmp/neuron-engine-XXXXXX";

static void find_standin(void)
{
	void *library = dlopen(NEURON_STANDIN, RTLD_NOW);

	if (library == NULL || mkdtemp(folder) == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_nrt_reset");
	*(void **)&standin.state = dlsym(library, "standin_nrt_state");
}

/* ---- a run, its modules, an engine ------------------------------------------------------------ */

struct course {
	struct neuron_run run;
	struct clip_memory clips;
	char paths[NEURON_MODULES][PATH_MAX];
	const char *neffs[NEURON_MODULES]; /* those of the same number, or of another */
};

static void compile_all(struct course *c, struct err *err)
{
	struct neuron_compiler cc = {.program = "tests/neuron/neuronx-cc"};

	CHECK_OK(neuron_target_find("trn1", &cc.target, err), err);
	CHECK_OK(neuron_compiler_open(&cc, err), err);
	for (enum neuron_module m = 0; m <= NEURON_MEASURE && test_state.ok; m++) {
		struct neuron_net net;
		struct strbuf module = {0};
		bool there;

		neuron_module_build(&c->run, m, &net);
		neuron_write(&net, neuron_module_name(m), &module, NULL);
		CHECK_OK(neuron_compile(&cc, folder, neuron_module_name(m), &module, &there,
		                        c->paths[m], err),
		         err);
		strbuf_done(&module);
		neuron_net_done(&net);
	}
}

static struct course new_course(enum optimizer_kind kind, uint64_t index, unsigned replicas)
{
	struct philox r = philox_start(11, STREAM_SYNTHETIC, index);
	struct course c = {.run.config = random_config(&r)};
	struct err err = {0};

	do {
		free_clips(&c.clips);
		c.clips = random_clips(&r, &c.run.config);
	} while (c.clips.b.n != 2 || !c.clips.b.decode_label);
	c.run.step = (struct neuron_shape){.batch = c.clips.b.n / replicas,
	                                   .n_out_image = c.clips.b.n_out_image,
	                                   .n_out_audio = c.clips.b.n_out_audio,
	                                   .decode_label = true,
	                                   .masked = true,
	                                   .training = true,
	                                   .replicas = replicas};
	c.run.measure = c.run.step;
	c.run.measure.training = false;
	c.run.measure.replicas = 1;
	c.run.optimizer = (struct optimizer_options){.kind = kind,
	                                             .momentum = 0.9,
	                                             .beta1 = 0.9,
	                                             .beta2 = 0.999,
	                                             .eps = 1e-8,
	                                             .weight_decay = 0.1};
	compile_all(&c, &err);
	return c;
}

/* Weights of a CPU's learner, which both begin with. */
static struct learner *new_learner(const struct course *c, struct ops *cpu)
{
	struct learner *l = learner_new(&c->run.config, cpu, (struct recompute){0});

	random_params(learner_model(l), 5);
	learner_prepare(l, &c->run.optimizer);
	return l;
}

/* The files that the modules are loaded from. */
static void own_neffs(struct course *c)
{
	for (enum neuron_module m = 0; m <= NEURON_MEASURE; m++)
		c->neffs[m] = c->paths[m];
}

static int write_weights(struct neuron_engine *e, struct learner *l, struct err *err)
{
	struct tensors *w = model_params(learner_model(l));

	for (size_t i = 0; i < w->n; i++)
		if (neuron_engine_write(e, NEURON_WEIGHT, i, w->at[i].data, w->at[i].n, err) != 0)
			return -1;
	return 0;
}

/* As struct op_update has them; without an average. */
struct rates {
	float of[NEURON_RATES_N];
};

static struct rates rates_of(const struct course *c, int step, double scale)
{
	const struct optimizer_options *o = &c->run.optimizer;

	return (struct rates){{(float)RATE, (float)scale,
	                       (float)(1 / (1 - pow(o->beta1, step + 1))),
	                       (float)(1 / (1 - pow(o->beta2, step + 1))), 0, 1}};
}

static int accumulate(struct neuron_engine *e, const struct batch *b, double scale,
                      struct losses *losses, double *squares, struct err *err)
{
	return neuron_engine_stage(e, b, err) != 0 ||
	                       neuron_engine_start(e, &weights, scale, err) != 0 ||
	                       neuron_engine_finish(e, &weights, losses, squares, err) != 0
	               ? -1
	               : 0;
}

/* One step of two micro-steps over the same clips. */
static int engine_step(struct neuron_engine *e, const struct course *c, int step,
                       struct losses *losses, double *squares, struct err *err)
{
	struct rates rates = rates_of(c, step, 0.5);

	neuron_engine_begin(e);
	for (int micro = 0; micro < 2; micro++)
		if (accumulate(e, &c->clips.b, 0.5, losses, squares, err) != 0)
			return -1;
	return neuron_engine_update(e, rates.of, err);
}

static void learner_step(struct learner *l, const struct course *c, struct losses *losses,
                         double *norm, struct err *err)
{
	learner_begin(l);
	for (int micro = 0; micro < 2; micro++)
		CHECK_OK(learner_accumulate(l, &c->clips.b, &weights, 0.5, losses, err), err);
	CHECK_OK(learner_norm(l, norm, err), err);
	CHECK_OK(learner_apply(l, RATE, 0.5, err), err);
}

static bool near(double got, double want)
{
	return fabs(got - want) <= 1e-4 * (1 + fabs(want));
}

static void same_state(struct neuron_engine *e, enum neuron_kind kind, const struct tensors *want)
{
	struct err err = {0};

	for (size_t i = 0; i < want->n && test_state.ok; i++) {
		AUTO_FREE float *got = mem_calloc(want->at[i].n, sizeof(*got));

		CHECK_OK(neuron_engine_read(e, kind, i, got, want->at[i].n, &err), &err);
		for (size_t k = 0; k < want->at[i].n && test_state.ok; k++)
			CHECK(fabs((double)got[k] - want->at[i].data[k]) <=
			      5e-4 * (1 + fabs((double)want->at[i].data[k])));
	}
}

static void no_complaint(void)
{
	struct standin_nrt_state s = standin.state();

	CHECK_STR(s.complaint, "");
	CHECK_INT(s.models + s.tensors + s.sets, 0);
}

static void steps_are_the_cpus(enum optimizer_kind kind)
{
	struct course c = new_course(kind, 1, 1);
	struct neuron_place place = {.ranks = 1};
	struct neuron_engine *e = NULL;
	struct ops cpu;
	struct learner *l;
	struct nrt nrt;
	struct losses got, want;
	double squares, norm;
	struct err err = {0};

	own_neffs(&c);
	standin.reset(0, 0);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &cpu));
	l = new_learner(&c, &cpu);
	CHECK_OK(nrt_open(NULL, &nrt, &err), &err);
	CHECK_INT(nrt.init(NRT_NO_FRAMEWORK, "", ""), 0);
	CHECK_OK(neuron_engine_new(&nrt, &c.run, &place, c.neffs, &e, &err), &err);
	CHECK_OK(write_weights(e, l, &err), &err);
	for (int step = 0; step < STEPS && test_state.ok; step++) {
		CHECK_OK(engine_step(e, &c, step, &got, &squares, &err), &err);
		learner_step(l, &c, &want, &norm, &err);
		CHECK(near(got.total, want.total) && near(sqrt(squares), norm));
		CHECK_INT(got.label_hits5, want.label_hits5);
	}
	same_state(e, NEURON_WEIGHT, model_params(learner_model(l)));
	CHECK_OK(neuron_engine_measure(e, &c.clips.b, &weights, &got, &err), &err);
	CHECK_OK(learner_measure(l, &c.clips.b, &weights, &want, &err), &err);
	CHECK(near(got.total, want.total) && near(got.mse_image, want.mse_image));
	c.clips.b.n = 1; /* the last batch of a dataset */
	CHECK_OK(neuron_engine_measure(e, &c.clips.b, &weights, &got, &err), &err);
	CHECK_OK(learner_measure(l, &c.clips.b, &weights, &want, &err), &err);
	CHECK(near(got.total, want.total) && near(got.label, want.label));
	neuron_engine_free(e);
	no_complaint();
	nrt.close();
	learner_free(l);
	ops_done(&cpu);
	free_clips(&c.clips);
}

static void adamw(void)
{
	steps_are_the_cpus(OPTIMIZER_ADAMW);
}

static void sgd(void)
{
	steps_are_the_cpus(OPTIMIZER_SGD);
}

/* ---- each call fails once --------------------------------------------------------------------- */

enum { HARDWARE = 6 };

/* From loading to a step and back; how far it came. */
static int whole_way(const struct course *c, struct learner *l, const struct nrt *nrt,
                     struct err *err)
{
	struct neuron_place place = {.ranks = 1};
	struct neuron_engine *e = NULL;
	struct losses losses;
	double squares;
	float first;
	int rc;

	if (neuron_engine_new(nrt, &c->run, &place, c->neffs, &e, err) != 0)
		return -1;
	rc = write_weights(e, l, err);
	if (rc == 0)
		rc = engine_step(e, c, 0, &losses, &squares, err);
	if (rc == 0)
		rc = neuron_engine_read(e, NEURON_WEIGHT, 0, &first, 1, err);
	neuron_engine_free(e);
	return rc;
}

static void each_call_fails_once(void)
{
	struct course c = new_course(OPTIMIZER_SGD, 3, 1);
	struct ops cpu;
	struct learner *l;
	struct nrt nrt;
	struct err err = {0};
	size_t calls, failed = 0;

	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &cpu));
	l = new_learner(&c, &cpu);
	CHECK_OK(nrt_open(NULL, &nrt, &err), &err);
	own_neffs(&c);
	standin.reset(0, 0);
	CHECK_INT(nrt.init(NRT_NO_FRAMEWORK, "", ""), 0);
	CHECK_OK(whole_way(&c, l, &nrt, &err), &err);
	calls = standin.state().calls;
	/* every seventh, and each of the last ones, where all kinds of calls are */
	for (size_t at = 2; at <= calls && test_state.ok; at += at + 120 < calls ? 37 : 3) {
		standin.reset(at, HARDWARE);
		CHECK_INT(nrt.init(NRT_NO_FRAMEWORK, "", ""), 0);
		err = (struct err){0};
		if (whole_way(&c, l, &nrt, &err) == 0)
			continue; /* a call that gives something back */
		failed++;
		CHECK_INT(err.code, ERR_MACHINE);
		CHECK(strstr(err.msg, "hardware error") != NULL);
		CHECK_STR(standin.state().complaint, "");
		CHECK_INT(standin.state().tensors + standin.state().sets, 0);
	}
	CHECK(failed > 20);
	nrt.close();
	learner_free(l);
	ops_done(&cpu);
	free_clips(&c.clips);
}

static void a_status_has_its_meaning(void)
{
	const struct {
		int status;
		enum err_code code;
	} rows[] = {{4, ERR_MEMORY},     {6, ERR_MACHINE},   {7, ERR_NETWORK},
	            {10, ERR_FORMAT},    {101, ERR_MACHINE}, {1005, ERR_CONFLICT},
	            {1201, ERR_MACHINE}, {4711, ERR_MACHINE}};
	struct nrt nrt;
	struct err err = {0};

	CHECK_OK(nrt_open(NULL, &nrt, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		err = (struct err){0};
		CHECK_INT(nrt_failure(&nrt, rows[i].status, "nrt_execute", &err), -1);
		CHECK_INT(err.code, rows[i].code);
		CHECK(err.hint[0] != '\0');
	}
}

static void the_neff_of_another_module_is_refused(void)
{
	struct course c = new_course(OPTIMIZER_SGD, 1, 1);
	struct neuron_place place = {.ranks = 1};
	struct neuron_engine *e = NULL;
	struct nrt nrt;
	struct err err = {0};

	own_neffs(&c);
	standin.reset(0, 0);
	CHECK_OK(nrt_open(NULL, &nrt, &err), &err);
	CHECK_INT(nrt.init(NRT_NO_FRAMEWORK, "", ""), 0);
	c.neffs[NEURON_STEP] = c.paths[NEURON_MEASURE];
	CHECK(neuron_engine_new(&nrt, &c.run, &place, c.neffs, &e, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	no_complaint();
	nrt.close();
	free_clips(&c.clips);
}

/* ---- ranks ------------------------------------------------------------------------------------ */

enum { RANKS = 2 };

static int rank_main(const struct course *c, struct learner *l, unsigned rank)
{
	struct neuron_place place = {.core = 0, .rank = rank, .ranks = RANKS};
	struct model_dims d = model_dims(&c->run.config);
	struct batch one = c->clips.b;
	struct neuron_engine *e = NULL;
	const uint64_t sample = rank;
	struct losses losses;
	double squares;
	struct nrt nrt;
	struct err err = {0};
	struct rates rates = rates_of(c, 0, 1);

	one.n = 1;
	one.image += rank * 3 * d.n_pixels;
	one.audio += rank * d.audio_samples;
	one.label += rank;
	one.mask_audio = one.mask_image = one.mask_label = NULL;
	one.dropout_sample = &sample;
	if (nrt_open(NULL, &nrt, &err) != 0 || nrt.init(NRT_NO_FRAMEWORK, "", "") != 0 ||
	    neuron_engine_new(&nrt, &c->run, &place, c->neffs, &e, &err) != 0 ||
	    write_weights(e, l, &err) != 0)
		return 1;
	neuron_engine_begin(e);
	if (accumulate(e, &one, 1.0 / RANKS, &losses, &squares, &err) != 0 ||
	    neuron_engine_update(e, rates.of, &err) != 0)
		return 1;
	learner_begin(l);
	((struct course *)(uintptr_t)c)->clips.b.mask_audio = NULL;
	((struct course *)(uintptr_t)c)->clips.b.mask_image = NULL;
	((struct course *)(uintptr_t)c)->clips.b.mask_label = NULL;
	CHECK_OK(learner_accumulate(l, &c->clips.b, &weights, 1, &losses, &err), &err);
	CHECK_OK(learner_apply(l, RATE, 1, &err), &err);
	same_state(e, NEURON_WEIGHT, model_params(learner_model(l)));
	neuron_engine_free(e);
	no_complaint();
	return test_state.ok ? 0 : 1;
}

static void ranks_equal_the_larger_batch(void)
{
	struct course c = new_course(OPTIMIZER_SGD, 1, RANKS);
	struct ops cpu;
	struct learner *l;
	pid_t ranks[RANKS];
	char root[64];

	own_neffs(&c);
	standin.reset(0, 0);
	snprintf(root, sizeof(root), "127.0.0.1:%d", (int)getpid());
	setenv("NEURON_RT_ROOT_COMM_ID", root, 1);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &cpu));
	l = new_learner(&c, &cpu);
	for (unsigned i = 0; i < RANKS; i++) {
		ranks[i] = fork();
		if (ranks[i] == 0)
			_exit(rank_main(&c, l, i));
	}
	for (unsigned i = 0; i < RANKS; i++) {
		int status = -1;

		CHECK(waitpid(ranks[i], &status, 0) == ranks[i]);
		CHECK_INT(status, 0);
	}
	unsetenv("NEURON_RT_ROOT_COMM_ID");
	learner_free(l);
	ops_done(&cpu);
	free_clips(&c.clips);
}

int main(void)
{
	struct err err = {0};

	find_standin();
	TEST("neuron engine: steps of AdamW are the CPU's", adamw);
	TEST("neuron engine: steps of SGD are the CPU's", sgd);
	TEST("neuron engine: each call of the runtime fails once", each_call_fails_once);
	TEST("neuron engine: a status has its meaning", a_status_has_its_meaning);
	TEST("neuron engine: the NEFF of another module is refused",
	     the_neff_of_another_module_is_refused);
	TEST("neuron engine: two ranks equal the larger batch", ranks_equal_the_larger_batch);
	(void)!fs_remove_tree(folder, &err);
	return test_done();
}
