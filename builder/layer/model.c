/*
 * The field tables of `image.layers[]`, and the rules that one table row cannot see.
 */
#include "builder/layer/model.h"

#include <string.h>

#include "base/text.h"

/* ---- texts ---- */

static const char *image_path_check(const char *text, const char **ret_hint)
{
	if (text[0] != '/') {
		*ret_hint = "paths in the image start with '/'";
		return "is not an absolute path";
	}
	for (const char *s = text; *s != '\0';) {
		s += strspn(s, "/");
		size_t len = strcspn(s, "/");

		if (len == 2 && strncmp(s, "..", 2) == 0)
			return "has a '..' segment";
		if (strncmp(s, ".wh.", 4) == 0) {
			*ret_hint = "in a layer such a name means that a lower file is deleted "
				    "(image-spec, whiteouts)";
			return "has a segment that starts with '.wh.'";
		}
		s += len;
	}
	return NULL;
}

static bool all_digits(const char *text, size_t len)
{
	return len > 0 && len <= 10 && strspn(text, "0123456789") >= len;
}

static void decode_owner(struct fields_context *c, const struct yaml_node *node, void *member)
{
	struct layer_owner *owner = member;
	const char *text = node->kind == YAML_SCALAR ? node->text : "";
	size_t len = strcspn(text, ":");
	const char *group = text[len] == ':' ? text + len + 1 : NULL;

	if (!all_digits(text, len) || (group != NULL && !all_digits(group, strlen(group))) ||
	    !text_int64(text, len, &owner->uid) ||
	    !text_int64(group != NULL ? group : text, group != NULL ? strlen(group) : len,
	                &owner->gid) ||
	    owner->uid > UINT32_MAX || owner->gid > UINT32_MAX) {
		struct diag *d = fields_problem(
			c, node, "owner: '%s' is not a numeric user and group", text);

		diag_hint(c->diags, d, "write numbers, as in 0:0 or 65532:65532");
	}
}

/* ---- files ---- */

static const struct field files_rows[] = {
	FIELD_STRING(struct layer_files, from, "from",
                     "A file, a folder (its content is copied) or a glob on the building machine."),
	FIELD_STRING(struct layer_files, to, "to",
                     "Path in the image; a trailing '/' puts the source below it.",
                     .check = image_path_check),
	FIELD_STRING(struct layer_files, symlink, "symlink",
                     "Target of a symbolic link that is made at `to`, instead of `from`."),
	FIELD_STRING(struct layer_files, directory, "directory",
                     "Path of an empty folder to make, instead of `from`.",
                     .check = image_path_check),
	FIELD_MODE(struct layer_files, mode, "mode",
                   "Permission bits of files (or of `directory`).", .fallback = -1,
                   .fallback_doc = "0755 if the source is executable, else 0644"),
	FIELD_MODE(struct layer_files, dir_mode, "dir_mode", "Permission bits of copied folders.",
                   .fallback = -1, .fallback_doc = "0755"),
	FIELD_CUSTOM(struct layer_files, owner, decode_owner, "{\"type\":[\"string\",\"integer\"]}",
                     "owner", "Numeric owner, as uid or uid:gid.", .fallback_doc = "0:0",
                     .type_doc = "uid[:gid]"),
	FIELD_STRINGS(struct layer_files, include, "include",
                      "Globs relative to `from`; only what matches is packed.",
                      .fallback_doc = "everything"),
	FIELD_STRINGS(struct layer_files, exclude, "exclude",
                      "Globs relative to `from`; what matches is left out."),
	FIELD_STRINGS(struct layer_files, xattrs, "xattrs",
                      "Names or globs of extended attributes to keep, as in security.capability."),
	FIELD_BOOL(struct layer_files, follow, "follow",
                   "Replace symbolic links by what they point to inside the source.",
                   .fallback_doc = "false"),
};

static void check_files(struct fields_context *c, const struct yaml_node *node, void *object)
{
	struct layer_files *item = object;
	int kinds = (item->from != NULL) + (item->symlink != NULL) + (item->directory != NULL);

	if (kinds != 1) {
		struct diag *d = fields_problem(
			c, node, "a files item needs exactly one of from, symlink and directory");

		diag_hint(c->diags, d, "write {from: build/app, to: /usr/bin/app}");
	} else if (item->directory == NULL && item->to == NULL) {
		fields_problem(c, node, "'to' is missing: where in the image does it go?");
	} else if (item->directory != NULL && item->to != NULL) {
		fields_problem(c, node, "'directory' is itself the path in the image; remove 'to'");
	}
}

static const struct field_table files_fields =
	FIELD_TABLE(struct layer_files, "files item", files_rows,
                    "One file, folder, glob, link or empty folder.", .has_pos = true,
                    .pos_offset = offsetof(struct layer_files, at), .check = check_files);

/* ---- tar ---- */

