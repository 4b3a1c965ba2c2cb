/*
 * From the sections as they were written to the resolved fleet: defaults filled in, figures derived
 * from the instance catalogue, contradictions reported with their positions.
 */
#ifndef SLIPWAY_K8S_RESOLVE_RESOLVE_H
#define SLIPWAY_K8S_RESOLVE_RESOLVE_H

#include "k8s/fleet/model.h"

/* What the fleet needs of the image section; the k8s room does not know images. */
struct fleet_image {
	const char *repository;       /* without tag; NULL if the spec names none */
	const char *tag;              /* the first one, NULL if none */
	const char *program;          /* that it starts, NULL = not known */
	struct strlist architectures; /* of image.platforms: amd64, arm64 */
	struct srcpos at;             /* of image.platforms, or of image */
};

struct fleet_names {
	const char *name; /* the spec's; NULL if it has none */
	struct srcpos name_at;
	const char *file; /* path of the spec */
};

/*
 * Resolves and cross-checks. Sections may be half decoded (their problems are reported already):
 * what is missing is skipped. Returns false when problems were added. *fleet is usable by renderers
 * only when the spec as a whole had no problem.
 */
bool fleet_resolve(const struct fleet_sections *sections, const struct fleet_names *names,
                   const struct fleet_image *image, struct arena *a, struct diags *diags,
                   struct fleet *fleet);

#endif
