/*
 * The commands of a spec's pipeline, run on this machine: in a copy of the tree, with this
 * program's streams, results on standard error.
 */
#ifndef SLIPWAY_BUILDER_CLI_SHELL_H
#define SLIPWAY_BUILDER_CLI_SHELL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strlist.h"

/* What git would check out of `tree`, and what is not committed yet, into the folder `to`, which is
 * made; without git, everything. */
int shell_copy_tree(const char *tree, const char *to, struct err *err) MUST_USE;

/* The same with the folder .git, if the tree has one. */
int shell_copy_repository(const char *tree, const char *to, struct err *err) MUST_USE;

/* Runs the commands in a folder, one after another in one shell, as CodeBuild does; ERR_SERVER when
 * one fails, and the rest is not run. */
int shell_run(const char *dir, const struct strlist *commands, struct arena *a,
              struct err *err) MUST_USE;

/* Sets a variable for programs that are started. */
int shell_set_variable(const char *name, const char *value, struct err *err) MUST_USE;

#endif
