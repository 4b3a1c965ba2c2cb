/*
 * The user that an image runs as, found as container runtimes find it, and what this user may do.
 * Names come from the image's /etc/passwd and /etc/group (passwd(5), group(5)); numbers need
 * neither. As in runc's library: a user without a group gets the group and the supplementary groups
 * of the files; one who is not in them gets group 0; a group that is written takes their place.
 * Pure functions over texts. Ownership: results live in the arena given.
 */
#ifndef SLIPWAY_BUILDER_CHECK_USER_H
#define SLIPWAY_BUILDER_CHECK_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "builder/check/scan.h"

struct image_user {
	const char *text; /* as the configuration names it; "root" when it names none */
	uint32_t uid, gid;
	const uint32_t *groups; /* supplementary, in the order of their numbers */
	size_t n_groups;
};

enum user_fault {
	USER_FOUND,
	USER_UNKNOWN,  /* the name is not in passwd */
	USER_NO_GROUP, /* the group's name is not in group */
	USER_TOO_LARGE /* a number beyond 2147483647, which runtimes refuse */
};

/* `user` is "", NAME, UID, or either with ":" and a group. passwd and group are the files' texts,
 * "" when the image has none. */
enum user_fault user_resolve(const char *user, const char *passwd, const char *group,
                             struct arena *a, struct image_user *ret_user);

/* Names of one of these files, for hints. */
struct strlist user_names(const char *file, struct arena *a);

/* What one may be allowed to do with a file or folder: bits of the mode's last digit. */
enum user_right { USER_EXECUTE = 1, USER_SEARCH = 1, USER_READ = 4 };

/*
 * By owner, group or others, the first that applies (path_resolution(7)); root may read and search
 * everything, and execute what anybody may. A member NULL is a folder that runtimes make: 0755.
 */
bool user_may(const struct image_user *user, const struct scan_member *m, enum user_right right);

#endif
