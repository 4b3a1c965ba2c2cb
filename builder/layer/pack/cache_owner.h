/*
 * Whose the cache's folder is. What lies in it goes into images, so nobody else may put it there.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_CACHE_OWNER_H
#define SLIPWAY_BUILDER_LAYER_PACK_CACHE_OWNER_H

#include "base/err.h"

/*
 * Refuses a folder that is not the user's (effective user ID) or that others may write to, and one
 * below a folder in which somebody else could put another in its place: of another user than root,
 * or writable by others without the sticky bit. Links are followed; a folder that does not exist
 * yet is judged by those above it. ERR_DENIED names the folder.
 */
int cache_check_owner(const char *dir, struct err *err) MUST_USE;

/*
 * Makes the folder, and those above it that are missing, for the user alone whatever the umask is
 * (XDG Base Directory Specification). ERR_IO.
 */
int cache_make_dir(const char *dir, struct err *err) MUST_USE;

#endif
