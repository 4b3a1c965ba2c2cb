/* What the writers of both forms share. Nobody else includes this. */
#ifndef SLIPWAY_BUILDER_SBOM_DOCUMENT_INTERNAL_H
#define SLIPWAY_BUILDER_SBOM_DOCUMENT_INTERNAL_H

#include "base/jsonw.h"
#include "builder/sbom/document.h"
#include "builder/sbom/links.h"

struct sbom_document {
	struct jsonw w;
	struct arena arena;
	const struct sbom_subject *subject;
	const struct inventory *inv;
	struct sbom_links links;
};

void spdx_print(struct sbom_document *d);
void cyclonedx_print(struct sbom_document *d);

/* "key": "value"; nothing for NULL. */
void document_text(struct sbom_document *d, const char *key, const char *value);

/* A name for one part of the document, of letters, digits, '.' and '-'; in the arena. */
const char *document_package_id(struct sbom_document *d, const struct sbom_package *p);
const char *document_part_id(struct sbom_document *d, size_t part);

const char *document_purl(struct sbom_document *d, const struct sbom_package *p);
const char *document_image_purl(struct sbom_document *d);
const char *document_base_purl(struct sbom_document *d);

/* The last name of an ELF file. */
const char *document_base_name(const char *path);

/* "glibc 2.36-9", "glibc"; NULL: of its own. */
const char *document_source(struct sbom_document *d, const struct sbom_package *p);

#endif
