/*
 * Reading a small file whole. Depends on err, mem and strbuf only, so that slipway-trainer can link
 * it for any architecture without a foreign library.
 */
#ifndef SLIPWAY_BASE_SLURP_H
#define SLIPWAY_BASE_SLURP_H

#include "base/err.h"
#include "base/strbuf.h"

/*
 * Reads path to its end into sb (emptied first; sb->max is not consulted). ERR_NOT_FOUND when it
 * does not exist, ERR_IO otherwise, ERR_LIMIT when it has more than max_bytes bytes. Works on /proc
 * and /sys too, where sizes are not known.
 */
int slurp_file(const char *path, size_t max_bytes, struct strbuf *sb, struct err *err) MUST_USE;

/* The same for what is open; the message names no file. */
int slurp_fd(int fd, size_t max_bytes, struct strbuf *sb, struct err *err) MUST_USE;

#endif
