#include "builder/image/part.h"

#include "builder/image/push.h"
#include "builder/image/soci.h"
#include "builder/oci/part.h"

int image_part_possible(const struct spec *spec, const struct plan *plan, struct err *err)
{
	const struct layer_spec *layer = spec_layer_across_platforms(spec);

	if (spec->image.repository == NULL) {
		err_set(err, ERR_SPEC, "%s has no image.repository to push to", spec->file);
		return err_hint(err, "add it: `slipway index create` joins images in one "
		                     "repository");
	}
	if (layer == NULL || plan->n_images == spec->image.n_platforms)
		return 0;
	err_set(err, ERR_SPEC,
	        "%s:%d: layer '%s' shares files between platforms, so one machine must build "
	        "all of them",
	        spec->file, layer->at.line, layer->name);
	return err_hint(err, "add `share: false` to it: a layer equal on all platforms is still "
	                     "stored only once");
}

/* One document and what it names; adds to the counts. */
static int push_one(const struct remote *remote, struct layout *layout,
                    const struct descriptor *root, const struct image_target *target,
                    struct push_result *sum, struct err *err)
{
	struct push_result one;

	if (image_push(remote, layout, root, target, &one, err) != 0)
		return -1;
	sum->n_uploaded += one.n_uploaded;
	sum->n_mounted += one.n_mounted;
	sum->n_existed += one.n_existed;
	sum->bytes_uploaded += one.bytes_uploaded;
	sum->n_manifests_put += one.n_manifests_put;
	sum->n_attached += one.n_attached;
	return 0;
}

int image_part_push(const struct remote *remote, struct layout *layout,
                    const struct build_result *built, const struct image_target *target,
                    struct push_result *ret_result, struct err *err)
{
	struct image_target t = *target;
	struct push_result sum = {0};

	t.tags = (struct strlist){0};
	for (size_t i = 0; i < built->n_images; i++) {
		const struct built_image *image = &built->images[i];

		if (push_one(remote, layout, &image->manifest, &t, &sum, err) != 0 ||
		    (image->soci.size > 0 &&
		     push_one(remote, layout, &image->soci, &t, &sum, err) != 0))
			return -1;
	}
	*ret_result = sum;
	return 0;
}

void image_part_print(const struct build_result *built, const struct spec *spec, struct arena *a,
                      struct strbuf *sb)
{
	struct image_part part = {.repository = spec->image.repository,
	                          .platforms = spec->image.platforms,
	                          .n_platforms = spec->image.n_platforms,
	                          .n_manifests = built->n_images,
	                          .annotations = built->annotations};

	part.manifests = arena_calloc(a, 2 * built->n_images, sizeof(*part.manifests));
	for (size_t i = 0; i < built->n_images; i++)
		part.manifests[i] = built->images[i].manifest;
	for (size_t i = 0; i < built->n_images; i++)
		if (built->images[i].soci.size > 0)
			part.manifests[part.n_manifests++] = soci_index_entry(&built->images[i], a);
	AUTO(json) cJSON *doc = image_part_json(&part);

	json_print_pretty(doc, sb);
}
