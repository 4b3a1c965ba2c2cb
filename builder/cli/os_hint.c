#include "builder/cli/os_hint.h"

#include <errno.h>
#include <stddef.h>

#include "base/attr.h"

const char *os_hint(int os_errno)
{
	static const struct {
		int os_errno;
		const char *hint;
	} known[] = {
		{ENOENT, "check the path: it is relative to the folder slipway runs in"},
		{ENOTDIR, "a file is where a folder has to be: remove it, or choose another path"},
		{EISDIR, "name a file, not a folder"},
		{EEXIST, "remove what is there, or choose another path"},
		{EACCES, "choose a path that you may use, or change its permissions"},
		{EPERM, "choose a path that you may use, or change its owner"},
		{EROFS, "choose a path on a file system that can be written"},
		{ENOSPC, "make room, or choose another disk: -o, XDG_CACHE_HOME and TMPDIR"},
		{EDQUOT, "make room, or choose another disk: -o, XDG_CACHE_HOME and TMPDIR"},
		{EFBIG, "raise the limit of a file's size (ulimit -f), or choose another disk"},
		{ENAMETOOLONG, "choose a shorter path"},
		{ELOOP, "symbolic links lead round in a circle there: choose another path"},
		{EMFILE, "raise the limit of open files (ulimit -n)"},
		{EPIPE, "what reads standard output ended: write to a file instead"},
		{EIO, "the disk or its connection failed: look at the kernel's log"},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].os_errno == os_errno)
			return known[i].hint;
	return NULL;
}
