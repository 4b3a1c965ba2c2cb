/* Streams, events and graphs of the stand-in. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/cuda/emulate.h"
#include "tests/cuda/standin_internal.h"

/* ---- what waits ---- */

static void append(struct task **tasks, size_t *n, size_t *cap, const struct task *t)
{
	if (*n == *cap) {
		*cap = 2 * *cap + 64;
		*tasks = realloc(*tasks, *cap * sizeof(**tasks));
		if (*tasks == NULL)
			abort();
	}
	(*tasks)[(*n)++] = *t;
}

static uint64_t content_of(const char *at, size_t n)
{
	uint64_t sum = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (unsigned char)at[i]) * 1099511628211u;
	return sum;
}

static bool is_copy(const struct task *t)
{
	return t->kernel == NULL && t->to != NULL;
}

static bool overlap(const char *a, size_t n, const char *b, size_t m)
{
	return a != NULL && b != NULL && a < b + m && b < a + n;
}

/* A kernel uses what its parameters point at, as far as is known. */
static bool kernel_uses(const struct task *k, const char *at, size_t n)
{
	const char *word;

	for (size_t i = 0; i + sizeof(word) <= k->kernel->params; i += sizeof(word)) {
		memcpy(&word, k->params + i, sizeof(word));
		if (at != NULL && word >= at && word < at + n)
			return true;
	}
	return false;
}

/* Whether two tasks may not change their order. */
static bool conflict(const struct task *a, const struct task *b)
{
	if (is_copy(a) && is_copy(b))
		return overlap(a->to, a->n, b->to, b->n) || overlap(a->to, a->n, b->from, b->n) ||
		       overlap(a->from, a->n, b->to, b->n);
	if (is_copy(a) && b->kernel != NULL)
		return kernel_uses(b, a->to, a->n);
	return is_copy(b) && a->kernel != NULL && kernel_uses(a, b->to, b->n);
}

/* What was asked for earlier in another stream, and is not done yet, must not matter. */
static void check_order(const struct stream *of, const struct task *t)
{
	for (size_t s = 0; s < STREAMS; s++)
		for (size_t i = gpu.streams[s].first; &gpu.streams[s] != of && i < gpu.streams[s].n;
		     i++)
			if (gpu.streams[s].tasks[i].asked < t->asked &&
			    conflict(&gpu.streams[s].tasks[i], t))
				(void)wrong(0, "two streams use the same memory without an event");
}

static void run_until(struct stream *s, uint64_t until);

static void run_kernel(const struct task *t)
{
	struct emulated launch = {.kernel = t->kernel->run,
	                          .args = t->params,
	                          .grid = {t->grid[0], t->grid[1], t->grid[2]},
	                          .threads = t->kernel->threads,
	                          .shared = t->kernel->shared};
	const char *problem = NULL;

	if (t->kernel->threads == 0)
		t->kernel->run(t->params);
	else
		problem = emulate(&launch, gpu.order + gpu.calls);
	if (problem != NULL)
		(void)wrong(0, problem);
}

/* Of the stand-in's own time: a kernel's threads, a thousand at once. */
static double us_of(const struct task *t)
{
	if (t->kernel == NULL || t->kernel->threads == 0)
		return t->us;
	return (double)t->grid[0] * t->grid[1] * t->grid[2] * t->kernel->threads / 1000;
}

static void run_task(const struct stream *s, const struct task *t)
{
	if (t->of != NULL) {
		run_until(t->of, t->until);
		return;
	}
	check_order(s, t);
	if (t->pinned && content_of(t->from, t->n) != t->seen)
		(void)wrong(0, "pinned memory was changed before its upload was made");
	(void)mprotect(gpu.arena, ARENA, PROT_READ | PROT_WRITE);
	if (t->kernel != NULL)
		run_kernel(t);
	else if (t->from == NULL)
		memset(t->to, t->byte, t->n);
	else
		memmove(t->to, t->from, t->n);
	(void)mprotect(gpu.arena, ARENA, PROT_NONE);
}

static void run_until(struct stream *s, uint64_t until)
{
	while (s->done < until && s->first < s->n) {
		struct task t = s->tasks[s->first++];

		s->done++;
		run_task(s, &t);
		free(t.staged);
	}
	if (s->first == s->n)
		s->first = s->n = 0;
}

/* After everything that the stream was given. */
static uint64_t end_of(const struct stream *s)
{
	return s->done + (s->n - s->first);
}

void run_all(void)
{
	for (size_t i = 0; i < STREAMS; i++)
		run_until(&gpu.streams[i], end_of(&gpu.streams[i]));
}

static void drop_graph(struct graph *g)
{
	free(g->tasks);
	*g = (struct graph){0};
}

