/*
 * The same steps as a GitHub Actions workflow; AWS is reached by OIDC, no key is stored.
 */
#include <string.h>

#include "pipeline/render.h"

/* GitHub's runner brings these; a name without a folder would be another's. */
#define CHECKOUT    "actions/checkout@v4"
#define UPLOAD      "actions/upload-artifact@v4"
#define DOWNLOAD    "actions/download-artifact@v4"
#define CREDENTIALS "aws-actions/configure-aws-credentials@v4"

static cJSON *use(cJSON *steps, const char *action)
{
	cJSON *step = k8s_push_object(steps);

	json_add_string(step, "uses", action);
	return step;
}

static const char *role_of(const struct pipeline *p, enum pipeline_kind kind)
{
	const char *release = p->section->github_release_role;

	return kind == STEP_RELEASE && release != NULL ? release : p->section->github_role;
}

static void add_credentials(const struct pipeline *p, enum pipeline_kind kind, cJSON *steps)
{
	const char *role = role_of(p, kind);

	if (role == NULL)
		return;
	cJSON *with = json_add_object(use(steps, CREDENTIALS), "with");

	json_add_string(with, "role-to-assume", role);
	json_add_string(with, "aws-region", p->region);
}

static void add_run(cJSON *steps, const char *name, const struct strlist *commands)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);

	if (commands->n == 0)
		return;
	for (size_t i = 0; i < commands->n; i++)
		strbuf_addf(&text, "%s\n", commands->at[i]);
	cJSON *step = k8s_push_object(steps);

	json_add_string(step, "name", name);
	json_add_string(step, "shell", "bash");
	json_add_string(step, "run", strbuf_str(&text));
}

static void add_artifacts(const struct pipeline_step *step, cJSON *steps)
{
	AUTO(strbuf) struct strbuf paths = STRBUF_INIT(4096);

	if (step->artifact == NULL)
		return;
	for (size_t i = 0; i < step->files.n; i++)
		strbuf_addf(&paths, "%s\n", step->files.at[i]);
	cJSON *with = json_add_object(use(steps, UPLOAD), "with");

	json_add_string(with, "name", step->artifact);
	json_add_string(with, "path", strbuf_str(&paths));
	json_add_string(with, "if-no-files-found", "error");
}

static void add_inputs(const struct pipeline_step *step, cJSON *env, cJSON *steps)
{
	for (size_t i = 0; i < step->inputs.n; i++) {
		cJSON *with = json_add_object(use(steps, DOWNLOAD), "with");
		char key[128], path[128];

		snprintf(key, sizeof(key), "CODEBUILD_SRC_DIR_%s", step->inputs.at[i]);
		snprintf(path, sizeof(path), ".slipway-%s", step->inputs.at[i]);
		json_add_string(env, key, path);
		json_add_string(with, "name", step->inputs.at[i]);
		json_add_string(with, "path", path);
	}
}

static void add_job(const struct pipeline *p, size_t i, cJSON *jobs)
{
	const struct pipeline_step *step = &p->steps[i];
	cJSON *job = json_add_object(jobs, step->name);

	json_add_string(job, "runs-on", pipeline_builder_runner(p, step->architecture));
	json_add_int(job, "timeout-minutes", p->section->timeout_minutes);
	if (step->kind != STEP_BUILD) {
		cJSON *needs = json_add_array(job, "needs");

		for (size_t k = step->kind == STEP_INDEX ? 0 : i - 1; k < i; k++)
			json_push_string(needs, p->steps[k].name);
	}
	/* A role that trusts this environment alone is no other job's. */
	if (step->kind == STEP_RELEASE && p->section->github_release_role != NULL)
		json_add_string(job, "environment", "release");
	if (step->kind == STEP_DEPLOY && p->section->approval)
		json_add_string(job, "environment", "production"); /* its reviewers approve */
	cJSON *env = json_add_object(job, "env");

	json_add_string(env, "CODEBUILD_RESOLVED_SOURCE_VERSION", "${{ github.sha }}");
	cJSON *steps = json_add_array(job, "steps");

	use(steps, CHECKOUT);
	add_inputs(step, env, steps);
	add_credentials(p, step->kind, steps);
	add_run(steps, "install", &p->section->install);
	add_run(steps, step->name, &step->commands);
	add_artifacts(step, steps);
}

void pipeline_workflow(const struct pipeline *p, cJSON *doc)
{
	json_add_string(doc, "name", p->name);
	cJSON *push = json_add_object(json_add_object(doc, "on"), "push");

	json_push_string(json_add_array(push, "branches"), p->section->source.branch);
	cJSON *permissions = json_add_object(doc, "permissions");

	json_add_string(permissions, "contents", "read");
	json_add_string(permissions, "id-token", "write");
	cJSON *concurrency = json_add_object(doc, "concurrency");

	json_add_string(concurrency, "group", p->name);
	json_add_bool(concurrency, "cancel-in-progress", false);
	cJSON *jobs = json_add_object(doc, "jobs");

	for (size_t i = 0; i < p->n_steps; i++)
		add_job(p, i, jobs);
}
