/*
 * Writing tar members the same way each time, and reading them; for this room's archives only.
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

/* ---- reading: for archive_read.c and archive_docker_read.c ---- */

/* What a compressed archive may unpack to: images beyond it exist only as attacks on the disk. */
#define ARCHIVE_UNPACKED_MAX ((int64_t)256 << 30)

/* A regular file for reading, and its size; the caller closes. ERR_NOT_FOUND, ERR_FORMAT. */
int archive_open_file(const char *path, int *ret_fd, int64_t *ret_size, struct err *err) MUST_USE;

/* A tar on fd, plain or compressed; the caller frees *ret_tar, after an error too. */
int archive_read_start(const char *path, int fd, struct archive **ret_tar,
                       struct err *err) MUST_USE;

/* ERR_FORMAT with what libarchive says. */
int archive_read_failed(const char *path, struct archive *tar, struct err *err);

/* An unnamed file below $TMPDIR. */
int archive_open_unpacked(int *ret_fd, struct err *err) MUST_USE;

/* Copies the current member's data to the sink. */
int archive_copy_member(const char *path, struct archive *tar, struct sink *sink,
                        struct err *err) MUST_USE;

/* Passes over what is left of the current member: in a compressed archive piece by piece, so that
 * an interrupt is heard. */
int archive_pass_over(const char *path, struct archive *tar, struct err *err) MUST_USE;

/* A range of fd (borrowed), read without moving it. */
struct source *archive_range(int fd, int64_t at, int64_t size);

#endif
