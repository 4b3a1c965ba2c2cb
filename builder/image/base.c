/*
 * Base images: reference -> (lock) -> index -> manifest of the platform -> configuration and
 * layers.
 */
#include "builder/image/base.h"

#include <string.h>

#include "base/pool.h"
#include "builder/check/images.h"
#include "builder/oci/config.h"

/* The digest that a build which is repeated had for this base. */
static const struct base_pin *find_pin(const struct build_opts *opts, const struct image *image,
                                       const char *name, const struct platform *platform)
{
	for (size_t i = 0; image->ref.kind == REF_REGISTRY && i < opts->n_pins; i++)
		if (strcmp(opts->pins[i].name, name) == 0 &&
		    platform_equal(&opts->pins[i].platform, platform))
			return &opts->pins[i];
	return NULL;
}

static int root_of_base(const struct build_opts *opts, const struct image *image, const char *name,
                        const struct platform *platform, struct arena *a,
                        struct descriptor *ret_root, struct err *err)
{
	const struct base_pin *pin = find_pin(opts, image, name, platform);
	struct image pinned = *image;

	if (!image->ref.has_digest && !opts->locked && pin != NULL) {
		pinned.ref.digest = pin->manifest;
		pinned.ref.has_digest = true;
		return image_root(&pinned, a, ret_root, err);
	}
	if (!image->ref.has_digest && opts->locked) {
		if (!lock_find(opts->lock, name, &pinned.ref.digest)) {
			err_set(err, ERR_NOT_FOUND, "'%s' is not in '%s'", name, opts->lock->path);
			return err_hint(err,
			                "build once without --locked and commit the lock file");
		}
		pinned.ref.has_digest = true;
	}
	if (image_root(&pinned, a, ret_root, err) != 0)
		return -1;
	if (!image->ref.has_digest && !opts->locked)
		lock_set(opts->lock, a, name, &ret_root->digest);
	return 0;
}

/* Follows indexes, also one in another, down to the platform's manifest. */
static int manifest_of_platform(struct store *store, const struct descriptor *root,
                                const struct platform *want, struct arena *a,
                                struct base_image *base, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct image_list images;

	if (images_list(store, root, want, a, &images, err) != 0 ||
	    store_read(store, &images.at[0], MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    manifest_parse(text.ptr, text.len, images.at[0].media_type, a, &base->parsed, err) != 0)
		return -1;
	base->manifest = images.at[0];
	return 0;
}

static int load_config(struct store *store, struct base_image *base, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONFIG_BYTES_MAX);

	if (store_read(store, &base->parsed.config, CONFIG_BYTES_MAX, &text, err) != 0)
		return -1;
	return json_parse("base image configuration", text.ptr, text.len, &base->config, err);
}

struct fetch {
	const struct build_opts *opts;
	struct store *store;
	const struct manifest *manifest;
};

/* One base layer into the layout, byte for byte as the base has it. */
static int fetch_layer(void *ctx, size_t i, struct err *err)
{
	const struct fetch *f = ctx;
	const struct descriptor *layer = &f->manifest->layers[i];
	__attribute__((cleanup(layout_blob_done))) struct layout_blob blob = {0};
	struct source *source = NULL;
	struct digest digest;
	int64_t size;
	char label[64], hex[DIGEST_HEX_MAX];

	if (layout_has(f->opts->layout, &layer->digest, layer->size))
		return 0;
	if (f->opts->cache != NULL &&
	    cache_fetch(f->opts->cache, &layer->digest, layer->size, f->opts->layout))
		return 0;
	if (store_open(f->store, layer, &source, err) != 0)
		return -1;
	snprintf(label, sizeof(label), "pull base layer %.12s", digest_hex(&layer->digest, hex));

	unsigned task = progress_start(f->opts->progress, label, layer->size);
	int result = layout_blob_begin(f->opts->layout, &blob, err);

	if (result == 0)
		result = stream_copy(source, &blob.hashed.sink, &size, err);
	source_close(source);
	if (result == 0)
		result = layout_blob_commit(&blob, &layer->digest, &digest, &size, err);
	progress_advance(f->opts->progress, task, result == 0 ? size : 0);
	progress_finish(f->opts->progress, task, result == 0 ? "done" : "failed");
	if (result == 0 && f->opts->cache != NULL)
		cache_store(f->opts->cache, &layer->digest, f->opts->layout);
	return result;
}

static int load_from(const struct build_opts *opts, const struct image *image,
                     const struct platform *platform, struct arena *a, struct base_image *base,
                     struct err *err)
{
	struct descriptor root;

	if (root_of_base(opts, image, base->name, platform, a, &root, err) != 0 ||
	    manifest_of_platform(image->store, &root, platform, a, base, err) != 0 ||
	    load_config(image->store, base, err) != 0)
		return -1;
	if (opts->sparse)
		return 0;
	struct fetch fetch = {opts, image->store, &base->parsed};

	return pool_run(base->parsed.n_layers, opts->remote->jobs != 0 ? opts->remote->jobs : 4,
	                fetch_layer, &fetch, err);
}

int base_image_load(const struct build_opts *opts, const struct plan_image *image, struct arena *a,
                    struct base_image *ret_base, struct err *err)
{
	AUTO(image) struct image from = {0};
	AUTO(base_image) struct base_image base = {0};

	if (strcmp(image->base, "scratch") == 0) {
		*ret_base = (struct base_image){.scratch = true};
		return 0;
	}
	if (image_open(opts->remote, image->base, a, &from, err) != 0) {
		err->at = image->base_at;
		err_hint(err, "build or fetch it first, or correct the path: it is relative to "
		              "the folder slipway runs in");
		return err_wrap(err, "base image '%s'", image->base);
	}
	base.name = ref_text(&from.ref, a);
	if (load_from(opts, &from, &image->platform, a, &base, err) != 0) {
		err->at = image->base_at;
		return err_wrap(err, "base image '%s'", base.name);
	}
	*ret_base = base;
	base.config = NULL;
	return 0;
}

void base_image_done(struct base_image *base)
{
	cJSON_Delete(base->config);
	base->config = NULL;
}
