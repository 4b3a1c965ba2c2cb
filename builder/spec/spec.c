#include "builder/spec/spec.h"

#include <string.h>

#include "base/fs.h"
#include "builder/spec/spec_internal.h"

static void name_layers(struct fields_context *c, struct spec_image *image)
{
	for (size_t i = 0; i < image->n_layers; i++)
		if (image->layers[i].name == NULL)
			image->layers[i].name = arena_printf(c->arena, "layer-%zu", i + 1);
	for (size_t i = 0; i < image->n_layers; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(image->layers[i].name, image->layers[k].name) == 0)
				diags_add(c->diags, DIAG_ERROR, image->layers[i].at,
				          "two layers are named '%s' (the first in line %u)",
				          image->layers[i].name, image->layers[k].at.line);
}

/* Every platform needs exactly one base, and a layer's platforms must be among the image's. */
static void check_platforms(struct fields_context *c, const struct spec_image *image)
{
	char text[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < image->n_platforms; i++) {
		size_t n = 0;

		for (size_t k = 0; k < image->n_bases; k++)
			n += image->bases[k].platform.os[0] == '\0' ||
			     platform_equal(&image->bases[k].platform, &image->platforms[i]);
		if (image->n_bases > 0 && n == 0)
			diags_add(c->diags, DIAG_ERROR, image->bases[0].at,
			          "image.base names no base for %s",
			          platform_text(&image->platforms[i], text));
	}
	for (size_t i = 0; i < image->n_layers; i++)
		for (size_t k = 0; k < image->layers[i].platforms.n; k++) {
			const char *want = image->layers[i].platforms.at[k];
			struct platform p;
			struct err ignored = {0};
			bool known = false;

			if (platform_parse(want, &p, &ignored) == 0)
				for (size_t j = 0; j < image->n_platforms; j++)
					known = known || platform_equal(&p, &image->platforms[j]);
			if (!known)
				diags_add(
					c->diags, DIAG_ERROR, image->layers[i].at,
					"layer '%s' is for %s, which is not among image.platforms",
					image->layers[i].name, want);
		}
}

void spec_check_image(struct fields_context *c, const struct yaml_node *node, void *object)
{
	static const struct platform defaults[] = {{"linux", "amd64", ""}, {"linux", "arm64", ""}};
	struct spec_image *image = object;
	bool scratch = true;

	if (image->n_platforms == 0) {
		image->platforms = arena_memdup(c->arena, defaults, sizeof(defaults));
		image->n_platforms = ARRAY_LEN(defaults);
	}
	for (size_t i = 0; i < image->n_bases; i++)
		scratch = scratch && strcmp(image->bases[i].ref, "scratch") == 0;
	if (scratch && image->n_layers == 0) {
		struct diag *d = fields_problem(
			c, node, "image: no layers on a scratch base make an empty image");

		diag_hint(c->diags, d, "add image.layers or image.base");
	}
	name_layers(c, image);
	check_platforms(c, image);
}

static const char *folder_of(const char *path, struct arena *a)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return "";
	return arena_strndup(a, path, (size_t)(slash - path) + (slash == path));
}

static int load_tree(const char *path, const struct spec_set *sets, size_t n_sets, struct arena *a,
                     struct yaml_node **ret_root, struct diags *d, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(YAML_BYTES_MAX);

	if (fs_read_file(path, YAML_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "spec");
	if (yaml_parse(path, text.ptr, text.len, a, ret_root, d, err) != 0)
		return -1;
	for (size_t i = 0; i < n_sets; i++)
		if (yaml_set(*ret_root, sets[i].assignment, a, d, err) != 0)
			return -1;
	return 0;
}

int spec_load(const char *path, const struct spec_set *sets, size_t n_sets, struct arena *a,
              struct spec **ret_spec, struct diags *d, struct err *err)
{
	struct fields_context c = {.arena = a, .diags = d, .expand = variables_load};
	struct spec *spec = arena_alloc(a, sizeof(*spec));
	struct yaml_node *root = NULL;

	if (load_tree(path, sets, n_sets, a, &root, d, err) != 0)
		return -1;
	spec->image.compression = COMPRESSION_ZSTD;
	fields_decode(&c, &spec_fields, root, "", spec);
	diags_sort(d);
	if (d->n_errors > 0)
		return err_set(err, ERR_SPEC, "%zu problem%s in %s", d->n_errors,
		               d->n_errors == 1 ? "" : "s", path);
	spec->file = arena_strdup(a, path);
	spec->dir = folder_of(path, a);
	*ret_spec = spec;
	return 0;
}
