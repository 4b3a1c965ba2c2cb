/*
 * --prices FILE, for the commands that show what things cost.
 */
#ifndef SLIPWAY_BUILDER_CLI_PRICE_OPTION_H
#define SLIPWAY_BUILDER_CLI_PRICE_OPTION_H

#include "builder/cli/command.h"
#include "k8s/deploy/prices.h"

#define PRICE_OPTION(object, member)                                                               \
	TEXT_OPTION(object, member, "prices", 0, "FILE",                                           \
	            "Prices by instance type, in YAML or CSV, to compute the cost",                \
	            .complete = COMPLETE_FILE)

/* The file's table; *ret_given false without the option (file NULL). */
int price_option(struct cli *cli, const char *file, struct prices *ret, bool *ret_given,
                 struct err *err) MUST_USE;

#endif
