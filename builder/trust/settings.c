#include "builder/trust/settings.h"

#include <string.h>

#include "builder/trust/signatures.h"

static unsigned form_of(const char *name)
{
	static const enum signature_forms forms[] = {SIGNATURE_BUNDLE, SIGNATURE_TAG};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (strcmp(name, signature_form_name(forms[i])) == 0)
			return forms[i];
	return 0;
}

unsigned sign_forms(const struct strlist *formats)
{
	unsigned all = 0;

	for (size_t i = 0; i < formats->n; i++) {
		if (form_of(formats->at[i]) == 0)
			return 0;
		all |= form_of(formats->at[i]);
	}
	return all != 0 ? all : SIGNATURE_BUNDLE;
}

const char *trust_spec_ref(const char *ref, const char *spec_dir, struct arena *a)
{
	bool is_path = strstr(ref, "://") == NULL && ref[0] != '/';

	return is_path && spec_dir[0] != '\0' ? arena_printf(a, "%s/%s", spec_dir, ref) : ref;
}

const char *sign_key_ref(const struct sign_settings *s, const char *spec_dir, struct arena *a)
{
	return trust_spec_ref(s->key, spec_dir, a);
}

static const char *format_check(const char *text, const char **ret_hint)
{
	*ret_hint = "choose bundle, tag or both";
	return form_of(text) == 0 ? "is not a form of signatures" : NULL;
}

const char *trust_key_check(const char *text, const char **ret_hint)
{
	*ret_hint = "a file, env://VARIABLE or awskms:///alias/NAME";
	if (strstr(text, "-----BEGIN") != NULL)
		return "is a key itself, which belongs in no spec";
	return text[0] == '\0' ? "is empty" : NULL;
}

static const struct field rows[] = {
	FIELD_STRING(struct sign_settings, key, "key",
                     "The private key: a file, env://VARIABLE or awskms:///alias/NAME.",
                     .flags = FIELD_REQUIRED, .check = trust_key_check),
	FIELD_STRINGS(struct sign_settings, formats, "formats",
                      "How signatures are written: bundle (a referrer), tag (the older "
                      "sha256-HEX.sig), or both.",
                      .check = format_check, .fallback_doc = "[bundle]"),
	FIELD_MAP(struct sign_settings, annotations, "annotations",
                  "What each signature says besides the image's digest."),
};

const struct field_table sign_settings_fields = FIELD_TABLE(
	struct sign_settings, "sign", rows, "Signing what is pushed, before a tag names it.");
