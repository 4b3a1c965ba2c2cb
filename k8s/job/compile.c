/*
 * 55-compile: a Job per target that compiles what the target's devices run, or sees that it is
 * there. The compiler's image knows nothing of the trainer: that is copied from the job's image
 * into a folder that both see, by the trainer itself, since such an image need not have a shell.
 */
#include "k8s/job/compile.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/job/job.h"
#include "k8s/object/workload.h"

#define TOOLS   "tools"
#define LOGIN   "/var/run/slipway/docker"
#define PROGRAM COMPILE_TOOLS "/slipway-trainer"

/* A Job under construction. */
struct compile_job {
	const struct fleet *fleet;
	const struct fleet_target *target;
	const struct compiler_section *section;
	cJSON *pod, *volumes, *mounts; /* the mounts of every container */
};

/* ---- pieces that the job's pods share ---- */

/* AWS's own registries, where the pod's role is the login. */
static bool is_ecr(const char *image)
{
	const char *end = strchr(image, '/'), *mark = strstr(image, ".dkr.ecr");

	return text_has_prefix(image, "public.ecr.aws/") || (mark != NULL && mark < end);
}

const char *compile_login(const struct fleet *fleet, const struct fleet_target *target)
{
	const struct strlist *secrets = &fleet->job->pull_secrets;

	if (!target->compile.carried || secrets->n == 0 || fleet->image == NULL ||
	    is_ecr(fleet->image))
		return NULL;
	return secrets->at[0];
}

/* What nodes pull with, as docker's configuration: a Secret of this type has it under that key. */
static void add_login(const char *secret, cJSON *volumes)
{
	cJSON *volume = k8s_push_object(volumes), *source, *item;

	json_add_string(volume, "name", COMPILE_LOGIN);
	source = json_add_object(volume, "secret");
	json_add_string(source, "secretName", secret);
	item = k8s_push_object(json_add_array(source, "items"));
	json_add_string(item, "key", ".dockerconfigjson");
	json_add_string(item, "path", "config.json");
}

void compile_cache(const struct fleet *fleet, const struct fleet_target *target, cJSON *volumes,
                   cJSON *mounts)
{
	const char *login = compile_login(fleet, target);
	cJSON *volume;

	if (!target->compile.carried)
		return;
	volume = k8s_push_object(volumes);
	json_add_string(volume, "name", COMPILE_VOLUME);
	json_add_object(volume, "emptyDir");
	k8s_mount(mounts, COMPILE_VOLUME, COMPILE_CACHE, false);
	if (login != NULL)
		add_login(login, volumes);
}

