/*
 * Files that a command writes its result to (--digest-file, --metadata-file). What a user names
 * there is not always a plain file: /dev/stdout, a named pipe, a link into another folder.
 */
#ifndef SLIPWAY_BUILDER_CLI_RESULT_FILE_H
#define SLIPWAY_BUILDER_CLI_RESULT_FILE_H

#include <stddef.h>

#include "base/err.h"

/*
 * Writes the bytes to `path`. A regular file, or none, is replaced atomically; a link to one stays
 * and its target is replaced; devices and pipes are written to, and a pipe's reader is waited for.
 * A link to this process's own standard output or error (as /dev/stdout) writes there. ERR_IO names
 * the path.
 */
int result_file_write(const char *path, const char *bytes, size_t len, struct err *err) MUST_USE;

#endif
