/*
 * What fills a tree: one function per kind of source in the spec. Each adds entries and reports
 * problems of the user's making (missing file, escaping link, device node, unreadable file) in diags
 * with the spec's position, going on to find more; err is for failures of the machine.
 * Names are bytes: no locale, no order of the file system shows in the result.
 */
#ifndef SLIPWAY_LAYER_SOURCES_H
#define SLIPWAY_LAYER_SOURCES_H

#include "builder/layer/model.h"
#include "builder/layer/tree.h"
#include "builder/oci/platform.h"

/* One item of `files:`. Hard links inside the source stay hard links; sockets are skipped; device nodes
 * and fifos are problems; symbolic links are kept as they are, or followed inside the source. */
int source_files_add(struct tree *t, const struct layer_files *item, struct diags *d, struct err *err)
	MUST_USE;

/* One item of `tar:`: any format and compression libarchive reads; contents are spooled. Hostile members
 * (absolute, '..', device, whiteout, oversized) are problems. */
int source_tar_add(struct tree *t, const struct layer_tar *item, struct diags *d, struct err *err)
	MUST_USE;

/* One .deb (an ar archive): its data.tar.* lands at /; package name, version and architecture are read from
 * control.tar.*; an architecture other than `platform`'s or "all" is a problem. */
int source_deb_add(struct tree *t, const struct layer_path *item, const struct platform *platform,
                   struct diags *d, struct err *err) MUST_USE;

/* The ELF dependency closure of `layer->closure` (builder/layer/closure.h). */
int source_closure_add(struct tree *t, const struct layer_spec *layer, const struct platform *platform,
                       struct diags *d, struct err *err) MUST_USE;

/* Everything a layer asks for, in the order files, tar, deb, closure; then tree_finish. */
int source_layer(struct tree *t, const struct layer_spec *layer, const struct platform *platform,
                 struct diags *d, struct err *err) MUST_USE;

#endif
