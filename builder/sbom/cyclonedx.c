/*
 * CycloneDX 1.6 as JSON. Sections: components, dependencies, the document.
 */
#include <stdio.h>
#include <string.h>

#include "builder/sbom/document_internal.h"

enum { UUID_TEXT = 37 };

/* ---- components ---- */

static void begin_component(struct sbom_document *d, const char *type, const char *ref,
                            const char *name, const char *version)
{
	jsonw_begin_object(&d->w);
	document_text(d, "type", type);
	document_text(d, "bom-ref", ref);
	document_text(d, "name", name);
	document_text(d, "version", version);
}

static void put_hash(struct sbom_document *d, const struct digest *digest)
{
	char hex[DIGEST_HEX_MAX];

	jsonw_key(&d->w, "hashes");
	jsonw_begin_array(&d->w);
	jsonw_begin_object(&d->w);
	document_text(d, "alg", "SHA-256");
	document_text(d, "content", digest_hex(digest, hex));
	jsonw_end_object(&d->w);
	jsonw_end_array(&d->w);
}

static void put_occurrence(struct sbom_document *d, const char *path)
{
	jsonw_key(&d->w, "evidence");
	jsonw_begin_object(&d->w);
	jsonw_key(&d->w, "occurrences");
	jsonw_begin_array(&d->w);
	jsonw_begin_object(&d->w);
	document_text(d, "location", path);
	jsonw_end_object(&d->w);
	jsonw_end_array(&d->w);
	jsonw_end_object(&d->w);
}

struct property {
	const char *name, *value; /* value NULL: left out */
};

static void put_properties(struct sbom_document *d, const struct property *at, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= at[i].value != NULL;
	if (!any)
		return;
	jsonw_key(&d->w, "properties");
	jsonw_begin_array(&d->w);
	for (size_t i = 0; i < n; i++) {
		if (at[i].value == NULL)
			continue;
		jsonw_begin_object(&d->w);
		document_text(d, "name", at[i].name);
		document_text(d, "value", at[i].value);
		jsonw_end_object(&d->w);
	}
	jsonw_end_array(&d->w);
}

static void put_image(struct sbom_document *d)
{
	const struct sbom_subject *s = d->subject;
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];
	struct property *layers = arena_calloc(&d->arena, s->n_layers + 1, sizeof(*layers));

	layers[0] = (struct property){
		"slipway:platform", arena_strdup(&d->arena, platform_text(&s->platform, platform))};
	for (size_t i = 0; i < s->n_layers; i++)
		layers[i + 1] = (struct property){
			"slipway:layer",
			arena_strdup(&d->arena, digest_text(&s->layers[i].digest, digest))};
	begin_component(d, "container", "Image", s->name, digest_text(&s->manifest, digest));
	put_hash(d, &s->manifest);
	document_text(d, "purl", document_image_purl(d));
	put_properties(d, layers, s->n_layers + 1);
	jsonw_end_object(&d->w);
}

static void put_base(struct sbom_document *d)
{
	const struct sbom_subject *s = d->subject;
	char digest[DIGEST_TEXT_MAX];

	if (s->base_name == NULL)
		return;
	begin_component(d, "container", "Base", s->base_name, digest_text(&s->base_digest, digest));
	put_hash(d, &s->base_digest);
	document_text(d, "purl", document_base_purl(d));
	jsonw_end_object(&d->w);
}

static void put_system(struct sbom_document *d)
{
	const struct sbom_distro *o = &d->inv->distro;

	if (o->id == NULL)
		return;
	begin_component(d, "operating-system", "OperatingSystem", o->id, o->version_id);
	document_text(d, "description", o->name);
	jsonw_end_object(&d->w);
}

static void put_package(struct sbom_document *d, const struct sbom_package *p)
{
	const struct property properties[] = {
		{"slipway:source", document_source(d, p)},
		{"slipway:known-by", p->database != NULL ? p->database : p->from},
	};

	begin_component(d, "library", document_package_id(d, p), p->name, p->version);
	document_text(d, "publisher", p->maintainer);
	document_text(d, "purl", document_purl(d, p));
	put_properties(d, properties, ARRAY_LEN(properties));
	jsonw_end_object(&d->w);
}

static void put_object(struct sbom_document *d, size_t i)
{
	const struct sbom_object *o = d->links.loose[i];
	const struct property properties[] = {{"slipway:build-id", o->build_id}};

	begin_component(d, o->executable ? "application" : "library",
	                document_part_id(d, d->inv->packages.n + i), document_base_name(o->path),
	                NULL);
	put_properties(d, properties, ARRAY_LEN(properties));
	put_occurrence(d, o->path);
	jsonw_end_object(&d->w);
}

static void put_file(struct sbom_document *d, size_t i)
{
	const struct sbom_file *f = d->inv->files.at[i];
	char digest[DIGEST_TEXT_MAX];
	const struct property properties[] = {
		{"slipway:layer",
	         f->layer < d->subject->n_layers
	                 ? digest_text(&d->subject->layers[f->layer].digest, digest)
	                 : NULL},
		{"slipway:package", f->package != NULL ? document_package_id(d, f->package) : NULL},
		{"slipway:from", f->source},
	};

	begin_component(d, "file", arena_printf(&d->arena, "File-%zu", i + 1), f->path, NULL);
	put_hash(d, &f->digest);
	put_properties(d, properties, ARRAY_LEN(properties));
	jsonw_end_object(&d->w);
}

