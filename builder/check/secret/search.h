/*
 * Secrets in the files of one layer: in each file as it is, and one level deep in archives (see
 * archive.h). What was found in a file stands ready when its end was told. Thread rule: one search,
 * one thread.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_SEARCH_H
#define SLIPWAY_BUILDER_CHECK_SECRET_SEARCH_H

#include "base/mem.h"
#include "builder/check/secret/archive.h"
#include "builder/check/secret/stream.h"

struct secret_finding {
	enum secret_kind kind;
	int64_t offset;               /* bytes from the start of the file, or of the member */
	bool in_archive;              /* in its member `inner` */
	char inner[ARCHIVE_NAME_MAX]; /* "" in a gzip file */
};

enum { SECRET_FINDINGS_MAX = 64 /* of one file: kinds outside, then members of an archive */ };

struct secret_search {
	struct secret_scanner file, member;
	struct secret_archive *archive;
	bool began, is_archive;
	char inner[ARCHIVE_NAME_MAX];
	int64_t budget;                      /* bytes that may still be unpacked */
	size_t n_too_large, n_unreadable;    /* archives of the layer */
	VEC(struct secret_finding) findings; /* of the last file */
};

/*
 * packed_bytes: of the layer's blob. Unpacking is bounded by it, so that no blob is made for
 * endless work: honest archives hardly shrink once more.
 */
void secret_search_init(struct secret_search *s, int64_t packed_bytes);
void secret_search_done(struct secret_search *s);

void secret_search_begin(struct secret_search *s, const char *path);
void secret_search_feed(struct secret_search *s, const void *bytes, size_t len);
void secret_search_end(struct secret_search *s);

#endif
