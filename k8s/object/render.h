/*
 * A renderer: one concern of a fleet, one folder of manifests. Each concern exports its row; the
 * table of them stands above (builder/cli/renderers.c), in the order of applying.
 */
#ifndef SLIPWAY_K8S_OBJECT_RENDER_H
#define SLIPWAY_K8S_OBJECT_RENDER_H

#include "k8s/object/object.h"

struct k8s_renderer {
	const char *number;  /* "10": folders sort in the order of applying */
	const char *name;    /* "karpenter": folder, --only, component label, stage of deploy */
	const char *summary; /* one line for help */
	bool deployed;       /* `slipway deploy` applies it; others are for a person to apply */
	bool by_name;        /* rendered only where it is named: what starts at once, and costs */
	bool (*wanted)(const struct fleet *fleet); /* is there such a thing in this fleet? */
	/* Reads the fleet, adds files and objects; cannot fail. */
	void (*render)(const struct fleet *fleet, struct k8s_output *out);
};

/* In the order of applying: what a row needs stands above it. */
struct k8s_renderers {
	const struct k8s_renderer *const *at;
	size_t n;
};

/* The row of that name, NULL if there is none: which concern an object's component is. */
const struct k8s_renderer *k8s_renderer_find(const struct k8s_renderers *table, const char *name);

/*
 * Runs every wanted row (only: those named; NULL or n 0 = all but those that ask to be named), and
 * makes the fleet's patches on what they rendered. ERR_USAGE for a name that no row has, ERR_SPEC
 * for a patch that cannot be made, which k8s_check would have told.
 */
int k8s_render(const struct k8s_renderers *table, const struct fleet *fleet,
               const struct strlist *only, struct k8s_output *out, struct err *err) MUST_USE;

/* Runs every row, those too that ask to be named, and reports each patch that cannot be made, that
 * makes something wrong, or that names nothing. */
void k8s_check(const struct k8s_renderers *table, const struct fleet *fleet, struct diags *d);

/* The row that `out` is filled by from now on. */
void k8s_begin(struct k8s_output *out, const struct k8s_renderer *row);

#endif
