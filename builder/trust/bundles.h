/*
 * The bundles that are attached to an image, read once, whatever is asked of them then
 * (signatures.h). They are hostile: what cannot be read has its reason instead, and there are caps
 * on each and on all of them.
 */
#ifndef SLIPWAY_BUILDER_TRUST_BUNDLES_H
#define SLIPWAY_BUILDER_TRUST_BUNDLES_H

#include "base/mem.h"
#include "builder/oci/store.h"
#include "builder/trust/bundle.h"

/* Most bundles of one image, and most bytes of all of them. */
enum { BUNDLES_MAX = 1024, BUNDLES_BYTES_MAX = 256 << 20 };

struct bundle_entry {
	struct digest manifest; /* that carries it */
	const char *why_not;    /* it is not a bundle about the image; NULL: it is */
	struct bundle bundle;
};

struct bundle_list {
	struct bundle_entry *at; /* in the registry's order */
	size_t n;
};

/*
 * All bundles that are attached to the subject; strings live in the arena. -1 when the registry
 * cannot be asked, or what it lists is not a list; ERR_LIMIT beyond a cap on all of them.
 */
int bundles_read(struct store *s, const struct digest *subject, struct arena *a,
                 struct bundle_list *ret_list, struct err *err) MUST_USE;

struct bundle_cached {
	struct digest subject;
	struct bundle_list list;
};

/* What was read of a store's images so far. Set the first two members; bundle_cache_done. */
struct bundle_cache {
	struct store *store;
	struct arena *arena; /* of all that is read */

	VEC(struct bundle_cached) read; /* its own */
};
void bundle_cache_done(struct bundle_cache *cache);

/* As bundles_read, the first time that a subject is asked about. */
int bundle_cache_get(struct bundle_cache *cache, const struct digest *subject,
                     struct bundle_list *ret_list, struct err *err) MUST_USE;

/* Whether a failure is about one document, which then does not count; what keeps us from reading at
 * all is about the whole. */
bool bundle_is_at_fault(const struct err *why);

#endif
