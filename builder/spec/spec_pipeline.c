/*
 * Joins the image, the cluster and the pipeline: what the pipeline's room has to know of the rest.
 */
#include <string.h>

#include "builder/aws/iam.h"
#include "builder/oci/ref.h"
#include "builder/spec/spec_internal.h"

enum { POLICY_MAX = 1 << 16 };

static const char *json_text(cJSON *doc, struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(POLICY_MAX);

	if (doc == NULL)
		return NULL;
	json_print(doc, &text);
	cJSON_Delete(doc);
	return arena_strdup(a, strbuf_str(&text));
}

/* Repositories of the same registry that base images are pulled from. */
static void find_bases(const struct spec_image *image, const struct ref *to, struct arena *a,
                       struct strlist *bases)
{
	bases->at = arena_calloc(a, image->n_bases + 1, sizeof(*bases->at));
	for (size_t i = 0; i < image->n_bases; i++) {
		struct ref base;
		struct err ignored = {0};

		if (ref_parse(image->bases[i].ref, a, &base, &ignored) == 0 &&
		    base.kind == REF_REGISTRY && strcmp(base.host, to->host) == 0)
			bases->at[bases->n++] = base.repository;
	}
}

/* Untagged images are what failed checks left: with no say they go after two weeks. */
static const char *lifecycle_of(const struct ecr_settings *settings, struct arena *a)
{
	enum { UNTAGGED_DAYS = 14 };
	struct ecr_settings s = *settings;

	if (s.expire_untagged_days == 0)
		s.expire_untagged_days = UNTAGGED_DAYS;
	return json_text(ecr_lifecycle_policy(&s), a);
}

static void fill_repository(const struct spec_image *image, struct arena *a,
                            struct pipeline_facts *facts)
{
	struct pipeline_repository *r = &facts->repository;
	struct iam_request request = {0};
	struct err ignored = {0};
	struct ref to;

	if (image->repository == NULL || ref_parse(image->repository, a, &to, &ignored) != 0 ||
	    to.kind != REF_REGISTRY)
		return;
	facts->image = arena_printf(a, "%s/%s", to.host, to.repository);
	r->name = to.repository;
	if (!ecr_host_parse(to.host, a, &request.host) || request.host.is_public)
		return;
	r->host = to.host;
	r->account = request.host.account;
	facts->ecr_region = request.host.region;
	r->mutability = image->ecr.mutability;
	r->scan_on_push = true; /* the gate waits for it */
	r->encryption = image->ecr.encryption;
	r->kms_key = image->ecr.kms_key;
	r->lifecycle = lifecycle_of(&image->ecr, a);
	request.repository = to.repository;
	find_bases(image, &to, a, &request.bases);
	request.purpose = IAM_PUSH;
	r->push_policy = json_text(iam_policy(&request), a);
	request.purpose = IAM_PULL;
	r->pull_policy = json_text(iam_policy(&request), a);
	request.purpose = IAM_SCAN;
	r->scan_policy = json_text(iam_policy(&request), a);
}

/* A word for a shell: a quote in it ends the quoting, stands escaped, and begins it again. */
static void quote(struct strbuf *text, const char *word)
{
	strbuf_addc(text, '\'');
	for (; *word != '\0'; word++)
		if (*word == '\'')
			strbuf_adds(text, "'\\''");
		else
			strbuf_addc(text, *word);
	strbuf_addc(text, '\'');
}

static const char *quote_file(const char *path, struct arena *a)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(POLICY_MAX);
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	if (name[strspn(name, plain)] == '\0')
		return arena_strdup(a, name);
	quote(&text, name);
	return arena_strdup(a, strbuf_str(&text));
}

static const char *quote_sets(const struct spec_origin *from, struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(POLICY_MAX);

	for (size_t i = 0; i < from->n_sets; i++) {
		strbuf_adds(&text, " --set ");
		quote(&text, from->sets[i].assignment);
	}
	return arena_strdup(a, strbuf_str(&text));
}

void spec_resolve_pipeline(struct spec *spec, const struct spec_origin *from, struct arena *a,
                           struct diags *d)
{
	const struct cluster_section *cluster = &spec->sections.cluster;
	const struct layer_spec *layer = spec_layer_across_platforms(spec);
	struct pipeline_facts facts = {
		.name = spec->name,
		.name_at = spec->name_at,
		.file = quote_file(from->file, a),
		.sets = quote_sets(from, a),
		.image_at = spec->image.at,
		.build = spec->image.name,
		.architectures = spec_architectures(spec, a),
	};

	if (!spec->pipeline_section.set)
		return;
	if (!spec->has_image && spec->n_images == 0) {
		if (spec->sections.job.image != NULL)
			diags_error(d, spec->pipeline_section.at,
			            "add the section `image:`, or leave the pipeline out",
			            "pipeline: the spec describes no image that it could build");
		return;
	}
	if (!spec->image_known)
		diags_error(d, spec->pipeline_section.at, "let the job name it: job.image: NAME",
		            "pipeline: which of the images does it build?");
	fill_repository(&spec->image, a, &facts);
	if (cluster->set) {
		facts.cluster = spec->fleet.cluster_name;
		facts.cluster_region = cluster->region;
	}
	if (layer != NULL) {
		facts.shared_layer = layer->name;
		facts.shared_layer_at = layer->at;
	}
	spec->fleet.pipeline = pipeline_resolve(&spec->pipeline_section, &facts, a, d);
}
