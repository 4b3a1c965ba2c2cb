/*
 * slipway rbac: the least roles with which others can run the commands that use a cluster.
 */
#include <string.h>

#include "builder/cli/renderers.h"
#include "builder/cli/spec_option.h"
#include "k8s/deploy/incluster.h"
#include "k8s/deploy/placement.h"
#include "k8s/deploy/rights.h"
#include "k8s/object/emit.h"

struct rbac_options {
	struct spec_options spec;
	const char *subject;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct rbac_options, spec, "The spec", "Override one value of the spec"),
	TEXT_OPTION(struct rbac_options, subject, "subject", 0, "KIND:NAME",
                    "Bind the roles to user:NAME, group:NAME or serviceaccount:NAMESPACE/NAME"),
};

static int parse_purposes(const struct strlist *args, unsigned *ret, struct err *err)
{
	*ret = args->n == 0 ? (1u << RIGHTS_PURPOSES) - 1 : 0;
	for (size_t i = 0; i < args->n; i++) {
		unsigned p = 0;

		while (p < RIGHTS_PURPOSES && strcmp(args->at[i], rights_purposes[p]) != 0)
			p++;
		if (p == RIGHTS_PURPOSES) {
			err_set(err, ERR_USAGE, "no roles are for '%s'", args->at[i]);
			return err_hint(err, "Choose among deploy, undeploy, status and logs.");
		}
		*ret |= 1u << p;
	}
	return 0;
}

/* Of a deploy --in-cluster, if the spec has an image for it: whoever starts it makes its roles. */
static void render_controller(const struct fleet *fleet, const struct k8s_output *jobs,
                              struct k8s_output *out)
{
	const struct controller_opts opts = {jobs, fleet->failover.image, "", {0}};
	struct stage rights, job;

	controller_render(fleet, &opts, out, &rights, &job);
	stage_done(&rights);
	stage_done(&job);
}

static void print_roles(struct cli *cli, const struct k8s_output *out)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct k8s_scope scope = {0};

	k8s_stream(out, cli_json(cli) ? K8S_LIST : K8S_YAML, scope, &text);
	fwrite(strbuf_str(&text), 1, text.len, cli->bytes);
	cli->json_printed = cli_json(cli);
}

static int cmd_rbac_run(struct cli *cli, struct err *err)
{
	const struct rbac_options *o = cli->options;
	AUTO(k8s_output) struct k8s_output fleet = {0}, controller = {0}, out = {0};
	struct rights_opts opts = {.fleet = &fleet};
	struct spec *spec;

	if (parse_purposes(&cli->args, &opts.purposes, err) != 0 ||
	    (o->subject != NULL &&
	     rights_subject_parse(o->subject, &cli->arena, &opts.subject, err) != 0) ||
	    spec_from_options(cli, &o->spec, &spec, err) != 0)
		return -1;
	if (!spec->sections.cluster.set) {
		err_set(err, ERR_USAGE, "'%s' has no cluster", spec->file);
		return err_hint(err, "Add the sections cluster and fleet.");
	}
	if (k8s_render(&renderers, &spec->fleet, NULL, &fleet, err) != 0)
		return err_wrap(err, "rbac");
	if (spec->fleet.failover.image != NULL && spec->fleet.job->set) {
		render_controller(&spec->fleet, &fleet, &controller);
		opts.controller = &controller;
	}
	rights_render(&opts, &out);
	print_roles(cli, &out);
	return 0;
}

const struct command cmd_rbac = {
	.name = "rbac",
	.summary = "Print the least roles for the commands that use a cluster",
	.synopsis = "[deploy|undeploy|status|logs]...",
	.details =
		"Prints the fleet's namespaces, a ClusterRole and a Role for each namespace, for "
		"the administrator of a cluster to apply: with them, and no other rights, the "
		"named commands run (without a name: all of them). Objects are allowed by name "
		"where Kubernetes can do that: lists and creation are not.\n\n"
		"deploy makes the roles of the fleet's plugins, and Kubernetes lets nobody make "
		"a role that allows more than they may do: these rights are part of its roles, "
		"as are those of deploy --in-cluster if the spec has fleet.failover.image. The "
		"namespaces are the administrator's: deploy uses and undeploy leaves them, and "
		"what is printed here. Removing finalizers by force is not included.\n",
	.examples =
		"slipway rbac --subject group:trainers | kubectl apply -f -\tLet a group deploy\n"
		"slipway rbac status logs --subject user:ann\tWho may only look\n"
		"slipway rbac deploy\tThe roles of a pipeline, without bindings\n",
	.options = OPTION_TABLE(struct rbac_options, options),
	.max_args = RIGHTS_PURPOSES,
	.arg_choices = rights_purposes,
	.run = cmd_rbac_run,
};
