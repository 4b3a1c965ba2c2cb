/*
 * The files of a plan, in a folder: all of them or none, and nothing that is there is replaced. A
 * process that is killed half-way leaves files as the plan has them and no slipway.yaml; the next
 * run takes them for its own.
 */
#ifndef SLIPWAY_BUILDER_INIT_WRITE_H
#define SLIPWAY_BUILDER_INIT_WRITE_H

#include "base/err.h"
#include "builder/init/model.h"

/* ERR_CONFLICT when a file is there already; ERR_IO. Sets `there` of the plan's files. */
int init_write(const char *dir, struct init_plan *plan, struct err *err) MUST_USE;

/* Would init_write find a file in its way? The same error, and nothing is touched. */
int init_check(const char *dir, struct init_plan *plan, struct err *err) MUST_USE;

#endif
