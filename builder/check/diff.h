/*
 * What differs between two images: manifests and configuration members, then the files of the final
 * file system of each platform (added, removed, changed content/mode/owner/link/xattrs), and which
 * layer brings each. Digest-equal layers are not read. Asked for bytes, it also finds the first one
 * that differs in each document and each layer. Both sides are read within one budget
 * (builder/oci/budget.h), which pays for the differences too. Pure of printing.
 */
#ifndef SLIPWAY_BUILDER_CHECK_DIFF_H
#define SLIPWAY_BUILDER_CHECK_DIFF_H

#include "base/doc/json.h"
#include "builder/oci/budget.h"
#include "builder/oci/store.h"

struct diff_side {
	struct store *store;
	const struct descriptor *root; /* index or manifest */
	const char *name;              /* as the user wrote it */
};

struct diff_opts {
	struct budget *budget;
	bool bytes; /* find the first byte that differs in what differs */
};

/*
 * *ret_doc (caller owns) = {"equal": bool, "platforms": [{"platform", "config":
 * [{"member","a","b"}], "files": [{"path","change": "added|removed|changed","what":
 * ["content","mode",...], "a": {...}, "b": {...}}], ...}], "annotations": [...]}. With `bytes`
 * there are "documents": [{"what": "index|OS/ARCH manifest|OS/ARCH configuration", "offset", "a",
 * "b"}], and each entry of "layers" has a "first" (diff_bytes.c). diff_text appends the readable
 * form. ERR_LIMIT beyond the budget, ERR_INTERRUPTED.
 */
int diff_images(const struct diff_side *a, const struct diff_side *b, const struct diff_opts *opts,
                cJSON **ret_doc, struct err *err) MUST_USE;
void diff_text(const cJSON *doc, struct strbuf *sb);

#endif
