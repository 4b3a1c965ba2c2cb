/*
 * What the layout's own files share; nobody else includes it.
 */
#ifndef SLIPWAY_OCI_LAYOUT_INTERNAL_H
#define SLIPWAY_OCI_LAYOUT_INTERNAL_H

#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

/* Held shared by everybody who writes blobs, exclusively by garbage collection. */
#define LAYOUT_WRITERS_LOCK ".slipway-writers.lock"
/* Held exclusively around every change of index.json. */
#define LAYOUT_INDEX_LOCK ".slipway-index.lock"

struct layout {
	char *path;
	bool writable;
	int lock_fd; /* the shared writers' lock, -1 when reading */
};

#endif
