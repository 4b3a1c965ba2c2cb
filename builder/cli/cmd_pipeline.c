/*
 * slipway pipeline run --local: the pipeline's own commands, in order, on this machine.
 */
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "builder/cli/command.h"
#include "builder/cli/shell.h"
#include "builder/cli/spec_option.h"

static const struct command_action actions[] = {{"run", "", 0, 0}, {0}};

struct pipeline_options {
	struct spec_options spec;
	bool local, install, deploy, dry_run;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct pipeline_options, spec, "The spec", "Override one value of the spec"),
	FLAG_OPTION(struct pipeline_options, local, "local", 0,
                    "Run the steps on this machine, each in a fresh copy of the source tree"),
	FLAG_OPTION(struct pipeline_options, install, "install", 0,
                    "Also run the install commands"),
	FLAG_OPTION(struct pipeline_options, deploy, "deploy", 0,
                    "Also run the deploy step, as if it were approved"),
	FLAG_OPTION(struct pipeline_options, dry_run, "dry-run", 0, "Print the commands and stop"),
};

enum { COMMIT_MAX = 64 };

/* One run of all steps. */
struct pipeline_run {
	struct cli *cli;
	const struct pipeline_options *options;
	const struct spec *spec;
	const struct pipeline *pipeline;
	char dir[PATH_MAX];      /* scratch: copies of the tree, and artifacts */
	char commit[COMMIT_MAX]; /* what CI calls the resolved version */
	const char *here;        /* the folder of this program */
};

/* ---- where the steps run ---- */

/* The commit, or twelve zeros where there is none: it becomes a tag. */
static int find_commit(struct pipeline_run *run, struct err *err)
{
	const char *tree = run->spec->dir[0] != '\0' ? run->spec->dir : ".";
	const char *const argv[] = {"git", "-C", tree, "rev-parse", "HEAD", NULL};
	struct proc_result r = {.out = STRBUF_INIT(4096), .err_text = STRBUF_INIT(4096)};
	int result = proc_run(argv, NULL, 0, &r, err);

	snprintf(run->commit, sizeof(run->commit), "%012d", 0);
	if (result == 0 && r.exit_status == 0 && r.out.len > 12 && r.out.len < COMMIT_MAX)
		snprintf(run->commit, sizeof(run->commit), "%.*s", (int)r.out.len - 1,
		         strbuf_str(&r.out));
	proc_result_done(&r);
	if (result != 0 && err->code != ERR_NOT_FOUND)
		return -1;
	*err = (struct err){0};
	return 0;
}

/* The steps call `slipway`: this very program. */
static int find_program(struct pipeline_run *run, struct err *err)
{
	const char *launcher = getenv("SLIPWAY_PROGRAM");
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return err_set(err, ERR_IO, "find this program");
	path[n] = '\0';
	/* A release runs by its own loader, which the kernel takes for the program. */
	run->here = arena_strdup(&run->cli->arena, launcher != NULL ? launcher : path);
	slash = strrchr(run->here, '/');
	if (slash != NULL)
		*slash = '\0';
	return 0;
}

static int open_run(struct pipeline_run *run, struct err *err)
{
	const char *tmp = getenv("TMPDIR"), *path = getenv("PATH");
	int n = snprintf(run->dir, sizeof(run->dir), "%s/slipway-pipeline-XXXXXX",
	                 tmp != NULL ? tmp : "/tmp");

	if (n < 0 || (size_t)n >= sizeof(run->dir) || mkdtemp(run->dir) == NULL) {
		run->dir[0] = '\0';
		return err_set(err, ERR_IO, "create a scratch folder");
	}
	if (find_commit(run, err) != 0 || find_program(run, err) != 0)
		return -1;
	if (shell_set_variable("CODEBUILD_RESOLVED_SOURCE_VERSION", run->commit, err) != 0)
		return -1;
	return shell_set_variable("PATH",
	                          arena_printf(&run->cli->arena, "%s:%s", run->here,
	                                       path != NULL ? path : "/usr/bin:/bin"),
	                          err);
}

/* ---- one step ---- */

static const char *folder(const struct pipeline_run *run, const char *kind, const char *name)
{
	return arena_printf(&run->cli->arena, "%s/%s-%s", run->dir, kind, name);
}

/* Only what the buildspec names leaves the step. */
static int keep_artifacts(struct pipeline_run *run, const struct pipeline_step *step,
                          const char *tree, struct err *err)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (step->artifact == NULL)
		return 0;
	const char *dir = folder(run, "artifact", step->artifact);

	if (fs_mkdirs(dir, err) != 0)
		return -1;
	for (size_t i = 0; i < step->files.n; i++) {
		if (fs_join(from, tree, step->files.at[i], err) != 0 ||
		    fs_join(to, dir, step->files.at[i], err) != 0)
			return -1;
		if (!fs_exists(from))
			return err_set(err, ERR_NOT_FOUND, "it did not write '%s'",
			               step->files.at[i]);
		if (fs_link_or_copy(from, to, err) != 0)
			return -1;
	}
	return shell_set_variable(
		arena_printf(&run->cli->arena, "CODEBUILD_SRC_DIR_%s", step->artifact), dir, err);
}

