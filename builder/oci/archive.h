/*
 * Single-file images: an OCI layout as one tar (oci-archive) and what `docker load` reads
 * (docker-archive: manifest.json, configuration, uncompressed layers). Equal images give equal
 * bytes. Does not resolve references and prints nothing. Memory does not grow with the image.
 */
#ifndef SLIPWAY_BUILDER_OCI_ARCHIVE_H
#define SLIPWAY_BUILDER_OCI_ARCHIVE_H

#include "builder/oci/store.h"

struct archive_opts {
	struct store *from;            /* where the image is read */
	const struct descriptor *root; /* index or manifest to write */
	const char *tag; /* name inside the archive: TAG, or NAME[:TAG] for docker; may be NULL */
	/* oci-archive: further entries of index.json, as what is attached to root has them */
	const struct descriptor *others;
	size_t n_others;
	/* docker-archive holds one platform: which; NULL = the only one */
	const struct platform *platform;
};

/*
 * Writes the archive to path atomically; every blob is verified on the way. archive_write_docker
 * decodes each layer twice (a tar header needs the size first) and compares it with its diff ID.
 * Errors: ERR_USAGE when docker-archive needs a platform, ERR_NOT_FOUND when it is absent or a blob
 * is missing, ERR_DIGEST, ERR_UNSUPPORTED for a layer type that Docker cannot load, ERR_IO.
 */
int archive_write_oci(const char *path, const struct archive_opts *opts, struct err *err) MUST_USE;
int archive_write_docker(const char *path, const struct archive_opts *opts,
                         struct err *err) MUST_USE;

/*
 * Opens an oci-archive (tar of a layout, plain or gzip, bzip2, xz, zstd) as a store; the caller
 * closes it, after the sources opened from it. A plain archive is read in place; a compressed one
 * is unpacked into an unnamed file below $TMPDIR. Members that are no part of a layout are ignored.
 * Errors: ERR_NOT_FOUND, ERR_FORMAT (no tar, cut short, no layout), ERR_LIMIT.
 */
int archive_open_oci(const char *path, struct store **ret_store, struct err *err) MUST_USE;

/*
 * The same for what `docker save` and `podman save` write: manifest.json, configurations, layers.
 * Each image in it is shown as the OCI manifest that names the same bytes. Resolving takes a tag,
 * or NAME:TAG, of RepoTags; NULL = the only image. Layers are verified against the configuration's
 * diff IDs. Errors as above; ERR_LIMIT beyond 65536 members.
 */
int archive_open_docker(const char *path, struct store **ret_store, struct err *err) MUST_USE;

/* Which of the two a tar file is, by the names in it. ERR_FORMAT when it is neither. */
enum archive_form { ARCHIVE_OCI, ARCHIVE_DOCKER };
int archive_form(const char *path, enum archive_form *ret_form, struct err *err) MUST_USE;

#endif
