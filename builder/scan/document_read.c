/*
 * Packages out of a bill of materials. Sections: packages, SPDX, CycloneDX.
 */
#include <string.h>

#include "base/text.h"
#include "builder/scan/json_bounds.h"
#include "builder/scan/scan.h"

/* How deep CycloneDX's components may lie in each other. */
enum { NESTING_MAX = 8 };

struct document_reading {
	const struct jsonr *doc;
	struct arena *arena;
	VEC(struct scan_package) packages;
	VEC(const char *) gaps;
	const char *distro; /* "debian-12"; NULL: not said */
};

static const char *text_of(const struct jsonr *doc, const struct jsonr_node *obj, const char *key)
{
	const struct jsonr_node *node = jsonr_get(doc, obj, key);

	return node != NULL && node->type == JSONR_STRING ? node->string : NULL;
}

static const char *printable(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text);

	text_make_printable(copy);
	return copy;
}

typedef int each_item(struct document_reading *r, const struct jsonr_node *item, int depth,
                      struct err *err);

/* Every object in the member `key`, which is an array or missing. */
static int for_each(struct document_reading *r, const struct jsonr_node *obj, const char *key,
                    each_item *each, int depth, struct err *err)
{
	const struct jsonr_node *array = jsonr_get(r->doc, obj, key), *item;

	if (array == NULL)
		return 0;
	if (array->type != JSONR_ARRAY)
		return err_set(err, ERR_FORMAT, "'%s' is not a list", key);
	item = jsonr_first(r->doc, array);
	for (size_t i = 0; i < array->n; i++, item = jsonr_next(r->doc, item))
		if (each(r, item, depth, err) != 0)
			return -1;
	return 0;
}

/* ---- packages ---- */

/* "SOURCE" or "SOURCE@VERSION". */
static void set_source(struct scan_package *p, struct arena *a)
{
	const char *upstream = strmap_get(&p->purl.qualifiers, "upstream"), *at;

	p->source = p->purl.name;
	p->source_version = p->purl.version;
	if (upstream == NULL || upstream[0] == '\0')
		return;
	at = strchr(upstream, '@');
	p->source = at != NULL ? arena_strndup(a, upstream, (size_t)(at - upstream)) : upstream;
	if (at != NULL && at[1] != '\0')
		p->source_version = at + 1;
}

