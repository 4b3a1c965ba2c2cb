#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/slurp.h"

int fs_read_file(const char *path, size_t max_bytes, struct strbuf *sb, struct err *err)
{
	return slurp_file(path, max_bytes, sb, err);
}

ssize_t fs_read(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t fs_pread(int fd, void *buf, size_t len, int64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, buf, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t fs_pwrite(int fd, const void *bytes, size_t len, int64_t offset)
{
	ssize_t n;

	do
		n = pwrite(fd, bytes, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n;
}

int fs_write_all(int fd, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_IO, "write");
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

void fs_parent(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		snprintf(out, PATH_MAX, ".");
	else if (slash == path)
		snprintf(out, PATH_MAX, "/");
	else
		snprintf(out, PATH_MAX, "%.*s", (int)(slash - path), path);
}

/* Makes a rename in the folder durable. */
static int sync_folder(const char *dir, struct err *err)
{
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, ERR_IO, "open folder '%s'", dir);
	if (fsync(fd) != 0 && errno != EINVAL)
		return err_set(err, ERR_IO, "sync folder '%s'", dir);
	return 0;
}

int fs_temp_open(struct fs_temp *t, const char *dir, struct err *err)
{
	int n = snprintf(t->path, sizeof(t->path), "%s/.tmp-XXXXXX", dir);

	t->fd = -1;
	if (n < 0 || (size_t)n >= sizeof(t->path)) {
		t->path[0] = '\0';
		return err_set(err, ERR_LIMIT, "path '%.60s...' is too long", dir);
	}
	t->fd = mkostemp(t->path, O_CLOEXEC);
	if (t->fd < 0) {
		t->path[0] = '\0';
		return err_set(err, ERR_IO, "create a file in '%s'", dir);
	}
	return 0;
}

int fs_open_unnamed(const char *dir, int *ret_fd, struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;

	*ret_fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		return 0;
	/* Some file systems have no O_TMPFILE. */
	if (fs_temp_open(&temp, dir, err) != 0)
		return -1;
	*ret_fd = temp.fd;
	temp.fd = -1;
	return 0;
}

int fs_temp_commit(struct fs_temp *t, const char *final, mode_t mode, struct err *err)
{
	char dir[PATH_MAX];

	fs_parent(final, dir);
	if (fchmod(t->fd, mode) != 0)
		return err_set(err, ERR_IO, "set the mode of '%s'", final);
	if (fsync(t->fd) != 0)
		return err_set(err, ERR_IO, "write '%s' to disk", final);
	if (rename(t->path, final) != 0)
		return err_set(err, ERR_IO, "rename to '%s'", final);
	t->path[0] = '\0';
	fs_temp_done(t);
	return sync_folder(dir, err);
}

void fs_temp_done(struct fs_temp *t)
{
	/* A zeroed object has no file: descriptor 0 is never ours. */
	if (t->fd > 0)
		close(t->fd);
	if (t->path[0] != '\0')
		unlink(t->path);
	t->fd = -1;
	t->path[0] = '\0';
}

int fs_write_file(const char *path, const void *bytes, size_t len, mode_t mode, struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	char dir[PATH_MAX];

	fs_parent(path, dir);
	if (fs_temp_open(&temp, dir, err) != 0 || fs_write_all(temp.fd, bytes, len, err) != 0 ||
	    fs_temp_commit(&temp, path, mode, err) != 0)
		return err_wrap(err, "'%s'", path);
	return 0;
}

static int make_dir(const char *path, struct err *err)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno == EEXIST) {
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return err_set(err, ERR_IO, "create folder '%s'", path);
}

int fs_mkdirs(const char *path, struct err *err)
{
	char buf[PATH_MAX];
	int n = snprintf(buf, sizeof(buf), "%s", path);

	if (n <= 0 || (size_t)n >= sizeof(buf))
		return err_set(err, ERR_LIMIT, "path '%.60s...' is empty or too long", path);
	for (char *slash = strchr(buf + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (make_dir(buf, err) != 0)
			return -1;
		*slash = '/';
	}
	return make_dir(buf, err);
}

bool fs_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int fs_join(char out[PATH_MAX], const char *dir, const char *name, struct err *err)
{
	int n = snprintf(out, PATH_MAX, "%s/%s", dir, name);

	if (n < 0 || n >= PATH_MAX)
		return err_set(err, ERR_LIMIT, "path '%.60s.../%.60s' is too long", dir, name);
	return 0;
}

int fs_cache_dir(char out[PATH_MAX], struct err *err)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	/* The XDG base directory specification ignores a relative path. */
	if (xdg != NULL && xdg[0] == '/')
		return fs_join(out, xdg, "slipway", err);
	if (home != NULL && home[0] == '/')
		return fs_join(out, home, ".cache/slipway", err);
	return err_set(err, ERR_NOT_FOUND, "neither XDG_CACHE_HOME nor HOME is set");
}
