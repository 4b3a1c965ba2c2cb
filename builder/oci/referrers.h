/*
 * What is attached to an image: manifests whose `subject` is the image's manifest or index
 * (image-spec, manifest.md; distribution-spec, "Listing Referrers"). A registry lists them itself,
 * or clients keep a list under a tag; a layout has them as entries of index.json. Whatever the list
 * says, only the referrer's own manifest tells what it is about: whoever opens one checks it
 * (artifact.h). All strings live in the caller's arena.
 */
#ifndef SLIPWAY_BUILDER_OCI_REFERRERS_H
#define SLIPWAY_BUILDER_OCI_REFERRERS_H

#include "base/mem.h"
#include "builder/oci/manifest.h"
#include "builder/oci/store.h"

/*
 * Most entries of a list, and most manifests that are opened because the list does not say their
 * type: a list from outside may be made to cost time.
 */
enum { REFERRERS_MAX = 4096, REFERRERS_OPENED_MAX = 1024 };

/* On an entry of a layout's index.json: the digest of what the entry is attached to. */
#define ANNOTATION_SUBJECT "dev.slipway.subject"

enum { REFERRERS_TAG_MAX = 72 };

/* The tag under which clients keep the list: "sha256-" and 64 hex digits. Returns out. */
char *referrers_tag(const struct digest *subject, char out[REFERRERS_TAG_MAX]);

/* Each with its artifact_type, "" where even its manifest has none. */
struct referrers {
	struct descriptor *at;
	size_t n;
};

/*
 * All referrers of `subject`, or those of artifact type `type` (NULL = any); none where this kind
 * of store has none. ERR_LIMIT beyond the caps, ERR_FORMAT for a list that is not one.
 */
int store_referrers(struct store *s, const struct digest *subject, const char *type,
                    struct arena *a, struct referrers *ret_referrers, struct err *err) MUST_USE;

/* ---- for stores: entries of lists are considered one by one ---- */

struct referrers_scan {
	struct store *store; /* where manifests are opened */
	const struct digest *subject;
	const char *type; /* NULL = any */
	struct arena *arena;
	VEC(struct descriptor) found;
	size_t n_seen, n_opened;
};

/* Frees what finish did not hand over; for AUTO(referrers_scan). */
void referrers_scan_done(struct referrers_scan *scan);

/*
 * An entry of a list of referrers. One without a type, or with the type of an empty configuration
 * (some clients write that), is opened to see its own. What is gone or is not a manifest is passed
 * over.
 */
int referrers_consider(struct referrers_scan *scan, const struct descriptor *entry,
                       struct err *err) MUST_USE;

/* A whole list: ERR_FORMAT when it names the subject itself, for then it is not such a list. */
int referrers_consider_list(struct referrers_scan *scan, const struct index *list,
                            struct err *err) MUST_USE;

/* A layout's index.json: its entries that name the subject, and the list that clients keep. */
int referrers_consider_layout(struct referrers_scan *scan, const struct index *index,
                              struct err *err) MUST_USE;

/* What was found, in the arena. */
struct referrers referrers_finish(struct referrers_scan *scan);

#endif
