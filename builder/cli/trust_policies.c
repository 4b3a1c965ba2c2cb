#include "builder/cli/trust_policies.h"

#include <stdlib.h>

#include "builder/cli/key_option.h"
#include "builder/trust/settings.h"
#include "k8s/fleet/admission.h"

enum { PEM_BYTES_MAX = 64 << 10 };

/* No program is started, and no AWS asked: a key in KMS is passed by its name. */
static char *take_variable(const struct trust_key_outside *o, const char *name)
{
	const char *value = getenv(name);

	(void)o;
	return value != NULL ? mem_strdup(value) : NULL;
}

static int open_key(struct cli *cli, const struct spec *spec, struct admission_key *key,
                    struct err *err)
{
	AUTO(strbuf) struct strbuf pem = STRBUF_INIT(PEM_BYTES_MAX);
	AUTO_TRUST_KEY struct trust_key *opened = NULL;
	const struct trust_key_outside outside = {.take_variable = take_variable};
	const struct trust_key_opts opts = {.ref = trust_spec_ref(key->ref, spec->dir, &cli->arena),
	                                    .outside = &outside};

	if (key->kms != NULL)
		return 0;
	if (trust_key_open(&opts, &opened, err) != 0)
		return -1;
	trust_key_public_pem(opened, &pem);
	key->pem = arena_strdup(&cli->arena, strbuf_str(&pem));
	key->hash = trust_key_hash(opened);
	return 0;
}

static int open_keys(struct cli *cli, const struct spec *spec, struct admission_key *keys, size_t n,
                     struct srcpos at, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (open_key(cli, spec, &keys[i], err) != 0) {
			diags_error(&cli->diags, at, err->hint[0] != '\0' ? err->hint : NULL,
			            "trust: %s", err->msg);
			return err_set(err, ERR_SPEC,
			               "a key that policies are to hold cannot be read");
		}
	return 0;
}

int trust_policies_open(struct cli *cli, struct spec *spec, struct err *err)
{
	const struct admission *admission = spec->fleet.admission;

	for (size_t i = 0; admission != NULL && i < admission->n; i++) {
		struct admission_rule *r = &admission->rules[i];

		if (open_keys(cli, spec, r->keys, r->n_keys, r->at, err) != 0 ||
		    open_keys(cli, spec, r->builder_keys, r->n_builder_keys, r->at, err) != 0)
			return -1;
	}
	return 0;
}
