/* See signing_option.h. */
#include "builder/cli/signing_option.h"

#include "builder/trust/signatures.h"

int signing_parse(const struct signing_options *o, struct arena *a, struct image_signing *ret,
                  struct err *err)
{
	ret->forms = sign_forms(&o->format);
	if (ret->forms != 0)
		return key_annotations(&o->annotation, a, &ret->annotations, err);
	err_set(err, ERR_USAGE, "--format names no form of signatures");
	return err_hint(err, "choose bundle, tag or both: --format bundle --format tag");
}

int signing_from_options(const struct signing_options *o, struct cli *cli,
                         struct key_variables *variables, const struct remote *remote,
                         struct push_signing *s, struct image_target *target, struct err *err)
{
	if (o->key == NULL && o->format.n + o->annotation.n == 0)
		return 0;
	if (o->key == NULL)
		return err_set(err, ERR_USAGE, "--format and --annotation are for --key");
	if (signing_parse(o, &cli->arena, &s->signing, err) != 0 ||
	    key_open(variables, remote, o->key, true, &s->key, err) != 0)
		return -1;
	s->signing.key = s->key;
	target->signing = &s->signing;
	return 0;
}
