/*
 * Joins the image, the cluster and the pipeline: what the pipeline's room has to know of the rest.
 */
#include <string.h>

#include "base/text.h"
#include "builder/aws/iam.h"
#include "builder/oci/ref.h"
#include "builder/spec/spec_iam.h"
#include "builder/spec/spec_internal.h"
#include "builder/trust/key.h"

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

/* Untagged images are what nobody released: with no say they go after two weeks. */
static const char *lifecycle_of(const struct ecr_settings *settings, struct arena *a)
{
	enum { UNTAGGED_DAYS = 14 };
	struct ecr_settings s = *settings;

	if (s.expire_untagged_days == 0)
		s.expire_untagged_days = UNTAGGED_DAYS;
	return json_text(ecr_lifecycle_policy(&s), a);
}

/* Where builds go: nothing has a tag there, and all of it is gone after a while. */
static struct ecr_settings staging_settings(const struct ecr_settings *of)
{
	return (struct ecr_settings){.encryption = of->encryption, .kms_key = of->kms_key};
}

static const char *policy_of(struct iam_request *request, enum iam_purpose purpose, struct arena *a)
{
	request->purpose = purpose;
	return json_text(iam_policy(request), a);
}

/* One repository of the registry; `request` has its host, if it is ECR's. */
static void fill_repository(struct pipeline_repository *r, const struct ref *to, const char *name,
                            const struct ecr_settings *settings, struct iam_request *request,
                            struct arena *a)
{
	r->name = name;
	r->image = arena_printf(a, "%s/%s", to->host, name);
	if (request->host.region == NULL)
		return;
	r->host = to->host;
	r->account = request->host.account;
	r->mutability = settings->mutability;
	r->scan_on_push = true; /* the gate waits for it */
	r->encryption = settings->encryption;
	r->kms_key = settings->kms_key;
	r->lifecycle = lifecycle_of(settings, a);
	request->repository = name;
	r->push_policy = policy_of(request, IAM_PUSH, a);
	r->pull_policy = policy_of(request, IAM_PULL, a);
	r->scan_policy = policy_of(request, IAM_SCAN, a);
}

static void fill_repositories(const struct spec *spec, const struct ref *to,
                              struct iam_request *request, struct arena *a,
                              struct pipeline_facts *facts)
{
	const struct spec_image *image = &spec->image;
	const struct ecr_settings staging = staging_settings(&image->ecr);
	const char *name = spec->pipeline_section.staging;

	if (name == NULL)
		name = arena_printf(a, "%s-build", to->repository);
	request->bases = spec_iam_bases(image, to, a);
	fill_repository(&facts->staging, to, name, &staging, request, a);
	/* What is released comes from the other repository alone. */
	request->bases = (struct strlist){0};
	fill_repository(&facts->repository, to, to->repository, &image->ecr, request, a);
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

static void add_option(struct strbuf *text, const char *name, const char *value)
{
	strbuf_addf(text, " --%s ", name);
	quote(text, value);
}

/* The key of the section, or that of the image; how it signs, the image says. */
static void fill_signing(const struct spec *spec, struct iam_request *request, struct arena *a,
                         struct pipeline_facts *facts)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(POLICY_MAX);
	const struct sign_settings *settings = &spec->image.sign;
	const char *own = spec->pipeline_section.sign;
	const char *key = own != NULL ? own : settings->set ? settings->key : NULL;
	struct pipeline_signing *signing = &facts->signing;
	struct kms_ref kms = {0};
	struct err ignored = {0};

	signing->at = spec->pipeline_section.sign_at;
	if (key == NULL)
		return;
	add_option(&text, "key", key);
	for (size_t i = 0; i < settings->formats.n; i++)
		add_option(&text, "format", settings->formats.at[i]);
	for (size_t i = 0; i < settings->annotations.n; i++)
		add_option(&text, "annotation",
		           arena_printf(a, "%s=%s", settings->annotations.at[i].key,
		                        settings->annotations.at[i].value));
	if (spec->image.provenance)
		strbuf_adds(&text, " --provenance");
	if (spec->image.sbom.set && spec->image.sbom.attach)
		strbuf_adds(&text, " --sbom");
	signing->options = arena_strdup(a, strbuf_str(&text));
	signing->in_kms = trust_key_is_kms(key) && kms_ref_parse(key, a, &kms, &ignored) == 0;
	if (signing->in_kms && text_has_prefix(kms.key, "alias/") && kms.endpoint == NULL)
		signing->alias = kms.key;
	request->keys = &kms;
	request->n_keys = signing->in_kms;
	if (request->host.region != NULL)
		signing->policy = policy_of(request, IAM_SIGN, a);
}

static void fill_registry(const struct spec *spec, struct arena *a, struct pipeline_facts *facts)
{
	struct iam_request request = {0};
	struct err ignored = {0};
	struct ref to;

	if (spec->image.repository == NULL ||
	    ref_parse(spec->image.repository, a, &to, &ignored) != 0 || to.kind != REF_REGISTRY)
		return;
	if (!ecr_host_parse(to.host, a, &request.host) || request.host.is_public)
		request.host = (struct ecr_host){0};
	facts->ecr_region = request.host.region;
	fill_repositories(spec, &to, &request, a, facts);
	fill_signing(spec, &request, a, facts);
	if (spec->n_trust > 0 && request.host.region != NULL) {
		spec_iam_trust(spec, a, &request);
		facts->verify_policy = policy_of(&request, IAM_VERIFY, a);
	}
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
	fill_registry(spec, a, &facts);
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
