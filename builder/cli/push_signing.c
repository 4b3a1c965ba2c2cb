#include "builder/cli/push_signing.h"

void push_signing_done(struct push_signing *s)
{
	trust_key_free(s->key);
	*s = (struct push_signing){0};
}

int push_signing_open(struct cli *cli, struct key_variables *variables, const struct remote *remote,
                      const struct spec *spec, struct push_signing *s, struct image_target *target,
                      struct err *err)
{
	const struct sign_settings *settings = &spec->image.sign;

	if (!settings->set)
		return 0;
	if (key_open(variables, remote, sign_key_ref(settings, spec->dir, &cli->arena), true,
	             &s->key, err) != 0)
		return err_wrap(err, "image.sign");
	s->signing = (struct image_signing){s->key, sign_forms(&settings->formats),
	                                    settings->annotations, spec->image.provenance,
	                                    spec->image.sbom.set && spec->image.sbom.attach};
	target->signing = &s->signing;
	return 0;
}