static cJSON *add_container(cJSON *array, const char *name, const char *image)
{
	cJSON *container = k8s_push_object(array);

	json_add_string(container, "name", name);
	json_add_string(container, "image", image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	return container;
}

static void add_carrier_mounts(const char *login, cJSON *container)
{
	cJSON *mounts = json_add_array(container, "volumeMounts");

	k8s_mount(mounts, COMPILE_VOLUME, COMPILE_CACHE, false);
	k8s_mount(mounts, "tmp", "/tmp", false);
	if (login != NULL)
		k8s_mount(mounts, COMPILE_LOGIN, LOGIN, true);
}

/* slipway itself: registries, and AWS where they are ECR. It alone sees the registry's login. */
static void add_carrier(const struct fleet *fleet, const struct fleet_target *target, cJSON *array,
                        const char *name, const char *const *words, size_t n)
{
	cJSON *container = add_container(array, name, target->section->compiler.slipway);
	const char *login = compile_login(fleet, target);
	cJSON *env;

	k8s_add_strings(container, "args", words, n);
	env = json_add_array(container, "env");
	k8s_env(env, "HOME", "/tmp");
	k8s_env(env, "AWS_REGION", fleet->cluster->region);
	if (login != NULL)
		k8s_env(env, "DOCKER_CONFIG", LOGIN);
	k8s_small_resources(container, "500m", "512Mi");
	k8s_restricted(container);
	add_carrier_mounts(login, container);
}

void compile_fetch(const struct fleet *fleet, const struct fleet_target *target, cJSON *init,
                   bool allow_none)
{
	const char *words[] = {"neff",       "pull",        "--progress",  "plain",
	                       fleet->image, COMPILE_CACHE, "--allow-none"};

	if (target->compile.carried)
		add_carrier(fleet, target, init, COMPILE_FETCH, words,
		            ARRAY_LEN(words) - !allow_none);
}

/* ---- the Job ---- */

static void mount_all(const struct compile_job *j, cJSON *container)
{
	cJSON_AddItemToObject(container, "volumeMounts", cJSON_Duplicate(j->mounts, true));
}

/* The job's image as slipway-trainer: by job.command, or by its entrypoint. */
static cJSON *add_trainer(const struct compile_job *j, cJSON *array, const char *name)
{
	const struct job_section *job = j->fleet->job;
	cJSON *container = add_container(array, name, j->fleet->image);

	if (job->command.n > 0)
		k8s_add_strings(container, "command", job->command.at, 1);
	k8s_restricted(container);
	mount_all(j, container);
	return container;
}

static void add_program(const struct compile_job *j, cJSON *array)
{
	static const char *const words[] = {"install", PROGRAM};
	cJSON *container = add_trainer(j, array, COMPILE_PROGRAM);

	k8s_add_strings(container, "args", words, ARRAY_LEN(words));
	k8s_small_resources(container, "100m", "128Mi");
}

static void add_check(const struct compile_job *j, cJSON *array)
{
	const struct strlist *words = &j->target->compile.words;
	cJSON *container = add_trainer(j, array, COMPILE_CHECK);
	cJSON *args = k8s_add_strings(container, "args", words->at, words->n);

	json_push_string(args, "--check");
	k8s_small_resources(container, "1", "4Gi");
}

/* Of the compiler's image as little is asked as of any: no root, but a file system to write to. */
static void add_rights(cJSON *container)
{
	cJSON *context = json_add_object(container, "securityContext");

	json_add_bool(context, "allowPrivilegeEscalation", false);
	json_push_string(json_add_array(json_add_object(context, "capabilities"), "drop"), "ALL");
}

static void add_amounts(const struct compiler_section *s, cJSON *container)
{
	cJSON *resources = json_add_object(container, "resources");
	cJSON *requests = json_add_object(resources, "requests");

	k8s_addf(requests, "cpu", "%lldm", (long long)s->cpu_milli);
	k8s_addf(requests, "memory", "%lldMi", (long long)s->memory_mib);
	k8s_addf(json_add_object(resources, "limits"), "memory", "%lldMi",
	         (long long)s->memory_mib);
}

static void add_compiler(const struct compile_job *j, struct k8s_output *out, cJSON *array)
{
	const struct compiler_section *s = j->section;
	const struct target_compile *c = &j->target->compile;
	cJSON *container = add_container(array, COMPILE_COMPILE, s->image), *env, *command;

	k8s_note(out, container, "image", s->image_at,
	         arena_printf(&out->arena, "fleet.%s.compiler.image", j->target->name));
	if (c->words.n > 0) {
		command = json_add_array(container, "command");
		json_push_string(command, PROGRAM);
		k8s_add_strings(container, "args", c->words.at, c->words.n);
	} else {
		k8s_add_strings(container, "command", s->command.at, s->command.n);
	}
	json_add_string(container, "workingDir", "/tmp");
	env = json_add_array(container, "env");
	k8s_env(env, "HOME", "/tmp");
	k8s_env(env, j->target->accelerator->cache_env, c->cache);
	add_amounts(s, container);
	add_rights(container);
	mount_all(j, container);
}

static void add_send(const struct compile_job *j, cJSON *array)
{
	const char *words[] = {"neff",  "push",        "--progress",
	                       "plain", COMPILE_CACHE, j->fleet->image};

	add_carrier(j->fleet, j->target, array, COMPILE_SEND, words, ARRAY_LEN(words));
}

/* What comes last is the Job's container, all else goes before it. */
static void add_containers(const struct compile_job *j, struct k8s_output *out)
{
	const struct target_compile *c = &j->target->compile;
	bool compiles = !j->section->compiled, before = c->carried || (compiles && c->words.n > 0);
	cJSON *init = before ? json_add_array(j->pod, "initContainers") : NULL;
	cJSON *last = json_add_array(j->pod, "containers");

	compile_fetch(j->fleet, j->target, init, compiles);
	if (!compiles) {
		add_check(j, last);
		return;
	}
	if (c->words.n > 0)
		add_program(j, init);
	add_compiler(j, out, c->carried ? init : last);
	if (c->carried)
		add_send(j, last);
}

static void place(const struct compile_job *j)
{
	const struct fleet *fleet = j->fleet;
	cJSON *selector = json_add_object(j->pod, "nodeSelector"), *toleration;
	bool pool = fleet->compile_pool != NULL && !j->section->compiled;

	if (pool)
		json_add_string(selector, k8s_pool_label(fleet), fleet->compile_pool);
	/* The devices' own architecture is the compiler's, too. */
	json_add_string(selector, "kubernetes.io/arch", j->target->arch);
	if (!pool)
		return;
	toleration = k8s_push_object(json_add_array(j->pod, "tolerations"));
	json_add_string(toleration, "key", COMPILE_LABEL);
	json_add_string(toleration, "operator", "Exists");
	json_add_string(toleration, "effect", "NoSchedule");
}

static void add_volumes(struct compile_job *j)
{
	cJSON *volume;

	j->volumes = json_add_array(j->pod, "volumes");
	job_scratch(j->volumes, j->mounts);
	job_data(j->fleet, j->volumes, j->mounts);
	compile_cache(j->fleet, j->target, j->volumes, j->mounts);
	if (j->section->compiled || j->target->compile.words.n == 0)
		return;
	volume = k8s_push_object(j->volumes);
	json_add_string(volume, "name", TOOLS);
	json_add_object(volume, "emptyDir");
	k8s_mount(j->mounts, TOOLS, COMPILE_TOOLS, false);
}

static void add_pod(struct compile_job *j, struct k8s_output *out, cJSON *template)
{
	const struct fleet *fleet = j->fleet;
	cJSON *metadata = json_add_object(template, "metadata");
	cJSON *labels = json_add_object(metadata, "labels");

	k8s_labels(out, labels, j->target->compile.job);
	json_add_string(labels, "slipway/target", j->target->name);
	json_add_string(json_add_object(metadata, "annotations"), k8s_do_not_disrupt(fleet),
	                "true");
	j->pod = json_add_object(template, "spec");
	json_add_string(j->pod, "restartPolicy", "Never");
	json_add_string(j->pod, "serviceAccountName", fleet->service_account);
	json_add_bool(j->pod, "automountServiceAccountToken", false);
	job_pull_secrets(fleet->job, j->pod);
	place(j);
	job_security(fleet, j->pod);
	add_volumes(j);
	add_containers(j, out);
}

/* A compiler that says no says it again; a node that went is nobody's failure. */
static void add_failure_policy(const struct compile_job *j, cJSON *spec)
{
	const char *container = j->section->compiled ? COMPILE_CHECK : COMPILE_COMPILE;
	cJSON *rules = json_add_array(json_add_object(spec, "podFailurePolicy"), "rules");
	cJSON *rule = k8s_push_object(rules), *codes, *values, *condition;

	json_add_string(rule, "action", "FailJob");
	codes = json_add_object(rule, "onExitCodes");
	json_add_string(codes, "containerName", container);
	json_add_string(codes, "operator", "In");
	values = json_add_array(codes, "values");
	json_push(values, cJSON_CreateNumber(1));
	json_push(values, cJSON_CreateNumber(2));
	rule = k8s_push_object(rules);
	json_add_string(rule, "action", "Ignore");
	condition = k8s_push_object(json_add_array(rule, "onPodConditions"));
	json_add_string(condition, "type", "DisruptionTarget");
	json_add_string(condition, "status", "True");
}

static const char *about(const struct compile_job *j, struct arena *a)
{
	return arena_printf(a, "%s what %s devices run on %s, ahead of the job; it is kept in %s.",
	                    j->section->compiled ? "Sees that there is" : "Compiles",
	                    j->target->accelerator->maker, j->target->name,
	                    j->target->compile.carried ? "the registry, beside the job's image"
	                                               : j->target->compile.cache);
}

static void render_one(const struct fleet *fleet, const struct fleet_target *target,
                       struct k8s_output *out)
{
	enum { RETRIES = 2 };
	AUTO(json) cJSON *mounts = cJSON_CreateArray();
	struct compile_job j = {
		.fleet = fleet, .target = target, .section = &target->section->compiler};
	cJSON *spec;

	j.mounts = mounts;
	k8s_file(out, arena_printf(&out->arena, "%s.yaml", target->name), about(&j, &out->arena));
	k8s_choice(out, target->name);
	spec = json_add_object(
		k8s_add(out, "batch/v1", "Job", fleet->namespace, target->compile.job), "spec");
	json_add_int(spec, "backoffLimit", RETRIES);
	json_add_int(spec, "ttlSecondsAfterFinished", fleet->job->ttl_seconds);
	add_failure_policy(&j, spec);
	add_pod(&j, out, json_add_object(spec, "template"));
}

static void render_compile(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].compile.job != NULL)
			render_one(fleet, &fleet->targets[i], out);
}

const struct k8s_renderer compile_renderer = {
	.number = "55",
	.name = "compile",
	.summary = "what devices run, compiled ahead of the job",
	.deployed = true,
	.wanted = fleet_compiles,
	.render = render_compile,
};
