/*
 * Package URLs (package-url/purl-spec, PURL-SPECIFICATION and PURL-TYPES): the name by which
 * scanners know a package. Pure.
 */
#ifndef SLIPWAY_BUILDER_SBOM_PURL_H
#define SLIPWAY_BUILDER_SBOM_PURL_H

#include "builder/sbom/inventory.h"

/* Appends the purl of a package, of the distribution `image` where it names no other. */
void purl_package(const struct sbom_package *p, const struct sbom_distro *image, struct strbuf *sb);

/* Appends pkg:oci/NAME@sha256:...; `repository` as "host/path", the name alone when it has no '/';
 * arch and tag may be NULL. */
void purl_image(const char *repository, const struct digest *digest, const char *arch,
                const char *tag, struct strbuf *sb);

/* The same for a reference "host/path[:tag][@digest]" to it; the tag is left out. */
void purl_reference(const char *reference, const struct digest *digest, const char *arch,
                    struct strbuf *sb);

#endif
