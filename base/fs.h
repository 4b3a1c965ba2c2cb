/*
 * Files, the careful way: whole reads with a cap, writes by temporary file + fsync + rename,
 * advisory locks. Errors are ERR_IO (with errno), ERR_NOT_FOUND for ENOENT on reads, ERR_LIMIT for
 * caps. Nothing here follows user policy; it knows nothing of images.
 */
#ifndef SLIPWAY_BASE_FS_H
#define SLIPWAY_BASE_FS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Reads the whole file into sb (emptied first). ERR_LIMIT when larger than max_bytes. */
int fs_read_file(const char *path, size_t max_bytes, struct strbuf *sb, struct err *err) MUST_USE;

/* Replaces path by these bytes atomically (temp file beside it, fsync, rename, fsync of the
 * folder). */
int fs_write_file(const char *path, const void *bytes, size_t len, mode_t mode,
                  struct err *err) MUST_USE;

/* As the system calls of these names, taken up again after a signal. */
ssize_t fs_read(int fd, void *buf, size_t len);
ssize_t fs_pread(int fd, void *buf, size_t len, int64_t offset);
ssize_t fs_pwrite(int fd, const void *bytes, size_t len, int64_t offset);

/* Writes all bytes to fd, resuming after EINTR and short writes. */
int fs_write_all(int fd, const void *bytes, size_t len, struct err *err) MUST_USE;

/* mkdir -p with mode 0777 & ~umask; an existing folder is fine. */
int fs_mkdirs(const char *path, struct err *err) MUST_USE;

/* A temporary file that becomes `final` or disappears. */
struct fs_temp {
	int fd;              /* -1 when not open */
	char path[PATH_MAX]; /* empty when there is nothing to remove */
};
#define FS_TEMP_INIT                                                                               \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Creates dir/.tmp-XXXXXX (O_CLOEXEC, mode 0600). */
int fs_temp_open(struct fs_temp *t, const char *dir, struct err *err) MUST_USE;

/* fchmod to mode, fsync, rename to final, fsync of final's folder. t is empty afterwards. */
int fs_temp_commit(struct fs_temp *t, const char *final, mode_t mode, struct err *err) MUST_USE;

/* Closes and unlinks; accepts an empty one. For AUTO(fs_temp). */
void fs_temp_done(struct fs_temp *t);

/* A file in `dir` without a name, which disappears with its descriptor, also after a kill. */
int fs_open_unnamed(const char *dir, int *ret_fd, struct err *err) MUST_USE;

enum fs_lock_mode { FS_LOCK_SHARED, FS_LOCK_EXCLUSIVE, FS_LOCK_TRY_EXCLUSIVE };

/*
 * Opens (creates) the lock file and takes flock; the lock lives until *ret_fd is closed.
 * FS_LOCK_TRY_EXCLUSIVE gives ERR_CONFLICT at once when somebody holds it.
 */
int fs_lock(const char *path, enum fs_lock_mode mode, int *ret_fd, struct err *err) MUST_USE;

/*
 * Makes dst the same file as src: hard link, else reflink/copy through a temp file. EEXIST is fine.
 */
int fs_link_or_copy(const char *src, const char *dst, struct err *err) MUST_USE;

/* rm -r; never follows a symbolic link; a missing path is fine. */
int fs_remove_tree(const char *path, struct err *err) MUST_USE;

bool fs_exists(const char *path);

/* The folder a path stands in: "a/b" -> "a", "b" -> ".", "/b" -> "/". */
void fs_parent(const char *path, char out[PATH_MAX]);

/* dir + "/" + name into out; ERR_LIMIT when longer than PATH_MAX. */
int fs_join(char out[PATH_MAX], const char *dir, const char *name, struct err *err) MUST_USE;

/* $XDG_CACHE_HOME/slipway, or ~/.cache/slipway; ERR_NOT_FOUND when neither variable is set. */
int fs_cache_dir(char out[PATH_MAX], struct err *err) MUST_USE;

#endif
