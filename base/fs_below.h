/*
 * Files below a folder of which somebody else may have made the content, as a checkout: no symbolic
 * link in it is followed, to read, write or remove. Paths are relative to the folder, without "..";
 * folders on the way are opened one by one. Errors as in fs.h; a link on the way is ERR_CONFLICT,
 * and the message names it.
 */
#ifndef SLIPWAY_BASE_FS_BELOW_H
#define SLIPWAY_BASE_FS_BELOW_H

#include "base/fs.h"

/* The folder itself; close it with AUTO(fs_below). */
struct fs_below {
	int fd;           /* -1 when not open */
	const char *path; /* as the caller named it, for messages */
};
#define FS_BELOW_INIT                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Opens the folder `path`, made if need be. The way to an absolute path is the user's, links
 * included; from the working directory down, and for a relative path, no link is followed.
 */
int fs_below_open(const char *path, struct fs_below *ret, struct err *err) MUST_USE;
void fs_below_done(struct fs_below *b);

/* Makes the folder `path` and those on the way; existing ones are fine, links are not. */
int fs_below_mkdirs(const struct fs_below *b, const char *path, struct err *err) MUST_USE;

/* What fs_read_file does. ERR_NOT_FOUND when there is no such file. */
int fs_below_read(const struct fs_below *b, const char *path, size_t max_bytes, struct strbuf *sb,
                  struct err *err) MUST_USE;

/* What fs_write_file does, folders on the way made. A link at `path` itself is replaced. */
int fs_below_write(const struct fs_below *b, const char *path, const void *bytes, size_t len,
                   mode_t mode, struct err *err) MUST_USE;

enum fs_below_kind { FS_BELOW_NOTHING, FS_BELOW_FILE, FS_BELOW_OTHER };

/* What stands at `path`: a regular file, something else (a link, too), or nothing. */
int fs_below_kind(const struct fs_below *b, const char *path, enum fs_below_kind *ret,
                  struct err *err) MUST_USE;

/*
 * Removes the file or link at `path`, and the folder that it was in when that is empty now and not
 * the root; a missing one is fine.
 */
int fs_below_remove(const struct fs_below *b, const char *path, struct err *err) MUST_USE;

#endif
