/*
 * slipway diagram: the fleet as a picture.
 */
#include "base/fs.h"
#include "builder/cli/command.h"
#include "builder/cli/spec_option.h"
#include "k8s/view/diagram.h"

struct diagram_options {
	struct spec_options spec;
	const char *dest;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct diagram_options, spec, "The spec",
                     "Override one value of the spec, as in job.nodes=4"),
	TEXT_OPTION(struct diagram_options, dest, "dest", 'o', "FILE",
                    "Write the diagram to this file instead of standard output",
                    .complete = COMPLETE_FILE),
};

static int cmd_diagram_run(struct cli *cli, struct err *err)
{
	const struct diagram_options *o = cli->options;
	AUTO(strbuf) struct strbuf svg = STRBUF_INIT(0);
	struct spec *spec;

	if (spec_from_options(cli, &o->spec, &spec, err) != 0)
		return -1;
	if (!spec->sections.cluster.set) {
		err_set(err, ERR_USAGE, "'%s' has no fleet to draw", spec->file);
		return err_hint(err, "Add the sections cluster and fleet.");
	}
	diagram_svg(&spec->fleet, &svg);
	if (o->dest != NULL)
		return fs_write_file(o->dest, svg.ptr, svg.len, 0644, err);
	fwrite(strbuf_str(&svg), 1, svg.len, cli->out);
	return 0;
}

const struct command cmd_diagram = {
	.name = "diagram",
	.summary = "Draw the fleet as SVG",
	.synopsis = "",
	.details = "One page: the job, its targets in the order in which they are tried, the "
		   "part of a node that a pod uses, and the shared storage.\n",
	.examples = "slipway diagram -o fleet.svg\tA picture for a document\n",
	.options = OPTION_TABLE(struct diagram_options, options),
	.run = cmd_diagram_run,
};
