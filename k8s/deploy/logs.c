#include "k8s/deploy/logs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/proc.h"
#include "k8s/deploy/pod.h"

enum {
	POLL_MS = 100,
	HOLD_MS = 300,   /* what a followed line waits for older ones of other ranks */
	RETRY_MS = 3000, /* a pod that has not started */
	SAID_MAX = 4096  /* of what kubectl complains */
};

/* ---- whose logs ---- */

static size_t index_of_rank(const struct log_source *list, size_t n, int64_t rank)
{
	size_t i = 0;

	while (i < n && list[i].rank != rank)
		i++;
	return i;
}

static int by_rank(const void *a, const void *b)
{
	const struct log_source *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

size_t log_sources(const cJSON *pods, const char *job, int64_t rank, struct arena *a,
                   struct log_source **ret)
{
	size_t n = 0;
	int max = cJSON_IsArray(pods) ? cJSON_GetArraySize(pods) : 0;
	const cJSON **chosen = arena_calloc(a, (size_t)max + 1, sizeof(*chosen));
	struct log_source *list = arena_calloc(a, (size_t)max + 1, sizeof(*list));

	for (const cJSON *pod = object_first(pods); pod != NULL; pod = pod->next) {
		bool launcher = pod_launches(pod);
		int64_t this = launcher ? -1 : pod_rank(pod, job);
		size_t at = index_of_rank(list, n, this);

		if (object_name(pod) == NULL || (this < 0 && !launcher) ||
		    (rank >= 0 && this != rank) ||
		    (at < n && pod_phase_rank(pod) < pod_phase_rank(chosen[at])))
			continue;
		chosen[at] = pod;
		list[at] = (struct log_source){this, object_name(pod), pod_container(pod)};
		n += at == n;
	}
	if (n > 1)
		qsort(list, n, sizeof(*list), by_rank);
	*ret = list;
	return n;
}

/* ---- reading them ---- */

struct rank_log {
	struct proc_child child;
	struct strbuf said; /* on standard error */
	bool running;
	bool read;         /* it gave something, or ended well */
	int64_t again_ms;  /* asked again then; 0 = never */
	bool told_waiting; /* said that it has not started */
};

struct logs_run {
	const struct kubectl_exec *k;
	const struct log_source *sources;
	const struct logs_opts *opts;
	struct logmerge *merge;
	struct rank_log *at;
	struct pollfd *fds; /* two per log */
	size_t n;
	int64_t held_ms; /* since when a line waits; 0 = none does */
	struct err last; /* of the last rank that failed */
};

static void logs_run_done(struct logs_run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->at[i].running)
			proc_end(&r->at[i].child, true);
		strbuf_done(&r->at[i].said);
	}
	logmerge_free(r->merge);
	free(r->at);
	free(r->fds);
}

static int64_t now_ms(const struct logs_run *r)
{
	return r->k->base.clock->now_ms(r->k->base.clock);
}

static int rank_start(struct logs_run *r, size_t i, struct err *err)
{
	const struct logs_opts *o = r->opts;
	const char *argv[KUBECTL_ARGV_MAX], *args[16] = {"logs", "-n", o->namespace};
	char since[64], tail[64];
	size_t n = 3;

	args[n++] = r->sources[i].pod;
	args[n++] = "-c";
	args[n++] = r->sources[i].container;
	args[n++] = "--timestamps";
	if (o->follow)
		args[n++] = "--follow";
	if (o->previous)
		args[n++] = "--previous";
	if (o->since != NULL) {
		snprintf(since, sizeof(since), "--since=%s", o->since);
		args[n++] = since;
	}
	snprintf(tail, sizeof(tail), "--tail=%lld", (long long)o->tail);
	args[n++] = tail;
	kubectl_exec_argv(r->k, args, argv);
	if (proc_start(argv, &r->at[i].child, err) != 0)
		return err->code == ERR_NOT_FOUND ? kubectl_exec_missing(r->k, err) : -1;
	r->at[i].running = true;
	r->at[i].again_ms = 0;
	strbuf_reset(&r->at[i].said);
	logmerge_open(r->merge, i);
	return 0;
}

/* Why kubectl ended so: reported, or asked again when the pod is merely late. */
static void note_end(struct logs_run *r, size_t i, int status)
{
	struct rank_log *log = &r->at[i];
	struct err err = {0};

	if (status == 0) {
		log->read = true;
		return;
	}
	if (interrupt_requested())
		return;
	kubectl_advice(strbuf_str(&log->said), &err);
	if (r->opts->follow && strstr(strbuf_str(&log->said), "waiting to start") != NULL) {
		log->again_ms = now_ms(r) + RETRY_MS;
		if (!log->told_waiting)
			r->opts->problem(r->opts->ctx, &r->sources[i], err.msg);
		log->told_waiting = true;
		return;
	}
	r->last = err;
	r->opts->problem(r->opts->ctx, &r->sources[i], err.msg);
}

