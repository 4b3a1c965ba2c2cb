/* See image_sbom.h. Sections: what is attached, the layers, the document. */
#include "builder/image/image_sbom.h"

#include <string.h>

#include "base/cpus.h"
#include "base/pool.h"
#include "base/timestamp.h"
#include "builder/oci/artifact.h"
#include "builder/oci/config.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"
#include "builder/sbom/inventory.h"
#include "builder/trust/statement.h"

enum { SCAN_THREADS_MAX = 4 };

/* ---- what is attached ---- */

static const char *created_of(const struct descriptor *d)
{
	const char *text = strmap_get(&d->annotations, ANNOTATION_CREATED);

	return text != NULL ? text : "";
}

/* The document created last; of equal moments the one with the greatest digest. */
static const struct descriptor *newest(const struct referrers *all)
{
	const struct descriptor *best = NULL;

	for (size_t i = 0; i < all->n; i++) {
		int order = best == NULL ? 1 : strcmp(created_of(&all->at[i]), created_of(best));

		if (order > 0 || (order == 0 && memcmp(all->at[i].digest.bytes, best->digest.bytes,
		                                       DIGEST_BYTES) > 0))
			best = &all->at[i];
	}
	return best;
}

/* What is attached to an image in a registry is from outside: it has to be what it says. */
static int check_form(const struct strbuf *text, enum sbom_form form, struct err *err)
{
	static const struct {
		const char *key, *value;
	} marks[SBOM_FORMS] = {[SBOM_SPDX] = {"SPDXID", "SPDXRef-DOCUMENT"},
	                       [SBOM_CYCLONEDX] = {"bomFormat", "CycloneDX"}};
	AUTO(json) cJSON *doc = NULL;
	const char *value;

	if (json_parse("bill of materials", strbuf_str(text), text->len, &doc, err) != 0)
		return -1;
	value = json_string(doc, marks[form].key);
	if (value == NULL || strcmp(value, marks[form].value) != 0)
		return err_set(err, ERR_FORMAT, "it is not a document of the form %s",
		               sbom_forms[form].name);
	return 0;
}

int image_sbom_read(struct store *s, const struct descriptor *manifest, enum sbom_form form,
                    const struct descriptor *found, struct arena *a, struct strbuf *document,
                    struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	if (artifact_read(s, found, &manifest->digest, sbom_forms[form].media_type, SBOM_BYTES_MAX,
	                  a, document, err) != 0 ||
	    check_form(document, form, err) != 0)
		return err_wrap(err, "attached document %.19s",
		                digest_text(&found->digest, digest));
	return 0;
}

int image_sbom_attached(const struct image *image, const struct descriptor *manifest,
                        enum sbom_form form, struct arena *a, struct strbuf *document,
                        bool *ret_attached, struct err *err)
{
	const struct descriptor *found;
	struct referrers all = {0};

	*ret_attached = false;
	if (store_referrers(image->store, &manifest->digest, sbom_forms[form].media_type, a, &all,
	                    err) != 0)
		return -1;
	found = newest(&all);
	if (found == NULL)
		return 0;
	if (image_sbom_read(image->store, manifest, form, found, a, document, err) != 0)
		return -1;
	*ret_attached = true;
	return 0;
}

/* ---- what is signed ---- */

int image_sbom_signed(struct store *s, const struct descriptor *manifest, enum sbom_form form,
                      const struct vouchers *by, struct arena *a, struct strbuf *document,
                      struct vouched *ret_vouched, struct err *err)
{
	const struct signature *found;
	char digest[DIGEST_TEXT_MAX];

	if (vouched_find(s, &manifest->digest, sbom_forms[form].predicate_type, by, a, ret_vouched,
	                 err) != 0)
		return -1;
	found = ret_vouched->statement;
	if (found == NULL)
		return 0;
	return statement_predicate(found->statement, found->statement_len, document, err) != 0 ||
	                       check_form(document, form, err) != 0
	               ? err_wrap(err, "signed document %.19s",
	                          digest_text(&found->manifest, digest))
	               : 0;
}

