#include "builder/image/image.h"

#include "builder/oci/archive.h"

void image_done(struct image *image)
{
	store_close(image->store);
	registry_close(image->registry);
	layout_close(image->layout);
	*image = (struct image){0};
}

static int open_ref(const struct remote *remote, struct image *image, struct err *err)
{
	switch (image->ref.kind) {
	case REF_REGISTRY:
		if (remote_registry(remote, &image->ref, &image->registry, err) != 0)
			return -1;
		image->store = registry_store(image->registry);
		return 0;
	case REF_LAYOUT:
		if (layout_open(image->ref.path, LAYOUT_READ, &image->layout, err) != 0)
			return -1;
		image->store = layout_store(image->layout);
		return 0;
	case REF_OCI_ARCHIVE:
		return archive_open_oci(image->ref.path, &image->store, err);
	case REF_DOCKER_ARCHIVE:
		return archive_open_docker(image->ref.path, &image->store, err);
	}
	BUG("reference kind %d", (int)image->ref.kind);
}

int image_open(const struct remote *remote, const char *text, struct arena *a,
               struct image *ret_image, struct err *err)
{
	struct image image = {0};

	if (ref_parse(text, a, &image.ref, err) != 0 || open_ref(remote, &image, err) != 0)
		return -1;
	*ret_image = image;
	return 0;
}

int image_open_argument(const struct remote *remote, const char *text, struct arena *a,
                        struct image *ret_image, struct err *err)
{
	struct image image = {0};

	if (image_argument(text, a, &image.ref, err) != 0)
		return -1;
	if (open_ref(remote, &image, err) != 0)
		return err->code != ERR_NOT_FOUND || image.ref.kind == REF_REGISTRY
		               ? -1
		               : err_hint(err,
		                          "check the path: it is relative to the folder slipway "
		                          "runs in, and `slipway build` writes build/image");
	if (image.ref.kind == REF_REGISTRY && image.ref.host_implied)
		image.typed = arena_strdup(a, text);
	*ret_image = image;
	return 0;
}

int image_open_writing(const struct image *image, struct attach_place *ret_place, struct err *err)
{
	struct attach_place place = {.registry = image->registry};

	if (image->layout != NULL &&
	    layout_open(image->ref.path, LAYOUT_WRITE, &place.layout, err) != 0)
		return -1;
	if (place.registry == NULL && place.layout == NULL) {
		err_set(err, ERR_UNSUPPORTED, "nothing is attached to an archive where it is");
		return err_hint(err, "Name the layout that it is made from, or the image in the "
		                     "registry once it is pushed.");
	}
	*ret_place = place;
	return 0;
}

/* A layout's or archive's entry with this digest, or the digest's own document. */
static int root_by_digest(const struct image *image, struct arena *a, struct descriptor *ret_root,
                          struct err *err)
{
	struct index index;
	char text[DIGEST_TEXT_MAX];

	digest_text(&image->ref.digest, text);
	if (image->registry != NULL)
		return registry_resolve(image->registry, text, a, ret_root, err);
	if (image->layout != NULL && layout_index(image->layout, a, &index, err) == 0)
		for (size_t i = 0; i < index.n_manifests; i++)
			if (digest_equal(&index.manifests[i].digest, &image->ref.digest)) {
				*ret_root = index.manifests[i];
				return 0;
			}
	return err_set(err, ERR_NOT_FOUND, "no image has digest %s", text);
}

int image_root(const struct image *image, struct arena *a, struct descriptor *ret_root,
               struct err *err)
{
	int result = image->ref.has_digest
	                     ? root_by_digest(image, a, ret_root, err)
	                     : store_resolve(image->store, image->ref.tag, a, ret_root, err);

	if (result != 0 && image->typed != NULL)
		return err_wrap(err, "no file or folder '%.200s', and as '%.300s'", image->typed,
		                ref_text(&image->ref, a));
	return result;
}
