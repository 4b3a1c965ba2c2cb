#include "trainer/session/session.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "trainer/config/model_file.h"
#include "trainer/session/begin.h"
#include "trainer/session/classes.h"
#include "trainer/session/compute.h"
#include "trainer/session/session_eval.h"
#include "trainer/session/setup.h"
#include "trainer/train/schedule.h"

/* The PyTorch program's SyntheticDataset has this many; a seed apart for those of an evaluation. */
enum { SYNTHETIC_CLIPS = 100000, SYNTHETIC_EVAL_CLIPS = 800, EVAL_SEED = 1 };

static const char *look_up(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

void session_remark(struct session *s, const char *lines)
{
	if (s->rank == 0 && lines[0] != '\0')
		fprintf(s->remarks_out, "%s", lines);
}

/* The watch over the ranks, from a thread of its own. */
static void say(void *ctx, const char *line)
{
	const struct session *s = ctx;

	fprintf(s->remarks_out, "%s\n", line);
	fflush(s->remarks_out);
}

static int join_ranks(struct session *s, struct err *err)
{
	struct comm_options o = {.library = s->flags->mpi_library,
	                         .timeout_s = (unsigned)s->flags->rank_timeout,
	                         .join_s = (unsigned)s->flags->join_timeout,
	                         .say = say,
	                         .end = s->end,
	                         .ctx = s};
	struct comm_place place;

	if (comm_place(look_up, NULL, &place, err) != 0)
		return -1;
	/* A secret: no child of this process or of MPI's needs it. */
	unsetenv(COMM_TOKEN_VARIABLE);
	if (comm_open(&place, &o, &s->comm, err) != 0)
		return -1;
	s->rank = comm_rank(s->comm);
	s->n_ranks = comm_size(s->comm);
	s->local_rank = place.local_rank;
	return 0;
}

int session_open(struct session *s, enum session_use use, struct train_flags *flags, FILE *out,
                 FILE *remarks_out, void (*end)(void *ctx, int status), struct err *err)
{
	*s = (struct session){
		.flags = flags, .out = out, .remarks_out = remarks_out, .end = end, .n_ranks = 1};
	if (collective_check_choice(flags->collective, err) != 0 ||
	    train_flags_options(flags, &s->options, err) != 0 || join_ranks(s, err) != 0 ||
	    session_make_learner(s, use, flags, err) != 0)
		return -1;
	session_fit_points(&s->config, &s->options);
	return 0;
}

/* ---- data ---- */

int session_data_folder(const struct session *s, enum session_data what, char ret[PATH_MAX],
                        struct err *err)
{
	const char *folder = s->flags->dataset_dir;
	char json[PATH_MAX], train[PATH_MAX];

	if (fs_join(ret, folder, what == SESSION_TRAIN ? "train" : "val", err) != 0 ||
	    fs_join(json, ret, "dataset.json", err) != 0 ||
	    fs_join(train, folder, "train/dataset.json", err) != 0)
		return -1;
	/* What has one part and lacks the other is not a folder without parts. */
	if (!fs_exists(json) && !fs_exists(train))
		snprintf(ret, PATH_MAX, "%s", folder);
	return 0;
}

static int open_dataset(struct session *s, enum session_data what, struct dataset **ret,
                        struct err *err)
{
	const struct train_flags *f = s->flags;
	struct clip_shape shape = model_clip_shape(&s->config);
	uint32_t labels = (uint32_t)s->config.num_labels;
	char folder[PATH_MAX];

	if (strcmp(f->dataset, "synthetic") == 0) {
		bool eval = what == SESSION_EVAL;

		*ret = dataset_synthetic(s->options.seed + (eval ? EVAL_SEED : 0), &shape, labels,
		                         eval ? SYNTHETIC_EVAL_CLIPS : SYNTHETIC_CLIPS);
		return 0;
	}
	if (strcmp(f->dataset, "kinetics") != 0 && strcmp(f->dataset, "kinetics-small") != 0)
		return err_set(
			err, ERR_USAGE,
			"--dataset is '%.60s', expected synthetic, kinetics or kinetics-small",
			f->dataset);
	if (session_data_folder(s, what, folder, err) != 0)
		return -1;
	if (dataset_open_clips(folder, &shape, ret, err) != 0)
		return -1;
	return session_match_classes(s, *ret, folder, err);
}

static void close_data(struct session *s)
{
	loader_free(s->loader);
	dataset_free(s->data);
	dataset_free(s->val);
	s->loader = NULL;
	s->data = s->val = NULL;
}

int session_open_val(struct session *s, struct err *err)
{
	char trained[SHA256_HEX_MAX], val[SHA256_HEX_MAX];

	if (s->val != NULL)
		return 0;
	if (open_dataset(s, SESSION_EVAL, &s->val, err) != 0)
		return -1;
	if (s->data != NULL && *dataset_digest(s->data, trained) != '\0' &&
	    strcmp(trained, dataset_digest(s->val, val)) == 0)
		session_remark(s,
		               "evaluating on the clips that are trained on: they say nothing of "
		               "clips that the model has not seen\n");
	return 0;
}

/* Training sees clips in another order every epoch, and augmented. */
static struct sample_options samples_of(const struct session *s)
{
	const struct train_flags *f = s->flags;

	return (struct sample_options){
		.seed = s->options.seed,
		.shape = model_clip_shape(&s->config),
		.shuffle = true,
		.balanced = f->balanced,
		.augment = {f->augment_offset, f->augment_crop, f->augment_flip, f->augment_gain}};
}

int session_open_data(struct session *s, struct err *err)
{
	size_t batch = s->options.batch_size;
	struct loader_options o = {.samples = samples_of(s),
	                           .batch = batch,
	                           .stride = (uint64_t)batch * s->n_ranks,
	                           .threads = (unsigned)s->flags->num_workers,
	                           .ahead = session_ahead(batch)};

	if (open_dataset(s, SESSION_TRAIN, &s->data, err) != 0)
		return -1;
	o.bytes = learner_copies(s->learner) && samples_are_bytes(s->data, &o.samples);
	s->loader = loader_new(s->data, &o);
	return 0;
}

static struct clip_source source_of(struct session *s)
{
	return (struct clip_source){loader_next, s->loader, dataset_n_clips(s->data), loader_name};
}

/* ---- training ---- */

uint64_t session_step_clips(const struct session *s)
{
	return (uint64_t)s->options.batch_size * s->options.accumulate * s->n_ranks;
}

/* --num_epochs in steps, and the schedule over them. Counted from where the run stands: the steps
 * before may have been of another number of ranks. */
static void bound_steps(struct session *s)
{
	uint64_t clips = 0, left = 0, steps, each = session_step_clips(s);

	if (__builtin_mul_overflow((uint64_t)s->flags->num_epochs, s->data_clips, &clips))
		clips = UINT64_MAX - each;
	if (clips > s->state.sample)
		left = clips - s->state.sample;
	steps = s->state.step + left / each + (left % each != 0);
	if (steps < s->options.max_steps)
		s->options.max_steps = steps;
	schedule_fit(&s->options.schedule, s->options.max_steps);
}

/* `slipway status` takes the checkpoint's age from this line. */
static void tell_saved(struct session *s)
{
	struct err why = {0};
	uint64_t step;

	if (s->saver != NULL && saver_failed(s->saver, &why))
		fprintf(s->remarks_out,
		        "%s: the run goes on, and ends if the next checkpoint cannot be written "
		        "either\n",
		        why.msg);
	if (s->saver == NULL || !saver_saved(s->saver, &step))
		return;
	fprintf(s->out, "checkpoint step-%08llu saved\n", (unsigned long long)step);
	fflush(s->out);
}

/* A reader that went away or a full disk: better an end with a checkpoint than hours unseen. */
static int check_output(struct session *s, struct err *err)
{
	if (fflush(s->out) != 0 || ferror(s->out) != 0)
		return err_set(err, ERR_IO, "write standard output");
	return 0;
}

/* Once it is known, and when it changes: shapes of an evaluation come later. */
static void tell_products(struct session *s)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);

	learner_products(s->learner, &text);
	if (s->rank != 0 || strcmp(strbuf_str(&text), s->products) == 0)
		return;
	snprintf(s->products, sizeof(s->products), "%s", strbuf_str(&text));
	fprintf(s->remarks_out, "products by %s\n", s->products);
}

