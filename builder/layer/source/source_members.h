/*
 * Inside of source_tar_add and source_deb_add: the members of a tar stream as entries of a tree.
 * Nobody else includes this.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_MEMBERS_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_MEMBERS_H

#include "builder/layer/source/sources.h"
#include "builder/layer/tree/select.h"

#define MEMBERS_BYTES_MAX (INT64_C(64) << 30)
enum { MEMBERS_MAX = 2000000, MEMBERS_PROBLEMS_MAX = 20, CONTROL_BYTES_MAX = 1 << 20 };

struct members_rules {
	const char *name; /* the archive, for messages; in the tree's arena */
	const char *to;   /* folder in the image, without '/' at its ends; "" = the root */
	int64_t strip;
	struct selection select;
	bool may_lack; /* that nothing is selected is no problem */
	const struct strlist *xattrs;
	struct srcpos at;
};

/*
 * Adds every member of the uncompressed tar `in` (borrowed). Of several members of one path the
 * last one counts, as when the archive is extracted. What is wrong with the archive or a member is
 * a problem in d.
 */
int members_add(struct tree *t, struct source *in, const struct members_rules *rules,
                struct diags *d, struct err *err) MUST_USE;

/* source_deb_add of what `include` selects (builder/layer/tree/select.h); NULL = everything. */
int deb_add(struct tree *t, const struct layer_path *item, const struct platform *platform,
            const struct strlist *include, struct diags *d, struct err *err) MUST_USE;

/*
 * True for the errors that a damaged or hostile archive causes; then they are added to d as a
 * problem and *err is cleared.
 */
bool archive_problem(struct tree *t, const char *name, struct srcpos at, struct diags *d,
                     struct err *err);

/*
 * Opens an archive, a regular file. -1 in *ret_fd when it cannot be had, which is a problem in d.
 */
int archive_open(struct tree *t, const char *path, struct srcpos at, struct diags *d, int *ret_fd);

#endif