static int read_signed(const struct image *image, const struct descriptor *manifest,
                       const struct image_sbom_opts *opts, struct arena *a, struct strbuf *document,
                       struct err *err)
{
	struct vouched found;
	char digest[DIGEST_TEXT_MAX];

	if (image_sbom_signed(image->store, manifest, opts->form, &opts->by, a, document, &found,
	                      err) != 0)
		return -1;
	if (found.statement != NULL)
		return 0;
	err_set(err, ERR_CHECK, "%s has no %s document that %s signed",
	        digest_text(&manifest->digest, digest), sbom_forms[opts->form].name,
	        opts->by.n == 1 ? "the key has" : "all keys have");
	return err_hint(err, "`slipway sign --sbom --key KEY` signs those that are attached");
}

/* ---- the layers ---- */

struct reading_layers {
	const struct image *image;
	const struct image_sbom_opts *opts;
	struct layer_scan *scans;
	size_t n;
	struct budget budget;
	struct arena arena;
	struct view view;
};

static int scan_one(void *ctx, size_t i, struct err *err)
{
	struct reading_layers *r = ctx;
	const unsigned files = r->opts->files ? SCAN_DIGESTS : 0;

	return layer_scan_run(r->image->store, SCAN_ELF | files, &r->budget, r->opts->progress,
	                      &r->scans[i], err);
}

static int apply_layers(struct reading_layers *r, struct err *err)
{
	view_init(&r->view, &r->arena, NULL, NULL);
	r->view.budget = &r->budget;
	for (size_t i = 0; i < r->n; i++) {
		if (r->scans[i].failure.code != ERR_NONE) {
			*err = r->scans[i].failure;
			return err_wrap(err, "layer %zu", i + 1);
		}
		if (view_apply(&r->view, &r->scans[i], i, err) != 0)
			return -1;
	}
	return 0;
}

/* Layers of another kind than tar hold no files: they are counted, as the document counts them. */
static int read_layers(struct reading_layers *r, const struct manifest *m, struct inventory *inv,
                       struct err *err)
{
	const struct inventory_opts opts = {.files = r->opts->files};
	unsigned threads = cpus_usable();

	r->scans = arena_calloc(&r->arena, m->n_layers, sizeof(*r->scans));
	for (size_t i = 0; i < m->n_layers; i++) {
		if (!media_is_layer(m->layers[i].media_type))
			return err_set(err, ERR_UNSUPPORTED, "layer %zu is of the type '%.100s'",
			               i + 1, m->layers[i].media_type);
		r->scans[r->n++] = (struct layer_scan){
			.desc = &m->layers[i], .task = "read layer", .keep = inventory_keeps};
	}
	return pool_run(r->n, threads < SCAN_THREADS_MAX ? threads : SCAN_THREADS_MAX, scan_one, r,
	                err) != 0 ||
	                       apply_layers(r, err) != 0 ||
	                       inventory_read(inv, &r->view, &opts, err) != 0
	               ? -1
	               : 0;
}

static void reading_layers_done(struct reading_layers *r)
{
	for (size_t i = 0; i < r->n; i++)
		layer_scan_done(&r->scans[i]);
	view_done(&r->view);
	arena_done(&r->arena);
}

static int read_inventory(const struct image *image, const struct manifest *m,
                          const struct image_sbom_opts *opts, struct inventory *inv,
                          struct err *err)
{
	struct reading_layers r = {
		.image = image, .opts = opts, .budget = {.max_unpacked = opts->max_unpacked}};
	int rc = read_layers(&r, m, inv, err);

	reading_layers_done(&r);
	if (rc == 0)
		inventory_sort(inv);
	return rc;
}

/* ---- the document ---- */

