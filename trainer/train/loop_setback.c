#include <math.h>

#include "trainer/train/loop_internal.h"

enum { SPIKE_AFTER = 20, NAMED_CLIPS_MAX = 8 };

double loop_norm_limit(const struct train_run *r)
{
	const struct train_state *s = r->state;
	double factor = r->t->options->spike_factor;

	return factor > 0 && s->step >= SPIKE_AFTER && s->norm_mean > 0 ? factor * s->norm_mean
	                                                                : (double)INFINITY;
}

void loop_count_bad(struct train_run *r, const struct learner_verdict *v)
{
	struct train_state *s = r->state;

	s->bad_steps = v->updated ? 0 : s->bad_steps + 1;
	if (v->updated)
		s->norm_mean = s->norm_mean > 0 ? 0.98 * s->norm_mean + 0.02 * v->norm : v->norm;
}

static void restore(struct train_run *r)
{
	if (r->kept)
		learner_go_back(r->t->learner, &r->state->norm_mean);
}

/* Weights that are not numbers are of no use to a later run: the last good ones are. */
int loop_save(struct train_run *r, bool last, struct err *err)
{
	const struct train *t = r->t;
	bool finite;

	if (t->hooks->save == NULL)
		return 0;
	if (learner_is_finite(t->learner, &finite, err) != 0)
		return -1;
	if (!finite)
		restore(r);
	if (t->hooks->save(t->hooks->ctx, t->learner, r->state, last, err) != 0)
		return err_wrap(err, "save step %llu", (unsigned long long)r->state->step);
	return 0;
}

/* For ends that all ranks come to in the same step: the first one to leave ends the others, so
 * none does before the checkpoint is there. */
static void meet(struct train_run *r, struct err *err)
{
	const struct reducer *q = r->t->reducer;
	struct err late = {0};
	double met = 0;

	if (r->n_ranks > 1 && q->sum_f64(q->ctx, &met, 1, &late) != 0)
		err_wrap(err, "%s; then", late.msg);
}

int loop_save_and_fail(struct train_run *r, struct err *err)
{
	struct err late = {0};

	if (r->steps_here > 0 && loop_save(r, true, &late) != 0)
		err_wrap(err, "%s; then", late.msg);
	else if (r->steps_here > 0)
		err_hint(err, "What %llu steps have come to is saved.",
		         (unsigned long long)r->state->step);
	if (r->no_clips)
		meet(r, err);
	return -1;
}

static void add_names(const struct train_run *r, const struct step_stats *s, struct strbuf *sb)
{
	const struct clip_source *source = r->t->source;
	uint64_t first = r->state->sample - s->clips;
	size_t n = s->clips < NAMED_CLIPS_MAX ? s->clips : NAMED_CLIPS_MAX;

	for (size_t i = 0; i < n; i++) {
		strbuf_adds(sb, i > 0 ? ", " : "");
		if (source->name != NULL)
			source->name(source->ctx, first + i, sb);
		else
			strbuf_addf(sb, "clip %llu", (unsigned long long)(first + i));
	}
	if (s->clips > n)
		strbuf_addf(sb, " and %zu more", s->clips - n);
}

static int give_up(struct train_run *r, const struct step_stats *s, struct err *err)
{
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(ERR_MSG_MAX);
	struct err late = {0};

	add_names(r, s, &names);
	err_set(err, ERR_LIMIT,
	        "step %llu: the gradient was not finite or a spike %u times in a row, after %llu "
	        "back-offs; the last such step read %.700s",
	        (unsigned long long)s->step, r->t->options->max_bad_steps,
	        (unsigned long long)r->state->backoffs, strbuf_str(&names));
	if (loop_save(r, true, &late) != 0)
		err_wrap(err, "%s; then", late.msg);
	else
		err_hint(err, "The last good weights are saved. Lower --lr and resume, or look at "
		              "these clips.");
	meet(r, err);
	return -1;
}

int loop_check_bad(struct train_run *r, const struct step_stats *s, struct err *err)
{
	const struct train_options *o = r->t->options;
	const struct train_hooks *hooks = r->t->hooks;

	if (o->max_bad_steps == 0 || r->state->bad_steps < o->max_bad_steps)
		return 0;
	restore(r);
	r->state->bad_steps = 0;
	if (r->state->backoffs >= o->max_backoffs)
		return give_up(r, s, err);
	r->state->backoffs++;
	if (hooks->on_backoff != NULL)
		hooks->on_backoff(hooks->ctx, r->state);
	return 0;
}
