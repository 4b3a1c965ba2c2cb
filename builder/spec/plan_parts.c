/*
 * Building an image in parts, each platform on a machine of its own.
 */
#include <string.h>

#include "builder/spec/spec.h"

static bool has_variable(const char *text)
{
	return text != NULL && strstr(text, "${") != NULL;
}

static bool list_has_variable(const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (has_variable(list->at[i]))
			return true;
	return false;
}

static bool files_vary(const struct layer_files *f)
{
	return has_variable(f->from) || has_variable(f->to) || has_variable(f->symlink) ||
	       has_variable(f->directory) || list_has_variable(&f->include) ||
	       list_has_variable(&f->exclude);
}

static bool tar_varies(const struct layer_tar *t)
{
	return has_variable(t->from) || has_variable(t->to) || list_has_variable(&t->include) ||
	       list_has_variable(&t->exclude);
}

static bool data_vary(const struct layer_spec *layer)
{
	bool varies = has_variable(layer->certificates.from) || has_variable(layer->zones.from);

	for (size_t i = 0; i < layer->certificates.n_extra; i++)
		varies |= has_variable(layer->certificates.extra[i].path);
	for (size_t i = 0; i < layer->n_locales; i++)
		varies |= has_variable(layer->locales[i].from);
	return varies;
}

/* Its content is not the same on every platform; accounts are merged with those of the base. */
static bool layer_varies(const struct spec_image *image, const struct layer_spec *layer)
{
	bool varies = layer->n_closure > 0 || data_vary(layer) ||
	              (layer->accounts.at.file != NULL && image->n_bases > 0);

	for (size_t i = 0; i < layer->n_files; i++)
		varies |= files_vary(&layer->files[i]);
	for (size_t i = 0; i < layer->n_tars; i++)
		varies |= tar_varies(&layer->tars[i]);
	for (size_t i = 0; i < layer->n_debs; i++)
		varies |= has_variable(layer->debs[i].path);
	return varies;
}

const struct layer_spec *spec_layer_across_platforms(const struct spec *spec)
{
	const struct spec_image *image = &spec->image;

	if (image->n_platforms < 2)
		return NULL;
	for (size_t i = 0; i < image->n_layers; i++) {
		const struct layer_spec *layer = &image->layers[i];

		/* Shared is only what every platform of the image has. */
		if (layer->share && layer->platforms.n == 0 && layer_varies(image, layer))
			return layer;
	}
	return NULL;
}
