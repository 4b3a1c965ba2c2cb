/*
 * The keys that commands sign and verify with, and the secrets that they need.
 */
#ifndef SLIPWAY_BUILDER_CLI_KEY_OPTION_H
#define SLIPWAY_BUILDER_CLI_KEY_OPTION_H

#include "base/mem.h"
#include "builder/cli/command.h"
#include "builder/image/remote.h"
#include "builder/trust/key.h"

struct key_variable {
	char *name, *value; /* value is wiped */
};

/* Variables with secrets, taken out of the environment. Zero-initialise; AUTO(key_variables). */
struct key_variables {
	VEC(struct key_variable) taken;
};
void key_variables_done(struct key_variables *v);

/*
 * Takes the password of encrypted keys. Call it before anything starts a program: no child is to
 * inherit it.
 */
void key_variables_take(struct key_variables *v);

/* What signs and verifies, as a command line or the spec names it. */
int key_open(struct key_variables *v, const struct remote *remote, const char *ref, bool to_sign,
             struct trust_key **ret_key, struct err *err) MUST_USE;

/* Public keys of a command line. Zero-initialise; AUTO(key_list). */
struct key_list {
	struct trust_key **at;
	size_t n;
};
void key_list_done(struct key_list *keys);

/* Opens each, to verify with. */
int key_list_open(struct key_variables *v, const struct remote *remote, const struct strlist *refs,
                  struct key_list *keys, struct err *err) MUST_USE;

/* "NAME=VALUE" texts as a map in the arena; ERR_USAGE for anything else. */
int key_annotations(const struct strlist *texts, struct arena *a, struct strmap *ret_map,
                    struct err *err) MUST_USE;

#endif
