/*
 * The pipeline itself: source, builds side by side, index, check, approval, deployment.
 */
#include <string.h>

#include "pipeline/render.h"

static void add_role(const struct pipeline *p, cJSON *resources)
{
	const struct strlist all = {(const char *[]){"*"}, 1};
	cJSON *role = template_resource(resources, "PipelineRole", "AWS::IAM::Role"), *list;

	template_trust(role, "codepipeline.amazonaws.com", p->name);
	cJSON *statements = template_policy(role, "pipeline");

	template_objects(statements, "Read", false, "Artifacts", &all);
	template_objects(statements, "Write", true, "Artifacts", &all);
	template_bucket(statements, "Artifacts");
	cJSON *actions = template_statement(statements, "Steps", &list);
	json_push_string(actions, "codebuild:BatchGetBuilds");
	json_push_string(actions, "codebuild:StartBuild");
	for (size_t i = 0; i < p->n_steps; i++)
		template_arn(list, NULL, p->steps[i].resource);
	actions = template_statement(statements, "Source", &list);
	/* The service was renamed; which of the two names is asked for depends on the connection.
	 */
	json_push_string(actions, "codeconnections:UseConnection");
	json_push_string(actions, "codestar-connections:UseConnection");
	json_push_string(list, p->section->source.connection);
	if (p->section->kms_key == NULL)
		return;
	actions = template_statement(statements, "Key", &list);
	json_push_string(actions, "kms:Decrypt");
	json_push_string(actions, "kms:GenerateDataKey");
	json_push_string(list, p->section->kms_key);
}

static cJSON *add_stage(cJSON *stages, const char *name)
{
	cJSON *stage = k8s_push_object(stages);

	json_add_string(stage, "Name", name);
	return json_add_array(stage, "Actions");
}

static cJSON *add_action(cJSON *actions, const char *name, const char *category,
                         const char *provider)
{
	cJSON *action = k8s_push_object(actions);

	json_add_string(action, "Name", name);
	cJSON *type = json_add_object(action, "ActionTypeId");

	json_add_string(type, "Category", category);
	json_add_string(type, "Owner", "AWS");
	json_add_string(type, "Provider", provider);
	json_add_string(type, "Version", "1");
	return action;
}

static void add_name(cJSON *action, const char *key, const char *name)
{
	json_add_string(k8s_push_object(json_add_array(action, key)), "Name", name);
}

static void add_source(const struct pipeline *p, cJSON *stages)
{
	const struct source_section *s = &p->section->source;
	cJSON *action = add_action(add_stage(stages, "Source"), "Source", "Source",
	                           "CodeStarSourceConnection");
	cJSON *configuration = json_add_object(action, "Configuration");

	json_add_string(configuration, "ConnectionArn", s->connection);
	json_add_string(configuration, "FullRepositoryId", s->repository);
	json_add_string(configuration, "BranchName", s->branch);
	json_add_string(configuration, "DetectChanges", "true");
	add_name(action, "OutputArtifacts", "Source");
}

static void add_step(const struct pipeline_step *step, cJSON *actions)
{
	const char *category = step->kind == STEP_CHECK ? "Test" : "Build";
	cJSON *action = add_action(actions, step->resource, category, "CodeBuild");
	cJSON *configuration = json_add_object(action, "Configuration");

	template_ref(configuration, "ProjectName", step->resource);
	json_add_string(configuration, "PrimarySource", "Source");
	cJSON *inputs = json_add_array(action, "InputArtifacts");

	json_add_string(k8s_push_object(inputs), "Name", "Source");
	for (size_t i = 0; i < step->inputs.n; i++)
		json_add_string(k8s_push_object(inputs), "Name", step->inputs.at[i]);
	if (step->artifact != NULL)
		add_name(action, "OutputArtifacts", step->artifact);
}

static void add_stages(const struct pipeline *p, cJSON *stages)
{
	add_source(p, stages);
	cJSON *builds = add_stage(stages, "Build");

	for (size_t i = 0; i < p->n_builds; i++)
		add_step(&p->steps[i], builds);
	for (size_t i = p->n_builds; i < p->n_steps; i++) {
		const struct pipeline_step *step = &p->steps[i];

		if (step->kind == STEP_DEPLOY && p->section->approval)
			add_action(add_stage(stages, "Approve"), "Approve", "Approval", "Manual");
		add_step(step, add_stage(stages, step->resource));
	}
}

void template_pipeline(const struct pipeline *p, cJSON *resources)
{
	add_role(p, resources);
	cJSON *pipeline = template_resource(resources, "Pipeline", "AWS::CodePipeline::Pipeline");

	json_add_string(pipeline, "Name", p->name);
	json_add_string(pipeline, "PipelineType", "V2");
	/* A newer commit takes the place of one that waits. */
	json_add_string(pipeline, "ExecutionMode", "SUPERSEDED");
	template_arn(pipeline, "RoleArn", "PipelineRole");
	cJSON *store = json_add_object(pipeline, "ArtifactStore");

	json_add_string(store, "Type", "S3");
	template_ref(store, "Location", "Artifacts");
	if (p->section->kms_key != NULL) {
		cJSON *key = json_add_object(store, "EncryptionKey");

		json_add_string(key, "Type", "KMS");
		json_add_string(key, "Id", p->section->kms_key);
	}
	add_stages(p, json_add_array(pipeline, "Stages"));
}
