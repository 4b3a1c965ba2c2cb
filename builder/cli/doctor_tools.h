/*
 * The part of `slipway doctor` that looks for the programs beside slipway: those it calls, and
 * those that the documents tell to call.
 */
#ifndef SLIPWAY_BUILDER_CLI_DOCTOR_TOOLS_H
#define SLIPWAY_BUILDER_CLI_DOCTOR_TOOLS_H

#include "builder/cli/doctor_aws.h"

/* A line for each: its version, whether that is too old, or what it is missing for. None of it is
 * an error: a machine that only builds needs none of them. */
void doctor_tools(const struct doctor *d);

/* The first "N.N" of a program's own words about its version; false: there is none. `ret_text` is
 * at most `size` - 1 characters of it: digits and dots. */
bool doctor_version(const char *said, int *ret_major, int *ret_minor, char *ret_text, size_t size);

#endif
