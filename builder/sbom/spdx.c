/*
 * SPDX 2.3 as JSON. Sections: packages, files, relationships, the document.
 */
#include <string.h>

#include "builder/sbom/document_internal.h"

#define NAMESPACE "https://slipway.dev/spdx/"
#define IMAGE_ID  "SPDXRef-Image"
#define BASE_ID   "SPDXRef-Base"
#define OS_ID     "SPDXRef-OperatingSystem"

/* ---- packages ---- */

static void begin_package(struct sbom_document *d, const char *id, const char *name,
                          const char *version, const char *purpose)
{
	jsonw_begin_object(&d->w);
	document_text(d, "SPDXID", id);
	document_text(d, "name", name);
	document_text(d, "versionInfo", version);
	document_text(d, "primaryPackagePurpose", purpose);
	document_text(d, "downloadLocation", "NOASSERTION");
	jsonw_key(&d->w, "filesAnalyzed");
	jsonw_bool(&d->w, false);
}

static void end_package(struct sbom_document *d, const char *purl)
{
	document_text(d, "licenseConcluded", "NOASSERTION");
	document_text(d, "licenseDeclared", "NOASSERTION");
	document_text(d, "copyrightText", "NOASSERTION");
	if (purl != NULL) {
		jsonw_key(&d->w, "externalRefs");
		jsonw_begin_array(&d->w);
		jsonw_begin_object(&d->w);
		document_text(d, "referenceCategory", "PACKAGE-MANAGER");
		document_text(d, "referenceType", "purl");
		document_text(d, "referenceLocator", purl);
		jsonw_end_object(&d->w);
		jsonw_end_array(&d->w);
	}
	jsonw_end_object(&d->w);
}

static void put_checksum(struct sbom_document *d, const struct digest *digest)
{
	char hex[DIGEST_HEX_MAX];

	jsonw_key(&d->w, "checksums");
	jsonw_begin_array(&d->w);
	jsonw_begin_object(&d->w);
	document_text(d, "algorithm", "SHA256");
	document_text(d, "checksumValue", digest_hex(digest, hex));
	jsonw_end_object(&d->w);
	jsonw_end_array(&d->w);
}

static void put_image(struct sbom_document *d)
{
	const struct sbom_subject *s = d->subject;
	char digest[DIGEST_TEXT_MAX];

	begin_package(d, IMAGE_ID, s->name, digest_text(&s->manifest, digest), "CONTAINER");
	put_checksum(d, &s->manifest);
	end_package(d, document_image_purl(d));
	if (s->base_name == NULL)
		return;
	begin_package(d, BASE_ID, s->base_name, digest_text(&s->base_digest, digest), "CONTAINER");
	put_checksum(d, &s->base_digest);
	end_package(d, document_base_purl(d));
}

static void put_layers(struct sbom_document *d)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < d->subject->n_layers; i++) {
		const struct sbom_layer *l = &d->subject->layers[i];

		begin_package(d, arena_printf(&d->arena, "SPDXRef-Layer-%zu", i + 1),
		              digest_text(&l->digest, digest), NULL, "ARCHIVE");
		put_checksum(d, &l->digest);
		document_text(d, "comment",
		              l->name != NULL ? arena_printf(&d->arena, "layer '%s'", l->name)
		              : l->of_base    ? "layer of the base image"
		                              : NULL);
		end_package(d, NULL);
	}
}

static void put_system(struct sbom_document *d)
{
	const struct sbom_distro *o = &d->inv->distro;

	if (o->id == NULL)
		return;
	begin_package(d, OS_ID, o->id, o->version_id, "OPERATING_SYSTEM");
	document_text(d, "description", o->name);
	end_package(d, NULL);
}

/* "Name <mail>" of a Maintainer field as SPDX writes it; an organisation says nothing wrong of
 * a person. */
static const char *supplier(struct sbom_document *d, const char *maintainer)
{
	const char *open, *close;

	if (maintainer == NULL)
		return "NOASSERTION";
	open = strstr(maintainer, " <");
	close = open != NULL ? strchr(open, '>') : NULL;
	if (close == NULL)
		return arena_printf(&d->arena, "Organization: %s", maintainer);
	return arena_printf(&d->arena, "Organization: %.*s (%.*s)", (int)(open - maintainer),
	                    maintainer, (int)(close - open - 2), open + 2);
}

static void put_package(struct sbom_document *d, const struct sbom_package *p)
{
	const char *source = document_source(d, p);

	begin_package(d, arena_printf(&d->arena, "SPDXRef-%s", document_package_id(d, p)), p->name,
	              p->version, "LIBRARY");
	document_text(d, "supplier", supplier(d, p->maintainer));
	document_text(d, "sourceInfo",
	              arena_printf(&d->arena, "%s%s; known by %s",
	                           source != NULL ? "built from " : "built from its own source",
	                           source != NULL ? source : "",
	                           p->database != NULL ? p->database : p->from));
	end_package(d, document_purl(d, p));
}

static void put_object(struct sbom_document *d, size_t i)
{
	const struct sbom_object *o = d->links.loose[i];

	begin_package(
		d,
		arena_printf(&d->arena, "SPDXRef-%s", document_part_id(d, d->inv->packages.n + i)),
		document_base_name(o->path), NULL, o->executable ? "APPLICATION" : "LIBRARY");
	document_text(d, "packageFileName", o->path);
	document_text(d, "comment",
	              o->build_id != NULL ? arena_printf(&d->arena, "GNU build ID %s", o->build_id)
	                                  : NULL);
	end_package(d, NULL);
}

