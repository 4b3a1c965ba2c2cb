/*
 * From a request to the files and the steps after them: pure, the same texts for the same
 * request.
 */
#ifndef SLIPWAY_BUILDER_INIT_COMPOSE_H
#define SLIPWAY_BUILDER_INIT_COMPOSE_H

#include "base/arena.h"
#include "base/err.h"
#include "builder/init/model.h"

/*
 * The architectures that the request's fleet, kind and CI ask for, where none was named. ERR_USAGE
 * for a fleet whose targets one image cannot serve.
 */
int init_arches(struct init_request *r, struct arena *a, struct err *err) MUST_USE;

/* The size of a target's instances that costs least to begin with: of the fewest processors. */
const char *init_smallest(const char *target);

/* Texts live in the arena, or are those of the request. */
void init_compose(const struct init_request *r, struct arena *a, struct init_plan *ret_plan);

#endif
