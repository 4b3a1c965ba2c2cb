/*
 * `tar:` items, through libarchive. Contents go to the tree's spool file: archives can be read once only.
 */
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "builder/layer/source_archive.h"
#include "builder/layer/xattr.h"

enum { TAR_MEMBERS_MAX = 2000000, TAR_READ_BLOCK = 256 << 10 };
#define TAR_CONTENT_MAX ((int64_t)64 << 30)

struct archive *archive_tar_reader(void)
{
	struct archive *archive = archive_read_new();

	if (archive == NULL)
		BUG("out of memory");
	archive_read_support_filter_all(archive);
	archive_read_support_format_tar(archive);
	archive_read_support_format_gnutar(archive);
	return archive;
}

const char *archive_member_name(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);

	return name != NULL ? name : archive_entry_pathname_utf8(entry);
}

/* One member, its path already below `to`. */
struct member_path {
	const char *in_archive; /* stripped, normalised */
	const char *in_image;
};

static int complain(const struct archive_import *in, const char *name, const char *why)
{
	diags_add(in->diags, DIAG_ERROR, in->item->at, "'%s': member '%s' %s", in->item->from, name, why);
	return 0;
}

/* Removes "./", leading '/' and `strip` segments; NULL when nothing is left. */
static const char *strip_name(const char *name, int64_t strip)
{
	for (;;) {
		if (*name == '/')
			name++;
		else if (name[0] == '.' && (name[1] == '/' || name[1] == '\0'))
			name++;
		else if (strip > 0 && *name != '\0') {
			name += strcspn(name, "/");
			strip--;
		} else {
			break;
		}
	}
	return *name != '\0' && strip == 0 ? name : NULL;
}

static bool has_dotdot(const char *name)
{
	for (const char *s = name; *s != '\0'; s += strcspn(s, "/")) {
		s += strspn(s, "/");
		if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0'))
			return true;
	}
	return false;
}

static bool matches(const struct strlist *globs, const char *path)
{
	for (size_t i = 0; i < globs->n; i++)
		if (text_glob(globs->at[i], path))
			return true;
	return false;
}

static bool wanted(const struct layer_tar *item, const char *name)
{
	if (matches(&item->exclude, name))
		return false;
	return item->include.n == 0 || matches(&item->include, name);
}

struct archive_source {
	struct source source;
	struct archive *archive;
};

static int read_archive(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct archive *archive = ((struct archive_source *)s)->archive;
	la_ssize_t n = archive_read_data(archive, buf, cap);

	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s", archive_error_string(archive));
	*ret_n = (size_t)n;
	return 0;
}

static int spool_content(const struct archive_import *in, struct archive *archive, struct entry *e,
                         struct err *err)
{
	struct archive_source source = {{read_archive, NULL}, archive};

	if (e->size == 0)
		return 0;
	if (in->tree->spool_size > TAR_CONTENT_MAX - e->size)
		return err_at(err, ERR_LIMIT, in->item->at, "'%s' unpacks to more than 64 GiB", in->item->from);
	if (tree_spool(in->tree, &source.source, e->size, &e->offset, err) != 0)
		return err_wrap(err, "'%s': member '%s'", in->item->from, e->path);
	e->content = CONTENT_SPOOL;
	return 0;
}

static int take_xattrs(const struct archive_import *in, struct archive_entry *member, struct entry *e,
                       struct err *err)
{
	const char *name;
	const void *value;
	size_t len;

	archive_entry_xattr_reset(member);
	while (archive_entry_xattr_next(member, &name, &value, &len) == ARCHIVE_OK)
		if (xattr_wanted(&in->item->xattrs, name) &&
		    xattr_add(in->tree->arena, e, name, value, len, err) != 0)
			return -1;
	xattr_sort(e);
	return 0;
}

static const char *image_path(const struct archive_import *in, const char *name)
{
	return arena_printf(in->tree->arena, "%s/%s", in->item->to, name);
}

static int add_hardlink(const struct archive_import *in, struct entry *e, const char *target, struct err *err)
{
	const char *name = strip_name(target, in->item->strip);

	if (name == NULL || has_dotdot(name))
		return complain(in, e->path, "is a hard link out of the archive");
	e->type = ENTRY_HARDLINK;
	e->size = 0;
	e->link = image_path(in, name) + 1;
	e->link += strspn(e->link, "/");
	return tree_add(in->tree, e, err);
}

