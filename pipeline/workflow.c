/*
 * The same steps as a GitHub Actions workflow; AWS is reached by OIDC, no key is stored.
 */
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "pipeline/render.h"

/* Actions by the commit of their release: a tag can be moved. */
enum action { CHECKOUT, UPLOAD, DOWNLOAD, CACHE, CREDENTIALS };

static const struct {
	const char *name, *version, *commit;
} actions[] = {
	[CHECKOUT] = {"actions/checkout", "v4.2.2", "11bd71901bbe5b1630ceea73d27597364c9af683"},
	[UPLOAD] = {"actions/upload-artifact", "v4.6.2",
                    "ea165f8d65b6e75b540449e92b4886f43607fa02"},
	[DOWNLOAD] = {"actions/download-artifact", "v4.3.0",
                      "d3f86a106a0bac45b974a628896c90dbdf5c8093"},
	[CACHE] = {"actions/cache", "v4.2.3", "5a3ec84eff668545956fd18022155c47e93e2684"},
	[CREDENTIALS] = {"aws-actions/configure-aws-credentials", "v4.2.1",
                         "b47578312673ae6fa5b5096b330d9fbac3d116df"},
};

/* Where slipway keeps its cache between two runs. */
#define CACHE_HOME "/tmp/slipway-cache"
#define GHCR       "ghcr.io/"

static cJSON *use(cJSON *steps, enum action action)
{
	cJSON *step = k8s_push_object(steps);

	k8s_addf(step, "name", "%s %s", actions[action].name, actions[action].version);
	k8s_addf(step, "uses", "%s@%s", actions[action].name, actions[action].commit);
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

static cJSON *add_script(cJSON *steps, const char *name, const char *shell, const char *text)
{
	cJSON *step = k8s_push_object(steps);

	json_add_string(step, "name", name);
	json_add_string(step, "shell", shell);
	json_add_string(step, "run", text);
	return step;
}

/* Into a folder that goes with the job; without a name there is nobody to log in. */
static void add_login(const struct pipeline *p, const struct pipeline_step *step, cJSON *steps)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);
	const char *image = p->repository.image;
	bool ghcr = text_has_prefix(image, GHCR);

	if (p->repository.host != NULL || step->kind == STEP_DEPLOY)
		return;
	strbuf_addf(&text,
	            "test -n \"$REGISTRY_USERNAME\" || exit 0\n"
	            "umask 077\n"
	            "mkdir -p \"$RUNNER_TEMP/docker\"\n"
	            "auth=$(printf '%%s:%%s' \"$REGISTRY_USERNAME\" \"$REGISTRY_PASSWORD\" | "
	            "base64 -w 0)\n"
	            "printf '{\"auths\":{\"%.*s\":{\"auth\":\"%%s\"}}}\\n' \"$auth\" "
	            ">\"$RUNNER_TEMP/docker/config.json\"\n"
	            "echo \"DOCKER_CONFIG=$RUNNER_TEMP/docker\" >>\"$GITHUB_ENV\"\n",
	            (int)strcspn(image, "/"), image);
	cJSON *env = json_add_object(add_script(steps, "login", "bash", strbuf_str(&text)), "env");

	json_add_string(env, "REGISTRY_USERNAME",
	                ghcr ? "${{ github.actor }}" : "${{ secrets.REGISTRY_USERNAME }}");
	json_add_string(env, "REGISTRY_PASSWORD",
	                ghcr ? "${{ github.token }}" : "${{ secrets.REGISTRY_PASSWORD }}");
}

static void add_run(cJSON *steps, const char *name, const struct strlist *commands, size_t from,
                    size_t to)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);

	for (size_t i = from; i < to; i++)
		strbuf_addf(&text, "%s\n", commands->at[i]);
	if (from < to)
		add_script(steps, name, "bash", strbuf_str(&text));
}

/* An image that only CodeBuild has is no container elsewhere. */
static const char *container_of(const struct pipeline *p, const struct pipeline_step *step)
{
	const char *image = pipeline_builder(p, step->architecture)->image;

	return image != NULL && !text_has_prefix(image, "aws/codebuild/") ? image : NULL;
}

/* As root, as on CodeBuild: in a container everybody is, on a runner sudo is. What root made in
 * the source's folder is the runner's afterwards. */
