/*
 * All that the AWS client touches of the outside, so that tests put something else there.
 */
#ifndef SLIPWAY_BUILDER_AWS_OUTSIDE_H
#define SLIPWAY_BUILDER_AWS_OUTSIDE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/net/http.h"
#include "base/proc.h"
#include "base/progress.h"

struct aws_outside {
	/* The variable's value, NULL when unset. */
	const char *(*env)(const struct aws_outside *s, const char *name);
	/*
	 * The home folder where HOME does not say it, in the arena; NULL = not known. May be NULL.
	 */
	const char *(*home)(const struct aws_outside *s, struct arena *a);
	/* As fs_read_file. */
	int (*read_file)(const struct aws_outside *s, const char *path, size_t max,
	                 struct strbuf *sb, struct err *err);
	/* Replaces the file atomically, mode 0600. */
	int (*write_file)(const struct aws_outside *s, const char *path, const void *bytes,
	                  size_t len, struct err *err);
	/* As proc_run. */
	int (*run)(const struct aws_outside *s, const char *const argv[], int timeout_ms,
	           struct proc_result *r, struct err *err);
	/* Asks the person at the terminal; the caller wipes and frees. NULL = nobody is there. */
	int (*prompt)(const struct aws_outside *s, const char *question, char **ret_answer,
	              struct err *err);
	struct http_transport *http; /* borrowed */
	struct clock *clock;
	struct progress *progress; /* NULL = silent */
	void *ctx;
};

/* The real one: environment, files, programs, outside clock; http, progress and prompt are the
 * caller's to set. */
struct aws_outside aws_outside_real(void);

/* The variable's value, NULL when unset or empty. */
const char *aws_env(const struct aws_outside *s, const char *name);

/* True for "true" in any case; AWS's flags are written so. */
bool aws_is_true(const char *text);

/* path with a leading ~ and $VARIABLES replaced, in the arena. */
const char *aws_expand_path(const struct aws_outside *s, const char *path, struct arena *a);

#endif
