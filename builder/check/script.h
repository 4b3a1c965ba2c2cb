/*
 * How the kernel reads the first line of a script (Linux, fs/binfmt_script.c: load_script), how
 * env(1) reads its argument, and what a file that is neither script nor program may be instead.
 * Pure functions over the first bytes of a file. Ownership: texts live in the arena given.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SCRIPT_H
#define SLIPWAY_BUILDER_CHECK_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Bytes that the kernel reads of a file it is to start (linux/binfmts.h, BINPRM_BUF_SIZE), and the
 * scripts that may be each other's interpreter (fs/exec.c, exec_binprm). */
enum { SCRIPT_HEAD_MAX = 256, SCRIPT_DEPTH_MAX = 5 };

enum script_kind {
	SCRIPT_READ,           /* has an interpreter */
	SCRIPT_NONE,           /* does not begin with "#!": the kernel does not start it */
	SCRIPT_NO_INTERPRETER, /* nothing behind "#!": neither */
	SCRIPT_TOO_LONG        /* the interpreter's path ends beyond SCRIPT_HEAD_MAX: neither */
};

struct script_line {
	const char *interpreter; /* without its carriage return */
	const char *argument;    /* all that follows, as one text; NULL = none */
	bool carriage_return;    /* the line ends with one, which belongs to the last word */
	bool cut;                /* the argument goes on beyond SCRIPT_HEAD_MAX and is cut there */
};

/* `head` is what the file begins with, at most SCRIPT_HEAD_MAX bytes. */
enum script_kind script_read(const char *head, size_t len, struct arena *a,
                             struct script_line *ret_line);

/* How many of these first bytes are needed later: those of a "#!" line, or a few. */
size_t script_head_kept(const char *head, size_t len);

/* What a file that is no script begins with, as the end of a sentence; NULL = nothing known. */
const char *script_looks_like(const char *head, size_t len);

/*
 * The command that env(1) starts when a script's first line gives it this argument: the whole
 * argument, spaces and all, or with -S its first word that sets no variable. NULL when options or
 * quotes decide.
 */
const char *script_env_command(const char *argument, struct arena *a);

#endif
