/*
 * The field tables of `image.layers[]`, and the rules that one table row cannot see.
 */
#include "builder/layer/source/model.h"

#include <string.h>

#include "base/text.h"
#include "builder/oci/platform.h"

/* ---- texts ---- */

const char *image_path_check(const char *text, const char **ret_hint)
{
	if (text[0] != '/') {
		*ret_hint = "paths in the image start with '/'";
		return "is not an absolute path";
	}
	for (const char *s = text + 1; *s != '\0';) {
		size_t len = strcspn(s, "/");

		if (len == 0 || (len == 1 && s[0] == '.')) {
			*ret_hint = "write it without '//' and '/./'";
			return "is not a plain path";
		}
		if (len == 2 && strncmp(s, "..", 2) == 0) {
			*ret_hint = "write the path that it leads to";
			return "has a '..' segment";
		}
		if (strncmp(s, ".wh.", 4) == 0) {
			*ret_hint = "in a layer such a name means that a lower file is deleted "
				    "(image-spec, whiteouts)";
			return "has a segment that starts with '.wh.'";
		}
		s += len + (s[len] == '/');
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

/* Every key of a kind of item that has no copied files must be one of these. */
static void check_keys(struct fields_context *c, const struct yaml_node *node, const char *what,
                       const char *const *known, size_t n)
{
	for (size_t i = 0; i < node->n_pairs; i++) {
		const struct yaml_node *key = node->pairs[i].key;
		bool fits = false;

		for (size_t k = 0; k < n; k++)
			fits = fits || strcmp(key->text, known[k]) == 0;
		for (size_t k = 0; !fits && k < ARRAY_LEN(files_rows); k++)
			if (strcmp(key->text, files_rows[k].key) == 0)
				diags_error(c->diags, key->at, "remove it",
				            "'%s' has no meaning for a %s", key->text, what);
	}
}

static void check_files(struct fields_context *c, const struct yaml_node *node, void *object UNUSED)
{
	static const char *const of_symlink[] = {"symlink", "to", "owner"};
	static const char *const of_directory[] = {"directory", "to", "mode", "owner"};
	bool from = yaml_get(node, "from") != NULL, symlink = yaml_get(node, "symlink") != NULL;
	bool directory = yaml_get(node, "directory") != NULL, to = yaml_get(node, "to") != NULL;

	if (from + symlink + directory != 1) {
		struct diag *d = fields_problem(
			c, node, "a files item needs exactly one of from, symlink and directory");

		diag_hint(c->diags, d, "write {from: build/app, to: /usr/bin/app}");
	} else if (!directory && !to) {
		diags_error(c->diags, node->at,
		            "add it, as in to: /usr/bin/app; with / at its end it is a folder",
		            "'to' is missing: where in the image does it go?");
	} else if (directory && to) {
		diags_error(c->diags, node->at, "remove 'to'",
		            "'directory' is itself the path in the image: 'to' has no meaning");
	} else if (symlink) {
		check_keys(c, node, "symbolic link", of_symlink, ARRAY_LEN(of_symlink));
	} else if (directory) {
		check_keys(c, node, "folder", of_directory, ARRAY_LEN(of_directory));
	}
}

/* The words of other tools for the two ends of a copy. */
static const struct field_habit files_habits[] = {
	{"src", "write `from:`"},
	{"source", "write `from:`"},
	{"path", "write `from:`, and where it goes as `to:`"},
	{"dest", "write `to:`"},
	{"dst", "write `to:`"},
	{"destination", "write `to:`"},
	{"target", "write `to:`"},
	{"chown", "write `owner: 65532:65532`"},
	{"chmod", "write `mode: 0755`"},
	{"", "write {from: build/app, to: /usr/bin/app}"},
	{NULL, NULL},
};

static const struct field_table files_fields = FIELD_TABLE(
	struct layer_files, "files item", files_rows,
	"One file, folder, glob, link or empty folder.", .has_pos = true, .habits = files_habits,
	.pos_offset = offsetof(struct layer_files, at), .check = check_files);

/* ---- tar ---- */

static const struct field tar_rows[] = {
	FIELD_STRING(struct layer_tar, from, "from", "A tar archive in any compression.",
                     .flags = FIELD_REQUIRED),
	FIELD_STRING(struct layer_tar, to, "to",
                     "Folder in the image below which its members land.", .check = image_path_check,
                     .fallback_text = "/"),
	FIELD_INT(struct layer_tar, strip, "strip",
                  "Leading path segments to remove from every member.", .min = 0, .max = 100,
                  .fallback_doc = "0"),
	FIELD_STRINGS(struct layer_tar, include, "include", "Globs of members to pack.",
                      .fallback_doc = "everything"),
	FIELD_STRINGS(struct layer_tar, exclude, "exclude", "Globs of members to leave out."),
	FIELD_STRINGS(struct layer_tar, xattrs, "xattrs",
                      "Names or globs of extended attributes to keep."),
};

static const struct field_table tar_fields = FIELD_TABLE(
	struct layer_tar, "tar item", tar_rows, "One archive; a plain string is its path.",
	.has_pos = true, .pos_offset = offsetof(struct layer_tar, at), .shorthand = "from");

/* ---- paths ---- */

static const struct field path_rows[] = {
	FIELD_STRING(struct layer_path, path, "path", "Path on the building machine.",
                     .flags = FIELD_REQUIRED),
};

static const struct field_table path_fields =
	FIELD_TABLE(struct layer_path, "path", path_rows, "A path.", .has_pos = true,
                    .pos_offset = offsetof(struct layer_path, at), .shorthand = "path");

/* ---- closures ---- */

static const struct field plugin_rows[] = {
	FIELD_STRING(struct layer_path, path, "path",
                     "Absolute path or glob on the building machine, or in the sysroot.",
                     .flags = FIELD_REQUIRED, .check = image_path_check),
};

static const struct field_table plugin_fields = FIELD_TABLE(
	struct layer_path, "plug-in", plugin_rows,
	"Shared libraries that a program opens while it runs; a plain string is the "
	"path.",
	.has_pos = true, .pos_offset = offsetof(struct layer_path, at), .shorthand = "path");

static const struct choices closure_grounds = CHOICE_TEXTS("scratch", "base");

static const struct field closure_rows[] = {
	FIELD_STRING(struct layer_closure, path, "path",
                     "A native program or shared library on the building machine, or a glob.",
                     .flags = FIELD_REQUIRED),
	FIELD_OBJECTS(struct layer_closure, plugins, n_plugins, struct layer_path, &plugin_fields,
                      "plugins",
                      "What the program opens while it runs (by dlopen): packed at the same "
                      "path, with what it needs. Absolute paths or globs, as in "
                      "`/usr/lib/${triplet}/gconv/*.so`."),
	FIELD_CHOICE(struct layer_closure, on, &closure_grounds, "on",
                     "With `base`, loader and libraries that the base image has are taken from "
                     "there and not packed; a version that it lacks is an error. `scratch` packs "
                     "all of them.",
                     .fallback = CLOSURE_ON_SCRATCH),
};

static const struct field_table closure_fields = FIELD_TABLE(
	struct layer_closure, "closure item", closure_rows,
	"Programs whose loader and libraries are packed, not the programs themselves; a plain "
	"string is the path.",
	.has_pos = true, .pos_offset = offsetof(struct layer_closure, at), .shorthand = "path");

/* ---- layers ---- */

static const char *platform_check(const char *text, const char **ret_hint)
{
	struct platform platform;
	struct err ignored = {0};

	*ret_hint = "write os/architecture, as in linux/arm64";
	return platform_parse(text, &platform, &ignored) == 0 ? NULL : "is not a platform";
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
                     .flags = FIELD_LITERAL, .check = name_check, .fallback_doc = "layer-N"),
	FIELD_OBJECTS(struct layer_spec, files, n_files, struct layer_files, &files_fields, "files",
                      "Files and folders of the building machine."),
	FIELD_OBJECTS(struct layer_spec, tars, n_tars, struct layer_tar, &tar_fields, "tar",
                      "Tar archives whose members are packed."),
	FIELD_OBJECTS(struct layer_spec, debs, n_debs, struct layer_path, &path_fields, "deb",
                      "Local Debian packages whose files are packed."),
	FIELD_OBJECTS(struct layer_spec, closure, n_closure, struct layer_closure, &closure_fields,
                      "closure",
                      "Native programs whose loader and shared libraries are packed, not the "
                      "programs themselves."),
	FIELD_STRINGS(struct layer_spec, provided, "provided",
                      "Shared libraries, the loader too (sonames or globs), that the node brings "
                      "and `closure` leaves out."),
	FIELD_STRING(struct layer_spec, sysroot, "sysroot", "Where `closure` looks libraries up.",
                     .fallback_doc = "the machine's own, or the cross toolchain's"),
	FIELD_OBJECT(struct layer_spec, accounts, struct layer_accounts, &layer_accounts_fields,
                     "accounts", "Users and groups by name."),
	FIELD_OBJECT(struct layer_spec, certificates, struct layer_certificates,
                     &layer_certificates_fields, "ca_certificates",
                     "Certificate authorities that programs trust: true for this machine's."),
	FIELD_STRING(struct layer_spec, timezone, "timezone",
                     "The image's own time zone, as in Europe/Berlin: /etc/localtime, "
                     "/etc/timezone and the zone's file.",
                     .flags = FIELD_LITERAL, .check = layer_zone_check, .fallback_doc = "UTC",
                     .pos_offset = offsetof(struct layer_spec, timezone_at)),
	FIELD_OBJECT(struct layer_spec, zones, struct layer_zones, &layer_zones_fields, "tzdata",
                     "Time zones by name: true for all of this machine."),
	FIELD_OBJECTS(struct layer_spec, locales, n_locales, struct layer_locale,
                      &layer_locale_fields, "locale",
                      "Compiled locales, as in de_DE.UTF-8; one of them needs no list.",
                      .flags = FIELD_ONE, .max = 1024),
	FIELD_STRINGS(struct layer_spec, platforms, "platforms", "Only for these platforms.",
                      .check = platform_check, .fallback_doc = "all"),
	FIELD_SIZE(struct layer_spec, split, "split",
                   "Cut the layer into parts of about this size by a stable rule, so that one "
                   "changed file moves one part.",
                   .fallback_doc = "one part; up to 8 for 1GiB of content and more"),
	FIELD_BOOL(struct layer_spec, share, "share",
                   "Move files that are equal on all platforms to a layer that all of them share.",
                   .fallback = 1),
};

/* Something stands below one of these keys, right or wrong. */
static bool has_source(const struct yaml_node *node)
{
	static const char *const keys[] = {"files",    "tar",      "deb",
	                                   "closure",  "accounts", "ca_certificates",
	                                   "timezone", "tzdata",   "locale"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct yaml_node *list = yaml_get(node, keys[i]);

		if (list != NULL && (list->kind != YAML_SEQUENCE || list->n_items > 0))
			return true;
	}
	return false;
}

static void check_layer(struct fields_context *c, const struct yaml_node *node, void *object)
{
	struct layer_spec *layer = object;

	if (!has_source(node)) {
		struct diag *d = fields_problem(c, node, "the layer has no content");

		diag_hint(c->diags, d, "give it files, tar, deb, closure or run-time data");
	}
	if (layer->split != 0 && layer->split < 1 << 20)
		diags_error(c->diags, yaml_get(node, "split")->at,
		            "write 1MiB or more, as in 512MiB, or leave it out",
		            "split: parts under 1MiB are not worth a layer each");
}

/* The words of Dockerfiles that have another name here. */
static const struct field_habit layer_habits[] = {
	{"copy", "write `files: [{from: build/app, to: /usr/bin/app}]`"},
	{"add", "write `files:`, or `tar:` for an archive that is to be unpacked"},
	{"run", "slipway runs nothing inside an image: run it before, and pack what it made"},
	{"from",
         "an item of `files:` has it: write `files: [{from: build/app, to: /usr/bin/app}]`"},
	{"", "write {files: [{from: build/app, to: /usr/bin/app}]}"},
	{NULL, NULL},
};

const struct field_table layer_spec_fields =
	FIELD_TABLE(struct layer_spec, "layer", layer_rows,
                    "One layer of the image, from the sources it names.", .has_pos = true,
                    .habits = layer_habits, .pos_offset = offsetof(struct layer_spec, at),
                    .check = check_layer);
