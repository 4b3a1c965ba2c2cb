/*
 * Single-file images: an OCI layout as one tar (oci-archive) and what `docker load` reads
 * (docker-archive: manifest.json, config, uncompressed or gzip layers). Written deterministically.
 */
#ifndef SLIPWAY_OCI_ARCHIVE_H
#define SLIPWAY_OCI_ARCHIVE_H

#include "builder/oci/store.h"

struct archive_opts {
	struct store *from;            /* where the image is read */
	const struct descriptor *root; /* index or manifest to write */
	const char *tag;               /* name inside the archive: TAG, or NAME:TAG for docker; may be NULL */
	const struct platform *platform; /* docker-archive holds one platform: which; NULL = the only one */
};

/* Writes the archive to path atomically. ERR_USAGE when docker-archive needs a platform. */
int archive_write_oci(const char *path, const struct archive_opts *opts, struct err *err) MUST_USE;
int archive_write_docker(const char *path, const struct archive_opts *opts, struct err *err) MUST_USE;

/* Opens an oci-archive (tar of a layout, any libarchive compression) as a store. */
int archive_open_oci(const char *path, struct store **ret_store, struct err *err) MUST_USE;

#endif
