/*
 * What the tar and deb sources share: taking members out of an open libarchive reader into a tree.
 */
#ifndef SLIPWAY_LAYER_SOURCE_ARCHIVE_H
#define SLIPWAY_LAYER_SOURCE_ARCHIVE_H

#include <archive.h>

#include "builder/layer/model.h"
#include "builder/layer/sources.h"

struct archive_import {
	struct tree *tree;
	const struct layer_tar
		*item; /* to, strip, include, exclude, xattrs; from names it in messages */
	struct diags *diags;
};

/* Adds every member of `archive` (positioned before its first header). A damaged archive is a
 * problem. */
int archive_import(const struct archive_import *in, struct archive *archive,
                   struct err *err) MUST_USE;

/* A reader with every format and filter of tar; the caller frees with archive_read_free. */
struct archive *archive_tar_reader(void);

/* Raw bytes of a member's name, whatever the locale is. */
struct archive_entry;
const char *archive_member_name(struct archive_entry *entry);

#endif
