/*
 * The documents of an image that was packed, attached to it in the layout.
 */
#include <string.h>

#include "builder/image/attach.h"
#include "builder/image/builder.h"
#include "builder/oci/layout_supersede.h"
#include "builder/sbom/document.h"

/* ---- layers, as the document names them ---- */

static void list_layers(const struct image_builder *b, const struct built_image *image,
                        struct sbom_subject *s)
{
	struct sbom_layer *layers =
		arena_calloc(b->arena, image->n_base_layers + image->n_layers, sizeof(*layers));
	size_t n = 0;

	for (size_t i = 0; i < image->n_base_layers; i++)
		layers[n++] = (struct sbom_layer){.digest = image->base_layers[i].digest,
		                                  .of_base = true};
	for (size_t i = 0; i < image->n_layers; i++)
		layers[n++] = (struct sbom_layer){.digest = image->layers[i].result.digest,
		                                  .name = image->layers[i].name};
	s->layers = layers;
	s->n_layers = n;
}

/* Which of a slot's blobs has a file. */
static size_t part_of(const struct layer_slot *s, const char *path)
{
	for (size_t i = 0; i + 1 < s->n_blobs; i++)
		if (tree_find(&s->parts[i], path + 1, strlen(path + 1)) < s->parts[i].n)
			return i;
	return s->n_blobs > 0 ? s->n_blobs - 1 : 0;
}

/*
 * Files know the tree they are of (contents.c): shared and own ones in turn, above the base's
 * layers. Now that the trees are packed, these are numbers of blobs.
 */
static void place_files(const struct image_builder *b, size_t column, struct inventory *inv)
{
	const size_t n_base = builder_base_layers(b, column);
	size_t *first = arena_calloc(b->arena, 2 * b->n_layers, sizeof(*first));
	size_t n = n_base;

	for (size_t i = 0; i < 2 * b->n_layers; i++) {
		first[i] = n;
		n += builder_tree(b, column, i)->n_blobs;
	}
	for (size_t i = 0; i < inv->files.n; i++) {
		struct sbom_file *f = inv->files.at[i];

		if (f->layer >= n_base)
			f->layer = first[f->layer - n_base] +
			           part_of(builder_tree(b, column, f->layer - n_base), f->path);
	}
}

/* ---- one image ---- */

static struct sbom_subject subject_of(const struct image_builder *b, size_t column,
                                      const struct built_image *image)
{
	const struct spec *spec = b->opts->plan->spec;
	const struct base_image *base = &b->bases[column].image;
	struct sbom_subject s = {
		.name = spec->image.repository != NULL ? spec->image.repository
	                : spec->image.name != NULL     ? spec->image.name
	                                               : spec->name,
		.platform = image->platform,
		.manifest = image->manifest.digest,
		.created = builder_epoch_text(b),
		.version = SLIPWAY_VERSION,
	};

	if (!base->scratch) {
		s.base_name = base->name;
		s.base_digest = base->manifest.digest;
	}
	list_layers(b, image, &s);
	return s;
}

static int attach_form(const struct image_builder *b, const struct built_image *image,
                       enum sbom_form form, const struct sbom_subject *s,
                       const struct inventory *inv, struct err *err)
{
	const struct attach_place place = {.layout = b->opts->layout};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SBOM_BYTES_MAX);
	struct descriptor attached;
	struct artifact artifact = {.subject = &image->manifest,
	                            .type = sbom_forms[form].media_type,
	                            .media_type = sbom_forms[form].media_type};

	sbom_print(form, s, inv, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "the bill of materials has more than %zu bytes",
		               SBOM_BYTES_MAX);
	artifact.bytes = text.ptr;
	artifact.len = text.len;
	strmap_set(&artifact.annotations, b->arena, ANNOTATION_CREATED, s->created);
	return attach_artifact(&place, &artifact, &attached, err) != 0 ||
	                       layout_supersede(b->opts->layout, &image->manifest.digest, &attached,
	                                        NULL, err) != 0
	               ? -1
	               : 0;
}

/* Every form that is wanted. */
static int attach_forms(const struct image_builder *b, size_t column, struct build_result *result,
                        struct err *err)
{
	const struct built_image *image = &result->images[column];
	const struct sbom_subject s = subject_of(b, column, image);

	for (unsigned form = 0; form < SBOM_FORMS; form++) {
		if (!sbom_wants(&b->opts->plan->spec->image.sbom, (enum sbom_form)form))
			continue;
		if (attach_form(b, image, (enum sbom_form)form, &s, &b->contents[column], err) != 0)
			return -1;
		builder_attached(b, result, sbom_forms[form].name);
	}
	return 0;
}

int builder_attach_sboms(const struct image_builder *b, struct build_result *result,
                         struct err *err)
{
	const struct sbom_spec *spec = &b->opts->plan->spec->image.sbom;

	for (size_t i = 0; b->contents != NULL && spec->set && i < b->n_images; i++) {
		place_files(b, i, &b->contents[i]);
		if (attach_forms(b, i, result, err) != 0)
			return -1;
	}
	return 0;
}
