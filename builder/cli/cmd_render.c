/*
 * slipway render: the spec's fleet as manifests, on standard output or in a folder.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/epoch.h"
#include "builder/cli/renderers.h"
#include "builder/cli/spec_option.h"
#include "builder/cli/trust_policies.h"
#include "k8s/admission/admission.h"
#include "k8s/object/emit.h"
#include "k8s/view/explain.h"

static const char *const format_choices[] = {"yaml", "json", "list", NULL};

struct render_options {
	struct spec_options spec;
	const char *dest, *format, *job;
	struct strlist only;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct render_options, spec, "The spec",
                     "Override one value of the spec, as in job.nodes=4"),
	TEXT_OPTION(struct render_options, dest, "dest", 'o', "DIR",
                    "Write to this folder, one folder per concern, instead of standard output",
                    .complete = COMPLETE_DIR),
	TEXT_OPTION(struct render_options, format, "format", 0, "yaml|json|list",
                    "Format of the manifests", .fallback = "yaml", .complete = COMPLETE_CHOICES,
                    .choices = format_choices),
	TEXT_OPTION(struct render_options, job, "job", 0, "TARGET|all",
                    "Target whose job is printed: the first, a named one, or all"),
	LIST_OPTION(struct render_options, only, "only", 0, "NAME",
                    "Only this concern: cluster, account, namespace, trust, karpenter, devices, "
                    "storage, monitoring, scheduler, jobs, nettest or pipeline"),
};

static enum k8s_format format_of(const char *name)
{
	if (strcmp(name, "json") == 0)
		return K8S_JSON;
	return strcmp(name, "list") == 0 ? K8S_LIST : K8S_YAML;
}

/* What was written, folder by folder. */
static void tell_files(struct cli *cli, const char *dir, const struct k8s_output *out)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *files = json_add_array(doc, "files");

	json_add_string(doc, "directory", dir);
	for (size_t i = 0; i < out->n; i++) {
		const struct k8s_output_file *file = &out->files[i];

		if (!cli_json(cli)) {
			fprintf(cli->out, "%s/%s/%s: %zu object%s\n", dir, file->folder, file->name,
			        file->n, file->n == 1 ? "" : "s");
			continue;
		}
		cJSON *row = cJSON_CreateObject();

		json_add_string(row, "folder", file->folder);
		json_add_string(row, "name", file->name);
		json_add_int(row, "objects", (int64_t)file->n);
		json_push(files, row);
	}
	if (cli_json(cli))
		cli_print_json(cli, doc);
}

static bool for_kubectl(const struct k8s_output *out)
{
	for (size_t i = 0; i < out->n; i++)
		for (size_t k = 0; k < out->files[i].n; k++)
			if (!out->files[i].at[k].foreign)
				return true;
	return false;
}

/* One reader takes the stream: kubectl, or where nothing is for it, whom the documents are for. */
static void print_stream(struct cli *cli, const struct k8s_output *out, enum k8s_format format,
                         const char *choice)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct k8s_scope scope = {.foreign = !for_kubectl(out), .choice = choice};

	k8s_stream(out, format, scope, &text);
	fwrite(strbuf_str(&text), 1, text.len, cli->bytes);
	cli->json_printed = format != K8S_YAML;
}

/* Whose job the stream holds: the first target's unless one is named; NULL = all of them. */
static int choose_job(const char *name, const struct fleet *fleet, const char **ret_choice,
                      struct err *err)
{
	*ret_choice = NULL;
	if (name == NULL && fleet->n_targets > 0)
		*ret_choice = fleet->targets[0].name;
	if (name == NULL || strcmp(name, "all") == 0)
		return 0;
	if (fleet_target_find(fleet, name) == NULL) {
		err_set(err, ERR_USAGE, "--job: the fleet has no target '%s'", name);
		return err_hint(err, "`slipway explain` lists the targets in their order.");
	}
	*ret_choice = name;
	return 0;
}

static int cmd_render_run(struct cli *cli, struct err *err)
{
	const struct render_options *o = cli->options;
	AUTO(k8s_output) struct k8s_output out = {0};
	enum k8s_format format = format_of(o->format);
	const char *choice;
	struct spec *spec;

	if (spec_from_options(cli, &o->spec, &spec, err) != 0 ||
	    epoch_check_support(cli, spec, err) != 0)
		return -1;
	if (!spec->sections.cluster.set && spec->fleet.pipeline == NULL) {
		err_set(err, ERR_USAGE, "'%s' has neither a cluster nor a pipeline to render",
		        spec->file);
		return err_hint(err, "Add the sections cluster and fleet, or pipeline.");
	}
	if (choose_job(o->job, &spec->fleet, &choice, err) != 0)
		return -1;
	if ((o->only.n == 0 || strlist_has(&o->only, trust_renderer.name)) &&
	    trust_policies_open(cli, spec, err) != 0)
		return -1;
	if (k8s_render(&renderers, &spec->fleet, &o->only, &out, err) != 0)
		return -1;
	if (o->dest == NULL) {
		print_stream(cli, &out, format, choice);
		return 0;
	}
	if (k8s_write_dir(&out, format, o->dest, err) != 0)
		return err_wrap(err, "render");
	tell_files(cli, o->dest, &out);
	return 0;
}

const struct command cmd_render = {
	.name = "render",
	.summary = "Render the fleet's manifests",
	.synopsis = "",
	.details = "Turns the sections cluster, fleet, storage, job and monitoring into manifests: "
		   "node pools, device plugins, storage, jobs, metrics. Without -o they go to "
		   "standard output, ready for `kubectl apply -f -`. What is not for kubectl (the "
		   "cluster itself for eksctl, roles and alarms for CloudFormation) is written to "
		   "the folder, or printed when --only selects nothing else, as in --only "
		   "cluster. The network test starts at once where it is applied, and costs: it "
		   "is rendered only with --only nettest, and `slipway nettest run` runs it.\n\n"
		   "With -o, files of an earlier run are replaced or removed; a file that slipway "
		   "did not write is never touched.\n",
	.examples = "slipway render | kubectl apply -f -\tApply the fleet\n"
		    "slipway render --only nettest\tThe network test, which nothing else renders\n"
		    "slipway render -o deploy\tWrite a folder per concern\n"
		    "slipway render --only cluster | eksctl create cluster -f -\tCreate the "
		    "cluster\n",
	.options = OPTION_TABLE(struct render_options, options),
	.run = cmd_render_run,
};