static void put_components(struct sbom_document *d)
{
	jsonw_key(&d->w, "components");
	jsonw_begin_array(&d->w);
	put_base(d);
	put_system(d);
	for (size_t i = 0; i < d->inv->packages.n; i++)
		put_package(d, d->inv->packages.at[i]);
	for (size_t i = 0; i < d->links.n_loose; i++)
		put_object(d, i);
	for (size_t i = 0; i < d->inv->files.n; i++)
		put_file(d, i);
	jsonw_end_array(&d->w);
}

/* ---- dependencies ---- */

static void put_image_dependencies(struct sbom_document *d)
{
	jsonw_begin_object(&d->w);
	document_text(d, "ref", "Image");
	jsonw_key(&d->w, "dependsOn");
	jsonw_begin_array(&d->w);
	if (d->subject->base_name != NULL)
		jsonw_string(&d->w, "Base");
	if (d->inv->distro.id != NULL)
		jsonw_string(&d->w, "OperatingSystem");
	for (size_t i = 0; i < d->inv->packages.n + d->links.n_loose; i++)
		jsonw_string(&d->w, document_part_id(d, i));
	jsonw_end_array(&d->w);
	jsonw_end_object(&d->w);
}

static void put_dependencies(struct sbom_document *d)
{
	jsonw_key(&d->w, "dependencies");
	jsonw_begin_array(&d->w);
	put_image_dependencies(d);
	for (size_t i = 0; i < d->inv->packages.n + d->links.n_loose; i++) {
		size_t n;
		const struct sbom_link *link = links_from(&d->links, i, &n);

		if (n == 0)
			continue;
		jsonw_begin_object(&d->w);
		document_text(d, "ref", document_part_id(d, i));
		jsonw_key(&d->w, "dependsOn");
		jsonw_begin_array(&d->w);
		for (size_t k = 0; k < n; k++)
			jsonw_string(&d->w, document_part_id(d, link[k].to));
		jsonw_end_array(&d->w);
		jsonw_end_object(&d->w);
	}
	jsonw_end_array(&d->w);
}

/* ---- the document ---- */

/*
 * RFC 9562, 5.8: version 8 is of our own making, here the first bytes of the image's digest, so
 * that a document of the same image has the same number.
 */
static void serial_number(const struct digest *digest, char out[UUID_TEXT])
{
	unsigned char b[16];

	memcpy(b, digest->bytes, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x80);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(out, UUID_TEXT,
	         "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
	         b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
	         b[15]);
}

static void put_metadata(struct sbom_document *d)
{
	jsonw_key(&d->w, "metadata");
	jsonw_begin_object(&d->w);
	document_text(d, "timestamp", d->subject->created);
	jsonw_key(&d->w, "tools");
	jsonw_begin_object(&d->w);
	jsonw_key(&d->w, "components");
	jsonw_begin_array(&d->w);
	jsonw_begin_object(&d->w);
	document_text(d, "type", "application");
	document_text(d, "name", "slipway");
	document_text(d, "version", d->subject->version);
	jsonw_end_object(&d->w);
	jsonw_end_array(&d->w);
	jsonw_end_object(&d->w);
	jsonw_key(&d->w, "component");
	put_image(d);
	jsonw_end_object(&d->w);
}

/* What could not be read makes the list incomplete, and each reason is said. */
static void put_gaps(struct sbom_document *d)
{
	struct property *reasons = arena_calloc(&d->arena, d->inv->gaps.n, sizeof(*reasons));

	if (d->inv->gaps.n == 0)
		return;
	jsonw_key(&d->w, "compositions");
	jsonw_begin_array(&d->w);
	jsonw_begin_object(&d->w);
	document_text(d, "aggregate", "incomplete");
	jsonw_key(&d->w, "assemblies");
	jsonw_begin_array(&d->w);
	jsonw_string(&d->w, "Image");
	jsonw_end_array(&d->w);
	jsonw_end_object(&d->w);
	jsonw_end_array(&d->w);
	for (size_t i = 0; i < d->inv->gaps.n; i++)
		reasons[i] = (struct property){"slipway:gap", d->inv->gaps.at[i]};
	put_properties(d, reasons, d->inv->gaps.n);
}

void cyclonedx_print(struct sbom_document *d)
{
	char uuid[UUID_TEXT];

	serial_number(&d->subject->manifest, uuid);
	jsonw_begin_object(&d->w);
	document_text(d, "bomFormat", "CycloneDX");
	document_text(d, "specVersion", "1.6");
	document_text(d, "serialNumber", arena_printf(&d->arena, "urn:uuid:%s", uuid));
	jsonw_key(&d->w, "version");
	jsonw_int(&d->w, 1);
	put_metadata(d);
	put_components(d);
	put_dependencies(d);
	put_gaps(d);
	jsonw_end_object(&d->w);
	strbuf_addc(d->w.sb, '\n');
}
