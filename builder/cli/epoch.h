/*
 * SOURCE_DATE_EPOCH (reproducible-builds.org): the one moment that a build or a test may fix.
 */
#ifndef SLIPWAY_BUILDER_CLI_EPOCH_H
#define SLIPWAY_BUILDER_CLI_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "builder/cli/command.h"
#include "builder/spec/spec.h"

/* Seconds since 1970, and whether it is set; 0 and false without it. ERR_USAGE: not such a number.
 */
int epoch_read(int64_t *ret_epoch, bool *ret_set, struct err *err) MUST_USE;

/* Warns, at its line of the spec, of a Kubernetes version that EKS supports no longer, or not for
 * long: on the day that SOURCE_DATE_EPOCH says, or today. */
int epoch_check_support(struct cli *cli, const struct spec *spec, struct err *err) MUST_USE;

#endif
