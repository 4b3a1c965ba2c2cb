#include "trainer/train/loop_internal.h"

static bool evaluation_is_due(const struct train_run *r)
{
	const struct train_options *o = r->t->options;
	const struct train_state *s = r->state;

	if (o->eval_every == 0 || r->t->hooks->evaluate == NULL || s->step == 0 ||
	    s->best.evaluated == s->step)
		return false;
	return s->step % o->eval_every == 0 || s->step >= o->max_steps;
}

static int evaluate(struct train_run *r, struct err *err)
{
	const struct train_hooks *hooks = r->t->hooks;

	r->judged = true;
	if (hooks->evaluate(hooks->ctx, r->state, err) == 0)
		return 0;
	err_wrap(err, "evaluate after step %llu", (unsigned long long)r->state->step);
	if (err->code == ERR_NETWORK)
		return -1;
	/* All ranks fail together: they meet once the checkpoint is there. */
	r->no_clips = true;
	return loop_save_and_fail(r, err);
}

static bool checkpoint_is_due(const struct train_run *r, bool evaluated)
{
	const struct train_options *o = r->t->options;
	const struct train_state *s = r->state;

	if (evaluated && s->best.step == s->step)
		return true;
	/* A run that was resumed here has it. */
	return r->steps_here > 0 && o->checkpoint_steps > 0 && s->step % o->checkpoint_steps == 0 &&
	       s->bad_steps == 0;
}

int loop_between(struct train_run *r, bool *ret_on, enum train_end *ret_end, struct err *err)
{
	const struct train_options *o = r->t->options;
	const struct train_state *s = r->state;
	bool hurry = r->sums[SUM_STOP] > 0, due = evaluation_is_due(r) && !hurry;

	*ret_on = false;
	if (due && evaluate(r, err) != 0)
		return -1;
	if (evaluation_is_due(r))
		*ret_end = TRAIN_STOPPED;
	else if (best_is_stale(&s->best, &o->best))
		*ret_end = TRAIN_EARLY;
	else if (s->step >= o->max_steps)
		*ret_end = TRAIN_COMPLETE;
	else if (hurry || (o->stop_after > 0 && r->steps_here >= o->stop_after))
		*ret_end = TRAIN_STOPPED;
	else
		*ret_on = true;
	if (!*ret_on || !checkpoint_is_due(r, due))
		return 0;
	return loop_save(r, false, err);
}
