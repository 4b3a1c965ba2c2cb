/*
 * A CodeBuild project per step, each with a role that may do what this step does and no more, and a
 * log group that ends.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/object/emit.h"
#include "pipeline/downloads.h"
#include "pipeline/render.h"

static const char *suffixed(char *out, size_t size, const struct pipeline_step *step,
                            const char *suffix)
{
	snprintf(out, size, "%s%s", step->resource, suffix);
	return out;
}

/* ---- what a step may do ---- */

static bool has_statement(const cJSON *statements, const char *sid)
{
	const cJSON *statement;

	cJSON_ArrayForEach (statement, statements)
		if (strcmp(json_string(statement, "Sid"), sid) == 0)
			return true;
	return false;
}

/* The statements of a policy text; what several of them ask for stands once. `suffix` tells apart
 * what is asked of two repositories: "Pull", "PullStaging". */
static void add_policy(cJSON *statements, const char *policy, const char *suffix)
{
	AUTO(arena) struct arena passing = {0};
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	const cJSON *statement;

	if (policy == NULL || json_parse("policy", policy, strlen(policy), &doc, &err) != 0)
		return;
	cJSON_ArrayForEach (statement, json_get(doc, "Statement")) {
		const char *sid = json_string(statement, "Sid");
		bool token = strcmp(sid, "Token") == 0;

		sid = token ? sid : arena_printf(&passing, "%s%s", sid, suffix);
		if (has_statement(statements, sid))
			continue;
		cJSON *copy = cJSON_Duplicate(statement, true);

		cJSON_ReplaceItemInObjectCaseSensitive(copy, "Sid", cJSON_CreateString(sid));
		json_push(statements, copy);
	}
}

/* What a step asks of the repositories and the key. Only a release may write where tags are. */
static void add_registry(const struct pipeline *p, enum pipeline_kind kind, cJSON *statements)
{
	const struct pipeline_repository *to = &p->repository, *staging = &p->staging;
	const struct {
		enum pipeline_kind kind;
		const char *policy, *suffix;
	} rows[] = {
		{STEP_BUILD, staging->push_policy, "Staging"},
		{STEP_BUILD, staging->pull_policy, "Staging"},
		{STEP_INDEX, staging->push_policy, "Staging"},
		{STEP_INDEX, staging->pull_policy, "Staging"},
		{STEP_CHECK, staging->pull_policy, "Staging"},
		{STEP_CHECK, p->scan ? staging->scan_policy : NULL, "Staging"},
		{STEP_RELEASE, staging->pull_policy, "Staging"},
		{STEP_RELEASE, to->push_policy, ""},
		{STEP_RELEASE, to->pull_policy, ""},
		{STEP_RELEASE, p->signing.policy, ""},
		{STEP_DEPLOY, p->verify_policy, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].kind == kind)
			add_policy(statements, rows[i].policy, rows[i].suffix);
}

static void add_logs(const struct pipeline_step *step, cJSON *statements)
{
	AUTO(strbuf) struct strbuf arn = STRBUF_INIT(256);
	cJSON *resources;
	cJSON *actions = template_statement(statements, "Logs", &resources);

	json_push_string(actions, "logs:CreateLogStream");
	json_push_string(actions, "logs:PutLogEvents");
	strbuf_addf(&arn, "${%sLogs.Arn}", step->resource);
	template_sub(resources, NULL, strbuf_str(&arn));
}

static void add_key(const struct pipeline *p, cJSON *statements)
{
	cJSON *resources;

	if (p->section->kms_key == NULL)
		return;
	cJSON *actions = template_statement(statements, "Key", &resources);

	json_push_string(actions, "kms:Decrypt");
	json_push_string(actions, "kms:GenerateDataKey");
	json_push_string(resources, p->section->kms_key);
}

static void add_cluster(const struct pipeline *p, cJSON *statements)
{
	AUTO(strbuf) struct strbuf arn = STRBUF_INIT(512);
	cJSON *resources;

	json_push_string(template_statement(statements, "Cluster", &resources),
	                 "eks:DescribeCluster");
	strbuf_addf(&arn, "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/%s",
	            p->cluster);
	template_sub(resources, NULL, strbuf_str(&arn));
}

/* An artifact's objects: CodePipeline names their folder by the first 20 characters of the
 * pipeline's name and the first 10 of the artifact's. */
static const char *prefix_of(const struct pipeline *p, const char *artifact, struct arena *a)
{
	enum { PIPELINE_CHARS = 20, ARTIFACT_CHARS = 10 };

	return arena_printf(a, "%.*s%s/%.*s/*", PIPELINE_CHARS, p->name,
	                    strlen(p->name) > PIPELINE_CHARS ? "*" : "", ARTIFACT_CHARS, artifact);
}

/* A step reads the source and what it is given, and writes what it makes: nobody else's. */
static void add_artifacts(const struct pipeline *p, const struct pipeline_step *step,
                          struct arena *a, cJSON *statements)
{
	struct strlist list = {arena_calloc(a, step->inputs.n + 1, sizeof(char *)), 0};

	list.at[list.n++] = prefix_of(p, "Source", a);
	for (size_t i = 0; i < step->inputs.n; i++)
		list.at[list.n++] = prefix_of(p, step->inputs.at[i], a);
	template_objects(statements, "Inputs", false, "Artifacts", &list);
	if (step->artifact != NULL)
		template_objects(
			statements, "Output", true, "Artifacts",
			&(struct strlist){(const char *[]){prefix_of(p, step->artifact, a)}, 1});
	template_bucket(statements, "Artifacts");
}

