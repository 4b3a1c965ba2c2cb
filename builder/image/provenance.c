/*
 * The statement of how an image was built, attached to it in the layout. Sections: inputs, one
 * image.
 */
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "builder/image/attach.h"
#include "builder/image/builder.h"
#include "builder/image/provenance_known.h"
#include "builder/oci/layout_supersede.h"
#include "builder/provenance/statement.h"
#include "builder/sbom/purl.h"

enum { PURL_BYTES_MAX = 16 << 10 };

/* ---- inputs ---- */

static const char *hex_of(const struct digest *d, struct arena *a)
{
	char hex[DIGEST_HEX_MAX];

	return arena_strdup(a, digest_hex(d, hex));
}

static void add_base(const struct image_builder *b, size_t column, struct provenance *p)
{
	const struct base_image *base = &b->bases[column].image;
	const struct platform *platform = &b->opts->plan->images[column].platform;
	AUTO(strbuf) struct strbuf purl = STRBUF_INIT(PURL_BYTES_MAX);

	if (base->scratch)
		return;
	purl_reference(base->name, &base->manifest.digest, platform->architecture, &purl);
	vec_push(&p->inputs,
	         ((struct provenance_input){.name = base->name,
	                                    .uri = arena_strdup(b->arena, strbuf_str(&purl)),
	                                    .algorithm = "sha256",
	                                    .digest = hex_of(&base->manifest.digest, b->arena)}));
}

/* A path as the spec has it: the folder of the spec is nobody's business. */
static const char *as_written(const struct spec *spec, const char *path)
{
	size_t n = strlen(spec->dir);

	return n > 0 && strncmp(path, spec->dir, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static void add_path(struct strlist *list, const struct spec *spec, const char *path)
{
	if (path != NULL)
		list->at[list->n++] = as_written(spec, path);
}

static struct strlist sources_of(const struct spec *spec, const struct layer_spec *layer,
                                 struct arena *a)
{
	struct strlist out = {0};

	out.at = arena_calloc(a, layer->n_files + layer->n_tars + layer->n_debs + layer->n_closure,
	                      sizeof(*out.at));
	for (size_t i = 0; i < layer->n_files; i++)
		add_path(&out, spec, layer->files[i].from);
	for (size_t i = 0; i < layer->n_tars; i++)
		add_path(&out, spec, layer->tars[i].from);
	for (size_t i = 0; i < layer->n_debs; i++)
		add_path(&out, spec, layer->debs[i].path);
	for (size_t i = 0; i < layer->n_closure; i++)
		add_path(&out, spec, layer->closure[i].path);
	return out;
}

/* What the sources of each layer came to: the digest of its tar, which says all of its files. */
static void add_layers(const struct image_builder *b, size_t column, struct provenance *p)
{
	for (size_t i = 0; i < 2 * b->n_layers; i++) {
		const struct layer_slot *s = builder_tree(b, column, i);

		for (size_t k = 0; s->spec != NULL && k < s->n_blobs; k++)
			vec_push(&p->inputs,
			         ((struct provenance_input){
					 .name = arena_printf(b->arena, "layer %s",
			                                      s->blobs[k].name),
					 .algorithm = "sha256",
					 .digest = hex_of(&s->blobs[k].result.diff_id, b->arena),
					 .media_type = MEDIA_LAYER,
					 .sources = sources_of(b->opts->plan->spec, s->spec,
			                                       b->arena)}));
	}
}

/* Packages of the building machine that files were taken from. */
static void add_packages(const struct image_builder *b, size_t column, struct provenance *p)
{
	const struct inventory *inv = &b->contents[column];

	for (size_t i = 0; i < inv->packages.n; i++) {
		const struct sbom_package *package = inv->packages.at[i];
		AUTO(strbuf) struct strbuf purl = STRBUF_INIT(PURL_BYTES_MAX);

		if (package->database != NULL)
			continue;
		purl_package(package, &inv->distro, &purl);
		vec_push(&p->inputs, ((struct provenance_input){
					     .name = package->name,
					     .uri = arena_strdup(b->arena, strbuf_str(&purl))}));
	}
}

/* ---- one image ---- */

/* On a machine of one's own the same build gives the same statement; a run of a CI system is named
 * anyhow. */
static void add_times(const struct image_builder *b, struct provenance *p)
{
	struct clock *clock = clock_system();
	char text[TIMESTAMP_MAX];

	if (strcmp(p->builder.name, "local") == 0)
		return;
	p->started = arena_strdup(b->arena, timestamp_extended(b->started_ms, text));
	p->finished = arena_strdup(b->arena, timestamp_extended(clock->now_ms(clock), text));
}

static int fill(const struct image_builder *b, size_t column, const struct built_image *image,
                struct provenance *p, struct err *err)
{
	if (image_provenance_known(b->opts, column, b->arena, p, err) != 0)
		return -1;
	p->manifest = image->manifest.digest;
	add_base(b, column, p);
	add_packages(b, column, p);
	add_layers(b, column, p);
	add_times(b, p);
	return 0;
}

static int attach_statement(const struct image_builder *b, size_t column,
                            const struct built_image *image, struct err *err)
{
	const struct attach_place place = {.layout = b->opts->layout};
	AUTO(provenance) struct provenance p = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATEMENT_BYTES_MAX);
	struct descriptor attached;
	struct artifact artifact = {.subject = &image->manifest,
	                            .type = MEDIA_STATEMENT,
	                            .media_type = MEDIA_STATEMENT};

	if (fill(b, column, image, &p, err) != 0)
		return -1;
	provenance_print(&p, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "the statement has more than %d bytes",
		               STATEMENT_BYTES_MAX);
	artifact.bytes = text.ptr;
	artifact.len = text.len;
	strmap_set(&artifact.annotations, b->arena, ANNOTATION_PREDICATE_TYPE, PROVENANCE_TYPE);
	strmap_set(&artifact.annotations, b->arena, ANNOTATION_CREATED, builder_epoch_text(b));
	strmap_sort(&artifact.annotations);
	return attach_artifact(&place, &artifact, &attached, err) != 0 ||
	                       layout_supersede(b->opts->layout, &image->manifest.digest, &attached,
	                                        ANNOTATION_PREDICATE_TYPE, err) != 0
	               ? -1
	               : 0;
}

int builder_attach_provenance(const struct image_builder *b, struct build_result *result,
                              struct err *err)
{
	if (!b->opts->plan->spec->image.provenance)
		return 0;
	for (size_t i = 0; i < b->n_images; i++)
		if (attach_statement(b, i, &result->images[i], err) != 0)
			return err_wrap(err, "provenance");
	builder_attached(b, result, "provenance");
	return 0;
}
