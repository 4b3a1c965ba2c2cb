/*
 * What the spec says about one layer (`image.layers[]`), decoded and, in a plan, with its ${...}
 * variables expanded for one platform. Plain data in the spec's arena; the field table beside it
 * (model.c) is the single source of the decoder, the JSON schema and docs/SPEC.md.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_MODEL_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/doc/fields.h"
#include "base/srcpos.h"
#include "base/strlist.h"
#include "builder/layer/source/model_data.h"

/* Owner of entries; -1 = not set. */
struct layer_owner {
	int64_t uid, gid;
};

/*
 * One item of `files:`. Exactly one of from, symlink, directory is set.
 *   {from: PATH-OR-GLOB, to: /IMAGE/PATH[/], mode, dir_mode, owner, include, exclude, xattrs,
 * follow} {symlink: TARGET, to: /IMAGE/PATH, owner} {directory: /IMAGE/PATH, mode, owner} `from`
 * names a file (then `to` is its path, or a folder when it ends in '/'), a folder (its content
 * lands below `to`) or a glob (every match lands below `to`).
 */
struct layer_files {
	struct srcpos at;
	const char *from, *to, *symlink, *directory;
	int64_t mode;     /* of regular files (or of `directory`); -1 = the source's rwx bits */
	int64_t dir_mode; /* of folders copied; -1 = 0755 */
	struct layer_owner owner; /* default 0:0 */
	struct strlist include;   /* globs relative to `from`; empty = everything */
	struct strlist exclude;   /* globs relative to `from` */
	/* names or globs of extended attributes to keep, e.g. security.capability */
	struct strlist xattrs;
	bool follow; /* symbolic links become what they point to (inside the source only) */
};

/*
 * One item of `tar:`: {from: PATH, to: /PREFIX, strip: N, include, exclude, xattrs} or just a path.
 */
struct layer_tar {
	struct srcpos at;
	const char *from;
	const char *to; /* default "/" */
	int64_t strip;  /* leading path segments removed from every member, default 0 */
	struct strlist include, exclude, xattrs;
};

/* A string with its position. */
struct layer_path {
	struct srcpos at;
	const char *path;
};

/* What an item of `closure:` stands on (`on:`). */
enum closure_on {
	CLOSURE_ON_SCRATCH, /* nothing: everything that is needed is packed */
	CLOSURE_ON_BASE     /* the image's base: what it brings is not packed */
};

/*
 * One item of `closure:`: {path: PATH-OR-GLOB, plugins: [GLOB], on: base} or just a path.
 */
struct layer_closure {
	struct srcpos at;
	const char *path;           /* programs or libraries on the building machine */
	struct layer_path *plugins; /* what they open while they run: absolute globs */
	size_t n_plugins;
	unsigned on; /* enum closure_on */
};

struct layer_spec {
	struct srcpos at;
	const char *name; /* unique in the image; default "layer-N" */
	struct layer_files *files;
	size_t n_files;
	struct layer_tar *tars;
	size_t n_tars;
	struct layer_path *debs; /* `deb:` local .deb files */
	size_t n_debs;
	/* programs whose ELF dependency closure is packed (not themselves) */
	struct layer_closure *closure;
	size_t n_closure;
	struct strlist provided; /* sonames (or globs) that the node brings */
	struct layer_accounts accounts;
	struct layer_certificates certificates;
	const char *timezone; /* that of /etc/localtime; NULL = none */
	struct srcpos timezone_at;
	struct layer_zones zones;
	struct layer_locale *locales;
	size_t n_locales;
	const char *sysroot;      /* where libraries are looked up; NULL = found by itself */
	struct strlist platforms; /* only for these platforms; empty = all */
	int64_t split;            /* bytes of content a part aims at; 0 = one part */
	bool share; /* files equal on all platforms move to one shared layer; default true */
};

extern const struct field_table layer_spec_fields;

/* For the path of a file in the image: absolute and plain. */
const char *image_path_check(const char *text, const char **ret_hint);

#endif
