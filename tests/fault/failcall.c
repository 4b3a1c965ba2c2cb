/*
 * LD_PRELOAD shim for the tests: the FAILCALL_N-th call of the function named by FAILCALL fails
 * (write, fsync: ENOSPC; rename, open for writing: EIO). All other calls pass through.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int due(const char *name)
{
	static int calls;
	const char *want = getenv("FAILCALL"), *n = getenv("FAILCALL_N");

	if (want == NULL || n == NULL || strcmp(want, name) != 0)
		return 0;
	return __sync_add_and_fetch(&calls, 1) == (int)strtol(n, NULL, 10);
}

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	ssize_t (*next)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");

	if (fd > 2 && due("write")) {
		errno = ENOSPC;
		return -1;
	}
	return next(fd, buf, len);
}

int fsync(int fd)
{
	int (*next)(int) = (int (*)(int))real("fsync");

	if (due("fsync")) {
		errno = ENOSPC;
		return -1;
	}
	return next(fd);
}

int rename(const char *from, const char *to)
{
	int (*next)(const char *, const char *) = (int (*)(const char *, const char *))real("rename");

	if (due("rename")) {
		errno = EIO;
		return -1;
	}
	return next(from, to);
}

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))real("open");
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	if ((flags & (O_WRONLY | O_RDWR)) && due("open")) {
		errno = EIO;
		return -1;
	}
	return next(path, flags, mode);
}
