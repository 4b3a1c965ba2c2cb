/*
 * What `slipway scan` says of images, whoever looked: a table or JSON, and the judgement.
 */
#ifndef SLIPWAY_BUILDER_CLI_SCAN_REPORT_H
#define SLIPWAY_BUILDER_CLI_SCAN_REPORT_H

#include "builder/cli/command.h"
#include "builder/finding/finding.h"
#include "builder/oci/descriptor.h"

/* AUTO(scan_report); begun by scan_report_begin. */
struct scan_report {
	struct cli *cli;
	enum severity threshold;
	int64_t n_refused, n_unrated;
	struct err failed; /* the first image that could not be judged */
	cJSON *doc;        /* members may be added until scan_report_end */
	cJSON *images;     /* in it */
};
void scan_report_done(struct scan_report *r);

/* `severity` as the option has it; ERR_USAGE. */
int scan_report_begin(struct scan_report *r, struct cli *cli, const char *severity,
                      struct err *err) MUST_USE;

/* One image, judged; `status` in the scanner's words. */
void scan_report_add(struct scan_report *r, const struct descriptor *image, const char *status,
                     const struct findings *findings);

/* Prints what is not printed yet. ERR_CHECK when findings of the threshold count, or r->failed. */
int scan_report_end(struct scan_report *r, struct err *err) MUST_USE;

#endif
