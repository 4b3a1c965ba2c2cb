/*
 * Programs that a fresh builder gets before anything else, each held against its SHA-256: slipway,
 * as a release's tarball, and kubectl where the pipeline deploys. Debian's and Amazon's images are
 * enough for the commands: curl or the AWS CLI is installed where it is missing.
 */
#ifndef SLIPWAY_PIPELINE_DOWNLOADS_H
#define SLIPWAY_PIPELINE_DOWNLOADS_H

#include "pipeline/model.h"

extern const struct field_table download_fields;

/* What nobody puts on a builder, and files without a checksum. */
void downloads_check(const struct pipeline_section *s, const struct pipeline_facts *f,
                     struct diags *d);

/* Sets the step's install commands: the downloads', then the section's. */
void downloads_install(const struct pipeline_section *s, struct pipeline_step *step,
                       struct arena *a);

/* The command that installs the AWS CLI where it is missing. */
extern const char download_aws[];

/* The file in S3 that this step's machine reads, as "BUCKET/KEY"; NULL = it is not in S3, or this
 * step does not need it. The i-th of DOWNLOADS. */
enum { DOWNLOADS = 2 };
const char *download_object(const struct pipeline_section *s, const struct pipeline_step *step,
                            size_t i, struct arena *a);

#endif