/* Each builder has a cache of its own: what one puts there, no other takes for its own. */
static void add_cache(const struct pipeline_step *step, struct arena *a, cJSON *statements)
{
	const struct strlist own = {(const char *[]){arena_printf(a, "%s/*", step->name)}, 1};

	template_objects(statements, "CacheRead", false, "Cache", &own);
	template_objects(statements, "CacheWrite", true, "Cache", &own);
	template_bucket(statements, "Cache");
}

static void add_downloads(const struct pipeline *p, const struct pipeline_step *step,
                          struct arena *a, cJSON *statements)
{
	cJSON *resources = NULL;

	for (size_t i = 0; i < DOWNLOADS; i++) {
		const char *object = download_object(p->section, step, i, a);

		if (object == NULL)
			continue;
		if (resources == NULL)
			json_push_string(template_statement(statements, "Programs", &resources),
			                 "s3:GetObject");
		template_sub(resources, NULL,
		             arena_printf(a, "arn:${AWS::Partition}:s3:::%s", object));
	}
}

static void add_role(const struct pipeline *p, const struct pipeline_step *step, cJSON *resources)
{
	AUTO(arena) struct arena passing = {0};
	char name[80];
	cJSON *role = template_resource(resources, suffixed(name, sizeof(name), step, "Role"),
	                                "AWS::IAM::Role");

	template_trust(role, "codebuild.amazonaws.com",
	               arena_printf(&passing, "project/%s-%s", p->name, step->name));
	cJSON *statements = template_policy(role, step->name);

	add_logs(step, statements);
	add_artifacts(p, step, &passing, statements);
	add_downloads(p, step, &passing, statements);
	add_key(p, statements);
	if (step->kind == STEP_BUILD && p->section->cache)
		add_cache(step, &passing, statements);
	add_registry(p, step->kind, statements);
	if (step->kind == STEP_DEPLOY)
		add_cluster(p, statements);
}

/* ---- the project ---- */

static void add_log_group(const struct pipeline *p, const struct pipeline_step *step,
                          cJSON *resources)
{
	char name[80];
	cJSON *group = template_resource(resources, suffixed(name, sizeof(name), step, "Logs"),
	                                 "AWS::Logs::LogGroup");

	k8s_addf(group, "LogGroupName", "/aws/codebuild/%s-%s", p->name, step->name);
	json_add_int(group, "RetentionInDays", p->section->log_days);
}

static void add_environment(const struct pipeline *p, const struct pipeline_step *step,
                            cJSON *project)
{
	bool arm = strcmp(step->architecture, "arm64") == 0;
	cJSON *environment = json_add_object(project, "Environment");

	json_add_string(environment, "Type", arm ? "ARM_CONTAINER" : "LINUX_CONTAINER");
	json_add_string(environment, "ComputeType",
	                pipeline_builder_compute(p, step->architecture));
	json_add_string(environment, "Image", pipeline_builder_image(p, step->architecture));
	/* Nothing here needs a daemon. */
	json_add_bool(environment, "PrivilegedMode", false);
}

static void add_project(const struct pipeline *p, const struct pipeline_step *step,
                        cJSON *resources)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	AUTO(json) cJSON *spec = cJSON_CreateObject();
	char name[80];
	cJSON *project = template_resource(resources, step->resource, "AWS::CodeBuild::Project");

	k8s_addf(project, "Name", "%s-%s", p->name, step->name);
	template_arn(project, "ServiceRole", suffixed(name, sizeof(name), step, "Role"));
	json_add_int(project, "TimeoutInMinutes", p->section->timeout_minutes);
	json_add_string(project, "EncryptionKey", p->section->kms_key);
	cJSON *source = json_add_object(project, "Source");

	json_add_string(source, "Type", "CODEPIPELINE");
	pipeline_buildspec(p, step, spec);
	k8s_yaml(spec, NULL, 0, &text);
	json_add_string(source, "BuildSpec", strbuf_str(&text));
	json_add_string(json_add_object(project, "Artifacts"), "Type", "CODEPIPELINE");
	add_environment(p, step, project);
	cJSON *logs = json_add_object(json_add_object(project, "LogsConfig"), "CloudWatchLogs");

	json_add_string(logs, "Status", "ENABLED");
	template_ref(logs, "GroupName", suffixed(name, sizeof(name), step, "Logs"));
	if (!p->section->cache || step->kind != STEP_BUILD)
		return;
	cJSON *cache = json_add_object(project, "Cache");

	json_add_string(cache, "Type", "S3");
	snprintf(name, sizeof(name), "${Cache}/%s", step->name);
	template_sub(cache, "Location", name);
}

/* What the deploying role may do in the cluster: it makes node pools, which are the cluster's. */
static void add_access(const struct pipeline *p, cJSON *resources)
{
	cJSON *entry = template_resource(resources, "DeployAccess", "AWS::EKS::AccessEntry");

	json_add_string(entry, "ClusterName", p->cluster);
	template_arn(entry, "PrincipalArn", "DeployRole");
	cJSON *policy = k8s_push_object(json_add_array(entry, "AccessPolicies"));

	template_sub(policy, "PolicyArn",
	             "arn:${AWS::Partition}:eks::aws:cluster-access-policy/"
	             "AmazonEKSClusterAdminPolicy");
	json_add_string(json_add_object(policy, "AccessScope"), "Type", "cluster");
}

void template_projects(const struct pipeline *p, cJSON *resources)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		add_log_group(p, &p->steps[i], resources);
		add_role(p, &p->steps[i], resources);
		add_project(p, &p->steps[i], resources);
	}
	if (p->cluster != NULL)
		add_access(p, resources);
}
