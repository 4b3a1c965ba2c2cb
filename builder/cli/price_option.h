/*
 * --prices FILE, for the commands that tell what things cost.
 */
#ifndef SLIPWAY_BUILDER_CLI_PRICE_OPTION_H
#define SLIPWAY_BUILDER_CLI_PRICE_OPTION_H

#include "builder/cli/command.h"
#include "k8s/deploy/prices.h"

#define PRICE_OPTION                                                                               \
	TEXT_OPTION("prices", 0, prices, "FILE",                                                   \
	            "Prices by instance type, in YAML or CSV: what status calls cost",             \
	            .complete = COMPLETE_FILE)

/* The file's table; *ret_given false without the option. */
int price_option(struct cli *cli, struct prices *ret, bool *ret_given, struct err *err) MUST_USE;

#endif
