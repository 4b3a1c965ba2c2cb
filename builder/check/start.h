/*
 * What happens when a runtime starts a program of the image, without starting it: the file is found
 * as execve(2), execvp(3) or the runtime finds it, its interpreters and what env(1) starts are
 * followed, and every right that the image's user needs on the way is held against the files'
 * modes. Problems are reported as `entrypoint` and `user-rights`. Ownership: the image's arena.
 */
#ifndef SLIPWAY_BUILDER_CHECK_START_H
#define SLIPWAY_BUILDER_CHECK_START_H

#include "builder/check/rules.h"

/* Programs that start each other, at most: beyond it they go in a circle. And the folders that all
 * look-ups together pass: links to links can make a short path long. */
enum { START_EXECS_MAX = 16, START_STEPS_MAX = 10000000 };

struct starter {
	struct check_image *image;
	struct srcpos at;      /* where the spec names the program */
	struct view_node *cwd; /* NULL when the working folder is not in the image */
	unsigned execs;
	size_t n_steps;
	size_t linkage_steps; /* of all programs together */
	bool linkage_exhausted;
};

/* One file to be executed. */
struct start_step {
	struct view_node *node;
	const char *role;    /* "the program to start" */
	unsigned depth;      /* scripts whose interpreter this is */
	bool shell_fallback; /* execvp starts /bin/sh for what the kernel does not know */
};

struct starter start_init(struct check_image *image, struct srcpos at);

/*
 * The file that a command names, by PATH when it has no '/', else from the working folder; NULL
 * when there is none. A file that the user may execute is preferred to one that is only there.
 * Folders on the way that the user may not search are reported.
 */
struct view_node *start_find(struct starter *s, const char *command);

/* Follows what executing this file leads to. */
void start_run(struct starter *s, const struct start_step *step);

/* Reports what the user may not do with the node, once; true when he may. */
bool start_allowed(struct starter *s, struct view_node *n, enum user_right right);

/* A problem of the rule `entrypoint`, at the node (NULL = of none) and at the spec's position. */
struct diag *start_problem(struct starter *s, const struct view_node *n, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/*
 * The same for a whole command line, as the configuration has it: the program is found and followed
 * (start_run), and what well-known wrappers (tini) and interpreters (sh, python3) do with their
 * arguments, too.
 */
void start_command_line(struct starter *s, const struct strlist *args, const char *role);

#endif