void drop_tasks(void)
{
	for (size_t i = 0; i < STREAMS; i++) {
		struct stream *s = &gpu.streams[i];

		for (size_t k = s->first; k < s->n; k++)
			free(s->tasks[k].staged);
		free(s->tasks);
		*s = (struct stream){0};
	}
	for (size_t i = 0; i < GRAPHS; i++) {
		drop_graph(&gpu.graphs[i]);
		drop_graph(&gpu.execs[i]);
	}
}

bool is_recording(void)
{
	for (size_t i = 0; i < STREAMS; i++)
		if (gpu.streams[i].recording != NULL)
			return true;
	return false;
}

static struct stream *stream_of(const void *handle)
{
	for (size_t i = 0; i < STREAMS; i++)
		if (handle == &gpu.streams[i] && gpu.streams[i].open && gpu.current)
			return &gpu.streams[i];
	return NULL;
}

int push(const struct task *asked, const void *stream)
{
	struct stream *s = stream_of(stream);
	struct task t = *asked;

	if (s == NULL) {
		free(t.staged);
		return wrong(BAD_HANDLE, "work for a stream that is not there");
	}
	t.asked = ++gpu.asked;
	t.seen = t.pinned ? content_of(t.from, t.n) : 0;
	if (s->recording != NULL) {
		append(&s->recording->tasks, &s->recording->n, &s->recording->cap, &t);
		return 0;
	}
	append(&s->tasks, &s->n, &s->cap, &t);
	s->us += us_of(&t);
	return 0;
}

/* ---- streams ---- */

int cuStreamCreate(void **stream, unsigned flags)
{
	size_t i = 0;

	COUNTED_APART;
	while (i < STREAMS && gpu.streams[i].open)
		i++;
	if (!gpu.current || flags != STREAM_NON_BLOCKING || i == STREAMS)
		return wrong(BAD_VALUE, "a stream without a context, or not one of its own");
	gpu.streams[i].open = true;
	gpu.held++;
	*stream = &gpu.streams[i];
	return 0;
}

int cuStreamDestroy_v2(void *stream)
{
	struct stream *s = stream_of(stream);

	COUNTED;
	if (s == NULL)
		return wrong(BAD_HANDLE, "not a stream");
	if (s->recording != NULL)
		return wrong(BAD_HANDLE, "a stream that still records");
	run_until(s, end_of(s));
	s->open = false;
	gpu.held--;
	return 0;
}

int cuStreamSynchronize(void *stream)
{
	struct stream *s = stream_of(stream);

	COUNTED_APART;
	if (s == NULL)
		return wrong(BAD_HANDLE, "not a stream");
	run_until(s, end_of(s));
	return 0;
}

/* ---- events ---- */

static struct event *event_of(const void *handle)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (handle == &gpu.events[i] && gpu.events[i].open)
			return &gpu.events[i];
	return NULL;
}

int cuEventCreate(void **event, unsigned flags)
{
	size_t i = 0;

	COUNTED;
	while (i < EVENTS && gpu.events[i].open)
		i++;
	if (!gpu.current || (flags & ~(unsigned)EVENT_DISABLE_TIMING) != 0 || i == EVENTS)
		return wrong(BAD_VALUE, "an event without a context, or of another kind");
	gpu.events[i] = (struct event){.open = true, .timed = flags == 0};
	gpu.held++;
	*event = &gpu.events[i];
	return 0;
}

int cuEventDestroy_v2(void *event)
{
	struct event *e = event_of(event);

	COUNTED;
	if (e == NULL)
		return wrong(BAD_HANDLE, "not an event");
	e->open = false;
	gpu.held--;
	return 0;
}

int cuEventRecord(void *event, void *stream)
{
	struct event *e = event_of(event);
	struct stream *s = stream_of(stream);

	COUNTED_APART;
	if (e == NULL || s == NULL)
		return wrong(BAD_HANDLE, "not an event, or not a stream");
	e->stream = s;
	e->until = end_of(s);
	e->us = s->us;
	return 0;
}

int cuEventElapsedTime(float *ms, void *from, void *to)
{
	const struct event *a = event_of(from), *b = event_of(to);

	COUNTED;
	if (a == NULL || b == NULL || !a->timed || !b->timed || a->stream == NULL ||
	    b->stream == NULL)
		return wrong(BAD_HANDLE, "not two events that take time");
	if (a->stream->done < a->until || b->stream->done < b->until)
		return wrong(RESULT_NOT_READY, "the time between events that are to come");
	*ms = (float)((b->us - a->us) / 1000);
	return 0;
}

int cuEventSynchronize(void *event)
{
	const struct event *e = event_of(event);

	COUNTED_APART;
	if (e == NULL)
		return wrong(BAD_HANDLE, "not an event");
	if (e->stream != NULL)
		run_until(e->stream, e->until);
	return 0;
}

