#include "builder/cli/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fs.h"

enum { RESULT_MODE = 0644 };

/* Standard output or error when it is this file, else -1. */
static int standard_stream(const struct stat *file)
{
	struct stat st;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino)
			return fd;
	return -1;
}

/* Also makes the target of a link that leads nowhere yet. */
static int write_in_place(const char *path, const char *bytes, size_t len, struct err *err)
{
	AUTO_CLOSE int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, RESULT_MODE);

	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", path);
	return fs_write_all(fd, bytes, len, err);
}

/* A link is followed before the file is replaced, else the link would be. */
static int replace_target(const char *path, const char *bytes, size_t len, struct err *err)
{
	char target[PATH_MAX];

	if (realpath(path, target) == NULL)
		return err_set(err, ERR_IO, "resolve the path '%s'", path);
	return fs_write_file(target, bytes, len, RESULT_MODE, err);
}

static int write_result(const char *path, const char *bytes, size_t len, struct err *err)
{
	struct stat named, target;

	if (lstat(path, &named) != 0 || S_ISREG(named.st_mode))
		return fs_write_file(path, bytes, len, RESULT_MODE, err);
	if (stat(path, &target) != 0)
		return write_in_place(path, bytes, len, err);
	/*
	 * Opened once more, a redirected stream would be cut short, or (a socket) not open at all.
	 */
	int fd = S_ISLNK(named.st_mode) ? standard_stream(&target) : -1;

	if (fd >= 0)
		return fs_write_all(fd, bytes, len, err);
	return S_ISREG(target.st_mode) ? replace_target(path, bytes, len, err)
	                               : write_in_place(path, bytes, len, err);
}

int result_file_write(const char *path, const char *bytes, size_t len, struct err *err)
{
	return write_result(path, bytes, len, err) == 0 ? 0 : err_wrap(err, "write '%s'", path);
}
