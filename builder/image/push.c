#include "builder/image/push.h"

#include <string.h>

#include "builder/image/attach.h"
#include "builder/image/attest_sbom.h"
#include "builder/image/copy.h"
#include "builder/image/sign.h"
#include "builder/oci/manifest.h"

/* The base's repository, as the image's own annotation names it; NULL when there is none to ask. */
static int open_base(const struct remote *remote, struct layout *layout,
                     const struct descriptor *root, struct registry **ret_base, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct store *store = layout_store(layout);
	struct descriptor manifest = *root;
	struct manifest parsed = {0};
	struct index index = {0};
	struct ref ref;
	int result = store_read(store, root, MANIFEST_BYTES_MAX, &text, err);

	*ret_base = NULL;
	if (result == 0 && media_is_index(root->media_type)) {
		result = index_parse(text.ptr, text.len, root->media_type, remote->arena, &index,
		                     err);
		if (result == 0 && index.n_manifests > 0) {
			manifest = index.manifests[0];
			result = store_read(store, &manifest, MANIFEST_BYTES_MAX, &text, err);
		}
	}
	store_close(store);
	if (result == 0)
		result = manifest_parse(text.ptr, text.len, manifest.media_type, remote->arena,
		                        &parsed, err);
	if (result != 0)
		return -1;
	const char *name = strmap_get(&parsed.annotations, ANNOTATION_BASE_NAME);

	if (name == NULL || ref_parse(name, remote->arena, &ref, err) != 0 ||
	    ref.kind != REF_REGISTRY)
		return 0;
	return remote_registry(remote, &ref, ret_base, err);
}

int image_push_preflight(const struct remote *remote, const struct image_target *t,
                         const struct descriptor *root, struct registry *registry, struct err *err)
{
	static const struct ecr_settings plain;
	const struct ecr_settings *ecr = t->ecr != NULL ? t->ecr : &plain;
	const struct ecr_preflight p = {.registry = registry,
	                                .settings = t->create || ecr->create ? ecr : NULL,
	                                .tags = &t->tags,
	                                .digest = &root->digest,
	                                .needs_token = !remote->typed,
	                                .progress = remote->progress};

	return ecr_registry_preflight(remote->aws->ecr, &p, err);
}

/* What comes between the manifests and their tags. */
int image_sign_pushed(const struct image_signing *signing, struct registry *r,
                      const struct descriptor *root, struct progress *progress, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const struct attach_place place = {.registry = r};
	struct store *store = registry_store(r);
	struct sign_result result;
	const struct sign_opts opts = {
		.place = &place,
		.store = store,
		.root = root,
		.key = signing->key,
		.forms = signing->forms,
		.annotations = signing->annotations,
		.reference = arena_printf(&a, "%s/%s", registry_host(r), registry_repository(r))};
	int status = image_sign(&opts, &a, &result, err);

	store_close(store);
	if (status != 0)
		return -1;
	progress_note(progress, "%zu signatures made, %zu already there, by key SHA256:%s",
	              result.n_signed, result.n_there, trust_key_fingerprint(signing->key));
	return 0;
}

struct attaching {
	const struct image_target *target;
	struct layout *layout;
	const struct descriptor *root;
	struct progress *progress;
	unsigned jobs;
	size_t n_attached;
};

static int send_attached(struct attaching *at, struct registry *r, struct err *err)
{
	struct store *store = layout_store(at->layout);
	struct copy_registry place;
	struct copy_result copied = {0};
	const struct copy_opts opts = {.from = store,
	                               .to = &place.place,
	                               .root = at->root,
	                               .jobs = at->jobs,
	                               .attached_only = true};

	copy_registry_init(&place, r);
	int status = copy_image(&opts, &copied, err);

	store_close(store);
	at->n_attached = copied.n_attached;
	return status;
}

/* What is signed beside the image, and what people call it. */
struct attested {
	bool wanted;
	const char *what;
	int (*sign)(const struct attest_opts *opts, struct arena *a, struct attest_result *ret,
	            struct err *err);
};

