/*
 * slipway instances: the instance catalogue.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "karpenter/catalogue/catalogue.h"

static const char *const arch_choices[] = {"amd64", "arm64", NULL};

struct instances_options {
	const char *target, *arch, *device;
	bool efa;
};

static const struct option options[] = {
	TEXT_OPTION(struct instances_options, target, "target", 0, "NAME",
                    "Only this target or family, as in trn1 or p4de"),
	TEXT_OPTION(struct instances_options, arch, "arch", 0, "amd64|arm64",
                    "Only this architecture", .complete = COMPLETE_CHOICES,
                    .choices = arch_choices),
	TEXT_OPTION(struct instances_options, device, "device", 0, "NAME",
                    "Only this accelerator, as in a100"),
	FLAG_OPTION(struct instances_options, efa, "efa", 0, "Only types with EFA"),
};

static int cmd_instances_run(struct cli *cli, struct err *err)
{
	const struct instances_options *o = cli->options;
	struct instance_filter filter = {
		.target = o->target, .arch = o->arch, .device = o->device, .efa = o->efa};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(json) cJSON *rows = cJSON_CreateArray();

	if (instances_json(&filter, rows) == 0) {
		err_set(err, ERR_NOT_FOUND, "no instance type matches");
		return err_hint(err, "`slipway instances` without options lists them all.");
	}
	if (cli_json(cli)) {
		cli_print_json(cli, rows);
		return 0;
	}
	instances_text(&filter, &text);
	fputs(strbuf_str(&text), cli->out);
	return 0;
}

const struct command cmd_instances = {
	.name = "instances",
	.summary = "List the instance types of the fleet's targets",
	.synopsis = "",
	.details = "The figures that the manifests are derived from: devices, EFA interfaces, "
		   "local disks, and what a node has free for pods. They are Karpenter's and "
		   "AWS's own, as of 2026-11-21; p5, trn2 and g6 are listed for comparison.\n",
	.examples = "slipway instances --target g5g\tThe sizes of one target\n"
		    "slipway instances --efa --output json\tTypes with EFA, as JSON\n",
	.options = OPTION_TABLE(struct instances_options, options),
	.run = cmd_instances_run,
};
