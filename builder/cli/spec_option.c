#include "builder/cli/spec_option.h"

#include "builder/cli/renderers.h"

int spec_from_options(struct cli *cli, const struct spec_options *o, struct spec **ret_spec,
                      struct err *err)
{
	return spec_from_options_over(cli, o, NULL, ret_spec, err);
}

/* What only rendering shows: the patches of objects. */
static int check_rendered(struct cli *cli, const struct spec *spec, struct err *err)
{
	size_t before = cli->diags.n_errors;

	k8s_check(&renderers, &spec->fleet, &cli->diags);
	size_t problems = cli->diags.n_errors - before;

	if (problems == 0)
		return 0;
	diags_sort(&cli->diags);
	return err_set(err, ERR_SPEC, "%zu problem%s in %s", problems, problems == 1 ? "" : "s",
	               spec->file);
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
		return check_rendered(cli, *ret_spec, err);
	if (err->code == ERR_NOT_FOUND)
		err_hint(err, "name the spec with -f FILE, or let `slipway init` write one");
	return -1;
}
