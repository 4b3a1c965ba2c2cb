/*
 * What a folder shows of the program in it: how it is built, and what it is called. Names of files
 * and a few lines of small ones are read; nothing is run.
 */
#ifndef SLIPWAY_BUILDER_INIT_LOOK_H
#define SLIPWAY_BUILDER_INIT_LOOK_H

#include "base/arena.h"
#include "base/err.h"
#include "builder/init/model.h"

/*
 * Looks at `dir`, for a program of `kind` (NULL = of any). With a kind the project is always one of
 * its rows. ERR_NOT_FOUND, ERR_IO when the folder cannot be read, ERR_LIMIT when it has more than
 * 100,000 files.
 */
int init_look(const char *dir, const char *kind, struct arena *a, struct init_seen *ret_seen,
              struct err *err) MUST_USE;

/* May a program be called so? Letters, digits, '.', '_', '-' and, for scripts, '/'. */
bool init_program_valid(const char *name);

#endif
