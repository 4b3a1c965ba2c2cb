/* See soci.h. */
#include "builder/image/soci.h"

#include "builder/layer/pack/ztocs.h"

#define ANNOTATION_LAYER_DIGEST "com.amazon.soci.image-layer-digest"
#define ANNOTATION_LAYER_TYPE   "com.amazon.soci.image-layer-mediaType"
#define ANNOTATION_SPAN_SIZE    "com.amazon.soci.span-size"
#define ANNOTATION_TOOL         "com.amazon.soci.build-tool-identifier"

/* One image's SOCI index on its way. */
struct soci_build {
	const struct image_builder *b;
	const struct manifest *image;
	struct ztocs ztocs;
	struct store *store; /* has the base's layers */
	struct manifest index;
};

/* Only gzip can be entered in the middle, and small layers are not worth it. */
static bool worth_one(const struct descriptor *layer)
{
	enum compression compression;

	return layer->size >= ZTOCS_LAYER_MIN &&
	       media_layer_compression(layer->media_type, &compression) &&
	       compression == COMPRESSION_GZIP;
}

static void add_ztoc(struct soci_build *s, const struct descriptor *layer,
                     const struct descriptor *ztoc)
{
	struct descriptor *d = &s->index.layers[s->index.n_layers++];
	struct arena *a = s->b->arena;
	char digest[DIGEST_TEXT_MAX];

	*d = *ztoc;
	strmap_set(&d->annotations, a, ANNOTATION_LAYER_DIGEST,
	           digest_text(&layer->digest, digest));
	strmap_set(&d->annotations, a, ANNOTATION_LAYER_TYPE, layer->media_type);
	strmap_set(&d->annotations, a, ANNOTATION_SPAN_SIZE,
	           arena_printf(a, "%d", ZTOC_SPAN_BYTES));
	strmap_sort(&d->annotations);
}

/* Our layers brought theirs along; those of the base are read. */
static int add_layers(struct soci_build *s, const struct built_image *image, struct err *err)
{
	for (size_t i = 0; i < s->image->n_layers; i++) {
		const struct descriptor *layer = &s->image->layers[i];
		const struct ztocs_layer base = {s->store, layer};
		struct descriptor ztoc = {0};

		if (i >= image->n_base_layers)
			ztoc = image->layers[i - image->n_base_layers].result.ztoc;
		else if (worth_one(layer) && ztocs_of_layer(&s->ztocs, &base, &ztoc, err) != 0)
			return -1;
		if (ztoc.size > 0)
			add_ztoc(s, layer, &ztoc);
	}
	return 0;
}

static int put_index(struct soci_build *s, struct descriptor *ret_soci, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);

	s->index.media_type = MEDIA_MANIFEST;
	s->index.artifact_type = SOCI_ARTIFACT_TYPE;
	strmap_set(&s->index.annotations, s->b->arena, ANNOTATION_TOOL, ZTOCS_TOOL);
	if (layout_put(s->ztocs.layout, SOCI_ARTIFACT_TYPE, "{}", 2, &s->index.config, err) != 0)
		return -1;
	manifest_print(&s->index, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "it is larger than %d bytes", MANIFEST_BYTES_MAX);
	return layout_put(s->ztocs.layout, MEDIA_MANIFEST, text.ptr, text.len, ret_soci, err);
}

static int make_index(struct soci_build *s, const struct built_image *image,
                      struct descriptor *ret_soci, struct err *err)
{
	char platform[PLATFORM_TEXT_MAX];

	s->index.layers = arena_calloc(s->b->arena, s->image->n_layers, sizeof(*s->index.layers));
	if (add_layers(s, image, err) != 0)
		return -1;
	if (s->index.n_layers > 0)
		return put_index(s, ret_soci, err);
	progress_note(s->ztocs.progress,
	              "the image for %s has no SOCI index: none of its layers is a gzip layer of "
	              "%d MiB or more",
	              platform_text(&image->platform, platform), ZTOCS_LAYER_MIN >> 20);
	*ret_soci = (struct descriptor){0};
	return 0;
}

int builder_put_soci(const struct image_builder *b, size_t column, const struct built_image *image,
                     const struct manifest *m, struct descriptor *ret_soci, struct err *err)
{
	AUTO(image) struct image from = {0};
	const struct build_opts *o = b->opts;
	struct soci_build s = {.b = b, .image = m, .ztocs = {o->layout, o->cache, o->progress}};
	struct store *layout = layout_store(o->layout);
	int rc = 0;

	/* What was left out of the layout is read where it is. */
	if (o->sparse && image->n_base_layers > 0)
		rc = image_open(o->remote, o->plan->images[column].base, b->arena, &from, err);
	s.store = from.store != NULL ? from.store : layout;
	if (rc == 0)
		rc = make_index(&s, image, ret_soci, err);
	store_close(layout);
	return rc == 0 ? 0 : err_wrap(err, "SOCI index");
}

struct descriptor soci_index_entry(const struct built_image *image, struct arena *a)
{
	struct descriptor entry = image->soci;
	char digest[DIGEST_TEXT_MAX];

	entry.artifact_type = SOCI_ARTIFACT_TYPE;
	entry.platform = image->platform;
	entry.annotations = (struct strmap){0};
	strmap_set(&entry.annotations, a, ANNOTATION_SOCI_IMAGE,
	           digest_text(&image->manifest.digest, digest));
	return entry;
}
