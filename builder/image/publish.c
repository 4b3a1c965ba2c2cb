#include "builder/image/publish.h"

#include "builder/image/pack.h"
#include "builder/oci/archive.h"

struct strlist image_tags(const struct spec *spec, struct arena *a)
{
	struct strlist tags = spec->image.tags;

	if (tags.n == 0) {
		tags.at = arena_calloc(a, 1, sizeof(*tags.at));
		tags.at[tags.n++] = "latest";
	}
	return tags;
}

/* Whose entries an image's builds are: those of a spec's name, and of the image's among several. */
static const char *owner_of(const struct spec *spec, struct arena *a)
{
	return spec->image.name != NULL ? arena_printf(a, "%s/%s", spec->name, spec->image.name)
	                                : spec->name;
}

int image_publish(struct layout *layout, const struct spec *spec, const struct descriptor *root,
                  struct arena *a, bool *ret_in_use, struct err *err)
{
	const struct strlist tags = image_tags(spec, a);
	struct layout_gc_result gc;

	if (layout_replace_tags(layout, owner_of(spec, a), &tags, root, err) != 0 ||
	    layout_gc(layout, &gc, err) != 0)
		return -1;
	*ret_in_use = gc.in_use;
	return 0;
}

static int docker_archive(struct layout *layout, const struct descriptor *root,
                          const struct spec *spec, const char *tag, const char *path,
                          struct arena *a, struct err *err)
{
	const struct spec_image *image = &spec->image;
	const char *name = image->repository != NULL ? image->repository
	                   : image->name != NULL     ? image->name
	                                             : spec->name;
	struct archive_opts opts = {.root = root, .tag = arena_printf(a, "%s:%s", name, tag)};

	opts.from = layout_store(layout);
	int result = archive_write_docker(path, &opts, err);

	store_close(opts.from);
	return result;
}

int image_archive(struct layout *layout, const struct descriptor *root, const struct spec *spec,
                  bool docker, const char *path, struct arena *a, struct err *err)
{
	const struct strlist *tags = &spec->image.tags;
	const char *tag = tags->n > 0 ? tags->at[0] : "latest";

	return docker ? docker_archive(layout, root, spec, tag, path, a, err)
	              : image_pack(layout, root, tag, path, err);
}

static void layer_json(const struct built_layer *layer, cJSON *array)
{
	cJSON *obj = cJSON_CreateObject();
	char text[DIGEST_TEXT_MAX];

	json_add_string(obj, "name", layer->name);
	json_add_string(obj, "digest", digest_text(&layer->result.digest, text));
	json_add_string(obj, "diff_id", digest_text(&layer->result.diff_id, text));
	json_add_int(obj, "size", layer->result.size);
	json_add_int(obj, "raw_size", layer->result.raw_size);
	json_add_bool(obj, "cached", layer->result.cached);
	json_add_bool(obj, "shared", layer->shared);
	json_push(array, obj);
}

int64_t built_largest_layer(const struct built_image *image)
{
	int64_t largest = 0;

	for (size_t i = 0; i < image->n_layers; i++)
		if (image->layers[i].result.size > largest)
			largest = image->layers[i].result.size;
	for (size_t i = 0; i < image->n_base_layers; i++)
		if (image->base_layers[i].size > largest)
			largest = image->base_layers[i].size;
	return largest;
}

void built_images_json(const struct build_result *result, cJSON *array)
{
	char text[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < result->n_images; i++) {
		const struct built_image *image = &result->images[i];
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "platform", platform_text(&image->platform, platform));
		json_add_string(obj, "digest", digest_text(&image->manifest.digest, text));
		json_add_int(obj, "compressed_size", image->size);
		json_add_int(obj, "largest_layer", built_largest_layer(image));
		if (image->soci.size > 0)
			json_add_string(obj, "soci_index", digest_text(&image->soci.digest, text));
		cJSON *layers = json_add_array(obj, "layers");

		for (size_t k = 0; k < image->n_layers; k++)
			layer_json(&image->layers[k], layers);
		json_push(array, obj);
	}
}
