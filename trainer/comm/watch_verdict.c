/*
 * What follows from what is found: it is said with the rank and its node, the other ranks are told,
 * and the run ends.
 */
#include <string.h>

#include "trainer/comm/watch_internal.h"

enum { HOST_MAX = 256 };

/* ---- what the main thread asks ---- */

bool watch_flag(struct rank_watch *w, const bool *which)
{
	bool set;

	if (w == NULL)
		return false;
	pthread_mutex_lock(&w->lock);
	set = *which;
	pthread_mutex_unlock(&w->lock);
	return set;
}

bool watch_wants_stop(struct rank_watch *w)
{
	return w != NULL && watch_flag(w, &w->slow);
}

bool watch_lost(struct rank_watch *w)
{
	return w != NULL && (watch_flag(w, &w->lost) || watch_flag(w, &w->slow));
}

/* What another rank's status makes of this one's end; a row for each status that is passed on. */
static const struct {
	int status;
	enum err_code code;
} passed_on[] = {
	{RUN_EXIT_USAGE, ERR_USAGE},
	{RUN_EXIT_MEMORY, ERR_MEMORY},
	{RUN_EXIT_BAD_INPUT, ERR_FORMAT},
};

static enum err_code code_of(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
		if (passed_on[i].status == status)
			return passed_on[i].code;
	return ERR_NETWORK;
}

int watch_others_status(int status)
{
	return code_of(status) != ERR_NETWORK ? status : RUN_EXIT_RANK_LOST;
}

int watch_check(struct rank_watch *w, struct err *err)
{
	int rc = 0;

	if (w == NULL)
		return 0;
	pthread_mutex_lock(&w->lock);
	if (w->lost)
		rc = err_set(err, code_of(w->status), "%s", w->reason);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

/* ---- what ends the run ---- */

void watch_give_up(struct rank_watch *w, int status, const char *reason)
{
	pthread_mutex_lock(&w->lock);
	if (!w->lost) {
		snprintf(w->reason, sizeof(w->reason), "%s", reason);
		w->status = watch_others_status(status);
		w->lost = true;
	}
	pthread_mutex_unlock(&w->lock);
}

void watch_slow_down(struct rank_watch *w, const char *reason)
{
	pthread_mutex_lock(&w->lock);
	if (!w->lost && !w->slow) {
		snprintf(w->reason, sizeof(w->reason), "%s", reason);
		w->slow = true;
	}
	pthread_mutex_unlock(&w->lock);
}

/* ---- what is said ---- */

/* A figure stands between the two, where there is a second. */
static const struct {
	const char *before, *after;
} words[] = {
	[WATCH_WELL] = {"is well", NULL},
	[WATCH_GONE] = {"has gone: its process or its machine has ended", NULL},
	[WATCH_FAILED] = {"has ended with an error of its own", NULL},
	[WATCH_SILENT] = {"has given no sign for ", " s: it is stopped, or out of reach"},
	[WATCH_LATE] = {"keeps the others waiting for ", " s"},
	[WATCH_SLOW] = {"is slow: its part of the steps takes ", " times as long as the others'"},
};

static void describe(const struct rank_watch *w, const struct watch_finding *f,
                     char out[WATCH_REASON_MAX])
{
	char host[HOST_MAX], figure[32] = "";

	w->e->host(w->e->state, f->rank, host, sizeof(host));
	if (words[f->kind].after != NULL)
		snprintf(figure, sizeof(figure), f->kind == WATCH_SLOW ? "%.1f" : "%.0f",
		         f->seconds);
	snprintf(out, WATCH_REASON_MAX, "rank %u (%s) %s%s%s", f->rank, host, words[f->kind].before,
	         figure, words[f->kind].after != NULL ? words[f->kind].after : "");
}

void watch_report(struct rank_watch *w, const struct watch_finding *f)
{
	char reason[WATCH_REASON_MAX], line[WATCH_LINE_MAX];
	int status = watch_others_status(w->judge.signs[f->rank].status);
	bool slow = f->kind == WATCH_SLOW;

	describe(w, f, reason);
	if (slow)
		snprintf(line, sizeof(line), "slow %s\n", reason);
	else
		snprintf(line, sizeof(line), "lost %d %s\n", status, reason);
	if (f->lost && w->e->rank == 0)
		watch_tell_all(w, line);
	comm_say(w->o, reason);
	if (f->lost && slow)
		watch_slow_down(w, reason);
	else if (f->lost)
		watch_give_up(w, status, reason);
}
