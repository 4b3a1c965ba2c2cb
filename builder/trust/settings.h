/*
 * `image.sign` of the spec: who signs what is pushed, and how.
 */
#ifndef SLIPWAY_BUILDER_TRUST_SETTINGS_H
#define SLIPWAY_BUILDER_TRUST_SETTINGS_H

#include "base/arena.h"
#include "base/doc/fields.h"
#include "base/strlist.h"
#include "base/strmap.h"

struct sign_settings {
	bool set;                  /* written in the spec */
	const char *key;           /* as trust_key_opts.ref */
	struct strlist formats;    /* signature_form_name; empty = bundle */
	struct strmap annotations; /* of every signature */
};

extern const struct field_table sign_settings_fields;

/* The forms of these names, as enum signature_forms; 0 when one of them is none. None at all:
 * bundles. */
unsigned sign_forms(const struct strlist *formats);

/* The key as trust_key_open takes it: a file's path is relative to the spec's folder. In the arena.
 */
const char *sign_key_ref(const struct sign_settings *s, const char *spec_dir, struct arena *a);

/* The same for any key, and any file, that a spec names. */
const char *trust_spec_ref(const char *ref, const char *spec_dir, struct arena *a);

/* The grammar of a key in a spec: as a field_check. */
const char *trust_key_check(const char *text, const char **ret_hint);

#endif