/* Rank 0 alone reports and saves: it is not slow for that. */
static int on_step(void *ctx, const struct step_stats *stats, struct err *err)
{
	struct session *s = ctx;
	double begin = clock_seconds();
	int rc;

	tell_saved(s);
	tell_products(s);
	rc = s->reporter != NULL ? reporter_step(s->reporter, stats, err) : 0;
	comm_excuse(s->comm, clock_seconds() - begin);
	return rc == 0 ? check_output(s, err) : -1;
}

static void on_backoff(void *ctx, const struct train_state *state)
{
	struct session *s = ctx;

	if (s->rank == 0)
		fprintf(s->remarks_out,
		        "step %llu: %u bad steps in a row: back to the last good weights, learning "
		        "rate halved (back-off %llu of %u)\n",
		        (unsigned long long)state->step, s->options.max_bad_steps,
		        (unsigned long long)state->backoffs, s->options.max_backoffs);
}

static int save(void *ctx, struct learner *l, const struct train_state *state, bool last,
                struct err *err)
{
	struct session *s = ctx;
	double begin = clock_seconds();
	int rc;

	if (s->saver == NULL)
		return 0;
	rc = saver_save(s->saver, l, state, err);
	comm_excuse(s->comm, clock_seconds() - begin);
	if (rc != 0)
		return -1;
	if (!last)
		return 0;
	if (saver_wait(s->saver, err) != 0)
		return -1;
	tell_saved(s);
	return 0;
}

/* The loop lets all ranks stop after the same step. */
static bool stop(void *ctx)
{
	struct session *s = ctx;

	return interrupt_requested() || comm_lost(s->comm);
}