/* What is behind is done when somebody looks. */
int cuEventQuery(void *event)
{
	const struct event *e = event_of(event);

	COUNTED_APART;
	if (e == NULL)
		return wrong(BAD_HANDLE, "not an event");
	if (e->stream != NULL)
		run_until(e->stream, e->until);
	return 0;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	const struct event *e = event_of(event);
	struct task t = {0};

	COUNTED_APART;
	if (e == NULL || flags != 0)
		return wrong(BAD_HANDLE, "not an event");
	if (e->stream == NULL)
		return 0;
	t.of = e->stream;
	t.until = e->until;
	return push(&t, stream);
}

/* ---- graphs ---- */

static struct graph *new_graph(struct graph graphs[GRAPHS])
{
	for (size_t i = 0; i < GRAPHS; i++)
		if (!graphs[i].open) {
			graphs[i] = (struct graph){.open = true, .serial = gpu.serial};
			gpu.held++;
			return &graphs[i];
		}
	return NULL;
}

static struct graph *graph_of(struct graph graphs[GRAPHS], const void *handle)
{
	for (size_t i = 0; i < GRAPHS; i++)
		if (handle == &graphs[i] && graphs[i].open)
			return &graphs[i];
	return NULL;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	struct stream *s = stream_of(stream);

	COUNTED_APART;
	if (s == NULL || mode != CAPTURE_THREAD_LOCAL)
		return wrong(BAD_HANDLE, "not a stream, or other threads' work recorded as well");
	s->recording = new_graph(gpu.graphs);
	return s->recording != NULL ? 0 : wrong(BAD_VALUE, "too many graphs");
}

int cuStreamEndCapture(void *stream, void **graph)
{
	struct stream *s = stream_of(stream);
	int planted = count_call(__func__);

	if (s == NULL || s->recording == NULL)
		return planted != 0 ? planted : wrong(BAD_HANDLE, "a stream that does not record");
	*graph = s->recording;
	s->recording = NULL;
	if (planted != 0) { /* as a driver: the graph is lost */
		drop_graph(*graph);
		gpu.held--;
		*graph = NULL;
	}
	return planted;
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	const struct graph *g = graph_of(gpu.graphs, graph);
	struct graph *made;

	COUNTED;
	if (g == NULL || flags != 0 || g->n == 0)
		return wrong(BAD_HANDLE, "not a graph, or an empty one");
	made = new_graph(gpu.execs);
	if (made == NULL)
		return wrong(BAD_VALUE, "too many graphs");
	made->serial = g->serial;
	for (size_t i = 0; i < g->n; i++)
		append(&made->tasks, &made->n, &made->cap, &g->tasks[i]);
	gpu.recordings++;
	*exec = made;
	return 0;
}

static int destroy(struct graph *g)
{
	if (g == NULL)
		return wrong(BAD_HANDLE, "not a graph");
	drop_graph(g);
	gpu.held--;
	return 0;
}

int cuGraphDestroy(void *graph)
{
	COUNTED;
	return destroy(graph_of(gpu.graphs, graph));
}

int cuGraphExecDestroy(void *exec)
{
	COUNTED;
	return destroy(graph_of(gpu.execs, exec));
}

/* What the graph names is there as it was when it was recorded. */
static bool still_there(const struct graph *g, const char *at)
{
	const struct block *b = block_at(at);

	return b != NULL && b->serial <= g->serial;
}

/* Words that are no addresses, padding among them, may look like one in the arena's wide rest. */
static bool holds_what_is_gone(const struct graph *g, const struct task *t)
{
	const char *word;

	if (t->kernel == NULL)
		return !still_there(g, t->to) || (t->from != NULL && !still_there(g, t->from));
	for (size_t i = 0; i + sizeof(word) <= t->kernel->params; i += sizeof(word)) {
		memcpy(&word, t->params + i, sizeof(word));
		if (pinned_at(word) != NULL ||
		    ((size_t)(word - gpu.arena) < gpu.top && !still_there(g, word)))
			return true;
	}
	return false;
}

int cuGraphLaunch(void *exec, void *stream)
{
	const struct graph *g = graph_of(gpu.execs, exec);

	COUNTED_APART;
	if (g == NULL)
		return wrong(BAD_HANDLE, "not a graph");
	for (size_t i = 0; i < g->n; i++) {
		if (holds_what_is_gone(g, &g->tasks[i]))
			return wrong(BAD_VALUE, "a graph holds memory that is not there any more");
		if (push(&g->tasks[i], stream) != 0)
			return BAD_HANDLE;
	}
	gpu.replays++;
	return 0;
}
