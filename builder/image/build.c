/*
 * Sections: bases, trees of all platforms, packing, all of it.
 */
#include "builder/image/build.h"

#include <string.h>

#include "base/clock.h"
#include "builder/image/base_memo.h"
#include "builder/image/base_view.h"
#include "builder/image/builder.h"
#include "builder/layer/pack/keys.h"
#include "builder/layer/source/sources.h"
#include "builder/layer/tree/parts.h"

enum {
	PARTS_AT_A_TIME = 8, /* of the 12 layers that nodes unpack: parts come in powers of two */
	PARTS_OF_ALL = 96,   /* of all layers; the rest is for the base's */
	PART_BYTES_MIN = 256 << 20
};

/* Content from which on a layer is worth several. */
#define LARGE_LAYER_BYTES (INT64_C(1) << 30)

struct layer_slot *builder_slot(const struct image_builder *b, size_t layer, size_t image)
{
	return &b->slots[layer * b->n_images + image];
}

/* ---- bases ---- */

/* Before the layers: where a file lands depends on the links of the base. */
static int load_bases(struct image_builder *b, struct err *err)
{
	char platform[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < b->n_images; i++) {
		const struct plan_image *image = &b->opts->plan->images[i];
		struct platform_base *base = &b->bases[i];

		if (base_image_load(b->opts, image, b->arena, &base->image, err) != 0)
			return err_wrap(err, "image for %s",
			                platform_text(&image->platform, platform));
		if (base->image.scratch)
			continue;
		base->view = base_view_open(b->opts, image, &base->image);
		base->files = base_memo_open(base->view, b->opts->cache,
		                             &base->image.manifest.digest, &image->platform);
	}
	return 0;
}

static void close_bases(struct image_builder *b)
{
	for (size_t i = 0; i < b->n_images; i++) {
		base_memo_close(b->bases[i].files);
		base_view_close(b->bases[i].view);
		base_image_done(&b->bases[i].image);
	}
}

/* ---- trees of all platforms ---- */

static const struct layer_spec *find_layer(const struct plan_image *image, const char *name)
{
	for (size_t i = 0; i < image->n_layers; i++)
		if (strcmp(image->layers[i].name, name) == 0)
			return &image->layers[i];
	return NULL;
}

static const char *layer_name(const struct image_builder *b, size_t layer)
{
	return b->opts->plan->spec->image.layers[layer].name;
}

static int fill_layer(struct image_builder *b, size_t layer, struct err *err)
{
	const char *name = layer_name(b, layer);

	for (size_t i = 0; i < b->n_images; i++) {
		const struct plan_image *image = &b->opts->plan->images[i];
		struct layer_slot *s = builder_slot(b, layer, i);

		s->spec = find_layer(image, name);
		tree_init(&s->tree, b->arena, name, b->opts->epoch);
		if (s->spec != NULL && source_layer(&s->tree, s->spec, &image->platform,
		                                    b->bases[i].files, b->diags, err) != 0)
			return err_wrap(err, "layer '%s'", name);
	}
	return 0;
}

/*
 * True when all trees make the same tar: they are packed once, whatever `share` says. Asked at a
 * far moment, so that only files without identity make the answer no.
 */
static int all_equal(struct tree *const *trees, size_t n, bool *ret_equal, struct err *err)
{
	struct digest first, key;
	bool usable;

	*ret_equal = false;
	for (size_t i = 0; i < n; i++) {
		if (keys_stat(trees[i], INT64_MAX, &key, &usable, err) != 0)
			return -1;
		if (i == 0)
			first = key;
		if (!usable || !digest_equal(&first, &key))
			return 0;
	}
	*ret_equal = true;
	return 0;
}

/* The first platform's tree serves them all. */
static void pack_once(struct image_builder *b, size_t layer)
{
	struct layer_slot *first = builder_slot(b, layer, 0);

	b->shared[layer].tree = first->tree;
	for (size_t i = 0; i < b->n_images; i++)
		builder_slot(b, layer, i)->spec = NULL;
}

