/*
 * What the layout's own files share; nobody else includes it.
 */
#ifndef SLIPWAY_BUILDER_OCI_LAYOUT_INTERNAL_H
#define SLIPWAY_BUILDER_OCI_LAYOUT_INTERNAL_H

#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

/* Held shared by everybody who writes blobs, exclusively by garbage collection. */
#define LAYOUT_WRITERS_LOCK ".slipway-writers.lock"
/* Held shared by everybody who reads, exclusively by garbage collection: never made for a lock. */
#define LAYOUT_FILE         "oci-layout"
/* Held exclusively around every change of index.json. */
#define LAYOUT_INDEX_LOCK   ".slipway-index.lock"

/* The content of the oci-layout file. */
#define LAYOUT_VERSION_JSON "{\"imageLayoutVersion\":\"1.0.0\"}"

struct layout {
	char *path;
	bool writable;
	int lock_fd; /* the shared writers' or readers' lock; -1 where a reader can have none */
};

/*
 * Takes the readers' lock; `operation` is flock(2)'s. It lives until *ret_fd is closed. ERR_IO when
 * it cannot be had: somebody holds it (LOCK_NB), or the file system has no locks.
 */
int layout_lock_readers(const char *path, int operation, int *ret_fd, struct err *err) MUST_USE;

/* index.json as JSON; at most MANIFEST_BYTES_MAX bytes. */
int layout_document(const struct layout *l, cJSON **ret_doc, struct err *err) MUST_USE;

/* Replaces index.json atomically; the caller holds a lock that keeps other writers away. */
int layout_write_document(struct layout *l, const cJSON *doc, struct err *err) MUST_USE;

/*
 * What a tag names (NULL = "latest" or the only image). ERR_NOT_FOUND; `path` is for the message.
 * The result shares the index's memory.
 */
int layout_find(const struct index *index, const char *path, const char *tag,
                struct descriptor *ret_desc, struct err *err) MUST_USE;

#endif