/* A repository, or of a path its last name. */
const char *image_sbom_name(const struct image *image, struct arena *a)
{
	const char *slash;

	if (image->ref.kind == REF_REGISTRY)
		return arena_printf(a, "%s/%s", image->ref.host, image->ref.repository);
	slash = strrchr(image->ref.path, '/');
	return slash != NULL && slash[1] != '\0' ? slash + 1 : image->ref.path;
}

static void set_base(struct sbom_subject *s, const struct strmap *annotations)
{
	const char *name = strmap_get(annotations, ANNOTATION_BASE_NAME);
	const char *digest = strmap_get(annotations, ANNOTATION_BASE_DIGEST);
	struct err ignored = {0};

	if (name != NULL && digest != NULL && digest_parse(digest, &s->base_digest, &ignored) == 0)
		s->base_name = name;
}

static void set_layers(struct sbom_subject *s, const struct manifest *m, struct arena *a)
{
	struct sbom_layer *layers = arena_calloc(a, m->n_layers, sizeof(*layers));

	for (size_t i = 0; i < m->n_layers; i++)
		layers[i] = (struct sbom_layer){
			.digest = m->layers[i].digest,
			.name = strmap_get(&m->layers[i].annotations, ANNOTATION_LAYER_NAME)};
	s->layers = layers;
	s->n_layers = m->n_layers;
}

/* When the image says it was made; what says nothing was made in 1970. */
static int set_config(const struct image *image, const struct manifest *m, struct arena *a,
                      struct sbom_subject *s, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONFIG_BYTES_MAX);
	AUTO(json) cJSON *doc = NULL;
	struct image_config config;
	const char *created;
	char out[TIMESTAMP_MAX];
	int64_t ms = 0;

	if (store_read(image->store, &m->config, CONFIG_BYTES_MAX, &text, err) != 0 ||
	    config_parse(strbuf_str(&text), text.len, a, &config, err) != 0 ||
	    json_parse("image configuration", strbuf_str(&text), text.len, &doc, err) != 0)
		return err_wrap(err, "image configuration");
	created = json_string(doc, "created");
	if (created == NULL || !timestamp_iso8601(created, &ms))
		ms = 0;
	s->created = arena_strdup(a, timestamp_extended(ms, out));
	s->platform = config.platform;
	return 0;
}

static int make_document(const struct image *image, const struct descriptor *manifest,
                         const struct image_sbom_opts *opts, struct arena *a,
                         struct strbuf *document, struct err *err)
{
	AUTO(inventory) struct inventory inv = {.arena = a};
	struct sbom_subject s = {.name = image_sbom_name(image, a),
	                         .tag = image->ref.tag,
	                         .manifest = manifest->digest,
	                         .version = SLIPWAY_VERSION};
	struct manifest m;

	if (artifact_open(image->store, manifest, a, &m, err) != 0 ||
	    set_config(image, &m, a, &s, err) != 0 ||
	    read_inventory(image, &m, opts, &inv, err) != 0)
		return -1;
	set_base(&s, &m.annotations);
	set_layers(&s, &m, a);
	sbom_print(opts->form, &s, &inv, document);
	return document->overflow
	               ? err_set(err, ERR_LIMIT, "the bill of materials has more than %zu bytes",
	                         SBOM_BYTES_MAX)
	               : 0;
}

int image_sbom(const struct image *image, const struct descriptor *manifest,
               const struct image_sbom_opts *opts, struct arena *a, struct strbuf *document,
               bool *ret_attached, struct err *err)
{
	*ret_attached = opts->by.n > 0;
	if (*ret_attached)
		return read_signed(image, manifest, opts, a, document, err);
	if (!opts->read && !opts->files &&
	    image_sbom_attached(image, manifest, opts->form, a, document, ret_attached, err) != 0)
		return -1;
	return *ret_attached ? 0 : make_document(image, manifest, opts, a, document, err);
}
