/*
 * What a patch may not do to a rendered object: nobody but k8s/object/patch.c includes it.
 */
#ifndef SLIPWAY_K8S_OBJECT_PATCH_CHECK_H
#define SLIPWAY_K8S_OBJECT_PATCH_CHECK_H

#include "k8s/object/object.h"

/*
 * Is it still the same object, whose pods are still pods? Compares its name and labels with those
 * `before`; a selector with the pods that it selects; and looks for containers that are lost or
 * have a name twice, for volumes, mounts and variables that do, and for mounts of no volume.
 * Problems go to `d` at the patch; false when there is one.
 */
struct patch_origin {
	const struct patch_section *patch;
	size_t place; /* among the spec's patches */
};
bool patch_check_object(const cJSON *before, const cJSON *after, const struct patch_origin *origin,
                        struct diags *d);

/*
 * Can the job of each target still run in its pool? Pods that ask for more than the largest
 * instance has, that do not tolerate a taint of the nodes, or that select a label which these lack
 * would wait for ever. Problems go to `d` at the patch that was made last.
 */
void patch_check_output(const struct k8s_output *out, size_t place, struct diags *d);

#endif