static void read_out(struct logs_run *r, size_t i)
{
	char buf[16384];
	ssize_t n = read(r->at[i].child.out, buf, sizeof(buf));

	if (n > 0) {
		r->at[i].read = true;
		logmerge_feed(r->merge, i, buf, (size_t)n);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		attr_close_fd(&r->at[i].child.out);
	}
}

static void read_complaint(struct logs_run *r, size_t i)
{
	char buf[4096];
	ssize_t n = read(r->at[i].child.err_text, buf, sizeof(buf));

	if (n > 0)
		strbuf_add(&r->at[i].said, buf, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		attr_close_fd(&r->at[i].child.err_text);
}

/* What can be read now, of those that are not too far ahead. */
static int pump(struct logs_run *r, struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct proc_child *c = &r->at[i].child;
		bool wanted = r->at[i].running && logmerge_wants(r->merge, i);

		r->fds[2 * i] = (struct pollfd){wanted ? c->out : -1, POLLIN, 0};
		r->fds[2 * i + 1] = (struct pollfd){r->at[i].running ? c->err_text : -1, POLLIN, 0};
	}
	if (poll(r->fds, 2 * r->n, POLL_MS) < 0 && errno != EINTR)
		return err_set(err, ERR_IO, "wait for kubectl");
	for (size_t i = 0; i < r->n; i++) {
		struct rank_log *log = &r->at[i];

		if (!log->running)
			continue;
		if (log->child.out >= 0 && r->fds[2 * i].revents != 0)
			read_out(r, i);
		if (log->child.err_text >= 0 && r->fds[2 * i + 1].revents != 0)
			read_complaint(r, i);
		if (log->child.out >= 0 || log->child.err_text >= 0)
			continue;
		log->running = false;
		logmerge_end(r->merge, i);
		note_end(r, i, proc_end(&log->child, false));
	}
	return 0;
}

/* Without follow every rank is waited for; with it, the silent ones only so long. */
static void hand_on(struct logs_run *r, bool hurry)
{
	struct log_line line;

	while (logmerge_next(r->merge, hurry, &line))
		r->opts->line(r->opts->ctx, &r->sources[line.source], &line);
}

static void hand_on_due(struct logs_run *r)
{
	hand_on(r, false);
	if (!logmerge_holds(r->merge))
		r->held_ms = 0;
	else if (r->held_ms == 0)
		r->held_ms = now_ms(r);
	else if (r->opts->follow && now_ms(r) - r->held_ms >= HOLD_MS)
		hand_on(r, true);
}

/* Is there anybody left to read, now or later? Starts those whose time has come. */
static int start_due(struct logs_run *r, bool *ret, struct err *err)
{
	*ret = false;
	for (size_t i = 0; i < r->n; i++) {
		struct rank_log *log = &r->at[i];

		if (!log->running && log->again_ms != 0 && now_ms(r) >= log->again_ms &&
		    rank_start(r, i, err) != 0)
			return -1;
		*ret = *ret || log->running || log->again_ms != 0;
	}
	return 0;
}

static int read_all(struct logs_run *r, struct err *err)
{
	bool go_on = true;

	for (size_t i = 0; i < r->n; i++)
		if (rank_start(r, i, err) != 0)
			return -1;
	while (start_due(r, &go_on, err) == 0 && go_on) {
		if (pump(r, err) != 0)
			return -1;
		hand_on_due(r);
		if (interrupt_requested()) {
			hand_on(r, true);
			return interrupt_check(err);
		}
	}
	if (go_on)
		return -1;
	hand_on(r, true);
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].read)
			return 0;
	*err = r->last;
	return err_wrap(err, "no rank's log could be read");
}

int logs_run(const struct kubectl_exec *k, const struct log_source *sources, size_t n,
             const struct logs_opts *opts, struct err *err)
{
	if (n > LOG_SOURCES_MAX) {
		err_set(err, ERR_LIMIT, "%zu ranks: at most %d can be read at once", n,
		        LOG_SOURCES_MAX);
		return err_hint(err, "--rank N reads one of them.");
	}
	AUTO(logs_run)
	struct logs_run r = {.k = k,
	                     .sources = sources,
	                     .opts = opts,
	                     .merge = logmerge_new(n),
	                     .at = mem_calloc(n, sizeof(*r.at)),
	                     .fds = mem_calloc(2 * n, sizeof(*r.fds)),
	                     .n = n};

	for (size_t i = 0; i < n; i++)
		r.at[i].said.max = SAID_MAX;
	return read_all(&r, err);
}
