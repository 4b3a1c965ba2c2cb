/*
 * `accounts:` of a layer: the texts of passwd(5), group(5) and nsswitch.conf(5), and the users'
 * home folders. A layer replaces a file of the base whole, so what the base has is merged in: its
 * lines stay as they are and where they are, new ones follow in the spec's order. Pure but for the
 * tree; the base's texts are capped by whoever reads them.
 * Ownership: texts live in the arena. Thread rule: no shared state.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_ACCOUNTS_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_ACCOUNTS_H

#include "builder/layer/source/sources.h"

struct accounts_text {
	const char *passwd, *group, *nsswitch; /* NULL = there is none */
};

/*
 * The new texts in *ret_text, from the wanted accounts and what the base has (NULL = scratch). root
 * is added unless its name or its number is taken. A base's user or group of the same name and
 * number is taken over: a user's line is replaced, a group keeps its members. The base's
 * nsswitch.conf is kept. Problems in d, at the account: a name or number that somebody else has, a
 * further group that nobody has.
 */
void accounts_write(const struct layer_accounts *want, const struct accounts_text *base,
                    const char *label, struct arena *a, struct diags *d,
                    struct accounts_text *ret_text);

/* A user's home folder, as written or by default. */
const char *accounts_home(const struct layer_user *u, struct arena *a);

/* Adds etc/passwd, etc/group, etc/nsswitch.conf (if the base has none) and home folders. */
int source_accounts_add(struct tree *t, const struct layer_accounts *want,
                        const struct accounts_text *base, struct diags *d,
                        struct err *err) MUST_USE;

/* source_accounts_add with the texts of the base; NULL = scratch. */
int accounts_on_base(struct tree *t, const struct layer_accounts *want, struct base_files *base,
                     struct diags *d, struct err *err) MUST_USE;

#endif
