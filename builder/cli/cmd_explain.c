/*
 * slipway explain: what a target gets, and why.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/epoch.h"
#include "builder/cli/spec_option.h"
#include "k8s/view/explain.h"
#include "karpenter/catalogue/catalogue.h"

struct explain_options {
	struct spec_options spec;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct explain_options, spec, "The spec", "Override one value of the spec"),
};

static int no_target(const struct fleet *fleet, const char *name, struct err *err)
{
	AUTO(strbuf) struct strbuf known = STRBUF_INIT(256);

	for (size_t i = 0; i < fleet->n_targets; i++)
		strbuf_addf(&known, "%s%s", i > 0 ? ", " : "", fleet->targets[i].name);
	err_set(err, ERR_USAGE, "the fleet has no target '%s'", name);
	return known.len > 0 ? err_hint(err, "It has %s.", strbuf_str(&known))
	                     : err_hint(err, "It has none: add the sections cluster and fleet.");
}

/* The targets in the order they are tried; `only` NULL = all. */
static void print_json(struct cli *cli, const struct fleet *fleet, const struct fleet_target *only)
{
	AUTO(json) cJSON *targets = cJSON_CreateArray();

	for (size_t i = 0; i < fleet->n_targets; i++) {
		if (only != NULL && only != &fleet->targets[i])
			continue;
		cJSON *object = cJSON_CreateObject();

		explain_json(fleet, &fleet->targets[i], object);
		json_push(targets, object);
	}
	cli_print_json(cli, targets);
}

static int cmd_explain_run(struct cli *cli, struct err *err)
{
	const struct explain_options *o = cli->options;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct spec *spec;

	if (spec_from_options(cli, &o->spec, &spec, err) != 0 ||
	    epoch_check_support(cli, spec, err) != 0)
		return -1;
	const char *name = cli->args.n > 0 ? cli->args.at[0] : NULL;
	const struct fleet_target *t = name != NULL ? fleet_target_find(&spec->fleet, name) : NULL;

	if (t == NULL && (name != NULL || spec->fleet.n_targets == 0))
		return no_target(&spec->fleet, name != NULL ? name : "", err);
	if (cli_json(cli)) {
		print_json(cli, &spec->fleet, t);
		return 0;
	}
	if (t != NULL)
		explain_target(&spec->fleet, t, &text);
	else
		explain_fleet(&spec->fleet, &text);
	fputs(strbuf_str(&text), cli->out);
	return 0;
}

const struct command cmd_explain = {
	.name = "explain",
	.summary = "Explain what a target gets, and why",
	.synopsis = "[TARGET]",
	.details = "Covers nodes, resources, taints, EFA, the job, and the next target when "
		   "this one has no capacity. Without a target: all of them in order.\n",
	.examples = "slipway explain\tThe whole fleet\n"
		    "slipway explain p4d\tOne target\n"
		    "slipway explain --output json\tThe same as JSON\n",
	.options = OPTION_TABLE(struct explain_options, options),
	.max_args = 1,
	.arg_choices = fleet_target_names,
	.run = cmd_explain_run,
};
