/*
 * What the spec says about bills of materials (`image.sbom`).
 */
#ifndef SLIPWAY_BUILDER_SBOM_MODEL_H
#define SLIPWAY_BUILDER_SBOM_MODEL_H

#include "base/doc/fields.h"
#include "builder/sbom/document.h"

struct sbom_spec {
	bool set;
	bool attach;            /* documents are attached to the image */
	struct strlist formats; /* names of forms; none = all of them */
	bool files;             /* every file is listed */
	bool in_image;          /* dpkg's database of what is packed lies in the image */
};

extern const struct field_table sbom_spec_fields;

/* Whether documents of a form are wanted. */
bool sbom_wants(const struct sbom_spec *s, enum sbom_form form);

#endif
