/*
 * Where a copy goes: a repository of a registry, or a layout. One interface, so that the way of a
 * copy (copy.c) is the same for both.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_COPY_PLACE_H
#define SLIPWAY_BUILDER_IMAGE_COPY_PLACE_H

#include "builder/image/copy_plan.h"
#include "builder/oci/layout.h"
#include "builder/registry/registry.h"

/* A blob, and where it can be had. */
struct copy_blob {
	const struct descriptor *desc;
	struct store *from;
	const char
		*mount_from; /* the source's repository, on the same registry; NULL = elsewhere */
};

/* Documents that are attached to one subject. */
struct copy_attached {
	const struct digest *subject;
	const struct copy_document **documents;
	size_t n;
};

struct copy_place {
	/* True when the manifest is there, and so all that it names: nothing of it is sent. */
	bool (*has)(struct copy_place *p, const struct copy_document *doc);
	/* Called from several threads at once. */
	int (*put_blob)(struct copy_place *p, const struct copy_blob *blob,
	                enum blob_outcome *ret_outcome, struct err *err);
	/* What the document names is there. *ret_existed: it was, too. */
	int (*put_document)(struct copy_place *p, const struct copy_document *doc,
	                    bool *ret_existed, struct err *err);
	/* The same of documents that are attached to one subject. */
	int (*put_attached)(struct copy_place *p, const struct copy_attached *group,
	                    struct err *err);
	unsigned attach_jobs; /* so many groups may be put at once; 0 = any number */
	/* Puts `tag` on a document that is there, or, with tag_puts, on one whose parts are. */
	bool tag_puts;
	int (*tag)(struct copy_place *p, const char *tag, const struct copy_document *doc,
	           struct err *err);
};

struct copy_registry {
	struct copy_place place;
	struct registry *registry;
};
void copy_registry_init(struct copy_registry *p, struct registry *registry);

struct copy_layout {
	struct copy_place place;
	struct layout *layout;
	struct progress *progress; /* NULL = silent */
};
void copy_layout_init(struct copy_layout *p, struct layout *layout, struct progress *progress);

#endif
