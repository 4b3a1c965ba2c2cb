/*
 * Evaluation within a session: after the training or of a checkpoint, in the PyTorch program's
 * lines, and during the training, when the run's best is judged by it.
 */
#include "trainer/session/session_eval.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "trainer/config/model_file.h"
#include "trainer/session/evaluate.h"
#include "trainer/session/setup.h"

struct eval_progress {
	struct session *s;
	bool lines;
	uint64_t epoch, n;
	double sum, max;
};

static void print_batch(struct session *s, const struct log_test *line)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	log_test(&text, line);
	fputs(strbuf_str(&text), s->out);
	fflush(s->out);
}

static void on_batch(void *ctx, uint64_t batch, size_t clips, double seconds)
{
	struct eval_progress *p = ctx;
	struct session *s = p->s;
	char time[LOG_TIME_MAX];
	double rate = seconds > 0 ? (double)clips * s->n_ranks / seconds : 0;

	p->n++;
	p->sum += rate;
	p->max = rate > p->max ? rate : p->max;
	/* Not a part of the steps: a rank without a batch is not faster for that. */
	comm_excuse(s->comm, seconds);
	if (!p->lines || s->rank != 0 || batch % (uint64_t)s->flags->log_steps != 0)
		return;
	log_time(reporter_now_us(), time);
	print_batch(s, &(struct log_test){s->device, batch, p->epoch, rate, -1, time});
}

/* A slow rank ends a training between its steps, but no evaluation by itself. */
static bool stop(void *ctx)
{
	const struct eval_progress *p = ctx;

	return interrupt_requested() || (!p->lines && comm_lost(p->s->comm));
}

/* All clips, or as many as --eval_steps batches of every rank hold. */
static uint64_t clips_to_see(const struct session *s)
{
	uint64_t all = dataset_n_clips(s->val), most;
	uint64_t each = (uint64_t)s->flags->test_batch_size * s->n_ranks;

	if (s->flags->eval_steps == 0 ||
	    __builtin_mul_overflow((uint64_t)s->flags->eval_steps, each, &most))
		return all;
	return most < all ? most : all;
}

static struct clip_loader *open_loader(const struct session *s)
{
	size_t batch = (size_t)s->flags->test_batch_size;
	struct loader_options o = {
		.samples = {.seed = s->options.seed, .shape = model_clip_shape(&s->config)},
		.batch = batch,
		.stride = (uint64_t)batch * s->n_ranks,
		.threads = (unsigned)s->flags->num_workers,
		.ahead = session_ahead(batch)};

	return loader_new(s->val, &o);
}

/* The model as it is, over the val clips; all ranks get the same. */
static int measure(struct session *s, struct eval_progress *p, struct metric_sums *ret,
                   struct err *err)
{
	struct reducer reducer = comm_reducer(s->comm);
	struct clip_loader *loader = open_loader(s);
	struct clip_source source = {loader_next, loader, dataset_n_clips(s->val), loader_name};
	struct evaluate_options o = {.seed = s->options.seed,
	                             .batch_size = (size_t)s->flags->test_batch_size,
	                             .clips = clips_to_see(s),
	                             .image_points = s->options.image_points,
	                             .audio_points = s->options.audio_points,
	                             .weights = s->options.weights,
	                             .reducer = s->n_ranks > 1 ? &reducer : NULL,
	                             .stop = stop,
	                             .progress = on_batch,
	                             .ctx = p};
	int rc = evaluate(s->learner, &source, &o, ret, err);

	loader_free(loader);
	return rc;
}

/* ---- after the training, or of a checkpoint ---- */

