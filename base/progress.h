/*
 * How long work reports on itself. Libraries call these; builder/cli decides what a person sees.
 * All functions accept p == NULL (nobody listens) and may be called from any thread.
 */
#ifndef SLIPWAY_BASE_PROGRESS_H
#define SLIPWAY_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct progress {
	/* A task begins: `label` is shown, `total` is in bytes, -1 = not known. Returns its id. */
	unsigned (*start)(struct progress *p, const char *label, int64_t total);
	/* `bytes` more of task id are done (negative after a restart). */
	void (*advance)(struct progress *p, unsigned id, int64_t bytes);
	/*
	 * Task id is over; `result` is a short text such as "done", "exists", "mounted", "cached".
	 */
	void (*finish)(struct progress *p, unsigned id, const char *result);
	/* A line worth saying (a retry, a server's warning). */
	void (*note)(struct progress *p, const char *text);
	/* A stage of a longer undertaking is now in `state`; `detail` says with what ("8 objects"),
	 * "" = nothing. Stages are shown in the order of their first call. NULL: not shown. */
	void (*stage)(struct progress *p, const char *name, const char *state, const char *detail);
	/* What the work waits for now, in place of what it waited for before. NULL: it is a note,
	 * "waiting for TEXT". */
	void (*await)(struct progress *p, const char *text);
	/* Something else is about to be printed: what is shown stays as it is. NULL: needless. */
	void (*rest)(struct progress *p);
	/* A line for who wants to know more: a request, a program that was called. NULL: nobody. */
	void (*detail)(struct progress *p, const char *text);
};

unsigned progress_start(struct progress *p, const char *label, int64_t total);
void progress_advance(struct progress *p, unsigned id, int64_t bytes);
void progress_finish(struct progress *p, unsigned id, const char *result);
void progress_stage(struct progress *p, const char *name, const char *state, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
void progress_rest(struct progress *p);
void progress_await(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
void progress_detail(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
void progress_note(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