static void put_packages(struct sbom_document *d)
{
	jsonw_key(&d->w, "packages");
	jsonw_begin_array(&d->w);
	put_image(d);
	put_layers(d);
	put_system(d);
	for (size_t i = 0; i < d->inv->packages.n; i++)
		put_package(d, d->inv->packages.at[i]);
	for (size_t i = 0; i < d->links.n_loose; i++)
		put_object(d, i);
	jsonw_end_array(&d->w);
}

/* ---- files ---- */

static void put_files(struct sbom_document *d)
{
	if (d->inv->files.n == 0)
		return;
	jsonw_key(&d->w, "files");
	jsonw_begin_array(&d->w);
	for (size_t i = 0; i < d->inv->files.n; i++) {
		const struct sbom_file *f = d->inv->files.at[i];

		jsonw_begin_object(&d->w);
		document_text(d, "SPDXID", arena_printf(&d->arena, "SPDXRef-File-%zu", i + 1));
		document_text(d, "fileName", arena_printf(&d->arena, ".%s", f->path));
		put_checksum(d, &f->digest);
		document_text(d, "licenseConcluded", "NOASSERTION");
		document_text(d, "copyrightText", "NOASSERTION");
		document_text(d, "comment",
		              f->source != NULL ? arena_printf(&d->arena, "from %s", f->source)
		                                : NULL);
		jsonw_end_object(&d->w);
	}
	jsonw_end_array(&d->w);
}

/* ---- relationships ---- */

static void relate(struct sbom_document *d, const char *from, const char *type, const char *to)
{
	jsonw_begin_object(&d->w);
	document_text(d, "spdxElementId", from);
	document_text(d, "relationshipType", type);
	document_text(d, "relatedSpdxElement", to);
	jsonw_end_object(&d->w);
}

static const char *part_id(struct sbom_document *d, size_t part)
{
	return arena_printf(&d->arena, "SPDXRef-%s", document_part_id(d, part));
}

static void relate_parts(struct sbom_document *d)
{
	for (size_t i = 0; i < d->inv->packages.n + d->links.n_loose; i++)
		relate(d, IMAGE_ID, "CONTAINS", part_id(d, i));
	for (size_t i = 0; i < d->links.n; i++)
		relate(d, part_id(d, d->links.at[i].from), "DYNAMIC_LINK",
		       part_id(d, d->links.at[i].to));
}

static void relate_files(struct sbom_document *d)
{
	for (size_t i = 0; i < d->inv->files.n; i++) {
		const struct sbom_file *f = d->inv->files.at[i];
		const char *id = arena_printf(&d->arena, "SPDXRef-File-%zu", i + 1);

		relate(d, arena_printf(&d->arena, "SPDXRef-Layer-%zu", f->layer + 1), "CONTAINS",
		       id);
		if (f->package != NULL)
			relate(d, part_id(d, f->package->number), "CONTAINS", id);
	}
}

static void put_relationships(struct sbom_document *d)
{
	jsonw_key(&d->w, "relationships");
	jsonw_begin_array(&d->w);
	relate(d, "SPDXRef-DOCUMENT", "DESCRIBES", IMAGE_ID);
	if (d->subject->base_name != NULL)
		relate(d, IMAGE_ID, "DESCENDANT_OF", BASE_ID);
	for (size_t i = 0; i < d->subject->n_layers; i++)
		relate(d, IMAGE_ID, "CONTAINS",
		       arena_printf(&d->arena, "SPDXRef-Layer-%zu", i + 1));
	if (d->inv->distro.id != NULL)
		relate(d, IMAGE_ID, "CONTAINS", OS_ID);
	relate_parts(d);
	relate_files(d);
	jsonw_end_array(&d->w);
}

/* ---- the document ---- */

static void put_creation(struct sbom_document *d)
{
	jsonw_key(&d->w, "creationInfo");
	jsonw_begin_object(&d->w);
	document_text(d, "created", d->subject->created);
	jsonw_key(&d->w, "creators");
	jsonw_begin_array(&d->w);
	jsonw_string(&d->w, arena_printf(&d->arena, "Tool: slipway-%s", d->subject->version));
	jsonw_end_array(&d->w);
	jsonw_end_object(&d->w);
}

static void put_gaps(struct sbom_document *d)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(64 << 10);

	for (size_t i = 0; i < d->inv->gaps.n; i++)
		strbuf_addf(&text, "%s%s", i == 0 ? "Not complete: " : "; ", d->inv->gaps.at[i]);
	if (text.len > 0)
		document_text(d, "comment", strbuf_str(&text));
}

void spdx_print(struct sbom_document *d)
{
	const struct sbom_subject *s = d->subject;
	char hex[DIGEST_HEX_MAX], platform[PLATFORM_TEXT_MAX];

	jsonw_begin_object(&d->w);
	document_text(d, "spdxVersion", "SPDX-2.3");
	document_text(d, "dataLicense", "CC0-1.0");
	document_text(d, "SPDXID", "SPDXRef-DOCUMENT");
	document_text(
		d, "name",
		arena_printf(&d->arena, "%s %s", s->name, platform_text(&s->platform, platform)));
	document_text(d, "documentNamespace",
	              arena_printf(&d->arena, NAMESPACE "%s", digest_hex(&s->manifest, hex)));
	put_creation(d);
	put_gaps(d);
	put_packages(d);
	put_files(d);
	put_relationships(d);
	jsonw_end_object(&d->w);
	strbuf_addc(d->w.sb, '\n');
}
