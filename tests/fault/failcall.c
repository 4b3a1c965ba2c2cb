/*
 * LD_PRELOAD shim for the tests: the FAILCALL_N-th call of the function named by FAILCALL fails, as a
 * full disk, a broken one or a lost permission would make it. All other calls pass through. When it has
 * failed a call it makes the file named by FAILCALL_MARK, so that a loop over n knows where to stop.
 *
 *   FAILCALL                              fails with
 *   write pwrite ftruncate fsync          ENOSPC (write: not of standard streams, sockets or pipes)
 *   open openat mkostemp                  ENOSPC (only opens that may write)
 *   rename link mkdir unlink read pread   EIO    (read: regular files only)
 *   renameat mkdirat                      EIO
 *   opendir fopen                         EACCES
 *   flock                                 ENOLCK
 *   malloc calloc realloc memory          ENOMEM (memory: any of the three)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void leave_mark(void)
{
	const char *path = getenv("FAILCALL_MARK");

	if (path == NULL)
		return;
	/* Straight to the kernel: these calls are not to be counted. */
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* True for the one call that is to fail; errno is then set. */
static int due(const char *name, int error)
{
	static int calls;
	const char *want = getenv("FAILCALL"), *n = getenv("FAILCALL_N");

	if (want == NULL || n == NULL || strcmp(want, name) != 0)
		return 0;
	if (__sync_add_and_fetch(&calls, 1) != (int)strtol(n, NULL, 10))
		return 0;
	leave_mark();
	errno = error;
	return 1;
}

static int is_file(int fd)
{
	struct stat st;

	return fd > 2 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Defines `name`, which fails when due and `applies`, and else calls the real one. */
#define SHIM(type, failure, name, parameters, arguments, applies, error)                                       \
	type name parameters                                                                                   \
	{                                                                                                      \
		type(*next) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name);                          \
		return (applies) && due(#name, error) ? (failure) : next arguments;                            \
	}

SHIM(ssize_t, -1, write, (int fd, const void *p, size_t n), (fd, p, n), is_file(fd), ENOSPC)
SHIM(ssize_t, -1, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), 1, ENOSPC)
SHIM(ssize_t, -1, read, (int fd, void *p, size_t n), (fd, p, n), is_file(fd), EIO)
SHIM(ssize_t, -1, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), 1, EIO)
SHIM(int, -1, ftruncate, (int fd, off_t length), (fd, length), 1, ENOSPC)
SHIM(int, -1, fsync, (int fd), (fd), 1, ENOSPC)
SHIM(int, -1, rename, (const char *from, const char *to), (from, to), 1, EIO)
SHIM(int, -1, link, (const char *from, const char *to), (from, to), 1, EIO)
SHIM(int, -1, mkdir, (const char *path, mode_t mode), (path, mode), 1, EIO)
SHIM(int, -1, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode), 1, EIO)
SHIM(int, -1, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), 1, EIO)
SHIM(int, -1, unlink, (const char *path), (path), 1, EIO)
SHIM(int, -1, mkostemp, (char *path, int flags), (path, flags), 1, ENOSPC)
SHIM(int, -1, flock, (int fd, int how), (fd, how), 1, ENOLCK)
SHIM(DIR *, NULL, opendir, (const char *path), (path), 1, EACCES)
SHIM(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode), 1, EACCES)

/* glibc's own names: dlsym may allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

#define MEMORY(name) (due(#name, ENOMEM) || due("memory", ENOMEM))

void *malloc(size_t size)
{
	return MEMORY(malloc) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return MEMORY(calloc) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return MEMORY(realloc) ? NULL : __libc_realloc(old, size);
}

#define MAY_WRITE(flags) (((flags) & (O_WRONLY | O_RDWR)) != 0)

/* The mode argument exists only where a file may be made. */
#define TAKE_MODE(flags, mode)                                                                                 \
	do {                                                                                                   \
		va_list args;                                                                                  \
		va_start(args, flags);                                                                         \
		if ((flags) & (O_CREAT | O_TMPFILE))                                                           \
			(mode) = va_arg(args, mode_t);                                                         \
		va_end(args);                                                                                  \
	} while (0)

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	mode_t mode = 0;

	TAKE_MODE(flags, mode);
	return MAY_WRITE(flags) && due("open", ENOSPC) ? -1 : next(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	int (*next)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	mode_t mode = 0;

	TAKE_MODE(flags, mode);
	return MAY_WRITE(flags) && due("openat", ENOSPC) ? -1 : next(dir, path, flags, mode);
}