static void print_beginning(struct session *s)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf computes = STRBUF_INIT(256);
	struct log_flag flags[FLAGS_SEED_KEYS];

	train_flags_namespace(s->flags, flags);
	log_namespace(&text, flags, FLAGS_SEED_KEYS);
	fputs(strbuf_str(&text), s->out);
	learner_describe(s->learner, &computes);
	fprintf(s->remarks_out, "%u rank%s (%s) on %s: %s, %zu parameters\n", s->n_ranks,
	        s->n_ranks == 1 ? "" : "s", comm_name(s->comm), s->device, strbuf_str(&computes),
	        learner_table(s->learner)->n_params);
	if (learner_sums(s->learner))
		fprintf(s->remarks_out, "gradients are summed by the devices' own modules\n");
	else if (s->n_ranks > 1 && !s->ops.device->shared)
		collective_print(&s->collective, s->comm, s->remarks_out);
}

static int run_loop(struct session *s, enum train_end *ret_end, struct err *err)
{
	struct clip_source source = source_of(s);
	struct reducer reducer = collective_reducer(&s->collective, s->comm);
	struct train_hooks hooks = {s, on_step, save, stop, on_backoff, session_validate};
	/* The reporter counts every step and prints those that are due. */
	struct train_options options = s->options;
	struct train t = {.learner = s->learner,
	                  .options = &options,
	                  .source = &source,
	                  .reducer = s->n_ranks > 1 ? &reducer : NULL,
	                  .hooks = &hooks};

	options.log_steps = 1;
	return train_run(&t, &s->state, ret_end, err);
}

static int check_throughput(struct session *s, struct err *err)
{
	double expected = (double)s->flags->expected_average_throughput;
	double average = reporter_average(s->reporter);

	/* A run that is resumed for its last step, or for none, has nothing to be judged by. */
	if (expected <= 0 || average <= 0 || average >= 0.95 * expected)
		return 0;
	return err_set(err, ERR_CHECK,
	               "Average throughput :%.4f is below derived expected threshold: %.4f",
	               average, 0.95 * expected);
}

static void print_dataset(struct session *s, bool opened)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (s->rank != 0)
		return;
	if (opened)
		log_dataset_built(&text);
	else
		log_preparing(&text, s->flags->dataset, s->flags->dataset_dir);
	fputs(strbuf_str(&text), s->out);
	fflush(s->out);
}

uint64_t session_last_epoch(const struct session *s)
{
	return s->state.sample > 0 ? (s->state.sample - 1) / s->data_clips + 1 : 1;
}

/* A run that is resumed and has nothing left to do. */
static void tell_complete(struct session *s)
{
	const struct train_state *state = &s->state;
	bool early = best_is_stale(&state->best, &s->options.best);

	if (s->rank != 0 || state->step == 0 || (!early && state->step < s->options.max_steps))
		return;
	fprintf(s->remarks_out, "the run in '%s' is complete: %s step %llu\n", s->output_dir,
	        early ? "it stopped early after" : "it ended with",
	        (unsigned long long)state->step);
}

int session_train(struct session *s, enum train_end *ret_end, struct err *err)
{
	if (session_check_output(s, err) != 0)
		return -1;
	print_dataset(s, false);
	/* Better missed now than at the first evaluation. */
	if (session_open_data(s, err) != 0 ||
	    ((s->options.eval_every > 0 || s->flags->do_eval) && session_open_val(s, err) != 0))
		return -1;
	s->data_clips = dataset_n_clips(s->data);
	print_dataset(s, true);
	learner_prepare(s->learner, &s->options.optimizer);
	if (session_begin(s, err) != 0)
		return -1;
	if (s->n_ranks > 1 && !learner_sums(s->learner) &&
	    collective_open(&s->collective, s->flags->collective, s->comm, &s->ops, err) != 0)
		return -1;
	bound_steps(s);
	tell_complete(s);
	if (s->rank == 0)
		print_beginning(s);
	if (s->reporter != NULL)
		reporter_begin(s->reporter, s->state.sample);
	if (run_loop(s, ret_end, err) != 0)
		return -1;
	s->epoch = session_last_epoch(s);
	if (s->reporter == NULL)
		return 0;
	reporter_end(s->reporter);
	session_print_best(s, *ret_end);
	if (check_output(s, err) != 0)
		return -1;
	return *ret_end != TRAIN_STOPPED ? check_throughput(s, err) : 0;
}

int session_close(struct session *s, int status, struct err *err)
{
	int rc = collective_close(&s->collective, status == 0, err);

	s->rank_lost = s->comm != NULL && comm_lost(s->comm);

	close_data(s);
	class_list_done(&s->classes);
	reporter_free(s->reporter);
	saver_free(s->saver);
	learner_free(s->learner);
	if (s->ops_open)
		ops_done(&s->ops);
	if (s->comm != NULL && (status != 0 || rc != 0))
		comm_abort(s->comm, status != 0 ? status : RUN_EXIT_RANK_LOST);
	else if (s->comm != NULL)
		rc = comm_close(s->comm, err);
	s->comm = NULL;
	return rc;
}
