#include "builder/spec/spec.h"

#include <string.h>

#include "base/fs.h"
#include "builder/spec/spec_internal.h"

/* What was written of layer i; NULL where it is not a mapping. */
static const struct yaml_node *layer_node(const struct yaml_node *node, size_t i, const char *key)
{
	const struct yaml_node *layers = yaml_get(node, "layers");
	bool there = layers != NULL && i < layers->n_items;

	return there && layers->items[i]->kind == YAML_MAPPING ? yaml_get(layers->items[i], key)
	                                                       : NULL;
}

static void name_layers(struct fields_context *c, const struct yaml_node *node,
                        struct spec_image *image)
{
	for (size_t i = 0; i < image->n_layers; i++)
		if (image->layers[i].name == NULL)
			image->layers[i].name = arena_printf(c->arena, "layer-%zu", i + 1);
	for (size_t i = 0; i < image->n_layers; i++)
		for (size_t k = 0; k < i; k++) {
			const struct yaml_node *name = layer_node(node, i, "name");

			if (strcmp(image->layers[i].name, image->layers[k].name) != 0)
				continue;
			diags_error(c->diags, name != NULL ? name->at : image->layers[i].at,
			            "give each layer a name of its own, or leave `name:` out",
			            "two layers are named '%s' (the first in line %u)",
			            name != NULL ? name->text : image->layers[i].name,
			            image->layers[k].at.line);
			break;
		}
}

static bool meet(const struct strlist *a, const struct strlist *b)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++)
			if (strcmp(a->at[i], b->at[k]) == 0)
				return true;
	return a->n == 0 || b->n == 0;
}

/* /etc/passwd of a later layer would replace that of an earlier one. */
static void check_accounts(struct fields_context *c, const struct spec_image *image)
{
	for (size_t i = 0; i < image->n_layers; i++)
		for (size_t k = 0; k < i; k++) {
			const struct layer_spec *layer = &image->layers[i];
			const struct layer_spec *first = &image->layers[k];

			if (layer->accounts.at.file == NULL || first->accounts.at.file == NULL ||
			    !meet(&layer->platforms, &first->platforms))
				continue;
			diags_error(c->diags, layer->accounts.at,
			            "put all users and groups into one layer",
			            "layer '%s': accounts of layer '%s' (line %u) would be lost: "
			            "both write /etc/passwd",
			            layer->name, first->name, first->accounts.at.line);
			break;
		}
}

static bool among(const struct spec_image *image, const struct platform *platform)
{
	for (size_t i = 0; i < image->n_platforms; i++)
		if (platform_equal(&image->platforms[i], platform))
			return true;
	return false;
}

/* Every platform has exactly one base, and every base is of a platform. */
static void check_bases(struct fields_context *c, const struct yaml_node *base,
                        const struct spec_image *image)
{
	char text[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < image->n_bases; i++) {
		const struct yaml_node *key = base->pairs[i].key;

		if (!among(image, &image->bases[i].platform))
			diags_error(c->diags, key->at,
			            "add it to image.platforms, or remove its base",
			            "image.base: %s is not among image.platforms", key->text);
		for (size_t k = 0; k < i; k++)
			if (platform_equal(&image->bases[i].platform, &image->bases[k].platform))
				diags_error(c->diags, key->at, "leave one of them out",
				            "image.base: two bases for %s",
				            platform_text(&image->bases[i].platform, text));
	}
	for (size_t i = 0; i < image->n_platforms; i++) {
		bool found = false;

		for (size_t k = 0; k < image->n_bases; k++)
			found = found ||
			        platform_equal(&image->bases[k].platform, &image->platforms[i]);
		if (!found)
			diags_error(c->diags, base->at,
			            "add one, `scratch` for none, or narrow image.platforms",
			            "image.base has no base for %s",
			            platform_text(&image->platforms[i], text));
	}
}

static void check_layer_platforms(struct fields_context *c, const struct yaml_node *node,
                                  const struct spec_image *image)
{
	for (size_t i = 0; i < image->n_layers; i++) {
		const struct strlist *want = &image->layers[i].platforms;
		const struct yaml_node *list = layer_node(node, i, "platforms");

		for (size_t k = 0; list != NULL && list->n_items == want->n && k < want->n; k++) {
			struct platform platform;
			struct err ignored = {0};

			/* What is not a platform at all was reported already. */
			if (platform_parse(want->at[k], &platform, &ignored) == 0 &&
			    !among(image, &platform))
				diags_error(c->diags, list->items[k]->at,
				            "add it to image.platforms, or remove it here",
				            "layer '%s' is for %s, which is not among "
				            "image.platforms",
				            image->layers[i].name, list->items[k]->text);
		}
	}
}

