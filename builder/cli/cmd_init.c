/*
 * slipway init: a slipway.yaml for what is in a folder, and what goes with it.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/init_request.h"
#include "builder/init/compose.h"
#include "builder/init/write.h"
#include "karpenter/catalogue/catalogue.h"

static const struct option options[] = {
	TEXT_OPTION(struct init_options, kind, "kind", 0, "KIND",
                    "What the folder holds; without it init asks, and proposes what it sees",
                    .complete = COMPLETE_CHOICES, .choices = init_kinds),
	TEXT_OPTION(struct init_options, image, "image", 0, "HOST/NAME[:TAG]",
                    "Where the image is pushed; the tag is v1 unless it is named"),
	LIST_OPTION(struct init_options, fleet, "fleet", 0, "TARGET,...",
                    "Also describe a fleet of these machines on EKS, the first choice first",
                    .complete = COMPLETE_CHOICES, .choices = fleet_target_names),
	TEXT_OPTION(struct init_options, ci, "ci", 0, "SERVICE",
                    "Also describe a pipeline: codebuild and github in the spec, for gitlab, "
                    "jenkins and buildkite in the file that they read",
                    .complete = COMPLETE_CHOICES, .choices = init_ci_names),
	TEXT_OPTION(struct init_options, dir, "dir", 0, "DIR", "The folder", .fallback = ".",
                    .complete = COMPLETE_DIR),
	TEXT_OPTION(struct init_options, name, "name", 0, "NAME",
                    "Name of the job, instead of the program's"),
	TEXT_OPTION(struct init_options, program, "program", 0, "FILE",
                    "What the build makes, or the script that is started"),
	LIST_OPTION(struct init_options, platform, "platform", 0, "OS/ARCH",
                    "Platform of the image, instead of those that the fleet has"),
	TEXT_OPTION(struct init_options, base, "base", 0, "IMAGE",
                    "python, pytorch: the image with the interpreter"),
	TEXT_OPTION(struct init_options, region, "region", 0, "REGION",
                    "AWS region of the fleet, instead of the repository's or us-west-2"),
	FLAG_OPTION(struct init_options, dry_run, "dry-run", 0, "Print the files, write none"),
};

static const char *state_of(const struct init_file *file, bool dry_run)
{
	if (file->there)
		return "kept";
	if (file->way == INIT_LINE)
		return dry_run ? "would be added to" : "added to";
	return dry_run ? "would be created" : "created";
}

static void print_json(struct cli *cli, const struct init_options *o, const struct init_plan *plan)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *files, *steps;

	json_add_string(doc, "directory", o->dir);
	json_add_string(doc, "kind", o->kind);
	files = json_add_array(doc, "files");
	for (size_t i = 0; i < plan->n_files; i++) {
		cJSON *row = cJSON_CreateObject();

		json_add_string(row, "path", plan->files[i].path);
		json_add_string(row, "state", state_of(&plan->files[i], o->dry_run));
		if (o->dry_run)
			json_add_string(row, "text", plan->files[i].text);
		json_push(files, row);
	}
	steps = json_add_array(doc, "next");
	for (size_t i = 0; i < plan->n_steps; i++) {
		cJSON *row = cJSON_CreateObject();

		json_add_string(row, "command", plan->steps[i].command);
		json_add_string(row, "meaning", plan->steps[i].meaning);
		json_push(steps, row);
	}
	cli_print_json(cli, doc);
}

static void print_steps(struct cli *cli, const struct init_options *o, const struct init_plan *plan)
{
	AUTO(strbuf) struct strbuf dir = STRBUF_INIT(0);

	text_shell_word(o->dir, &dir);
	fputs("\nNext:\n", cli->out);
	if (strcmp(o->dir, ".") != 0)
		fprintf(cli->out, "  cd %s\n", strbuf_str(&dir));
	for (size_t i = 0; i < plan->n_steps; i++)
		fprintf(cli->out, "  %s\n      # %s\n", plan->steps[i].command,
		        plan->steps[i].meaning);
}

/* The schema is long, and `slipway schema` prints it. */
static void print_texts(struct cli *cli, const struct init_plan *plan)
{
	for (size_t i = 0; i < plan->n_files; i++)
		if (plan->files[i].way != INIT_KEEP)
			fprintf(cli->out, "==> %s <==\n%s%s\n", plan->files[i].path,
			        plan->files[i].text, plan->files[i].way == INIT_LINE ? "\n" : "");
}

static void report(struct cli *cli, const struct init_options *o, const struct init_plan *plan)
{
	if (cli_json(cli)) {
		print_json(cli, o, plan);
		return;
	}
	if (o->dry_run)
		print_texts(cli, plan);
	for (size_t i = 0; i < plan->n_files && !o->dry_run; i++)
		fprintf(cli->out, "%s %s\n", state_of(&plan->files[i], false), plan->files[i].path);
	print_steps(cli, o, plan);
}

/* Nobody should answer questions for a folder that has its spec. */
static int check_free(const struct init_options *o, struct err *err)
{
	struct init_plan spec = {.files = {{.path = "slipway.yaml", .way = INIT_CREATE}},
	                         .n_files = 1};

	return o->dry_run ? 0 : init_check(o->dir, &spec, err);
}

static int cmd_init_run(struct cli *cli, struct err *err)
{
	struct init_options o = *(const struct init_options *)cli->options;
	struct init_request r;
	struct init_plan plan;

	if (check_free(&o, err) != 0 || init_ask(cli, &o, err) != 0 ||
	    init_request_make(cli, &o, &r, err) != 0)
		return -1;
	init_compose(&r, &cli->arena, &plan);
	if (!o.dry_run && init_write(o.dir, &plan, err) != 0)
		return -1;
	report(cli, &o, &plan);
	return 0;
}

const struct command cmd_init = {
	.name = "init",
	.summary = "Write a slipway.yaml for the program in a folder",
	.synopsis = "",
	.details =
		"Looks at the folder (go.mod, Cargo.toml, requirements.txt, pyproject.toml, "
		"CMakeLists.txt, Makefile, the sources), asks for the rest, or takes it from "
		"options, and writes slipway.yaml with comments, a schema for editors in "
		"build/slipway.schema.json, a line in .gitignore and, with --ci, the file of the "
		"service. Then it prints the commands that come next.\n\n"
		"Nothing is replaced: where a file is in the way, init says so and writes none. "
		"With --kind no question is asked.\n",
	.examples = "slipway init\tAsks\n"
		    "slipway init --kind go --image ghcr.io/team/app --ci github\tAn image and its "
		    "workflow\n"
		    "slipway init --kind pytorch --image "
		    "123456789012.dkr.ecr.us-west-2.amazonaws.com/vision --fleet p4d,g5\tA job on "
		    "GPUs\n"
		    "slipway init --kind c --dry-run\tShows what it would write\n",
	.options = OPTION_TABLE(struct init_options, options),
	.run = cmd_init_run,
};
