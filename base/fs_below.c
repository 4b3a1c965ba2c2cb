#include "base/fs_below.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/slurp.h"

enum { WALK = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* Why a step into `name` failed. */
static int step_failed(int dir, const char *name, const char *whole, struct err *err)
{
	struct stat st;
	int error = errno;

	if ((error == ELOOP || error == ENOTDIR) &&
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
		err_set(err, ERR_CONFLICT, "'%s' leads through the symbolic link '%s'", whole,
		        name);
		return err_hint(err, "remove the link, or name the folder that it leads to");
	}
	errno = error;
	return err_set(err, error == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open folder '%s'", whole);
}

/*
 * From `fd` (taken over) down the folders of `path`, `len` bytes; each is made if `make`. Empty and
 * "." segments stay where they are.
 */
static int walk(int fd, const char *path, size_t len, bool make, int *ret_fd, struct err *err)
{
	AUTO_CLOSE int dir = fd;

	for (size_t i = 0; i < len;) {
		const char *slash = memchr(path + i, '/', len - i);
		size_t n = slash != NULL ? (size_t)(slash - path) - i : len - i;
		char name[NAME_MAX + 1];
		int next;

		if (n > NAME_MAX)
			return err_set(err, ERR_LIMIT, "a name in '%.60s...' is too long", path);
		memcpy(name, path + i, n);
		name[n] = '\0';
		i += n + 1;
		if (n == 0 || strcmp(name, ".") == 0)
			continue;
		if (make && mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
			return err_set(err, ERR_IO, "create folder '%s'", path);
		next = openat(dir, name, WALK | O_NOFOLLOW);
		if (next < 0)
			return step_failed(dir, name, path, err);
		close(dir);
		dir = next;
	}
	*ret_fd = dir;
	dir = -1;
	return 0;
}

/* The part of an absolute path below the working directory, NULL when it lies elsewhere. */
static const char *below_here(const char *path)
{
	char here[PATH_MAX];
	size_t n;

	if (getcwd(here, sizeof(here)) == NULL)
		return NULL;
	n = strlen(here);
	return strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

int fs_below_open(const char *path, struct fs_below *ret, struct err *err)
{
	const char *relative = path[0] == '/' ? below_here(path) : path;
	const char *start = ".";
	int fd;

	/* The way up is the user's, too. */
	if (relative == NULL || strncmp(relative, "../", 3) == 0 ||
	    strstr(relative, "/../") != NULL || strcmp(relative, "..") == 0) {
		if (fs_mkdirs(path, err) != 0)
			return -1;
		start = path;
		relative = "";
	}
	fd = open(start, WALK);
	if (fd < 0)
		return err_set(err, ERR_IO, "open folder '%s'", start);
	if (walk(fd, relative, strlen(relative), true, &fd, err) != 0)
		return -1;
	*ret = (struct fs_below){fd, path};
	return 0;
}

void fs_below_done(struct fs_below *b)
{
	attr_close_fd(&b->fd);
}

static int walk_from_root(const struct fs_below *b, const char *path, size_t len, bool make,
                          int *ret_fd, struct err *err)
{
	int fd = fcntl(b->fd, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return err_set(err, ERR_IO, "open folder '%s'", b->path);
	return walk(fd, path, len, make, ret_fd, err) == 0 ? 0 : err_wrap(err, "'%s'", b->path);
}

int fs_below_mkdirs(const struct fs_below *b, const char *path, struct err *err)
{
	AUTO_CLOSE int dir = -1;

	return walk_from_root(b, path, strlen(path), true, &dir, err);
}

/* The open folder that `path` stands in, and its last name. */
static int parent(const struct fs_below *b, const char *path, bool make, int *ret_fd,
                  const char **ret_name, struct err *err)
{
	const char *slash = strrchr(path, '/');

	*ret_name = slash != NULL ? slash + 1 : path;
	return walk_from_root(b, path, slash != NULL ? (size_t)(slash - path) : 0, make, ret_fd,
	                      err);
}

int fs_below_read(const struct fs_below *b, const char *path, size_t max_bytes, struct strbuf *sb,
                  struct err *err)
{
	AUTO_CLOSE int dir = -1;
	const char *name;

	if (parent(b, path, false, &dir, &name, err) != 0)
		return -1;
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s/%s'",
		               b->path, path);
	if (slurp_fd(fd, max_bytes, sb, err) != 0)
		return err_wrap(err, "'%s/%s'", b->path, path);
	return 0;
}

static int write_temp(int dir, const char *temp, const void *bytes, size_t len, mode_t mode,
                      struct err *err)
{
	AUTO_CLOSE int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(err, ERR_IO, "create a file");
	if (fs_write_all(fd, bytes, len, err) != 0)
		return -1;
	if (fchmod(fd, mode) != 0)
		return err_set(err, ERR_IO, "set the mode");
	return fsync(fd) == 0 ? 0 : err_set(err, ERR_IO, "write to disk");
}

int fs_below_write(const struct fs_below *b, const char *path, const void *bytes, size_t len,
                   mode_t mode, struct err *err)
{
	AUTO_CLOSE int dir = -1;
	const char *name;
	unsigned long long number = 0;
	char temp[32];
	int result;

	if (parent(b, path, true, &dir, &name, err) != 0)
		return -1;
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return err_set(err, ERR_IO, "get random bytes");
	snprintf(temp, sizeof(temp), ".tmp-%016llx", number);
	result = write_temp(dir, temp, bytes, len, mode, err);
	if (result == 0 && renameat(dir, temp, dir, name) != 0)
		result = err_set(err, ERR_IO, "rename");
	if (result == 0 && fsync(dir) != 0 && errno != EINVAL)
		result = err_set(err, ERR_IO, "sync the folder");
	if (result != 0)
		(void)unlinkat(dir, temp, 0);
	return result == 0 ? 0 : err_wrap(err, "write '%s/%s'", b->path, path);
}

int fs_below_kind(const struct fs_below *b, const char *path, enum fs_below_kind *ret,
                  struct err *err)
{
	AUTO_CLOSE int dir = -1;
	const char *name;
	struct stat st;

	*ret = FS_BELOW_NOTHING;
	if (parent(b, path, false, &dir, &name, err) != 0) {
		if (err->code != ERR_NOT_FOUND)
			return -1;
		*err = (struct err){0};
		return 0;
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*ret = S_ISREG(st.st_mode) ? FS_BELOW_FILE : FS_BELOW_OTHER;
	else if (errno != ENOENT)
		return err_set(err, ERR_IO, "look at '%s/%s'", b->path, path);
	return 0;
}

int fs_below_remove(const struct fs_below *b, const char *path, struct err *err)
{
	AUTO_CLOSE int dir = -1, above = -1;
	char folder[PATH_MAX];
	const char *name;

	if (parent(b, path, false, &dir, &name, err) != 0) {
		if (err->code != ERR_NOT_FOUND)
			return -1;
		*err = (struct err){0};
		return 0;
	}
	if (unlinkat(dir, name, 0) != 0 && errno != ENOENT)
		return err_set(err, ERR_IO, "remove '%s/%s'", b->path, path);
	fs_parent(path, folder);
	if (strcmp(folder, ".") == 0)
		return 0;
	if (parent(b, folder, false, &above, &name, err) != 0)
		return -1;
	(void)unlinkat(above, name, AT_REMOVEDIR); /* one that still holds something stays */
	return 0;
}
