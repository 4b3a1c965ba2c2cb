/*
 * Evaluation within a session.
 */
#include <math.h>

#include "trainer/session/evaluate.h"
#include "trainer/session/session.h"

struct eval_progress {
	struct session *s;
	uint64_t epoch, n;
	double sum, max;
};

static void on_batch(void *ctx, uint64_t batch, double seconds)
{
	struct eval_progress *p = ctx;
	struct session *s = p->s;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];
	double rate = seconds > 0 ? (double)s->flags->test_batch_size * s->n_ranks / seconds : 0;
	struct log_test line = {"cpu:0", batch, p->epoch, rate, -1, time};

	p->n++;
	p->sum += rate;
	p->max = rate > p->max ? rate : p->max;
	if (s->rank != 0 || batch % (uint64_t)s->flags->log_steps != 0)
		return;
	log_time(reporter_now_us(), time);
	log_test(&text, &line);
	fputs(strbuf_str(&text), s->out);
	fflush(s->out);
}

static double psnr(double mse)
{
	return mse > 0 ? -10 * log10(mse) : INFINITY;
}

static void print_end(const struct eval_progress *p, const struct evaluation *e)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];
	double n = e->clips;

	log_time(reporter_now_us(), time);
	strbuf_addf(&text, "Epoch %llu test end %s, Loss=%.2f\n", (unsigned long long)p->epoch,
	            time, e->total / n);
	log_throughputs(&text, "test", p->sum / (double)p->n, p->max);
	strbuf_addf(&text, "Eval Loss: %.2f%%\n", e->total / n);
	strbuf_addf(
		&text,
		"  %.0f clips: loss %.5f, image %.5f (PSNR %.2f dB), audio %.5f (PSNR %.2f dB), "
		"label %.5f, accuracy %.2f %%\n",
		n, e->total / n, e->image / n, psnr(e->mse_image / n), e->audio / n,
		psnr(e->mse_audio / n), e->label / n, 100 * e->hits / n);
	fputs(strbuf_str(&text), p->s->out);
	fflush(p->s->out);
}

int session_evaluate(struct session *s, uint64_t epoch, struct err *err)
{
	struct eval_progress p = {.s = s, .epoch = epoch};
	struct evaluation e;
	struct clip_source source;
	uint64_t whole, clips = (uint64_t)s->flags->test_batch_size * s->n_ranks;
	struct evaluate_options o = {.seed = s->options.seed,
	                             .batch_size = (size_t)s->flags->test_batch_size,
	                             .first_batch = s->rank,
	                             .batch_stride = s->n_ranks,
	                             .image_points = s->options.image_points,
	                             .audio_points = s->options.audio_points,
	                             .weights = s->options.weights,
	                             .progress = on_batch,
	                             .ctx = &p};

	if (session_open_data(s, SESSION_EVAL, err) != 0)
		return -1;
	whole = dataset_n_clips(s->data) / clips;
	o.batches = whole < (uint64_t)s->flags->eval_steps ? whole : (uint64_t)s->flags->eval_steps;
	/* Fewer clips than a batch: some are seen twice. */
	o.batches = o.batches > 0 ? o.batches : 1;
	source = (struct clip_source){loader_next, s->loader, dataset_n_clips(s->data)};
	if (evaluate(s->model, &source, &o, &e, err) != 0 ||
	    comm_sum(s->comm, (double *)&e, sizeof(e) / sizeof(double), err) != 0)
		return -1;
	if (s->rank == 0)
		print_end(&p, &e);
	return 0;
}
