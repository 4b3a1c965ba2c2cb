/*
 * The fleet as a picture: one SVG page with the job, its targets in the order in which they are
 * tried, and the storage that they share. Fonts are the viewer's; texts that would not fit are cut.
 * Thread rule: pure.
 */
#ifndef SLIPWAY_K8S_VIEW_DIAGRAM_H
#define SLIPWAY_K8S_VIEW_DIAGRAM_H

#include "base/strbuf.h"
#include "k8s/fleet/model.h"

/* Appends the document. The same fleet always gives the same bytes. */
void diagram_svg(const struct fleet *fleet, struct strbuf *sb);

#endif
