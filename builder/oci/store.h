/*
 * Where blobs and manifests are read from: an OCI layout, an archive or a registry behind one
 * interface, so that verify, inspect, diff and base images need not know which.
 * Every reader verifies digest and size. Thread rule: calls may come from several threads at once.
 */
#ifndef SLIPWAY_BUILDER_OCI_STORE_H
#define SLIPWAY_BUILDER_OCI_STORE_H

#include "base/stream.h"
#include "builder/oci/descriptor.h"

struct referrers; /* builder/oci/referrers.h */

struct store {
	/* Finds what a tag (NULL = the only or "latest" one) names, without reading more than
	 * needed. */
	int (*resolve)(struct store *s, const char *tag, struct arena *a,
	               struct descriptor *ret_desc, struct err *err);
	/* Opens the bytes of desc; reading ends in ERR_DIGEST when they differ. Caller:
	 * source_close. */
	int (*open)(struct store *s, const struct descriptor *desc, struct source **ret_source,
	            struct err *err);
	/* Releases the store and its memory. */
	void (*close)(struct store *s);
	/* As store_referrers; NULL: this kind of store has none. */
	int (*referrers)(struct store *s, const struct digest *subject, const char *type,
	                 struct arena *a, struct referrers *ret_referrers, struct err *err);
};

int store_resolve(struct store *s, const char *tag, struct arena *a, struct descriptor *ret_desc,
                  struct err *err) MUST_USE;
int store_open(struct store *s, const struct descriptor *desc, struct source **ret_source,
               struct err *err) MUST_USE;

/* 0 when a blob of `size` bytes may be desc's, else ERR_DIGEST: what is known before it is read. */
int store_check_size(const struct descriptor *desc, int64_t size, struct err *err) MUST_USE;
void store_close(struct store *s);   /* accepts NULL */
void store_closep(struct store **s); /* for AUTO-style clean-up of a variable */

/* Reads a whole verified document of at most max_bytes into sb (emptied first); ERR_LIMIT if
 * larger. */
int store_read(struct store *s, const struct descriptor *desc, size_t max_bytes, struct strbuf *sb,
               struct err *err) MUST_USE;

#endif
