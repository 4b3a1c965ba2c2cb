/*
 * The plan: the spec's strings with every variable expanded for one platform, and paths that start
 * at the spec's folder.
 */
#include <string.h>

#include "builder/spec/spec_internal.h"

struct planner {
	const struct spec *spec;
	const struct platform *platform;
	struct arena *arena;
};

static const char *expand_variables(const struct planner *p, const char *text)
{
	return variables_expand(text, p->platform, p->arena);
}

/* A path on the building machine. */
static const char *source_path(const struct planner *p, const char *text)
{
	const char *path = expand_variables(p, text);

	if (path == NULL || path[0] == '/' || p->spec->dir[0] == '\0')
		return path;
	return arena_printf(p->arena, "%s/%s", p->spec->dir, path);
}

static struct strlist expand_list(const struct planner *p, const struct strlist *list)
{
	struct strlist out = {arena_calloc(p->arena, list->n, sizeof(*out.at)), list->n};

	for (size_t i = 0; i < list->n; i++)
		out.at[i] = expand_variables(p, list->at[i]);
	return out;
}

static struct strmap expand_map(const struct planner *p, const struct strmap *map)
{
	struct strmap out = {0};

	for (size_t i = 0; i < map->n; i++)
		strmap_set(&out, p->arena, map->at[i].key, expand_variables(p, map->at[i].value));
	strmap_sort(&out);
	return out;
}

static struct layer_path *expand_paths(const struct planner *p, const struct layer_path *paths,
                                       size_t n)
{
	struct layer_path *out = arena_memdup(p->arena, paths, n * sizeof(*paths));

	for (size_t i = 0; i < n; i++)
		out[i].path = source_path(p, out[i].path);
	return out;
}

/* Plug-ins have one path on the building machine and in the image: it is absolute. */
static struct layer_closure *expand_closure(const struct planner *p, const struct layer_spec *layer)
{
	struct layer_closure *out =
		arena_memdup(p->arena, layer->closure, layer->n_closure * sizeof(*layer->closure));

	for (size_t i = 0; i < layer->n_closure; i++) {
		out[i].path = source_path(p, out[i].path);
		out[i].plugins = expand_paths(p, out[i].plugins, out[i].n_plugins);
	}
	return out;
}

static struct layer_files *expand_files(const struct planner *p, const struct layer_spec *layer)
{
	struct layer_files *out =
		arena_memdup(p->arena, layer->files, layer->n_files * sizeof(*layer->files));

	for (size_t i = 0; i < layer->n_files; i++) {
		out[i].from = source_path(p, out[i].from);
		out[i].to = expand_variables(p, out[i].to);
		out[i].symlink = expand_variables(p, out[i].symlink);
		out[i].directory = expand_variables(p, out[i].directory);
		out[i].include = expand_list(p, &out[i].include);
		out[i].exclude = expand_list(p, &out[i].exclude);
	}
	return out;
}

static struct layer_tar *expand_tars(const struct planner *p, const struct layer_spec *layer)
{
	struct layer_tar *out =
		arena_memdup(p->arena, layer->tars, layer->n_tars * sizeof(*layer->tars));

	for (size_t i = 0; i < layer->n_tars; i++) {
		out[i].from = source_path(p, out[i].from);
		out[i].to = expand_variables(p, out[i].to);
		out[i].include = expand_list(p, &out[i].include);
		out[i].exclude = expand_list(p, &out[i].exclude);
	}
	return out;
}

/* Where run-time data come from; all else of them is the same on every platform. */
static void expand_data(const struct planner *p, struct layer_spec *layer)
{
	struct layer_certificates *c = &layer->certificates;
	struct layer_certificate *extra =
		arena_memdup(p->arena, c->extra, c->n_extra * sizeof(*c->extra));
	struct layer_locale *locales =
		arena_memdup(p->arena, layer->locales, layer->n_locales * sizeof(*layer->locales));

	for (size_t i = 0; i < c->n_extra; i++)
		extra[i].path = source_path(p, extra[i].path);
	for (size_t i = 0; i < layer->n_locales; i++)
		locales[i].from = source_path(p, locales[i].from);
	c->from = source_path(p, c->from);
	c->extra = extra;
	layer->zones.from = source_path(p, layer->zones.from);
	layer->locales = locales;
}

