/*
 * All that slipway renders from a spec, in the order it is applied. Adding a concern: export its
 * row (k8s/object/render.h), and list it in renderers.c.
 */
#ifndef SLIPWAY_BUILDER_CLI_RENDERERS_H
#define SLIPWAY_BUILDER_CLI_RENDERERS_H

#include "k8s/object/render.h"

extern const struct k8s_renderers renderers;

#endif