/* Moves what is equal on all platforms to the shared column. */
static int share_layer(struct image_builder *b, size_t layer, struct err *err)
{
	bool equal;

	struct tree **trees = arena_calloc(b->arena, b->n_images, sizeof(struct tree *));
	struct layer_slot *shared = &b->shared[layer];

	const char *name = layer_name(b, layer);

	tree_init(&shared->tree, b->arena, name, b->opts->epoch);
	for (size_t i = 0; i < b->n_images; i++) {
		trees[i] = &builder_slot(b, layer, i)->tree;
		if (builder_slot(b, layer, i)->spec == NULL)
			return 0;
	}
	if (b->n_images < 2 || b->diags->n_errors > 0)
		return 0;
	shared->spec = builder_slot(b, layer, 0)->spec;
	if (all_equal(trees, b->n_images, &equal, err) != 0)
		return err_wrap(err, "layer '%s'", name);
	if (equal)
		pack_once(b, layer);
	else if (shared->spec->share && tree_share(trees, b->n_images, &shared->tree, err) != 0)
		return err_wrap(err, "layer '%s': find files common to all platforms", name);
	if (!equal)
		shared->tree.label = arena_printf(b->arena, "%s.shared", name);
	return 0;
}

/* ---- packing ---- */

static void tell_packed(const struct build_opts *opts, const struct layer_result *layer)
{
	const struct descriptor desc = {
		.media_type = layer->media_type, .digest = layer->digest, .size = layer->size};

	if (opts->packed == NULL)
		return;
	opts->packed(opts->packed_ctx, &desc);
	if (layer->ztoc.size > 0)
		opts->packed(opts->packed_ctx, &layer->ztoc);
}

static int pack_tree(struct image_builder *b, const struct tree *t, struct layer_slot *s,
                     bool shared, struct err *err)
{
	const struct spec_image *image = &b->opts->plan->spec->image;
	const struct layer_opts opts = {
		.compression = image->compression,
		.level = (int)image->level,
		.threads = b->opts->threads,
		.layout = b->opts->layout,
		.cache = b->opts->cache,
		.progress = b->opts->progress,
		.ztoc = image->soci,
	};
	struct built_layer *built = &s->blobs[s->n_blobs];

	if (layer_write(t, &opts, &built->result, err) != 0)
		return err_wrap(err, "layer '%s'", t->label);
	built->name = t->label;
	built->shared = shared;
	s->n_blobs++;
	tell_packed(b->opts, &built->result);
	return 0;
}

/*
 * Nodes unpack some layers of an image at a time, and each on one processor: one large layer keeps
 * all others waiting. Where the spec does not say, a large layer gets parts. 0 = one part.
 */
static int64_t part_bytes(const struct image_builder *b, const struct layer_slot *s)
{
	int64_t content = tree_bytes(&s->tree), parts = PARTS_AT_A_TIME, part;

	while (parts * (int64_t)b->n_layers > PARTS_OF_ALL)
		parts /= 2;
	if (s->spec->split > 0 || content < LARGE_LAYER_BYTES || parts < 2)
		return s->spec->split;
	part = (content + parts - 1) / parts;
	return part > PART_BYTES_MIN ? part : PART_BYTES_MIN;
}

static int pack_slot(struct image_builder *b, struct layer_slot *s, bool shared, struct err *err)
{
	struct tree *parts = &s->tree;
	int64_t target;
	size_t n = 1;

	if (s->spec == NULL || s->tree.n == 0)
		return 0;
	target = part_bytes(b, s);
	if (target > 0 && tree_split(&s->tree, target, &parts, &n, err) != 0)
		return err_wrap(err, "layer '%s': split", s->tree.label);
	s->blobs = arena_calloc(b->arena, n, sizeof(*s->blobs));
	s->parts = parts;
	for (size_t i = 0; i < n; i++)
		if (pack_tree(b, &parts[i], s, shared, err) != 0)
			return -1;
	return 0;
}

