/*
 * Writing tar members the same way each time; for archive_write.c and archive_docker.c only.
 */
#ifndef SLIPWAY_BUILDER_OCI_ARCHIVE_INTERNAL_H
#define SLIPWAY_BUILDER_OCI_ARCHIVE_INTERNAL_H

#include "base/fs.h"
#include "builder/oci/archive.h"

struct archive;

/* A tar file that appears under its name when it is complete. */
struct tarfile {
	const char *path; /* borrowed */
	struct fs_temp temp;
	struct archive *tar;
	struct err why; /* what writing to the file said, if it failed */
	bool given_up;  /* the file will go: libarchive's padding is refused */
};
#define TARFILE_INIT                                                                               \
	{                                                                                          \
		.temp = FS_TEMP_INIT                                                               \
	}

int tarfile_open(struct tarfile *t, const char *path, struct err *err) MUST_USE;
int tarfile_commit(struct tarfile *t, struct err *err) MUST_USE;
void tarfile_done(struct tarfile *t); /* for AUTO(tarfile) */

/* Members have mtime 0, owner 0:0, mode 0644 (0755 for folders), so equal content gives equal
 * bytes. */
int tarfile_add_folder(struct tarfile *t, const char *name, struct err *err) MUST_USE;
int tarfile_add_bytes(struct tarfile *t, const char *name, const void *bytes, size_t len,
                      struct err *err) MUST_USE;

/* Copies src (closed by the caller), which must have exactly `size` bytes. */
int tarfile_add_source(struct tarfile *t, const char *name, struct source *src, int64_t size,
                       struct err *err) MUST_USE;

#endif