static const struct field tar_rows[] = {
	FIELD_STRING(struct layer_tar, from, "from", "A tar archive in any compression.",
                     .flags = FIELD_REQUIRED),
	FIELD_STRING(struct layer_tar, to, "to",
                     "Folder in the image below which its members land.", .check = image_path_check,
                     .fallback_doc = "/"),
	FIELD_INT(struct layer_tar, strip, "strip",
                  "Leading path segments to remove from every member.", .min = 0, .max = 100,
                  .fallback_doc = "0"),
	FIELD_STRINGS(struct layer_tar, include, "include", "Globs of members to pack.",
                      .fallback_doc = "everything"),
	FIELD_STRINGS(struct layer_tar, exclude, "exclude", "Globs of members to leave out."),
	FIELD_STRINGS(struct layer_tar, xattrs, "xattrs",
                      "Names or globs of extended attributes to keep."),
};

static void check_tar(struct fields_context *c, const struct yaml_node *node, void *object)
{
	struct layer_tar *item = object;

	if (node->kind == YAML_SCALAR && item->from == NULL)
		fields_problem(c, node, "a tar item names an archive");
	if (item->to == NULL)
		item->to = "/";
}

static const struct field_table tar_fields = FIELD_TABLE(
	struct layer_tar, "tar item", tar_rows, "One archive; a plain text is its path.",
	.has_pos = true, .pos_offset = offsetof(struct layer_tar, at), .shorthand = "from",
	.check = check_tar);

/* ---- layers ---- */

static const struct field path_rows[] = {
	FIELD_STRING(struct layer_path, path, "path", "Path on the building machine.",
                     .flags = FIELD_REQUIRED),
};

static const struct field_table path_fields =
	FIELD_TABLE(struct layer_path, "path", path_rows, "A path.", .has_pos = true,
                    .pos_offset = offsetof(struct layer_path, at), .shorthand = "path");

static const char *platform_check(const char *text, const char **ret_hint)
{
	*ret_hint = "write os/architecture, as in linux/arm64";
	return strchr(text, '/') != NULL ? NULL : "is not a platform";
}

static const char *name_check(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "use letters, digits, '.', '_' and '-'";
	if (len == 0 || len > 63 ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
	            len)
		return "is not a layer name";
	return NULL;
}

static const struct field layer_rows[] = {
	FIELD_STRING(struct layer_spec, name, "name", "Name of the layer, unique in the image.",
                     .check = name_check, .fallback_doc = "layer-N"),
	FIELD_OBJECTS(struct layer_spec, files, n_files, struct layer_files, &files_fields, "files",
                      "Files and folders of the building machine."),
	FIELD_OBJECTS(struct layer_spec, tars, n_tars, struct layer_tar, &tar_fields, "tar",
                      "Tar archives whose members are packed."),
	FIELD_OBJECTS(struct layer_spec, debs, n_debs, struct layer_path, &path_fields, "deb",
                      "Local Debian packages whose files are packed."),
	FIELD_OBJECTS(struct layer_spec, closure, n_closure, struct layer_path, &path_fields,
                      "closure",
                      "Native programs whose loader and shared libraries are packed, not the "
                      "programs themselves."),
	FIELD_STRINGS(struct layer_spec, provided, "provided",
                      "Shared libraries (sonames or globs) that the node brings and `closure` "
                      "leaves out."),
	FIELD_STRING(struct layer_spec, sysroot, "sysroot", "Where `closure` looks libraries up.",
                     .fallback_doc = "the machine's own, or the cross toolchain's"),
	FIELD_STRINGS(struct layer_spec, platforms, "platforms", "Only for these platforms.",
                      .check = platform_check, .fallback_doc = "all"),
	FIELD_SIZE(struct layer_spec, split, "split",
                   "Cut the layer into parts of about this size by a stable rule, so that one "
                   "changed file moves one part.",
                   .fallback_doc = "one part"),
	FIELD_BOOL(struct layer_spec, share, "share",
                   "Move files that are equal on all platforms to a layer that all of them share.",
                   .fallback = 1, .fallback_doc = "true"),
};

static void check_layer(struct fields_context *c, const struct yaml_node *node, void *object)
{
	struct layer_spec *layer = object;

	if (layer->n_files + layer->n_tars + layer->n_debs + layer->n_closure == 0) {
		struct diag *d = fields_problem(c, node, "the layer has no content");

		diag_hint(c->diags, d, "give it files, tar, deb or closure");
	}
	if (layer->split != 0 && layer->split < 1 << 20)
		fields_problem(c, node, "split: parts under 1MiB are not worth a layer each");
}

const struct field_table layer_spec_fields =
	FIELD_TABLE(struct layer_spec, "layer", layer_rows,
                    "One layer of the image, from the sources it names.", .has_pos = true,
                    .pos_offset = offsetof(struct layer_spec, at), .check = check_layer);