/* Ids beyond 32 bits do not exist on Linux. */
static bool take_owner(struct archive_entry *member, struct entry *e)
{
	int64_t uid = archive_entry_uid(member), gid = archive_entry_gid(member);

	if (uid < 0 || uid > UINT32_MAX || gid < 0 || gid > UINT32_MAX)
		return false;
	e->uid = (uint32_t)uid;
	e->gid = (uint32_t)gid;
	return true;
}

static int add_member(const struct archive_import *in, struct archive *archive, struct archive_entry *member,
                      const char *name, struct err *err)
{
	struct entry e = {.path = image_path(in, name), .at = in->item->at, .source = in->item->from};
	const char *hardlink = archive_entry_hardlink(member), *symlink = archive_entry_symlink(member);

	e.mode = (uint32_t)archive_entry_perm(member);
	e.mtime = archive_entry_mtime_is_set(member) ? archive_entry_mtime(member) : 0;
	if (e.mtime < 0)
		e.mtime = 0;
	if (!take_owner(member, &e))
		return complain(in, name, "has an owner beyond 32 bits");
	if (take_xattrs(in, member, &e, err) != 0)
		return complain(in, name, err->msg);
	if (hardlink != NULL)
		return add_hardlink(in, &e, hardlink, err);
	switch (archive_entry_filetype(member)) {
	case AE_IFDIR:
		e.type = ENTRY_DIR;
		break;
	case AE_IFLNK:
		e.type = ENTRY_SYMLINK;
		if (symlink == NULL)
			symlink = archive_entry_symlink_utf8(member);
		if (symlink == NULL || symlink[0] == '\0')
			return complain(in, name, "is a symbolic link without a target");
		e.link = arena_strdup(in->tree->arena, symlink);
		break;
	case AE_IFREG:
		e.type = ENTRY_FILE;
		e.size = archive_entry_size(member);
		if (e.size < 0)
			return complain(in, name, "has a negative size");
		if (spool_content(in, archive, &e, err) != 0)
			return -1;
		break;
	default:
		return complain(in, name, "is a device or a pipe; a layer holds files, folders and links");
	}
	return tree_add(in->tree, &e, err);
}

static int take_member(const struct archive_import *in, struct archive *archive, struct archive_entry *member,
                       struct err *err)
{
	const char *full = archive_member_name(member);
	const char *name = full != NULL ? strip_name(full, in->item->strip) : NULL;

	if (full == NULL)
		return complain(in, "?", "has a name that cannot be read");
	if (name == NULL)
		return 0;
	if (has_dotdot(name))
		return complain(in, name, "has a '..' segment");
	if (strncmp(name, ".wh.", 4) == 0 || strstr(name, "/.wh.") != NULL)
		return complain(in, name, "starts with '.wh.', which in a layer means a deletion");
	if (!wanted(in->item, name))
		return 0;
	return add_member(in, archive, member, name, err);
}

int archive_import(const struct archive_import *in, struct archive *archive, struct err *err)
{
	for (size_t n = 0;; n++) {
		struct archive_entry *member;
		int status = archive_read_next_header(archive, &member);

		if (status == ARCHIVE_EOF)
			return 0;
		/* A warning is about a name's character set; the bytes themselves are there. */
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
			diags_add(in->diags, DIAG_ERROR, in->item->at, "'%s': %s", in->item->from,
			          archive_error_string(archive) != NULL ? archive_error_string(archive)
			                                                : "not a tar archive");
			return 0;
		}
		if (n >= TAR_MEMBERS_MAX)
			return err_at(err, ERR_LIMIT, in->item->at, "'%s' has more than %d members",
			              in->item->from, TAR_MEMBERS_MAX);
		if (take_member(in, archive, member, err) != 0) {
			if (err->code != ERR_FORMAT)
				return -1;
			diags_add(in->diags, DIAG_ERROR, in->item->at, "%s", err->msg);
			return 0;
		}
	}
}

int source_tar_add(struct tree *t, const struct layer_tar *item, struct diags *d, struct err *err)
{
	const struct archive_import in = {t, item, d};
	struct archive *archive = archive_tar_reader();
	int status = 0;

	if (!fs_exists(item->from)) {
		struct diag *diag = diags_add(d, DIAG_ERROR, item->at, "'%s' does not exist", item->from);

		diag_hint(d, diag, "paths start at the folder of the spec");
	} else if (archive_read_open_filename(archive, item->from, TAR_READ_BLOCK) != ARCHIVE_OK) {
		diags_add(d, DIAG_ERROR, item->at, "'%s': %s", item->from, archive_error_string(archive));
	} else {
		status = archive_import(&in, archive, err);
	}
	archive_read_free(archive);
	return status;
}
