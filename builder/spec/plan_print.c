/*
 * A plan for people (`slipway build --dry-run`) and for programs.
 */
#include "builder/spec/spec.h"

static const char *origin(const char *from)
{
	return from != NULL ? from : "this machine";
}

static void data_text(const struct layer_spec *layer, struct strbuf *sb)
{
	if (layer->accounts.at.file != NULL)
		strbuf_addf(sb, "    accounts %zu users, %zu groups\n", layer->accounts.n_users,
		            layer->accounts.n_groups);
	if (layer->certificates.at.file != NULL && layer->certificates.enabled)
		strbuf_addf(sb, "    ca_certificates from %s\n", origin(layer->certificates.from));
	if (layer->timezone != NULL)
		strbuf_addf(sb, "    timezone %s from %s\n", layer->timezone,
		            origin(layer->zones.from));
	if (layer->zones.at.file != NULL && layer->zones.enabled)
		strbuf_addf(sb, "    tzdata   from %s\n", origin(layer->zones.from));
	for (size_t i = 0; i < layer->n_locales; i++)
		strbuf_addf(sb, "    locale   %s from %s\n", layer->locales[i].name,
		            origin(layer->locales[i].from));
}

static void closure_text(const struct layer_closure *c, struct strbuf *sb)
{
	strbuf_addf(sb, "    closure  %s%s\n", c->path,
	            c->on == CLOSURE_ON_BASE ? " on the base" : "");
	for (size_t i = 0; i < c->n_plugins; i++)
		strbuf_addf(sb, "    plug-in  %s\n", c->plugins[i].path);
}

static void layer_text(const struct layer_spec *layer, struct strbuf *sb)
{
	strbuf_addf(sb, "  layer %s\n", layer->name);
	for (size_t i = 0; i < layer->n_files; i++) {
		const struct layer_files *f = &layer->files[i];

		if (f->from != NULL)
			strbuf_addf(sb, "    files    %s -> %s\n", f->from, f->to);
		else if (f->symlink != NULL)
			strbuf_addf(sb, "    symlink  %s -> %s\n", f->to, f->symlink);
		else
			strbuf_addf(sb, "    folder   %s\n", f->directory);
	}
	for (size_t i = 0; i < layer->n_tars; i++)
		strbuf_addf(sb, "    tar      %s -> %s\n", layer->tars[i].from, layer->tars[i].to);
	for (size_t i = 0; i < layer->n_debs; i++)
		strbuf_addf(sb, "    deb      %s\n", layer->debs[i].path);
	for (size_t i = 0; i < layer->n_closure; i++)
		closure_text(&layer->closure[i], sb);
	data_text(layer, sb);
	if (layer->split > 0)
		strbuf_addf(sb, "    split into parts of about %lld bytes\n",
		            (long long)layer->split);
}

/* Tags and what git said: of all that variables may stand in, what is no secret. */
static void names_text(const struct spec *spec, struct strbuf *sb)
{
	const struct strlist *tags = &spec->image.tags;

	for (size_t i = 0; i < tags->n; i++)
		strbuf_addf(sb, "%s%s%s", i == 0 ? "tags " : ", ", tags->at[i],
		            i + 1 == tags->n ? "\n" : "");
	for (size_t i = 0; i < spec->git.n; i++)
		strbuf_addf(sb, "${%s} is %s\n", spec->git.at[i].key, spec->git.at[i].value);
}

void plan_text(const struct plan *plan, struct strbuf *sb)
{
	char platform[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < plan->n_images; i++) {
		const struct plan_image *image = &plan->images[i];

		strbuf_addf(sb, "image %s%s%s from %s\n",
		            plan->spec->image.name != NULL ? plan->spec->image.name : "",
		            plan->spec->image.name != NULL ? " " : "",
		            platform_text(&image->platform, platform), image->base);
		for (size_t k = 0; k < image->n_layers; k++)
			layer_text(&image->layers[k], sb);
	}
	strbuf_addf(sb, "index of %zu platform%s, layers %s\n", plan->n_images,
	            plan->n_images == 1 ? "" : "s",
	            compression_name(plan->spec->image.compression));
	names_text(plan->spec, sb);
}

static void data_json(const struct layer_spec *layer, cJSON *obj)
{
	cJSON *locales = json_add_array(obj, "locale");

	if (layer->certificates.at.file != NULL && layer->certificates.enabled)
		json_add_string(obj, "ca_certificates", origin(layer->certificates.from));
	json_add_string(obj, "timezone", layer->timezone);
	if (layer->zones.at.file != NULL && layer->zones.enabled)
		json_add_string(obj, "tzdata", origin(layer->zones.from));
	json_add_bool(obj, "accounts", layer->accounts.at.file != NULL);
	for (size_t i = 0; i < layer->n_locales; i++)
		json_push_string(locales, layer->locales[i].name);
}

static void layer_json(const struct layer_spec *layer, cJSON *array)
{
	cJSON *obj = cJSON_CreateObject();

	json_add_string(obj, "name", layer->name);
	cJSON *files = json_add_array(obj, "files"), *tars = json_add_array(obj, "tar");
	cJSON *debs = json_add_array(obj, "deb"), *closure = json_add_array(obj, "closure");

	for (size_t i = 0; i < layer->n_files; i++) {
		cJSON *item = cJSON_CreateObject();

		json_add_string(item, "from", layer->files[i].from);
		json_add_string(item, "symlink", layer->files[i].symlink);
		json_add_string(item, "directory", layer->files[i].directory);
		json_add_string(item, "to", layer->files[i].to);
		json_push(files, item);
	}
	for (size_t i = 0; i < layer->n_tars; i++)
		json_push_string(tars, layer->tars[i].from);
	for (size_t i = 0; i < layer->n_debs; i++)
		json_push_string(debs, layer->debs[i].path);
	for (size_t i = 0; i < layer->n_closure; i++)
		json_push_string(closure, layer->closure[i].path);
	data_json(layer, obj);
	json_push(array, obj);
}

cJSON *plan_json(const struct plan *plan)
{
	cJSON *doc = cJSON_CreateObject();
	char platform[PLATFORM_TEXT_MAX];

	json_add_string(doc, "name", plan->spec->name);
	json_add_string(doc, "image", plan->spec->image.name);
	cJSON *tags = json_add_array(doc, "tags"), *git = json_add_object(doc, "git");

	for (size_t i = 0; i < plan->spec->image.tags.n; i++)
		json_push_string(tags, plan->spec->image.tags.at[i]);
	for (size_t i = 0; i < plan->spec->git.n; i++)
		json_add_string(git, plan->spec->git.at[i].key, plan->spec->git.at[i].value);
	json_add_string(doc, "compression", compression_name(plan->spec->image.compression));
	cJSON *images = json_add_array(doc, "images");

	for (size_t i = 0; i < plan->n_images; i++) {
		cJSON *image = cJSON_CreateObject();

		json_add_string(image, "platform",
		                platform_text(&plan->images[i].platform, platform));
		json_add_string(image, "base", plan->images[i].base);
		cJSON *layers = json_add_array(image, "layers");

		for (size_t k = 0; k < plan->images[i].n_layers; k++)
			layer_json(&plan->images[i].layers[k], layers);
		json_push(images, image);
	}
	return doc;
}