static int add_package(struct document_reading *r, const char *text, struct err *err)
{
	struct scan_package p = {.text = text};

	if (r->packages.n == SCAN_PACKAGES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d packages", SCAN_PACKAGES_MAX);
	if (!purl_read(text, r->arena, &p.purl))
		return err_set(err, ERR_FORMAT, "'%.200s' is not a package URL", text);
	/* Images are what the packages lie in. */
	if (strcmp(p.purl.type, "oci") == 0 || strcmp(p.purl.type, "docker") == 0)
		return 0;
	p.text = arena_strdup(r->arena, text);
	set_source(&p, r->arena);
	vec_push(&r->packages, p);
	return 0;
}

static void set_os(struct document_reading *r, const char *id, const char *version)
{
	if (id != NULL && r->distro == NULL)
		r->distro = printable(
			r->arena, version == NULL
					  ? id
					  : arena_printf(r->arena, "%.100s-%.100s", id, version));
}

/* ---- SPDX 2.3 ---- */

static int spdx_reference(struct document_reading *r, const struct jsonr_node *item, int depth,
                          struct err *err)
{
	const char *type = text_of(r->doc, item, "referenceType");
	const char *purl = text_of(r->doc, item, "referenceLocator");

	(void)depth;
	return type == NULL || purl == NULL || strcmp(type, "purl") != 0
	               ? 0
	               : add_package(r, purl, err);
}

static int spdx_package(struct document_reading *r, const struct jsonr_node *item, int depth,
                        struct err *err)
{
	const char *purpose = text_of(r->doc, item, "primaryPackagePurpose");

	if (purpose != NULL &&
	    (strcmp(purpose, "OPERATING_SYSTEM") == 0 || strcmp(purpose, "OPERATING-SYSTEM") == 0))
		set_os(r, text_of(r->doc, item, "name"), text_of(r->doc, item, "versionInfo"));
	return for_each(r, item, "externalRefs", spdx_reference, depth, err);
}

static int read_spdx(struct document_reading *r, struct err *err)
{
	static const char mark[] = "Not complete: ";
	const char *comment = text_of(r->doc, r->doc->nodes, "comment");

	if (comment != NULL && text_has_prefix(comment, mark))
		vec_push(&r->gaps, printable(r->arena, comment + strlen(mark)));
	return for_each(r, r->doc->nodes, "packages", spdx_package, 0, err);
}

/* ---- CycloneDX ---- */

static int cyclonedx_component(struct document_reading *r, const struct jsonr_node *item, int depth,
                               struct err *err)
{
	const char *purl = text_of(r->doc, item, "purl"), *type = text_of(r->doc, item, "type");

	if (depth > NESTING_MAX)
		return err_set(err, ERR_LIMIT, "components lie deeper than %d in each other",
		               NESTING_MAX);
	if (type != NULL && strcmp(type, "operating-system") == 0)
		set_os(r, text_of(r->doc, item, "name"), text_of(r->doc, item, "version"));
	if (purl != NULL && add_package(r, purl, err) != 0)
		return -1;
	return for_each(r, item, "components", cyclonedx_component, depth + 1, err);
}

/* CycloneDX 1.6, compositions: "complete" alone vouches; what says nothing is no gap. */
static int cyclonedx_composition(struct document_reading *r, const struct jsonr_node *item,
                                 int depth, struct err *err)
{
	const char *aggregate = text_of(r->doc, item, "aggregate");

	(void)depth;
	(void)err;
	if (aggregate != NULL && text_has_prefix(aggregate, "incomplete"))
		vec_push(&r->gaps, "the document says that its components are not all");
	return 0;
}

static int read_cyclonedx(struct document_reading *r, struct err *err)
{
	return for_each(r, r->doc->nodes, "components", cyclonedx_component, 0, err) != 0 ||
	                       for_each(r, r->doc->nodes, "compositions", cyclonedx_composition, 0,
	                                err) != 0
	               ? -1
	               : 0;
}

/* ---- the forms ---- */

static int read_form(struct document_reading *r, struct err *err)
{
	static const struct {
		const char *key, *value;
		int (*read)(struct document_reading *r, struct err *err);
	} forms[] = {{"SPDXID", "SPDXRef-DOCUMENT", read_spdx},
	             {"bomFormat", "CycloneDX", read_cyclonedx}};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const char *value = text_of(r->doc, r->doc->nodes, forms[i].key);

		if (value != NULL && strcmp(value, forms[i].value) == 0)
			return forms[i].read(r, err);
	}
	return err_set(err, ERR_FORMAT, "it is neither SPDX 2.3 nor CycloneDX, as JSON");
}

/* A package that does not say which release it is of is of the image's. */
static void set_distro(struct document_reading *r, struct scan_package *p)
{
	if (r->distro != NULL && strmap_get(&p->purl.qualifiers, "distro") == NULL)
		strmap_set(&p->purl.qualifiers, r->arena, "distro", r->distro);
}

int scan_read_document(const char *text, size_t len, struct arena *a, struct scan_image *image,
                       struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct document_reading r = {.doc = &doc, .arena = a};
	int rc;

	if (json_bounds_parse("bill of materials", text, len, &doc, err) != 0)
		return -1;
	rc = read_form(&r, err);
	for (size_t i = 0; i < r.packages.n; i++)
		set_distro(&r, &r.packages.at[i]);
	if (rc == 0) {
		image->n_packages = r.packages.n;
		image->packages = arena_calloc(a, r.packages.n + 1, sizeof(*image->packages));
		if (r.packages.n > 0)
			memcpy(image->packages, r.packages.at,
			       r.packages.n * sizeof(*image->packages));
		image->gaps.n = r.gaps.n;
		image->gaps.at = arena_calloc(a, r.gaps.n + 1, sizeof(*image->gaps.at));
		for (size_t i = 0; i < r.gaps.n; i++)
			image->gaps.at[i] = r.gaps.at[i];
	}
	vec_done(&r.packages);
	vec_done(&r.gaps);
	return rc == 0 ? 0 : err_wrap(err, "bill of materials");
}
