/*
 * What an image consists of, where it is: its index, manifests and blobs, what is attached to each
 * of them, and the tags under which cosign keeps signatures. Reads the source, and nothing but
 * documents of it. Everything lives in the plan until copy_plan_done.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_COPY_PLAN_H
#define SLIPWAY_BUILDER_IMAGE_COPY_PLAN_H

#include "base/mem.h"
#include "builder/oci/manifest.h"
#include "builder/oci/store.h"

/* A manifest or an index. */
struct copy_document {
	struct descriptor desc;
	const char *bytes;
	bool inside;   /* part of the image itself: the root, or below it */
	bool child;    /* an index names it */
	bool attached; /* to `subject` */
	struct digest subject;
	const char *tag;                /* by which it is found besides (cosign's); NULL = none */
	const struct descriptor *blobs; /* of a manifest: configuration and layers */
	size_t n_blobs;
};

struct copy_plan {
	struct arena arena;
	/* children before parents; subjects before what is attached to them and no child */
	VEC(struct copy_document) documents;
	size_t n_attached;
};

/* `root` and all below and about it. ERR_LIMIT for indexes nested more than 4 deep, and for more
 * than 16384 documents or 256 MiB of them. Asks the store several questions at
 * once. *p is zeroed; always followed by copy_plan_done. */
int copy_plan_make(struct copy_plan *p, struct store *store, const struct descriptor *root,
                   struct err *err) MUST_USE;
void copy_plan_done(struct copy_plan *p); /* for AUTO(copy_plan), of a zeroed one too */

#endif
