/*
 * Writing tar members the same way each time, and reading them; for this room's archives only.
 */
#ifndef SLIPWAY_BUILDER_OCI_ARCHIVE_INTERNAL_H
#define SLIPWAY_BUILDER_OCI_ARCHIVE_INTERNAL_H

#include "base/fs.h"
#include "builder/oci/archive.h"
#include "builder/oci/budget.h"

struct archive;
struct archive_entry;

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

/* ---- reading (archive_reader.c) ---- */

/*
 * One pass over the members of a tar file, plain or compressed. What a compressed one unpacks to is
 * bounded by its budget, also of members that nobody wants.
 */
struct archive_reader {
	const char *path; /* borrowed */
	struct archive *tar;
	struct budget budget;          /* of a compressed archive */
	int64_t weighed, decompressed; /* bytes that the budget knows of */
	bool begun;                    /* there is a current member */
};

/* A regular file for reading, and its size; the caller closes. ERR_NOT_FOUND, ERR_FORMAT. */
int archive_open_file(const char *path, int *ret_fd, int64_t *ret_size, struct err *err) MUST_USE;

/* Reads fd, borrowed. archive_reader_done after an error, too. */
int archive_reader_open(struct archive_reader *r, const char *path, int fd,
                        struct err *err) MUST_USE;
void archive_reader_done(struct archive_reader *r);

/* Goes on to the next member. 1: it is *ret_entry; 0: there is none. */
int archive_next_member(struct archive_reader *r, struct archive_entry **ret_entry,
                        struct err *err) MUST_USE;

/* Known once there is a member. */
bool archive_is_compressed(const struct archive_reader *r);

/* Copies the current member's data to the sink. */
int archive_copy_member(struct archive_reader *r, struct sink *sink, struct err *err) MUST_USE;

/* An unnamed file below $TMPDIR. */
int archive_open_unpacked(int *ret_fd, struct err *err) MUST_USE;

/* A range of fd (borrowed), read without moving it. */
struct source *archive_range(int fd, int64_t at, int64_t size);

#endif
