/*
 * The statement of how an image was built, as it is attached to the image: found, checked and read.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_STATED_H
#define SLIPWAY_BUILDER_IMAGE_STATED_H

#include "base/diag.h"
#include "builder/oci/store.h"
#include "builder/provenance/statement.h"
#include "builder/trust/key.h"

/* Who has to have signed it; without keys, whatever is attached is read: a claim of whoever may
 * write to the repository. */
struct stated_wish {
	struct trust_key *const *keys;
	size_t n_keys;
};

struct stated {
	struct descriptor manifest;   /* of the image that it is about */
	struct digest carrier;        /* the manifest that carries it */
	size_t n_others;              /* attached as well, and not looked at */
	struct provenance provenance; /* provenance_done */
};

/*
 * The statement about one platform's manifest. Without keys, of several the one that was created
 * last; with keys, one that all of them have signed. ERR_CHECK when there is none; diags then say
 * of each signed one why it does not count. Otherwise what provenance_parse and the store give.
 */
int stated_read(struct store *s, const struct descriptor *manifest, const struct stated_wish *wish,
                struct arena *a, struct diags *d, struct stated *ret_stated,
                struct err *err) MUST_USE;

#endif
