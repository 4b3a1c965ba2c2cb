/*
 * The one error convention of the tree.
 *
 * A function that can fail returns 0 or -1 and takes `struct err *err` last. On success *err is
 * untouched; on failure it says what went wrong. `ret_x` outputs are set on success only. The value
 * lives on the caller's stack, starts zeroed and owns nothing, so it needs no release.
 *
 *   struct err err = {0};
 *   if (layout_open(path, 0, &layout, &err) != 0)
 *           return err_wrap(&err, "open image '%s'", path);
 *
 * Does not print and does not exit: builder/cli and trainer/main.c do. Messages hold no secret.
 * Thread rule: an err belongs to one thread.
 */
#ifndef SLIPWAY_BASE_ERR_H
#define SLIPWAY_BASE_ERR_H

#include "base/attr.h"
#include "base/srcpos.h"

enum err_code {
	ERR_NONE = 0,
	ERR_IO,          /* the operating system refused: os_errno says how */
	ERR_USAGE,       /* wrong option or argument */
	ERR_SPEC,        /* the spec is wrong; diags hold the details */
	ERR_CHECK,       /* the image check refused the image; diags hold the details */
	ERR_FORMAT,      /* malformed input: JSON, tar, ELF, HTTP, reference */
	ERR_DIGEST,      /* bytes do not match their digest or size */
	ERR_LIMIT,       /* larger than a cap */
	ERR_NOT_FOUND,   /* file, blob, manifest, tag or repository does not exist */
	ERR_CONFLICT,    /* somebody else holds or changed it */
	ERR_DENIED,      /* the server refused: credentials or permission */
	ERR_NETWORK,     /* connection, time-out, 429, 5xx: worth a retry */
	ERR_SERVER,      /* the server refused for another reason; a retry will not help */
	ERR_UNSUPPORTED, /* valid, but not supported */
	ERR_CAPACITY,    /* there are no machines for it now */
	ERR_BUSY,        /* somebody else is at the same work now */
	ERR_JOB,         /* what was run in the user's name has failed */
	ERR_MEMORY,      /* it needs more memory than there is */
	ERR_MACHINE,     /* this machine computes wrong results */
	ERR_INTERRUPTED  /* the user asked to stop */
};

enum { ERR_MSG_MAX = 1024, ERR_HINT_MAX = 512 };

struct err {
	enum err_code code;
	int os_errno;     /* errno at the failure, 0 if none */
	int http_status;  /* status of the reply that caused it, 0 if none */
	struct srcpos at; /* position in the user's text; at.file NULL if none */
	/* outermost context first: "push 'x': upload blob: connection reset" */
	char msg[ERR_MSG_MAX];
	char hint[ERR_HINT_MAX]; /* the next step for the user, a full sentence; empty if none */
};

/*
 * Sets *err to `code` and the formatted message, and returns -1.
 * With ERR_IO, errno at entry is kept in os_errno and its text appended (": No such file...").
 * Control bytes in the message are replaced by '?', an overlong message is cut.
 */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* err_set with a position in the user's text. */
int err_at(struct err *err, enum err_code code, struct srcpos at, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Puts "CONTEXT: " before the message already in *err; returns -1. Required at folder borders. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Sets the hint (the next step) of an err already set; an inner hint is kept. Returns -1. */
int err_hint(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* That each of them returns -1 is seen by whoever compiles or analyses a caller. */
static inline int err_failed(int result)
{
	(void)result;
	return -1;
}
#define err_set(...)  err_failed((err_set)(__VA_ARGS__))
#define err_at(...)   err_failed((err_at)(__VA_ARGS__))
#define err_wrap(...) err_failed((err_wrap)(__VA_ARGS__))
#define err_hint(...) err_failed((err_hint)(__VA_ARGS__))

/* A short stable name of `code` for JSON output: "io", "usage", "spec", "network", ... */
const char *err_code_name(enum err_code code);

/* Aborts with file and line: a broken invariant of ours, never the user's fault. */
#define BUG(...) err_bug(__FILE__, __LINE__, __VA_ARGS__)
NORETURN void err_bug(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