static void print_end(const struct eval_progress *p, const struct log_eval *e)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];
	double loss = e->values[METRIC_LOSS];

	log_time(e->us, time);
	strbuf_addf(&text, "Epoch %llu test end %s, Loss=%.2f\n", (unsigned long long)p->epoch,
	            time, loss);
	log_throughputs(&text, "test", p->n > 0 ? p->sum / (double)p->n : 0, p->max);
	strbuf_addf(&text, "Eval Loss: %.2f%%\n  %llu clips%s: ", loss,
	            (unsigned long long)e->clips, e->averaged ? " (averaged weights)" : "");
	log_metrics(&text, e->values);
	strbuf_addc(&text, '\n');
	fputs(strbuf_str(&text), p->s->out);
	fflush(p->s->out);
}

/* The averaged weights, where there are any, take the model's place meanwhile. */
static bool exchange_average(struct session *s)
{
	return learner_exchange_average(s->learner);
}

static int measure_averaged(struct session *s, struct eval_progress *p, struct log_eval *e,
                            struct err *err)
{
	struct metric_sums sums;
	double begin = clock_seconds();
	bool exchanged = exchange_average(s);
	int rc = measure(s, p, &sums, err);

	if (exchanged)
		exchange_average(s);
	if (rc != 0)
		return -1;
	metrics_of(&sums, e->values);
	e->averaged = exchanged || s->flags->ema;
	e->clips = (uint64_t)sums.clips;
	e->seconds = clock_seconds() - begin;
	return 0;
}

int session_evaluate(struct session *s, uint64_t epoch, struct err *err)
{
	struct eval_progress p = {.s = s, .lines = true, .epoch = epoch};
	struct log_eval e = {.step = s->state.step, .epoch = epoch};

	if (session_open_val(s, err) != 0 || measure_averaged(s, &p, &e, err) != 0)
		return -1;
	if (s->rank != 0)
		return 0;
	e.us = reporter_now_us();
	print_end(&p, &e);
	return reporter_append_eval(s->flags->json_log, &e, err);
}

/* ---- during the training ---- */

/* Rank 0 alone reports, but all ranks end together when it cannot. */
static int agree(struct session *s, int rc, struct err *err)
{
	double failed = rc != 0;
	struct err late = {0};

	if (comm_max(s->comm, &failed, 1, rc == 0 ? err : &late) != 0)
		return -1;
	if (rc == 0 && failed != 0)
		return err_set(err, ERR_IO, "rank 0 could not report it");
	return rc;
}

static int report(struct session *s, struct log_eval *e, struct err *err)
{
	const struct best *b = &s->state.best;

	e->judged = true;
	e->metric = b->metric;
	e->best = b->value;
	e->best_step = b->step;
	e->stale = b->stale;
	return s->reporter != NULL ? reporter_eval(s->reporter, e, err) : 0;
}

int session_validate(void *ctx, struct train_state *state, struct err *err)
{
	struct session *s = ctx;
	struct eval_progress p = {.s = s};
	struct log_eval e = {.step = state->step, .epoch = session_last_epoch(s)};

	if (measure_averaged(s, &p, &e, err) != 0) {
		if (err->code != ERR_INTERRUPTED)
			return -1;
		*err = (struct err){0};
		return 0;
	}
	best_judge(&state->best, &s->options.best, state->step, e.values[s->options.best.metric]);
	return agree(s, report(s, &e, err), err);
}

void session_print_best(struct session *s, enum train_end how)
{
	const struct best *b = &s->state.best;
	const struct metric_row *row = metric_row(b->metric);

	if (s->rank != 0 || s->options.eval_every == 0)
		return;
	if (how == TRAIN_EARLY)
		fprintf(s->out,
		        "stopped early after step %llu: %llu evaluations in a row without "
		        "an improvement of %s\n",
		        (unsigned long long)s->state.step, (unsigned long long)b->stale, row->name);
	if (b->step > 0)
		fprintf(s->out, "best %s: %.6g after step %llu, in %s/step-%08llu\n", row->name,
		        b->value, (unsigned long long)b->step, s->output_dir,
		        (unsigned long long)b->step);
	fflush(s->out);
}
