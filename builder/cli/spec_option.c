#include "builder/cli/spec_option.h"

int spec_from_options(struct cli *cli, const struct spec_options *o, struct spec **ret_spec,
                      struct err *err)
{
	return spec_from_options_over(cli, o, NULL, ret_spec, err);
}

int spec_from_options_over(struct cli *cli, const struct spec_options *o,
                           const struct spec_over *over, struct spec **ret_spec, struct err *err)
{
	const struct strlist *texts = &o->set;
	struct spec_set *sets = arena_calloc(&cli->arena, texts->n, sizeof(*sets));

	for (size_t i = 0; i < texts->n; i++)
		sets[i].assignment = texts->at[i];
	if (spec_load_over(o->file, sets, texts->n, over, &cli->arena, ret_spec, &cli->diags,
	                   err) == 0)
		return 0;
	if (err->code == ERR_NOT_FOUND)
		err_hint(err, "name the spec with -f FILE; `slipway schema` describes its form");
	return -1;
}
