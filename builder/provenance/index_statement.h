/*
 * The statement about an index of images, made of those about its manifests: whoever looks at an
 * image by its tag, as admission controllers do, finds who built it. The same build type
 * (docs/SBOM.md); the manifests are what it was made from. Pure.
 */
#ifndef SLIPWAY_BUILDER_PROVENANCE_INDEX_STATEMENT_H
#define SLIPWAY_BUILDER_PROVENANCE_INDEX_STATEMENT_H

#include "base/crypto/digest.h"
#include "base/doc/json.h"
#include "base/strbuf.h"

/* One manifest that the index names. */
struct provenance_part {
	const char *platform; /* "linux/amd64" */
	const char *media_type;
	struct digest digest;
	const cJSON *statement; /* SLSA provenance v1 about it */
};

/*
 * Appends the statement; false, and nothing, when the parts do not agree on who built them, from
 * which spec and how: then nobody built the index.
 */
bool provenance_print_index(const struct provenance_part *parts, size_t n,
                            const struct digest *index, struct strbuf *sb) MUST_USE;

#endif