static struct layer_spec expand_layer(const struct planner *p, const struct layer_spec *layer)
{
	struct layer_spec out = *layer;

	out.files = expand_files(p, layer);
	out.tars = expand_tars(p, layer);
	out.debs = expand_paths(p, layer->debs, layer->n_debs);
	out.closure = expand_closure(p, layer);
	out.provided = expand_list(p, &layer->provided);
	out.sysroot = source_path(p, layer->sysroot);
	expand_data(p, &out);
	return out;
}

static bool meant_for(const struct layer_spec *layer, const struct platform *platform)
{
	struct platform p;
	struct err ignored = {0};

	for (size_t i = 0; i < layer->platforms.n; i++)
		if (platform_parse(layer->platforms.at[i], &p, &ignored) == 0 &&
		    platform_equal(&p, platform))
			return true;
	return layer->platforms.n == 0;
}

static void choose_base(const struct planner *p, struct plan_image *image)
{
	const struct spec_image *spec = &p->spec->image;

	image->base = "scratch";
	for (size_t i = 0; i < spec->n_bases; i++)
		if (spec->bases[i].platform.os[0] == '\0' ||
		    platform_equal(&spec->bases[i].platform, p->platform)) {
			image->base = expand_variables(p, spec->bases[i].ref);
			image->base_at = spec->bases[i].at;
			/* An image folder named relative to the spec stays so from any working
			 * folder. */
			if (strncmp(image->base, "oci:", 4) == 0 && image->base[4] != '/' &&
			    p->spec->dir[0] != '\0')
				image->base = arena_printf(p->arena, "oci:%s/%s", p->spec->dir,
				                           image->base + 4);
		}
}

static void plan_image(const struct planner *p, struct plan_image *image)
{
	const struct spec_image *spec = &p->spec->image;

	image->platform = *p->platform;
	choose_base(p, image);
	image->layers = arena_calloc(p->arena, spec->n_layers, sizeof(*image->layers));
	for (size_t i = 0; i < spec->n_layers; i++)
		if (meant_for(&spec->layers[i], p->platform))
			image->layers[image->n_layers++] = expand_layer(p, &spec->layers[i]);
	image->entrypoint = expand_list(p, &spec->entrypoint);
	image->cmd = expand_list(p, &spec->cmd);
	image->env = expand_map(p, &spec->env);
	image->labels = expand_map(p, &spec->labels);
	image->annotations = expand_map(p, &spec->annotations);
	image->user = expand_variables(p, spec->user);
	image->workdir = expand_variables(p, spec->workdir);
	image->stop_signal = spec->stop_signal;
	image->author = expand_variables(p, spec->author);
	image->ports = expand_list(p, &spec->ports);
	image->volumes = expand_list(p, &spec->volumes);
	image->healthcheck = spec->healthcheck;
	image->healthcheck.test = expand_list(p, &spec->healthcheck.test);
}

static bool in_spec(const struct spec *spec, const struct platform *platform)
{
	for (size_t i = 0; i < spec->image.n_platforms; i++)
		if (platform_equal(&spec->image.platforms[i], platform))
			return true;
	return false;
}

int plan_make(const struct spec *spec, const struct platform *only, size_t n_only, struct arena *a,
              struct plan **ret_plan, struct diags *d, struct err *err)
{
	const struct platform *platforms = only != NULL ? only : spec->image.platforms;
	size_t n = only != NULL ? n_only : spec->image.n_platforms;
	struct plan *plan = arena_alloc(a, sizeof(*plan));
	char text[PLATFORM_TEXT_MAX];

	(void)d;
	plan->spec = spec;
	plan->images = arena_calloc(a, n, sizeof(*plan->images));
	for (size_t i = 0; i < n; i++) {
		const struct planner p = {spec, &platforms[i], a};

		if (!in_spec(spec, &platforms[i])) {
			err_set(err, ERR_USAGE, "%s is not among the spec's image.platforms",
			        platform_text(&platforms[i], text));
			return err_hint(err, "add it to %s", spec->file);
		}
		plan_image(&p, &plan->images[plan->n_images++]);
	}
	*ret_plan = plan;
	return 0;
}
