/*
 * What the spec's own files share; nobody else includes it.
 */
#ifndef SLIPWAY_BUILDER_SPEC_SPEC_INTERNAL_H
#define SLIPWAY_BUILDER_SPEC_SPEC_INTERNAL_H

#include "builder/spec/spec.h"

/* Reads a platform that can be built; false after a problem at node. */
bool spec_platform(struct fields_context *c, const struct yaml_node *node, const char *text,
                   struct platform *ret_platform);

/* What no single key of `image` shows. */
void spec_check_image(struct fields_context *c, const struct yaml_node *node, void *object);

/* Replaces ${env:NAME} and ${env:NAME:-default}; NULL after a problem, as an unknown variable.
 * Those of the platform (${arch}, ...) stay for variables_expand. "$${" stays too, and becomes "${"
 * there. */
const char *variables_load(struct fields_context *c, const struct yaml_node *node);

/* Text with every variable of the platform replaced; NULL stays NULL. */
const char *variables_expand(const char *text, const struct platform *platform, struct arena *a);

/* Resolves the fleet from the sections and the image; problems go to diags. */
void spec_resolve_fleet(struct spec *spec, const char *file, struct arena *a, struct diags *d);

/* Where a spec is from: the steps of a pipeline load it the same way. */
struct spec_origin {
	const char *file;
	const struct spec_set *sets;
	size_t n_sets;
};

/* Resolves the pipeline, after the fleet; problems go to diags. */
void spec_resolve_pipeline(struct spec *spec, const struct spec_origin *from, struct arena *a,
                           struct diags *d);

/* The architectures of image.platforms, in their order. */
struct strlist spec_architectures(const struct spec *spec, struct arena *a);

#endif