/* Install commands and the step's own, in one shell: what the first export is the others'. */
static int run_commands(struct pipeline_run *run, const struct pipeline_step *step,
                        const char *tree, struct err *err)
{
	const struct strlist *install = &step->install;
	struct strlist all = {0};

	all.at = arena_calloc(&run->cli->arena, install->n + step->commands.n, sizeof(*all.at));
	for (size_t i = 0; run->options->install && i < install->n; i++)
		all.at[all.n++] = install->at[i];
	for (size_t i = 0; i < step->commands.n; i++)
		all.at[all.n++] = step->commands.at[i];
	return shell_run(tree, &all, &run->cli->arena, err);
}

static int run_step(struct pipeline_run *run, const struct pipeline_step *step, struct err *err)
{
	const char *tree = folder(run, "tree", step->name);

	progress_note(run->cli->progress, "step %s", step->name);
	const char *source = run->spec->dir[0] != '\0' ? run->spec->dir : ".";

	if (shell_copy_tree(source, tree, err) != 0 ||
	    shell_set_variable("CODEBUILD_SRC_DIR", tree, err) != 0 ||
	    run_commands(run, step, tree, err) != 0 || keep_artifacts(run, step, tree, err) != 0)
		return err_wrap(err, "step '%s'", step->name);
	return fs_remove_tree(tree, err);
}

/* ---- all of them ---- */

static bool step_wanted(const struct pipeline_run *run, const struct pipeline_step *step)
{
	return step->kind != STEP_DEPLOY || run->options->deploy;
}

static int report_run(struct pipeline_run *run, struct err *err)
{
	AUTO(strbuf) struct strbuf digest = STRBUF_INIT(256);
	char path[PATH_MAX];

	if (fs_join(path, folder(run, "artifact", "Release"), "digest", err) != 0 ||
	    fs_read_file(path, 256, &digest, err) != 0)
		return -1;
	if (cli_json(run->cli)) {
		AUTO(json) cJSON *doc = cJSON_CreateObject();

		json_add_string(doc, "digest",
		                arena_printf(&run->cli->arena, "%.*s", (int)digest.len - 1,
		                             strbuf_str(&digest)));
		json_add_string(doc, "commit", run->commit);
		cli_print_json(run->cli, doc);
		return 0;
	}
	for (size_t i = 0; i < run->pipeline->n_steps; i++)
		fprintf(run->cli->out, "%-12s %s\n", run->pipeline->steps[i].name,
		        step_wanted(run, &run->pipeline->steps[i]) ? "passed"
		                                                   : "skipped; --deploy runs it");
	fputs(strbuf_str(&digest), run->cli->out);
	return 0;
}

static int run_all(struct pipeline_run *run, struct err *err)
{
	if (open_run(run, err) != 0)
		return -1;
	for (size_t i = 0; i < run->pipeline->n_steps; i++)
		if (step_wanted(run, &run->pipeline->steps[i]) &&
		    run_step(run, &run->pipeline->steps[i], err) != 0)
			return -1;
	return report_run(run, err);
}

static void print_commands(const struct pipeline_run *run)
{
	const struct pipeline *p = run->pipeline;

	for (size_t i = 0; i < p->n_steps; i++) {
		fprintf(run->cli->out, "# %s\n", p->steps[i].name);
		for (size_t k = 0; k < p->steps[i].commands.n; k++)
			fprintf(run->cli->out, "%s\n", p->steps[i].commands.at[k]);
	}
}

static int open_pipeline(struct pipeline_run *run, struct err *err)
{
	struct spec *spec;

	if (!run->options->local && !run->options->dry_run) {
		err_set(err, ERR_USAGE, "`pipeline run` needs --local: AWS starts its own runs");
		return err_hint(err, "`slipway render --only pipeline` writes the pipeline for "
		                     "AWS");
	}
	if (spec_from_options(run->cli, &run->options->spec, &spec, err) != 0)
		return -1;
	run->spec = spec;
	run->pipeline = spec->fleet.pipeline;
	if (run->pipeline == NULL) {
		err_set(err, ERR_USAGE, "'%s' has no pipeline", spec->file);
		err_hint(err, "Add the section pipeline.");
		return -1;
	}
	return 0;
}

static int cmd_pipeline_run(struct cli *cli, struct err *err)
{
	struct pipeline_run run = {.cli = cli, .options = cli->options};
	struct err ignored = {0};

	if (open_pipeline(&run, err) != 0 || run.pipeline == NULL)
		return -1;
	if (run.options->dry_run) {
		print_commands(&run);
		return 0;
	}
	int result = run_all(&run, err);

	if (run.dir[0] != '\0' && fs_remove_tree(run.dir, &ignored) != 0)
		progress_note(cli->progress, "%s", ignored.msg);
	return result;
}

const struct command cmd_pipeline = {
	.name = "pipeline",
	.summary = "Run the pipeline's commands on this machine, before AWS does",
	.details = "Runs the commands of every buildspec in order: each step in a fresh copy of "
		   "the source\n"
		   "tree (what git would check out, and what is not committed yet), with the "
		   "artifacts of the\n"
		   "earlier steps and nothing else. The last line is the digest of the image that "
		   "passed.\n"
		   "Install commands and the deploy step are skipped unless asked for.\n",
	.examples = "slipway pipeline run --local\tDo what CI would do\n"
		    "slipway pipeline run --dry-run\tOnly show the commands\n",
	.options = OPTION_TABLE(struct pipeline_options, options),
	.actions = actions,
	.run = cmd_pipeline_run,
};
