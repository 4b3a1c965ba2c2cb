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
	/* Task id is over; `result` is a short text such as "done", "exists", "mounted", "cached".
	 */
	void (*finish)(struct progress *p, unsigned id, const char *result);
	/* A line worth saying (a retry, a server's warning). */
	void (*note)(struct progress *p, const char *text);
};

unsigned progress_start(struct progress *p, const char *label, int64_t total);
void progress_advance(struct progress *p, unsigned id, int64_t bytes);
void progress_finish(struct progress *p, unsigned id, const char *result);
void progress_note(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
