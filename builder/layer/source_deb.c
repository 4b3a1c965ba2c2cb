/*
 * `deb:` items: an ar archive of debian-binary, control.tar.* and data.tar.* (deb(5)). The inner archives
 * are read through the outer reader, so nothing is unpacked twice.
 */
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/source_archive.h"

enum { DEB_CONTROL_MAX = 1 << 20, DEB_BLOCK = 64 << 10 };

struct deb {
	struct archive *outer;
	const struct layer_path *item;
	char block[DEB_BLOCK];
};

static la_ssize_t read_inner(struct archive *inner, void *data, const void **ret_block)
{
	struct deb *deb = data;
	la_ssize_t n = archive_read_data(deb->outer, deb->block, sizeof(deb->block));

	if (n < 0)
		archive_set_error(inner, EIO, "%s", archive_error_string(deb->outer));
	*ret_block = deb->block;
	return n;
}

static struct archive *open_inner(struct deb *deb, struct diags *d)
{
	struct archive *inner = archive_tar_reader();

	if (archive_read_open(inner, deb, NULL, read_inner, NULL) == ARCHIVE_OK)
		return inner;
	diags_add(d, DIAG_ERROR, deb->item->at, "'%s': %s", deb->item->path, archive_error_string(inner));
	archive_read_free(inner);
	return NULL;
}

/* The value of a control field into out; false when it is absent. */
static bool control_field(const char *control, const char *name, char *out, size_t cap)
{
	size_t len = strlen(name);

	for (const char *line = control; *line != '\0';) {
		size_t end = strcspn(line, "\n");

		if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
			const char *value = line + len + 1;

			value += strspn(value, " \t");
			snprintf(out, cap, "%.*s", (int)((size_t)(line + end - value)), value);
			return true;
		}
		line += end + (line[end] == '\n');
	}
	return false;
}

static int check_architecture(const struct deb *deb, const char *control, const struct platform *platform,
                              struct diags *d)
{
	char arch[64] = "", package[128] = "?";

	control_field(control, "Package", package, sizeof(package));
	if (!control_field(control, "Architecture", arch, sizeof(arch))) {
		diags_add(d, DIAG_ERROR, deb->item->at, "'%s': its control file names no architecture",
		          deb->item->path);
		return 0;
	}
	/* Debian calls 32-bit x86 i386 and hard-float Arm armhf; platform_normalise knows both. */
	struct platform p = {.os = "linux"};

	snprintf(p.architecture, sizeof(p.architecture), "%.31s", arch);
	platform_normalise(&p);
	if (strcmp(arch, "all") == 0 || strcmp(p.architecture, platform->architecture) == 0)
		return 0;
	struct diag *diag = diags_add(d, DIAG_ERROR, deb->item->at, "'%s': package %s is for %s, not %s",
	                              deb->item->path, package, arch, platform->architecture);

	diag_hint(d, diag, "name each platform's package with ${arch} in the path");
	return 0;
}

/* Reads ./control out of control.tar. */
static int read_control(struct deb *deb, const struct platform *platform, struct diags *d)
{
	struct archive *inner = open_inner(deb, d);
	struct archive_entry *member;
	bool found = false;

	while (inner != NULL && !found && archive_read_next_header(inner, &member) == ARCHIVE_OK) {
		const char *name = archive_member_name(member);

		found = name != NULL && (strcmp(name, "./control") == 0 || strcmp(name, "control") == 0);
	}
	if (found) {
		AUTO_FREE char *text = mem_zalloc(DEB_CONTROL_MAX + 1);

		if (archive_read_data(inner, text, DEB_CONTROL_MAX) >= 0)
			check_architecture(deb, text, platform, d);
	} else if (inner != NULL) {
		diags_add(d, DIAG_ERROR, deb->item->at, "'%s' has no control file", deb->item->path);
	}
	if (inner != NULL)
		archive_read_free(inner);
	return 0;
}

static int read_data(struct deb *deb, struct tree *t, struct diags *d, struct err *err)
{
	const struct layer_tar item = {.at = deb->item->at, .from = deb->item->path, .to = "/"};
	const struct archive_import in = {t, &item, d};
	struct archive *inner = open_inner(deb, d);
	int status = inner != NULL ? archive_import(&in, inner, err) : 0;

	if (inner != NULL)
		archive_read_free(inner);
	return status;
}

static int read_members(struct deb *deb, struct tree *t, const struct platform *platform, struct diags *d,
                        struct err *err)
{
	struct archive_entry *member;
	bool control = false, data = false;
	int status;

	while ((status = archive_read_next_header(deb->outer, &member)) == ARCHIVE_OK) {
		const char *name = archive_member_name(member);

		if (name != NULL && text_has_prefix(name, "control.tar")) {
			control = true;
			read_control(deb, platform, d);
		} else if (name != NULL && text_has_prefix(name, "data.tar")) {
			data = true;
			if (read_data(deb, t, d, err) != 0)
				return -1;
		}
	}
	if (status != ARCHIVE_EOF)
		diags_add(d, DIAG_ERROR, deb->item->at, "'%s': %s", deb->item->path,
		          archive_error_string(deb->outer));
	else if (!control || !data)
		diags_add(d, DIAG_ERROR, deb->item->at, "'%s' is not a Debian package: it has no %s", deb->item->path,
		          control ? "data.tar" : "control.tar");
	return 0;
}

int source_deb_add(struct tree *t, const struct layer_path *item, const struct platform *platform,
                   struct diags *d, struct err *err)
{
	AUTO_FREE struct deb *deb = mem_zalloc(sizeof(*deb));
	int status = 0;

	deb->item = item;
	deb->outer = archive_read_new();
	if (deb->outer == NULL)
		BUG("out of memory");
	archive_read_support_format_ar(deb->outer);
	if (!fs_exists(item->path))
		diags_add(d, DIAG_ERROR, item->at, "'%s' does not exist", item->path);
	else if (archive_read_open_filename(deb->outer, item->path, DEB_BLOCK) != ARCHIVE_OK)
		diags_add(d, DIAG_ERROR, item->at, "'%s': %s", item->path, archive_error_string(deb->outer));
	else
		status = read_members(deb, t, platform, d, err);
	archive_read_free(deb->outer);
	return status;
}
