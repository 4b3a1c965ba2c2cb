/*
 * Evaluation within a session.
 */
#include <math.h>

#include "base/interrupt.h"
#include "trainer/session/evaluate.h"
#include "trainer/session/session.h"

struct eval_progress {
	struct session *s;
	uint64_t epoch, n;
	double sum, max;
};

static int on_batch(void *ctx, uint64_t batch, size_t clips, double seconds, struct err *err)
{
	struct eval_progress *p = ctx;
	struct session *s = p->s;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];
	double rate = seconds > 0 ? (double)clips * s->n_ranks / seconds : 0;
	struct log_test line = {"cpu:0", batch, p->epoch, rate, -1, time};

	p->n++;
	p->sum += rate;
	p->max = rate > p->max ? rate : p->max;
	if (interrupt_check(err) != 0)
		return -1;
	if (s->rank != 0 || batch % (uint64_t)s->flags->log_steps != 0)
		return 0;
	log_time(reporter_now_us(), time);
	log_test(&text, &line);
	fputs(strbuf_str(&text), s->out);
	fflush(s->out);
	return 0;
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

/* All clips, or as many as --eval_steps batches of every rank hold. */
static uint64_t clips_to_see(const struct session *s)
{
	uint64_t all = dataset_n_clips(s->data), most;
	uint64_t each = (uint64_t)s->flags->test_batch_size * s->n_ranks;

	if (s->flags->eval_steps == 0 ||
	    __builtin_mul_overflow((uint64_t)s->flags->eval_steps, each, &most))
		return all;
	return most < all ? most : all;
}

int session_evaluate(struct session *s, uint64_t epoch, struct err *err)
{
	struct eval_progress p = {.s = s, .epoch = epoch};
	struct evaluation e;
	struct clip_source source;
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
	o.clips = clips_to_see(s);
	source = (struct clip_source){loader_next, s->loader, dataset_n_clips(s->data), NULL};
	if (evaluate(s->model, &source, &o, &e, err) != 0 ||
	    comm_sum(s->comm, (double *)&e, sizeof(e) / sizeof(double), err) != 0)
		return -1;
	if (s->rank == 0)
		print_end(&p, &e);
	return 0;
}
