/*
 * The parts of fs.h that work on names rather than bytes: locks, links, removal.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/fs.h"

int fs_lock(const char *path, enum fs_lock_mode mode, int *ret_fd, struct err *err)
{
	static const int operations[] = {[FS_LOCK_SHARED] = LOCK_SH,
	                                 [FS_LOCK_EXCLUSIVE] = LOCK_EX,
	                                 [FS_LOCK_TRY_EXCLUSIVE] = LOCK_EX | LOCK_NB};
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	int result;

	if (fd < 0)
		return err_set(err, ERR_IO, "open lock file '%s'", path);
	do
		result = flock(fd, operations[mode]);
	while (result != 0 && errno == EINTR);
	if (result != 0 && errno == EWOULDBLOCK)
		return err_set(err, ERR_CONFLICT, "'%s' is locked by another process", path);
	if (result != 0)
		return err_set(err, ERR_IO, "lock '%s'", path);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int copy_bytes(int from, int to, struct err *err)
{
	char buf[64 << 10];

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	for (;;) {
		ssize_t n = fs_read(from, buf, sizeof(buf));

		if (n < 0)
			return err_set(err, ERR_IO, "read");
		if (n == 0)
			return 0;
		if (fs_write_all(to, buf, (size_t)n, err) != 0)
			return -1;
	}
}

static int copy_file(const char *src, const char *dst, struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	AUTO_CLOSE int from = open(src, O_RDONLY | O_CLOEXEC);
	char dir[PATH_MAX];
	const char *slash = strrchr(dst, '/');
	struct stat st;

	snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - dst) : 1,
	         slash != NULL ? dst : ".");
	if (from < 0 || fstat(from, &st) != 0)
		return err_set(err, ERR_IO, "open '%s'", src);
	if (fs_temp_open(&temp, dir, err) != 0 || copy_bytes(from, temp.fd, err) != 0)
		return -1;
	return fs_temp_commit(&temp, dst, st.st_mode & 0777, err);
}

int fs_link_or_copy(const char *src, const char *dst, struct err *err)
{
	if (link(src, dst) == 0 || errno == EEXIST)
		return 0;
	if (errno == ENOENT)
		return err_set(err, ERR_IO, "link '%s' to '%s'", src, dst);
	if (copy_file(src, dst, err) != 0)
		return err_wrap(err, "copy '%s' to '%s'", src, dst);
	return 0;
}

static int remove_below(int dir_fd, const char *name, int depth, struct err *err);

static int remove_entries(DIR *dir, int depth, struct err *err)
{
	struct dirent *entry;

	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (remove_below(dirfd(dir), entry->d_name, depth, err) != 0)
			return -1;
	}
	return 0;
}

/* Depth is bounded so that a hostile tree cannot exhaust the stack or the descriptors. */
static int remove_below(int dir_fd, const char *name, int depth, struct err *err)
{
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_set(err, ERR_IO, "remove '%s'", name);
	if (depth > 128)
		return err_set(err, ERR_LIMIT, "'%s' is too deep to remove", name);
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir == NULL) {
		attr_close_fd(&fd);
		return err_set(err, ERR_IO, "open folder '%s'", name);
	}
	int result = remove_entries(dir, depth + 1, err);

	closedir(dir);
	if (result == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
		return err_set(err, ERR_IO, "remove folder '%s'", name);
	return result;
}

int fs_remove_tree(const char *path, struct err *err)
{
	if (remove_below(AT_FDCWD, path, 0, err) != 0)
		return err_wrap(err, "remove '%s'", path);
	return 0;
}
