/*
 * What came of building an image again, for people and for programs.
 */
#ifndef SLIPWAY_BUILDER_CLI_REBUILD_REPORT_H
#define SLIPWAY_BUILDER_CLI_REBUILD_REPORT_H

#include "builder/cli/verify_rebuild.h"
#include "builder/image/stated.h"
#include "builder/provenance/compare.h"

struct rebuild_report {
	const struct rebuild_request *request;
	struct descriptor root;
	struct digest rebuilt; /* what stands for it: of the index, or of the only manifest */
	bool equal;
	bool with_index;                            /* the index was compared, too */
	const struct stated *stated;                /* one per platform */
	const struct provenance_findings *findings; /* likewise */
	size_t n;
	size_t n_inputs, n_layers; /* of all platforms */
	struct strlist remarks;    /* about the whole */
	const cJSON *diff;         /* NULL when equal */
};

/* How many inputs differ; one that differs in the same way on several platforms counts once. */
size_t rebuild_differences(const struct rebuild_report *r);

void rebuild_print(struct cli *cli, const struct rebuild_report *r);

/* Differences of inputs as problems, where the build itself failed. */
void rebuild_blame(struct cli *cli, const struct rebuild_report *r);

#endif