static int pack_all(struct image_builder *b, struct err *err)
{
	for (size_t layer = 0; layer < b->n_layers; layer++) {
		if (pack_slot(b, &b->shared[layer], true, err) != 0)
			return -1;
		for (size_t i = 0; i < b->n_images; i++)
			if (pack_slot(b, builder_slot(b, layer, i), false, err) != 0)
				return -1;
	}
	return 0;
}

/* ---- all of it ---- */

static int fill_all(struct image_builder *b, struct err *err)
{
	for (size_t layer = 0; layer < b->opts->plan->spec->image.n_layers; layer++)
		if (fill_layer(b, layer, err) != 0 || share_layer(b, layer, err) != 0)
			return -1;
	if (b->diags->n_errors > 0)
		return err_set(err, ERR_SPEC, "%zu problem%s with the layers' sources",
		               b->diags->n_errors, b->diags->n_errors == 1 ? "" : "s");
	return 0;
}

void builder_attached(const struct image_builder *b, struct build_result *result, const char *what)
{
	enum { KINDS_MAX = SBOM_FORMS + 1 };

	if (result->attached.at == NULL)
		result->attached.at =
			arena_calloc(b->arena, KINDS_MAX, sizeof(*result->attached.at));
	if (!strlist_has(&result->attached, what))
		result->attached.at[result->attached.n++] = what;
}

static int build_all(struct image_builder *b, struct build_result *result, struct err *err)
{
	if (load_bases(b, err) != 0 || fill_all(b, err) != 0 ||
	    builder_list_contents(b, err) != 0 || builder_fill_database(b, err) != 0 ||
	    pack_all(b, err) != 0)
		return -1;
	result->n_images = b->n_images;
	result->images = arena_calloc(b->arena, b->n_images, sizeof(*result->images));
	for (size_t i = 0; i < b->n_images; i++)
		if (builder_put_image(b, i, &result->images[i], err) != 0)
			return -1;
	return builder_put_index(b, result, err) != 0 ||
	                       builder_attach_sboms(b, result, err) != 0 ||
	                       builder_attach_provenance(b, result, err) != 0
	               ? -1
	               : 0;
}

static void image_builder_done(struct image_builder *b)
{
	for (size_t i = 0; i < b->n_layers * b->n_images; i++)
		tree_done(&b->slots[i].tree);
	/* Shared trees borrow what the slots' trees own. */
	for (size_t i = 0; b->contents != NULL && i < b->n_images; i++)
		inventory_done(&b->contents[i]);
	close_bases(b);
}

int image_build(const struct build_opts *opts, struct arena *a, struct build_result *ret_result,
                struct diags *d, struct err *err)
{
	struct image_builder b = {.opts = opts,
	                          .arena = a,
	                          .diags = d,
	                          .n_layers = opts->plan->spec->image.n_layers +
	                                      opts->plan->spec->image.sbom.in_image,
	                          .n_images = opts->plan->n_images};
	struct build_result result = {0};
	struct clock *clock = clock_system();

	b.started_ms = clock->now_ms(clock);
	b.slots = arena_calloc(a, b.n_layers * b.n_images, sizeof(*b.slots));
	b.shared = arena_calloc(a, b.n_layers, sizeof(*b.shared));
	b.bases = arena_calloc(a, b.n_images, sizeof(*b.bases));
	for (size_t i = 0; i < b.n_layers * b.n_images; i++)
		b.slots[i].tree.spool_fd = -1;
	for (size_t i = 0; i < b.n_layers; i++)
		b.shared[i].tree.spool_fd = -1;

	int status = build_all(&b, &result, err);

	image_builder_done(&b);
	if (status != 0)
		return -1;
	*ret_result = result;
	return 0;
}
