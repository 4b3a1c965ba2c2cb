#include "pipeline/render.h"

static void render_pipeline(const struct fleet *fleet, struct k8s_output *out)
{
	const struct pipeline *p = fleet->pipeline;

	k8s_file(out, "pipeline.yaml",
	         "From a commit to a checked image, for CloudFormation:\n"
	         "  aws cloudformation deploy --capabilities CAPABILITY_IAM --template-file "
	         "pipeline.yaml --stack-name NAME");
	pipeline_template(p, k8s_add_foreign(out));
	for (size_t i = 0; i < p->n_steps; i++) {
		k8s_file(out, arena_printf(&out->arena, "buildspec-%s.yaml", p->steps[i].name),
		         "For CodeBuild; the template holds the same.");
		pipeline_buildspec(p, &p->steps[i], k8s_add_foreign(out));
	}
	k8s_file(out, "buildspec-batch.yaml",
	         "The whole as one batch build, for a CodeBuild project without a pipeline.\n"
	         "SLIPWAY_BUCKET names the bucket where the builds meet.");
	pipeline_batch(p, k8s_add_foreign(out));
	if (!p->section->github)
		return;
	k8s_file(out, "github-workflow.yaml",
	         "For .github/workflows. The role's trust policy names this repository.");
	pipeline_workflow(p, k8s_add_foreign(out));
}

static bool with_pipeline(const struct fleet *fleet)
{
	return fleet->pipeline != NULL;
}

const struct k8s_renderer pipeline_renderer = {
	.number = "80",
	.name = "pipeline",
	.summary = "from a commit to a checked image",
	.wanted = with_pipeline,
	.render = render_pipeline,
};
