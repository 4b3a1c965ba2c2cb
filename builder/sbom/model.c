#include "builder/sbom/model.h"

static const struct choices forms = CHOICES_OF(sbom_forms, name);

static const struct field rows[] = {
	FIELD_BOOL(struct sbom_spec, attach, "attach",
                   "Whether documents are attached to the image of each platform; `push` sends "
                   "them with it.",
                   .fallback = true),
	FIELD_STRINGS(struct sbom_spec, formats, "formats",
                      "Forms of the documents: SPDX 2.3, CycloneDX 1.6.", .choices = &forms,
                      .fallback_doc = "both"),
	FIELD_BOOL(struct sbom_spec, files, "files",
                   "Whether each file is listed, with its SHA-256, its layer and where it came "
                   "from. Every file is read for that."),
	FIELD_BOOL(struct sbom_spec, in_image, "in_image",
                   "Whether the image gets a layer that names its Debian packages, in "
                   "/var/lib/dpkg/status.d and /etc/os-release, so that scanners which look into "
                   "an image find them."),
};

const struct field_table sbom_spec_fields =
	FIELD_TABLE(struct sbom_spec, "sbom", rows, "The bill of materials of an image.",
                    .shorthand = "attach");

bool sbom_wants(const struct sbom_spec *s, enum sbom_form form)
{
	return s->set && s->attach &&
	       (s->formats.n == 0 || strlist_has(&s->formats, sbom_forms[form].name));
}
