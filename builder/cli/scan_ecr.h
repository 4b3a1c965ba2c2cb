/*
 * The scan that Amazon ECR makes of an image in it: waited for, and reported.
 */
#ifndef SLIPWAY_BUILDER_CLI_SCAN_ECR_H
#define SLIPWAY_BUILDER_CLI_SCAN_ECR_H

#include "builder/cli/scan_report.h"
#include "builder/image/image.h"

struct scan_ecr_opts {
	bool start;        /* a scan, instead of waiting for the one on push */
	int64_t timeout_s; /* how long to wait; 0 = ten minutes */
};

/* Adds every platform's image of the command's argument to the report. */
int scan_by_ecr(struct cli *cli, struct remote *remote, const struct scan_ecr_opts *opts,
                struct scan_report *report, struct err *err) MUST_USE;

#endif
