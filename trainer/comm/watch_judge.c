#include "trainer/comm/watch_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A slow rank is named after a window or two and given up after SLOW_WINDOWS of them. */
enum { SLOW_WINDOWS = 4, SLOW_STEPS = 2 };

/* Parts of the time-out. */
enum { SILENT_PART = 2, LATE_PART = 6 };

enum { FRESH_S = 3 };

void watch_judge_init(struct watch_judge *j, unsigned n, double timeout)
{
	*j = (struct watch_judge){.timeout = timeout, .n = n};
	j->signs = mem_calloc(n, sizeof(*j->signs));
	j->then = mem_calloc(n, sizeof(*j->then));
	j->named = mem_calloc(n, sizeof(*j->named));
	j->slow = mem_calloc(n, sizeof(*j->slow));
	j->peak = mem_calloc(n, sizeof(*j->peak));
}

void watch_judge_done(struct watch_judge *j)
{
	free(j->signs);
	free(j->then);
	free(j->named);
	free(j->slow);
	free(j->peak);
}

static bool present(const struct watch_sign *s)
{
	return s->watched && !s->left;
}

/* Signs come once a second: older ones say what was, not what is. */
static double age(const struct watch_sign *s, double now)
{
	return now - s->heard;
}

static bool all_fresh(const struct watch_judge *j, double now)
{
	for (unsigned i = 0; i < j->n; i++)
		if (present(&j->signs[i]) && age(&j->signs[i], now) > FRESH_S)
			return false;
	return true;
}

/* How long somebody is known to have waited by now, at most. */
static double longest_wait(const struct watch_judge *j, double now)
{
	double most = 0;

	for (unsigned i = 0; i < j->n; i++) {
		const struct watch_sign *s = &j->signs[i];
		double waited = s->stretch + fmin(age(s, now), FRESH_S);

		if (present(s) && s->waiting && waited > most)
			most = waited;
	}
	return most;
}

static enum watch_kind condition(const struct watch_judge *j, const struct watch_sign *s,
                                 double now, double *ret_seconds)
{
	double silent = age(s, now), wait = longest_wait(j, now), busy = s->stretch + silent;

	*ret_seconds = 0;
	if (s->gone)
		return WATCH_GONE;
	if (s->failed)
		return WATCH_FAILED;
	*ret_seconds = silent;
	if (silent >= j->timeout / SILENT_PART)
		return WATCH_SILENT;
	*ret_seconds = busy < wait ? busy : wait;
	/* A stopped rank can hold others up inside an exchange: who beats is not late for it. */
	if (s->waiting || (silent <= FRESH_S && !all_fresh(j, now)))
		return WATCH_WELL;
	return *ret_seconds >= j->timeout / LATE_PART ? WATCH_LATE : WATCH_WELL;
}

/* Something to say of this rank that was not said. */
static bool news(struct watch_judge *j, unsigned rank, double now, struct watch_finding *ret)
{
	double seconds;
	enum watch_kind kind = condition(j, &j->signs[rank], now, &seconds);
	bool lost = kind == WATCH_GONE || kind == WATCH_FAILED || seconds >= j->timeout;

	*ret = (struct watch_finding){kind, rank, seconds, lost};
	if (kind == WATCH_WELL) {
		if (j->named[rank] != WATCH_SLOW)
			j->named[rank] = WATCH_WELL;
		return false;
	}
	if (j->named[rank] == kind && !lost)
		return false;
	j->named[rank] = kind;
	return true;
}

/* ---- slow ones ---- */

static void begin_window(struct watch_judge *j, double now)
{
	j->window = now;
	memcpy(j->then, j->signs, j->n * sizeof(*j->signs));
}

static bool all_present(const struct watch_sign *signs, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!present(&signs[i]))
			return false;
	return true;
}

/* Whether there are steps of every rank to compare. */
static bool comparable(const struct watch_judge *j)
{
	for (unsigned i = 0; i < j->n; i++)
		if (j->signs[i].steps < j->then[i].steps + SLOW_STEPS)
			return false;
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How many times the work of the others' median this rank's took, in this window. */
static double slowness(const struct watch_judge *j, unsigned rank, double *scratch)
{
	double mine = j->signs[rank].busy - j->then[rank].busy, middle;
	size_t n = 0;

	for (unsigned i = 0; i < j->n; i++)
		if (i != rank)
			scratch[n++] = j->signs[i].busy - j->then[i].busy;
	qsort(scratch, n, sizeof(*scratch), by_value);
	middle = scratch[n / 2];
	return middle > 0 ? mine / middle : 0;
}

static bool is_too_slow(const struct watch_judge *j, unsigned rank)
{
	return j->slow[rank] >= SLOW_WINDOWS && j->peak[rank] >= WATCH_TOO_SLOW_FACTOR;
}

/* One rank's part of this window; whether there is something to say of it. */
static bool judge_rank(struct watch_judge *j, unsigned rank, double factor)
{
	bool is_slow = factor >= WATCH_SLOW_FACTOR;
	bool was_named = j->named[rank] == WATCH_SLOW;

	j->slow[rank] = is_slow ? j->slow[rank] + 1 : 0;
	j->peak[rank] = is_slow ? fmax(j->peak[rank], factor) : 0;
	if (!is_slow && was_named)
		j->named[rank] = WATCH_WELL;
	return is_slow && (!was_named || is_too_slow(j, rank));
}

static bool judge_window(struct watch_judge *j, struct watch_finding *ret)
{
	AUTO_FREE double *scratch = mem_calloc(j->n, sizeof(*scratch));
	bool found = false;

	for (unsigned i = 0; i < j->n; i++) {
		double factor = slowness(j, i, scratch);

		if (!judge_rank(j, i, factor))
			continue;
		j->named[i] = WATCH_SLOW;
		*ret = (struct watch_finding){WATCH_SLOW, i, factor, is_too_slow(j, i)};
		found = true;
	}
	return found;
}

static bool slow_news(struct watch_judge *j, double now, struct watch_finding *ret)
{
	bool found;

	if (j->n < 2 || !all_present(j->signs, j->n))
		return false;
	if (!all_present(j->then, j->n))
		begin_window(j, now);
	if (now - j->window < j->timeout / SLOW_WINDOWS || !comparable(j))
		return false;
	found = judge_window(j, ret);
	begin_window(j, now);
	return found;
}

bool watch_judge_next(struct watch_judge *j, double now, struct watch_finding *ret)
{
	for (unsigned i = 0; i < j->n; i++)
		if (present(&j->signs[i]) && news(j, i, now, ret))
			return true;
	return slow_news(j, now, ret);
}
