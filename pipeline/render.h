/*
 * The pipeline as documents: CloudFormation, buildspecs, a GitHub Actions workflow. Each reads the
 * model only and cannot fail; pipeline_renderer writes them all.
 */
#ifndef SLIPWAY_PIPELINE_RENDER_H
#define SLIPWAY_PIPELINE_RENDER_H

#include "k8s/object/render.h"
#include "pipeline/model.h"

extern const struct k8s_renderer pipeline_renderer;

/* The stack: buckets, repositories, key, roles, logs, projects, pipeline, notifications. */
void pipeline_template(const struct pipeline *p, cJSON *doc);

/* Parts of it, each adding to `resources`. */
void template_buckets(const struct pipeline *p, cJSON *resources);
void template_repositories(const struct pipeline *p, cJSON *resources);
void template_key(const struct pipeline *p, cJSON *resources);
void template_projects(const struct pipeline *p, cJSON *resources); /* with roles and logs */
void template_pipeline(const struct pipeline *p, cJSON *resources); /* with its role */

/* One step as a buildspec (version 0.2). */
void pipeline_buildspec(const struct pipeline *p, const struct pipeline_step *step, cJSON *doc);

/* The whole as one batch build (build-graph), for a project without a pipeline. */
void pipeline_batch(const struct pipeline *p, cJSON *doc);

void pipeline_workflow(const struct pipeline *p, cJSON *doc);

/* ---- pieces of a template ---- */

/* A new resource; returns its Properties. */
cJSON *template_resource(cJSON *resources, const char *name, const char *type);

/* {key: {"Ref"|"Fn::Sub": text}}, {key: {"Fn::GetAtt": [name, "Arn"]}}; key NULL = pushed to an
 * array. */
void template_ref(cJSON *to, const char *key, const char *name);
void template_sub(cJSON *to, const char *key, const char *text);
void template_arn(cJSON *to, const char *key, const char *name);

/* AssumeRolePolicyDocument of a service, for one thing of its alone ("project/NAME"). */
void template_trust(cJSON *role, const char *service, const char *source);

/* A statement of an inline policy; its Action array is returned, resources are added by the caller
 * to *ret_resources. */
cJSON *template_statement(cJSON *statements, const char *sid, cJSON **ret_resources);

/* Reading or writing those of a bucket's objects whose keys match ("perceiver/Source/..."). */
void template_objects(cJSON *statements, const char *sid, bool write, const char *bucket,
                      const struct strlist *prefixes);

/* The questions that AWS's services ask of the bucket itself. */
void template_bucket(cJSON *statements, const char *bucket);

/* Policies: [{PolicyName, PolicyDocument: {Version, Statement: []}}] of a role: the Statement. */
cJSON *template_policy(cJSON *role, const char *name);

#endif