/* The platforms that were written were all understood. */
static bool platforms_sound(const struct yaml_node *platforms, const struct spec_image *image)
{
	return platforms == NULL || (platforms->kind == YAML_SEQUENCE && platforms->n_items > 0 &&
	                             platforms->n_items == image->n_platforms);
}

/* A SOCI snapshotter can enter gzip in the middle, and nothing else. */
static void check_soci(struct fields_context *c, const struct yaml_node *node,
                       struct spec_image *image)
{
	const struct yaml_node *compression = yaml_get(node, "compression");

	if (compression == NULL)
		image->compression = image->soci ? COMPRESSION_GZIP : COMPRESSION_ZSTD;
	else if (image->soci && image->compression != COMPRESSION_GZIP)
		diags_error(c->diags, compression->at,
		            "write compression: gzip, or leave it out, or leave out image.soci",
		            "image.compression: image.soci needs gzip layers");
}

void spec_check_image(struct fields_context *c, const struct yaml_node *node, void *object)
{
	static const struct platform defaults[] = {{"linux", "amd64", ""}, {"linux", "arm64", ""}};
	struct spec_image *image = object;
	const struct yaml_node *base = yaml_get(node, "base"), *layers = yaml_get(node, "layers");
	bool sound = platforms_sound(yaml_get(node, "platforms"), image);
	bool scratch = base == NULL || image->n_bases > 0;

	check_soci(c, node, image);
	if (image->n_platforms == 0) {
		image->platforms = arena_memdup(c->arena, defaults, sizeof(defaults));
		image->n_platforms = ARRAY_LEN(defaults);
	}
	for (size_t i = 0; i < image->n_bases; i++)
		scratch = scratch && strcmp(image->bases[i].ref, "scratch") == 0;
	if (scratch &&
	    (layers == NULL || (layers->kind == YAML_SEQUENCE && layers->n_items == 0))) {
		struct diag *d = fields_problem(
			c, node, "image: no layers and no base: the image would be empty");

		diag_hint(c->diags, d, "add image.layers or image.base");
	}
	name_layers(c, node, image);
	check_accounts(c, image);
	if (sound && base != NULL && base->kind == YAML_MAPPING && image->n_bases == base->n_pairs)
		check_bases(c, base, image);
	if (sound)
		check_layer_platforms(c, node, image);
}

static const char *folder_of(const char *path, struct arena *a)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return "";
	return arena_strndup(a, path, (size_t)(slash - path) + (slash == path));
}

static int load_tree(const char *path, const struct spec_set *sets, size_t n_sets,
                     const struct spec_over *over, struct arena *a, struct yaml_node **ret_root,
                     struct diags *d, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(YAML_BYTES_MAX);

	if (fs_read_file(path, YAML_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "spec");
	if (yaml_parse(path, text.ptr, text.len, a, ret_root, d, err) != 0)
		return -1;
	for (size_t i = 0; i < n_sets; i++)
		if (yaml_set(*ret_root, sets[i].assignment, a, d, err) != 0)
			return -1;
	return over != NULL ? spec_write_over(*ret_root, over, a, d, err) : 0;
}

int spec_load(const char *path, const struct spec_set *sets, size_t n_sets, struct arena *a,
              struct spec **ret_spec, struct diags *d, struct err *err)
{
	return spec_load_over(path, sets, n_sets, NULL, a, ret_spec, d, err);
}

int spec_load_over(const char *path, const struct spec_set *sets, size_t n_sets,
                   const struct spec_over *over, struct arena *a, struct spec **ret_spec,
                   struct diags *d, struct err *err)
{
	struct spec_outside outside = {.git.dir = folder_of(path, a)};
	struct fields_context c = {
		.arena = a, .diags = d, .expand = variables_load, .expand_state = &outside};
	struct spec *spec = arena_alloc(a, sizeof(*spec));
	struct yaml_node *root = NULL;

	if (load_tree(path, sets, n_sets, over, a, &root, d, err) != 0) {
		diags_sort(d);
		return -1;
	}
	fields_decode(&c, &spec_fields, root, "", spec);
	spec_choose_image(spec, root, a, d);
	spec_resolve_fleet(spec, path, a, d);
	spec_resolve_admission(spec, a);
	spec_resolve_pipeline(spec, &(struct spec_origin){path, sets, n_sets}, a, d);
	diags_sort(d);
	if (d->n_errors > 0)
		return err_set(err, ERR_SPEC, "%zu problem%s in %s", d->n_errors,
		               d->n_errors == 1 ? "" : "s", path);
	spec->file = arena_strdup(a, path);
	spec->dir = outside.git.dir;
	spec->git = outside.git.known;
	spec->environment = outside.environment;
	*ret_spec = spec;
	return 0;
}