/* What is signed comes from the layout: what the registry has may be anybody's. */
static int attest_pushed(const struct attaching *at, struct registry *r,
                         const struct attested *kind, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const struct attach_place place = {.registry = r};
	struct store *from = layout_store(at->layout), *store = registry_store(r);
	const struct attest_opts opts = {from, at->root, &place, store, at->target->signing->key};
	struct attest_result result = {0};
	int status = kind->sign(&opts, &a, &result, err);

	store_close(store);
	store_close(from);
	if (status == 0 && result.n_signed + result.n_there > 0)
		progress_note(at->progress, "%zu %s signed, %zu already there", result.n_signed,
		              kind->what, result.n_there);
	return status;
}

static int before_tags(void *ctx, struct registry *r, struct err *err)
{
	struct attaching *at = ctx;
	const struct image_signing *signing = at->target->signing;

	if (send_attached(at, r, err) != 0)
		return err_wrap(err, "send what is attached to the image");
	if (signing == NULL)
		return 0;
	const struct attested kinds[] = {
		{signing->provenance, "statements of provenance", image_attest},
		{signing->sbom, "bills of materials", image_attest_sboms}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].wanted && attest_pushed(at, r, &kinds[i], err) != 0)
			return -1;
	return image_sign_pushed(signing, r, at->root, at->progress, err);
}

/* What cannot be signed is not sent either. */
static int check_signable(const struct image_signing *signing, struct layout *layout,
                          const struct descriptor *root, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct store *from;
	int status;

	if (signing == NULL || !signing->sbom)
		return 0;
	from = layout_store(layout);
	status = image_sboms_fit(from, root, &a, err);
	store_close(from);
	return status;
}

int image_push(const struct remote *remote, struct layout *layout, const struct descriptor *root,
               const struct image_target *t, struct push_result *ret_result, struct err *err)
{
	const struct ref *to = &t->to;
	struct registry *registry = NULL, *base = NULL;
	int result = check_signable(t->signing, layout, root, err);

	if (result == 0)
		result = remote_registry(remote, to, &registry, err);
	if (result == 0)
		result = image_push_preflight(remote, t, root, registry, err);
	if (result == 0)
		result = open_base(remote, layout, root, &base, err);
	if (result == 0) {
		struct attaching attaching = {t, layout, root, remote->progress, remote->jobs, 0};
		const struct push_opts opts = {
			.layout = layout,
			.root = root,
			.tags = t->tags,
			.limits = ecr_registry_limits(remote->aws->ecr, to->host),
			.base = base,
			.jobs = remote->jobs,
			.progress = remote->progress,
			.before_tags = before_tags,
			.ctx = &attaching};

		result = push_image(registry, &opts, ret_result, err);
		ret_result->n_attached = result == 0 ? attaching.n_attached : 0;
	}
	registry_close(base);
	registry_close(registry);
	if (result != 0)
		return err_wrap(err, "push to '%s/%s'", to->host, to->repository);
	return 0;
}

int image_target_of_spec(const struct spec *spec, struct arena *a, struct image_target *ret,
                         struct err *err)
{
	struct image_target t = {.tags = spec->image.tags, .ecr = &spec->image.ecr};

	if (spec->image.repository == NULL) {
		err_set(err, ERR_SPEC, "%s has no image.repository to push to", spec->file);
		return err_hint(err, "add it, or name the target: slipway push DIR HOST/NAME:TAG");
	}
	if (ref_parse(spec->image.repository, a, &t.to, err) != 0)
		return err_wrap(err, "image.repository");
	*ret = t;
	return 0;
}

void push_result_json(const struct push_result *result, cJSON *obj)
{
	json_add_int(obj, "blobs_uploaded", (int64_t)result->n_uploaded);
	json_add_int(obj, "blobs_mounted", (int64_t)result->n_mounted);
	json_add_int(obj, "blobs_existed", (int64_t)result->n_existed);
	json_add_int(obj, "bytes_uploaded", result->bytes_uploaded);
	json_add_int(obj, "manifests_put", (int64_t)result->n_manifests_put);
	json_add_int(obj, "attached", (int64_t)result->n_attached);
}
