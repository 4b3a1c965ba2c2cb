#include "k8s/deploy/changes.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum {
	PAUSE_MAX_MS = 60000, /* between two starts of a child that ends at once */
	DRAINS = 64,
	CALLS_FEW = 2, /* of a look at the job and its pods */
	CALLS_ALL = SEEN_KINDS
};

/* ---- the children ---- */

static void note_time(int64_t *ms, int64_t now_ms)
{
	*ms = *ms != 0 ? *ms : now_ms;
}

static int64_t now_of(const struct changes *c)
{
	struct clock *clock = c->lease->inner->clock;

	return clock->now_ms(clock);
}

/* What can be read, thrown away: that there was something is the news. False: it has ended. */
static bool drain(int fd, struct strbuf *keep, bool *ret_news)
{
	char buf[4096];
	ssize_t n = 1;

	/* One that talks without end is not listened to without end. */
	for (int i = 0; i < DRAINS && n > 0; i++) {
		n = read(fd, buf, sizeof(buf));
		*ret_news = *ret_news || n > 0;
		if (n > 0 && keep != NULL)
			strbuf_add(keep, buf, (size_t)n);
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* It has ended: as servers end every watch after a while, by trouble, or for ever. */
static void follower_end(struct changes *c, struct follower *f)
{
	AUTO(strbuf) struct strbuf said = STRBUF_INIT(KUBECTL_ERROR_MAX);
	struct err err = {0};
	bool some = false;

	drain(f->child.err_text, &said, &some);
	f->running = false;
	c->news = true;
	if (proc_end(&f->child, false) != 0) {
		kubectl_advice(strbuf_str(&said), &err);
		f->refused = err.code == ERR_DENIED || err.code == ERR_NOT_FOUND ||
		             err.code == ERR_UNSUPPORTED;
	}
	f->pause_ms = f->pause_ms == 0 || now_of(c) - f->started_ms > PAUSE_MAX_MS
	                      ? c->interval_ms
	                      : 2 * f->pause_ms;
	f->pause_ms = f->pause_ms < PAUSE_MAX_MS ? f->pause_ms : PAUSE_MAX_MS;
}

/* Complaints are left for the end: kubectl's few lines find room in the pipe. */
static bool see_news(void *ctx)
{
	struct changes *c = ctx;

	for (size_t i = 0; i < ARRAY_LEN(c->at); i++) {
		struct follower *f = &c->at[i];

		if (f->running && !drain(f->child.out, NULL, &c->news))
			follower_end(c, f);
	}
	return c->news;
}

static void follower_stop(struct follower *f)
{
	if (f->running)
		proc_end(&f->child, true);
	f->running = false;
}

static bool follower_start(struct changes *c, const struct watch_opts *about, enum seen kind)
{
	struct kubectl *k = &c->lease->base;
	struct follower *f = &c->at[kind];
	const char *args[12] = {"get"};
	struct seen_query query;
	struct err ignored = {0};
	size_t n = 1;

	if (!seen_query(about, kind, &query))
		return true;
	if (k->follow == NULL || f->refused || now_of(c) < f->started_ms + f->pause_ms)
		return false;
	for (size_t i = 0; query.words[i] != NULL; i++)
		args[n++] = query.words[i];
	args[n++] = "--watch";
	args[n++] = "-o";
	args[n++] = "name";
	f->started_ms = now_of(c);
	f->running = k->follow(k, args, &f->child, &ignored) == 0;
	f->refused = !f->running;
	c->fresh = true;
	return f->running;
}

/* Those that are wanted run, the others do not. Returns whether all that are wanted do. */
static bool follow(struct changes *c, const struct watch_opts *about, bool unstarted)
{
	bool all = true;

	if (c->job != about->target->job)
		changes_done(c);
	c->job = about->target->job;
	for (size_t i = 0; i < ARRAY_LEN(c->at); i++) {
		if (seen_unstarted(i) && !unstarted)
			follower_stop(&c->at[i]);
		else if (!c->at[i].running && !follower_start(c, about, i))
			all = false;
	}
	return all;
}

void changes_init(struct changes *c, struct lease *lease, int64_t interval_ms)
{
	*c = (struct changes){.lease = lease, .interval_ms = interval_ms};
}

void changes_done(struct changes *c)
{
	for (size_t i = 0; i < ARRAY_LEN(c->at); i++) {
		follower_stop(&c->at[i]);
		c->at[i] = (struct follower){0};
	}
}

/* ---- the pace ---- */

/* Adds what a look has cost; until when the next one is put off. */
static int64_t pay(struct changes *c, int calls)
{
	int64_t now = now_of(c), paid;

	note_time(&c->paid_ms, now);
	paid = (now - c->paid_ms) / CHANGES_CALL_MS;
	c->calls = c->calls > paid ? c->calls - paid : 0;
	c->paid_ms += paid * CHANGES_CALL_MS;
	c->calls += calls;
	return c->calls <= CHANGES_BURST ? now : now + (c->calls - CHANGES_BURST) * CHANGES_CALL_MS;
}

static int sleep_until(struct changes *c, int64_t until_ms, struct err *err)
{
	int64_t left = until_ms - now_of(c);

	return left > 0 ? lease_sleep(c->lease, left, err) : 0;
}

/* ---- waiting ---- */

static int await_news(struct changes *c, int64_t until_ms, struct err *err)
{
	int64_t left = until_ms - now_of(c);

	if (left > 0 && lease_wait(c->lease, left, see_news, c, err) != 0)
		return -1;
	return c->news ? lease_sleep(c->lease, CHANGES_SETTLE_MS, err) : 0;
}

int changes_await(struct changes *c, const struct watch_opts *about, bool unstarted, int64_t due_ms,
                  struct err *err)
{
	int64_t start = now_of(c), next = start + c->interval_ms, quiet = start + CHANGES_QUIET_MS;

	if (c->interval_ms == 0)
		return lease_sleep(c->lease, 0, err);
	c->fresh = c->news = false;
	if (!follow(c, about, unstarted))
		return sleep_until(c, next, err);
	quiet = due_ms < quiet ? due_ms : quiet;
	/* What was there before a child began to watch is not told by it: one look more. */
	quiet = c->fresh ? next : quiet;
	int64_t paid = pay(c, unstarted ? CALLS_ALL : CALLS_FEW);

	if (sleep_until(c, paid > next ? paid : next, err) != 0)
		return -1;
	return await_news(c, quiet, err);
}
