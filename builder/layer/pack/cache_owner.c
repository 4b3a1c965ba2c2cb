#include "builder/layer/pack/cache_owner.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

/* What the kernel shows for an owner that the user namespace does not know (user_namespaces(7)). */
enum { OVERFLOW_UID = 65534 };

static int refuse(const char *dir, struct err *err)
{
	err_wrap(err, "build cache '%s'", dir);
	return err_hint(err,
	                "set XDG_CACHE_HOME to a folder of your own (with sudo: `sudo -H`), or "
	                "pass --no-cache");
}

/* The group of that user alone, whose umask may be 002. */
static bool is_private_group(const struct stat *st)
{
	return st->st_gid == st->st_uid && st->st_gid == getegid();
}

static bool others_may_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) != 0 ||
	       ((st->st_mode & S_IWGRP) != 0 && !is_private_group(st));
}

static int check_own(const char *path, const struct stat *st, struct err *err)
{
	if (st->st_uid != geteuid())
		return err_set(err, ERR_DENIED, "it belongs to user %u, and you are user %u",
		               (unsigned)st->st_uid, (unsigned)geteuid());
	if (others_may_write(st))
		return err_set(err, ERR_DENIED, "others may write to '%s' (mode %04o)", path,
		               (unsigned)(st->st_mode & 07777));
	return 0;
}

static int check_parent(const char *path, const struct stat *st, struct err *err)
{
	if (st->st_uid != geteuid() && st->st_uid != 0 && st->st_uid != OVERFLOW_UID)
		return err_set(err, ERR_DENIED, "'%s' belongs to user %u, and you are user %u",
		               path, (unsigned)st->st_uid, (unsigned)geteuid());
	if (others_may_write(st) && (st->st_mode & S_ISVTX) == 0)
		return err_set(err, ERR_DENIED,
		               "others may write to '%s' (mode %04o, no sticky bit)", path,
		               (unsigned)(st->st_mode & 07777));
	return 0;
}

/* The nearest that exists: `dir` itself (*ret_itself) or a folder above. */
static int find_existing(const char *dir, char out[PATH_MAX], bool *ret_itself, struct err *err)
{
	char at[PATH_MAX], above[PATH_MAX];

	if (strlen(dir) >= sizeof(at))
		return err_set(err, ERR_LIMIT, "the path is too long");
	memcpy(at, dir, strlen(dir) + 1);
	*ret_itself = true;
	while (realpath(at, out) == NULL) {
		if (errno != ENOENT && errno != ENOTDIR)
			return err_set(err, ERR_IO, "'%s'", at);
		fs_parent(at, above);
		if (strcmp(above, at) == 0)
			return err_set(err, ERR_IO, "'%s'", at);
		memcpy(at, above, sizeof(at));
		*ret_itself = false;
	}
	return 0;
}

static int check_chain(char path[PATH_MAX], bool itself, struct err *err)
{
	char above[PATH_MAX];

	for (;;) {
		struct stat st;

		if (stat(path, &st) != 0)
			return err_set(err, ERR_IO, "'%s'", path);
		if ((itself ? check_own(path, &st, err) : check_parent(path, &st, err)) != 0)
			return -1;
		if (strcmp(path, "/") == 0)
			return 0;
		itself = false;
		fs_parent(path, above);
		memcpy(path, above, sizeof(above));
	}
}

int cache_check_owner(const char *dir, struct err *err)
{
	char path[PATH_MAX];
	bool itself = false;

	if (find_existing(dir, path, &itself, err) != 0 || check_chain(path, itself, err) != 0)
		return refuse(dir, err);
	return 0;
}

int cache_make_dir(const char *dir, struct err *err)
{
	char path[PATH_MAX];

	if (strlen(dir) >= sizeof(path))
		return err_set(err, ERR_LIMIT, "build cache '%s': the path is too long", dir);
	for (size_t i = 1; i <= strlen(dir); i++) {
		if (dir[i] != '/' && dir[i] != '\0')
			continue;
		memcpy(path, dir, i);
		path[i] = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return err_set(err, ERR_IO, "build cache: make '%s'", path);
	}
	return 0;
}
