/*
 * Steps as buildspecs (CodeBuild user guide, "Build specification reference", version 0.2).
 */
#include <string.h>

#include "k8s/object/emit.h"
#include "pipeline/downloads.h"
#include "pipeline/render.h"

/* Where slipway keeps its build cache on CodeBuild's machines, whoever the user is. */
#define CACHE_HOME "/tmp/slipway-cache"

static void add_commands(cJSON *phases, const char *phase, const struct strlist *commands)
{
	if (commands->n == 0)
		return;
	cJSON *object = json_add_object(phases, phase);

	if (strcmp(phase, "build") == 0)
		json_add_string(object, "on-failure", "ABORT");
	k8s_add_strings(object, "commands", commands->at, commands->n);
}

void pipeline_buildspec(const struct pipeline *p, const struct pipeline_step *step, cJSON *doc)
{
	json_add_string(doc, "version", "0.2");
	cJSON *env = json_add_object(doc, "env");

	json_add_string(env, "shell", "bash");
	json_add_string(json_add_object(env, "variables"), "XDG_CACHE_HOME", CACHE_HOME);
	cJSON *phases = json_add_object(doc, "phases");

	add_commands(phases, "install", &step->install);
	add_commands(phases, "build", &step->commands);
	if (step->artifact != NULL)
		k8s_add_strings(json_add_object(doc, "artifacts"), "files", step->files.at,
		                step->files.n);
	if (p->section->cache && step->kind == STEP_BUILD)
		json_push_string(json_add_array(json_add_object(doc, "cache"), "paths"),
		                 CACHE_HOME "/**/*");
}

/* ---- one batch build ---- */

/* A batch's builds share no artifacts: they meet in the project's cache bucket, below the commit.
 */
#define MEETING "s3://$SLIPWAY_BUCKET/batch/$CODEBUILD_RESOLVED_SOURCE_VERSION"

static void add_batch_commands(const struct pipeline_step *step, cJSON *commands)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(4096);

	for (size_t i = 0; i < step->inputs.n; i++) {
		strbuf_reset(&line);
		strbuf_addf(&line, "export CODEBUILD_SRC_DIR_%s=\"$PWD/.slipway-%s\"",
		            step->inputs.at[i], step->inputs.at[i]);
		json_push_string(commands, strbuf_str(&line));
		strbuf_reset(&line);
		strbuf_addf(&line, "aws s3 cp --recursive \"" MEETING "/%s\" \".slipway-%s\"",
		            step->inputs.at[i], step->inputs.at[i]);
		json_push_string(commands, strbuf_str(&line));
	}
	for (size_t i = 0; i < step->commands.n; i++)
		json_push_string(commands, step->commands.at[i]);
	for (size_t i = 0; step->artifact != NULL && i < step->files.n; i++) {
		strbuf_reset(&line);
		strbuf_addf(&line, "aws s3 cp %s \"" MEETING "/%s/%s\"", step->files.at[i],
		            step->artifact, step->files.at[i]);
		json_push_string(commands, strbuf_str(&line));
	}
}

/* A batch's builds carry what they exchange themselves. */
static void add_batch_install(const struct pipeline_step *step, cJSON *phases)
{
	cJSON *commands = json_add_array(json_add_object(phases, "install"), "commands");

	json_push_string(commands, download_aws);
	for (size_t i = 0; i < step->install.n; i++)
		json_push_string(commands, step->install.at[i]);
}

static void add_node(const struct pipeline *p, size_t i, cJSON *graph)
{
	const struct pipeline_step *step = &p->steps[i];
	cJSON *node = k8s_push_object(graph);
	AUTO(json) cJSON *spec = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	bool arm = strcmp(step->architecture, "arm64") == 0;

	json_add_string(node, "identifier", step->resource);
	cJSON *env = json_add_object(node, "env");

	json_add_string(env, "type", arm ? "ARM_CONTAINER" : "LINUX_CONTAINER");
	json_add_string(env, "image", pipeline_builder_image(p, step->architecture));
	json_add_string(env, "compute-type", pipeline_builder_compute(p, step->architecture));
	json_add_bool(env, "privileged-mode", false);
	json_add_string(spec, "version", "0.2");
	json_add_string(json_add_object(spec, "env"), "shell", "bash");
	cJSON *phases = json_add_object(spec, "phases");

	add_batch_install(step, phases);
	cJSON *build = json_add_object(phases, "build");

	json_add_string(build, "on-failure", "ABORT");
	add_batch_commands(step, json_add_array(build, "commands"));
	k8s_yaml(spec, NULL, 0, &text);
	json_add_string(node, "buildspec", strbuf_str(&text));
	if (step->kind == STEP_BUILD)
		return;
	cJSON *before = json_add_array(node, "depend-on");

	for (size_t k = step->kind == STEP_INDEX ? 0 : i - 1; k < i; k++)
		json_push_string(before, p->steps[k].resource);
}

void pipeline_batch(const struct pipeline *p, cJSON *doc)
{
	json_add_string(doc, "version", "0.2");
	cJSON *batch = json_add_object(doc, "batch");

	json_add_bool(batch, "fast-fail", true);
	cJSON *graph = json_add_array(batch, "build-graph");

	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].kind != STEP_DEPLOY)
			add_node(p, i, graph);
}
