/*
 * Runs a child program: argv is never passed through a shell, stdin is given, stdout is captured
 * with a cap, stderr is captured with a cap for messages. The environment is inherited where none
 * is given. The process ignores SIGPIPE (interrupt_install), for a child may close its stdin early.
 */
#ifndef SLIPWAY_BASE_PROC_H
#define SLIPWAY_BASE_PROC_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

struct proc_result {
	int exit_status;        /* 0..255; 128 + signal when killed */
	struct strbuf out;      /* caller sets max; stdout */
	struct strbuf err_text; /* caller sets max; stderr */
};
void proc_result_done(struct proc_result *r);

/*
 * Runs argv (NULL-terminated, argv[0] looked up in PATH), feeding `input` (may be NULL).
 * ERR_NOT_FOUND when the program is absent, ERR_LIMIT when stdout exceeds its max, ERR_IO
 * otherwise, ERR_NETWORK when timeout_ms (> 0) passes (the child is killed). A non-zero exit is not
 * an error.
 */
int proc_run(const char *const argv[], const char *input, int timeout_ms, struct proc_result *r,
             struct err *err) MUST_USE;

/* The same with this environment ("NAME=value", NULL-terminated) instead of the caller's own. */
int proc_run_env(const char *const argv[], const char *const env[], const char *input,
                 int timeout_ms, struct proc_result *r, struct err *err) MUST_USE;

/* A child that is read while it runs. Its stdin is empty; both ends are non-blocking. */
struct proc_child {
	pid_t pid;
	int out, err_text; /* read ends; -1 = closed. The caller closes them, or proc_end does */
};

/* Starts argv as proc_run does; ERR_NOT_FOUND when the program is absent, ERR_IO otherwise. */
int proc_start(const char *const argv[], struct proc_child *ret, struct err *err) MUST_USE;

/* Closes the streams and waits for the child's end: it has closed its outputs, or (stop) is told to
 * end; killed when it does not within seconds. Returns its exit status as in proc_result. Once per
 * child. */
int proc_end(struct proc_child *child, bool stop);

#endif
