/*
 * The section `patches` of slipway.yaml: changes to rendered objects, whatever they are, for what
 * the spec has no key of its own. They are made as soon as the objects are there, so that all that
 * comes after sees the changed ones: what is written, applied, moved to another target, recorded
 * as a run and allowed by roles.
 *
 * A patch names a kind and a name, in which `*` stands for any letters. It may not change what an
 * object is found by: apiVersion, kind, name, namespace and slipway's own labels; and what it
 * makes of a pod must still be one (k8s/object/patch_check.h).
 */
#ifndef SLIPWAY_K8S_OBJECT_PATCH_H
#define SLIPWAY_K8S_OBJECT_PATCH_H

#include "k8s/object/object.h"

extern const struct field_table patch_fields;

/*
 * Makes every patch of out->fleet on the objects that are in `out`. Problems go to `d`, each with
 * its place in the spec; the output is then of no use. ret_matches (NULL = not asked for) gets for
 * each patch how many objects it named.
 */
void k8s_patch(struct k8s_output *out, size_t *ret_matches, struct diags *d);

/* A problem for each patch that names none of the objects of `out`, which has all of them. */
void k8s_patch_unmatched(const struct k8s_output *out, const size_t *matches, struct diags *d);

#endif
