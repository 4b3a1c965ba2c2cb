#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "pipeline/downloads.h"
#include "pipeline/steps.h"

/* CodeBuild user guide, "Docker images provided by CodeBuild"; GitHub's hosted runners. */
static const struct {
	const char *architecture, *image, *runner;
} machines[] = {
	{"amd64", "aws/codebuild/amazonlinux-x86_64-standard:5.0", "ubuntu-24.04"},
	{"arm64", "aws/codebuild/amazonlinux-aarch64-standard:3.0", "ubuntu-24.04-arm"},
};

static size_t machine_of(const char *architecture)
{
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (strcmp(machines[i].architecture, architecture) == 0)
			return i;
	BUG("no builder for this architecture");
}

static bool has_machine(const char *architecture)
{
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (strcmp(machines[i].architecture, architecture) == 0)
			return true;
	return false;
}

const struct builder_section *pipeline_builder(const struct pipeline *p, const char *architecture)
{
	return strcmp(architecture, "arm64") == 0 ? &p->section->arm64 : &p->section->amd64;
}

const char *pipeline_builder_image(const struct pipeline *p, const char *architecture)
{
	const char *image = pipeline_builder(p, architecture)->image;

	return image != NULL ? image : machines[machine_of(architecture)].image;
}

const char *pipeline_builder_compute(const struct pipeline *p, const char *architecture)
{
	return pipeline_builder(p, architecture)->compute;
}

const char *pipeline_builder_runner(const struct pipeline *p, const char *architecture)
{
	const char *runner = pipeline_builder(p, architecture)->runner;

	return runner != NULL ? runner : machines[machine_of(architecture)].runner;
}

/* ---- cross-checks ---- */

static void check_image(const struct pipeline_facts *f, struct diags *d)
{
	struct diag *problem;

	if (f->repository.image == NULL)
		diags_add(d, DIAG_ERROR, f->image_at,
		          "image.repository is missing: a pipeline pushes to it");
	for (size_t i = 0; i < f->architectures.n; i++)
		if (!has_machine(f->architectures.at[i]))
			diags_add(d, DIAG_ERROR, f->image_at,
			          "no builder for %s: a pipeline builds amd64 and arm64",
			          f->architectures.at[i]);
	if (f->shared_layer == NULL)
		return;
	problem = diags_add(d, DIAG_ERROR, f->shared_layer_at,
	                    "layer '%s' shares files between platforms, but a pipeline builds "
	                    "each platform on its own machine",
	                    f->shared_layer);
	diag_hint(d, problem, "add `share: false` to it");
}

/* A stack makes things in its own region only: the repository, the cluster's access entry. */
static void check_regions(const struct pipeline_section *s, const struct pipeline_facts *f,
                          const char *region, struct diags *d)
{
	if (region == NULL)
		return;
	if (s->repository && f->ecr_region != NULL && strcmp(region, f->ecr_region) != 0)
		diag_hint(d,
		          diags_add(d, DIAG_ERROR, s->region != NULL ? s->region_at : s->at,
		                    "the pipeline runs in %s and cannot create the repository "
		                    "in %s",
		                    region, f->ecr_region),
		          "leave pipeline.region out, or create the repository yourself and "
		          "write `repository: false`");
	if (s->deploy && f->cluster_region != NULL && strcmp(region, f->cluster_region) != 0)
		diag_hint(d,
		          diags_add(d, DIAG_ERROR, s->deploy_at,
		                    "the pipeline runs in %s and cannot get access to a cluster "
		                    "in %s",
		                    region, f->cluster_region),
		          "write `region: %s`, or deploy from there", f->cluster_region);
}

static void check_places(const struct pipeline_section *s, const struct pipeline_facts *f,
                         const char *region, struct diags *d)
{
	if (region == NULL)
		diags_add(d, DIAG_ERROR, s->at,
		          "pipeline.region is missing, and nothing else in the spec names a "
		          "region");
	if (s->deploy && f->cluster == NULL)
		diags_add(d, DIAG_ERROR, s->deploy_at, "there is no cluster to deploy to");
	check_regions(s, f, region, d);
	if (s->tags.n > 5)
		diags_add(d, DIAG_ERROR, s->at, "pipeline.tags: at most 5 tags are allowed");
	if (s->github && f->repository.host != NULL && s->github_role == NULL)
		diag_hint(d, diags_add(d, DIAG_ERROR, s->at, "pipeline.github_role is missing"),
		          "write the ARN of the role that GitHub's workflow assumes to push to "
		          "ECR");
}

/* A key that a machine in AWS has, and a stack can make. */
static void check_signing(const struct pipeline_section *s, const struct pipeline_facts *f,
                          struct diags *d)
{
	const struct pipeline_signing *g = &f->signing;

	if (g->options != NULL && f->repository.host != NULL && !g->in_kms && !s->github)
		diag_hint(d,
		          diags_add(d, DIAG_ERROR, srcpos_or(g->at, s->at),
		                    "a pipeline in AWS has no such key to sign with"),
		          "use a key in KMS: awskms:///alias/NAME");
	if (s->signing_key && g->alias == NULL)
		diag_hint(
			d,
			diags_add(d, DIAG_ERROR, srcpos_or(g->at, s->at),
		                  "pipeline.signing_key creates a key with an alias, and no key is "
		                  "named by one"),
			"write `sign: awskms:///alias/NAME`");
}

static void check_staging(const struct pipeline_section *s, const struct pipeline_facts *f,
                          struct diags *d)
{
	if (f->repository.name != NULL && strcmp(f->repository.name, f->staging.name) == 0)
		diag_hint(d,
		          diags_add(d, DIAG_ERROR, srcpos_or(s->staging_at, s->at),
		                    "pipeline.staging is image.repository itself: whoever builds "
		                    "could set its tags"),
		          "leave it out, or name another repository of the same registry");
}

struct pipeline *pipeline_resolve(const struct pipeline_section *section,
                                  const struct pipeline_facts *facts, struct arena *a,
                                  struct diags *diags)
{
	struct pipeline *p = arena_calloc(a, 1, sizeof(*p));
	size_t before = diags->n_errors;
	const char *region = section->region != NULL     ? section->region
	                     : facts->ecr_region != NULL ? facts->ecr_region
	                                                 : facts->cluster_region;

	check_image(facts, diags);
	check_places(section, facts, region, diags);
	check_signing(section, facts, diags);
	check_staging(section, facts, diags);
	downloads_check(section, facts, diags);
	if (diags->n_errors > before || facts->name == NULL)
		return NULL;
	*p = (struct pipeline){.section = section,
	                       .name = facts->name,
	                       .file = facts->file,
	                       .sets = facts->sets,
	                       .build = facts->build,
	                       .region = region,
	                       .cluster = section->deploy ? facts->cluster : NULL,
	                       .repository = facts->repository,
	                       .staging = facts->staging,
	                       .signing = facts->signing,
	                       .verify_policy = facts->verify_policy,
	                       .scan = section->scan && facts->repository.host != NULL};
	pipeline_steps(p, facts, a);
	for (size_t i = 0; i < p->n_steps; i++)
		downloads_install(section, &p->steps[i], a);
	return p;
}