static void add_install(const struct pipeline *p, const struct pipeline_step *step, cJSON *steps)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	bool container = container_of(p, step) != NULL;

	for (size_t i = 0; i < step->install.n; i++)
		strbuf_addf(&text, "%s\n", step->install.at[i]);
	if (!container)
		strbuf_adds(&text, "chown -R \"$SUDO_UID:$SUDO_GID\" .\n");
	if (step->install.n > 0)
		add_script(steps, "install",
		           container ? "bash" : "sudo bash --noprofile --norc -eo pipefail {0}",
		           strbuf_str(&text));
}

static void add_cache(const struct pipeline *p, const struct pipeline_step *step, cJSON *env,
                      cJSON *steps)
{
	if (step->kind != STEP_BUILD || !p->section->cache)
		return;
	cJSON *with = json_add_object(use(steps, CACHE), "with");

	json_add_string(env, "XDG_CACHE_HOME", CACHE_HOME);
	json_add_string(with, "path", CACHE_HOME "/slipway");
	k8s_addf(with, "key", "slipway-%s-${{ github.sha }}", step->architecture);
	k8s_addf(with, "restore-keys", "slipway-%s-", step->architecture);
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

/* Of the token that GitHub gives the job: the source, a role's token, packages. */
static void add_permissions(const struct pipeline *p, const struct pipeline_step *step, cJSON *job)
{
	cJSON *permissions = json_add_object(job, "permissions");

	json_add_string(permissions, "contents", "read");
	if (role_of(p, step->kind) != NULL)
		json_add_string(permissions, "id-token", "write");
	if (text_has_prefix(p->repository.image, GHCR) && step->kind != STEP_DEPLOY)
		json_add_string(permissions, "packages",
		                step->kind == STEP_CHECK ? "read" : "write");
}

static void add_steps(const struct pipeline *p, const struct pipeline_step *step, cJSON *job)
{
	cJSON *env = json_add_object(job, "env");

	json_add_string(env, "CODEBUILD_RESOLVED_SOURCE_VERSION", "${{ github.sha }}");
	if (step->kind == STEP_BUILD)
		json_add_string(env, "SLIPWAY_ARCH", step->architecture);
	cJSON *steps = json_add_array(job, "steps");

	json_add_bool(json_add_object(use(steps, CHECKOUT), "with"), "persist-credentials", false);
	add_inputs(step, env, steps);
	add_install(p, step, steps);
	add_cache(p, step, env, steps);
	/* Whatever the source runs, runs before anybody is logged in. */
	if (step->n_own > 1)
		add_run(steps, "test and build", &step->commands, 0, step->n_own);
	add_login(p, step, steps);
	add_credentials(p, step->kind, steps);
	add_run(steps, step->name, &step->commands, step->n_own, step->commands.n);
	add_artifacts(step, steps);
}

static void add_job(const struct pipeline *p, size_t i, cJSON *jobs)
{
	const struct pipeline_step *step = &p->steps[i];
	cJSON *job = json_add_object(jobs, step->name);

	json_add_string(job, "runs-on", pipeline_builder_runner(p, step->architecture));
	json_add_string(job, "container", container_of(p, step));
	json_add_int(job, "timeout-minutes", p->section->timeout_minutes);
	if (step->kind != STEP_BUILD) {
		cJSON *needs = json_add_array(job, "needs");

		for (size_t k = step->kind == STEP_INDEX ? 0 : i - 1; k < i; k++)
			json_push_string(needs, p->steps[k].name);
	}
	add_permissions(p, step, job);
	/* A role that trusts this environment alone is no other job's. */
	if (step->kind == STEP_RELEASE && p->section->github_release_role != NULL)
		json_add_string(job, "environment", "release");
	if (step->kind == STEP_DEPLOY && p->section->approval)
		json_add_string(job, "environment", "production"); /* its reviewers approve */
	add_steps(p, step, job);
}

void pipeline_workflow(const struct pipeline *p, cJSON *doc)
{
	json_add_string(doc, "name", p->name);
	cJSON *push = json_add_object(json_add_object(doc, "on"), "push");

	json_push_string(json_add_array(push, "branches"), p->section->source.branch);
	cJSON *permissions = json_add_object(doc, "permissions");

	json_add_string(permissions, "contents", "read");
	cJSON *concurrency = json_add_object(doc, "concurrency");

	json_add_string(concurrency, "group", p->name);
	json_add_bool(concurrency, "cancel-in-progress", false);
	cJSON *jobs = json_add_object(doc, "jobs");

	for (size_t i = 0; i < p->n_steps; i++)
		add_job(p, i, jobs);
}
