/* See source_members.h. In order: problems, paths, contents, one member, several of one path. */
#include "builder/layer/source/source_members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/layer/tar/tar_read.h"
#include "builder/layer/tree/xattr.h"

/* An entry with the order of its member in the archive. */
struct ranked {
	struct entry entry;
	size_t rank;
};

struct members {
	struct tree *tree;
	const struct members_rules *rules;
	struct diags *diags;
	struct tar_reader *tar;
	struct ranked *at;
	size_t n, cap;
	size_t n_seen, n_excluded;
	int64_t bytes;
	unsigned n_problems;
	bool stopped;
};

/* ---- problems ---- */

bool archive_problem(struct tree *t, const char *name, struct srcpos at, struct diags *d,
                     struct err *err)
{
	if (err->code != ERR_FORMAT && err->code != ERR_LIMIT && err->code != ERR_UNSUPPORTED)
		return false;
	struct diag *diag =
		diags_add(d, DIAG_ERROR, at, "layer '%s': '%s': %s", t->label, name, err->msg);

	if (err->hint[0] != '\0')
		diag_hint(d, diag, "%s", err->hint);
	*err = (struct err){0};
	return true;
}

int archive_open(struct tree *t, const char *path, struct srcpos at, struct diags *d, int *ret_fd)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0) {
		int why = errno;
		struct diag *diag =
			diags_add(d, DIAG_ERROR, at, "layer '%s': '%s' cannot be read: %s",
		                  t->label, path, strerror(why));

		if (why == ENOENT)
			diag_hint(d, diag,
			          "build or fetch it first, or correct the path: it is relative "
			          "to the spec's folder");
		return -1;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		diags_add(d, DIAG_ERROR, at, "layer '%s': '%s' is not a regular file", t->label,
		          path);
		close(fd);
		return -1;
	}
	*ret_fd = fd;
	return 0;
}

static void members_problem(struct members *m, const char *hint, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static void members_problem(struct members *m, const char *hint, const char *fmt, ...)
{
	char text[3 * TAR_PATH_MAX];
	va_list args;

	if (m->stopped)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	struct diag *diag = diags_add(m->diags, DIAG_ERROR, m->rules->at, "layer '%s': '%s': %s",
	                              m->tree->label, m->rules->name, text);

	if (hint != NULL)
		diag_hint(m->diags, diag, "%s", hint);
	if (++m->n_problems == MEMBERS_PROBLEMS_MAX) {
		diags_add(m->diags, DIAG_NOTE, m->rules->at,
		          "layer '%s': more problems of '%s' are not shown", m->tree->label,
		          m->rules->name);
		m->stopped = true;
	}
}

/* ---- paths ---- */

static bool leaves_root(const char *path)
{
	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += len + (path[len] == '/');
	}
	return false;
}

/* A member's path in the image; NULL when stripping leaves nothing of it. */
static const char *image_path(struct members *m, const char *path)
{
	struct arena *a = m->tree->arena;

	for (int64_t i = 0; i < m->rules->strip; i++) {
		path = strchr(path, '/');
		if (path == NULL)
			return NULL;
		path += strspn(path, "/");
	}
	if (*path == '\0')
		return NULL;
	return m->rules->to[0] == '\0' ? arena_strdup(a, path)
	                               : arena_printf(a, "%s/%s", m->rules->to, path);
}

/* ---- contents ---- */

struct member_source {
	struct source source;
	struct tar_reader *tar;
};

static int member_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return tar_reader_read(((struct member_source *)s)->tar, buf, cap, ret_n, err);
}

static int spool(struct members *m, const struct member *from, struct entry *e, struct err *err)
{
	struct member_source source = {{member_read, NULL}, m->tar};

	if (__builtin_add_overflow(m->bytes, from->size, &m->bytes) || m->bytes > MEMBERS_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "the archive holds more than 64 GiB");
	e->size = from->size;
	if (e->size == 0)
		return 0;
	e->content = CONTENT_SPOOL;
	return tree_spool(m->tree, &source.source, from->size, &e->offset, err);
}

static int keep_xattrs(struct members *m, const struct member *from, struct entry *e,
                       struct err *err)
{
	for (size_t i = 0; i < from->n_xattrs; i++) {
		const struct entry_xattr *x = &from->xattrs[i];
		struct err why = {0};

		if (!xattr_wanted(m->rules->xattrs, x->name) ||
		    xattr_add(e, m->tree->arena, x->name, x->value, x->len, &why) == 0)
			continue;
		if (why.code != ERR_FORMAT) {
			*err = why;
			return -1;
		}
		members_problem(m, NULL, "member '%s': %s", from->path, why.msg);
	}
	return 0;
}

/* ---- one member ---- */

static const char *unwanted(enum member_type type)
{
	switch (type) {
	case MEMBER_CHAR:
	case MEMBER_BLOCK:
		return "a device node";
	case MEMBER_FIFO:
		return "a fifo";
	case MEMBER_OTHER:
		return "of an unknown type";
	default:
		return NULL;
	}
}

static bool acceptable(struct members *m, const struct member *from)
{
	const char *kind = unwanted(from->type);

	if (leaves_root(from->path) || (from->type == MEMBER_HARDLINK && leaves_root(from->link))) {
		members_problem(
			m, "such an archive would write outside of its folder; do not trust it",
			"member '%s' %s", from->path,
			leaves_root(from->path) ? "has a '..' segment"
						: "is a hard link that leaves the archive");
		return false;
	}
	if (kind != NULL) {
		members_problem(m, "exclude it: a layer holds files, folders and links",
		                "member '%s' is %s", from->path, kind);
		return false;
	}
	return true;
}

static void add_entry(struct members *m, const struct entry *e)
{
	struct ranked r = {*e, m->n};

	m->at = mem_vec_grow(m->at, m->n, &m->cap, sizeof(*m->at));
	m->at[m->n++] = r;
}

static int take_member(struct members *m, const struct member *from, struct err *err)
{
	static const enum entry_type types[] = {
		[MEMBER_FILE] = ENTRY_FILE,
		[MEMBER_DIR] = ENTRY_DIR,
		[MEMBER_SYMLINK] = ENTRY_SYMLINK,
		[MEMBER_HARDLINK] = ENTRY_HARDLINK,
	};
	struct entry e = {
		.path = image_path(m, from->path), .source = m->rules->name, .at = m->rules->at};

	if (e.path == NULL)
		return 0;
	e.type = types[from->type];
	e.mode = from->type == MEMBER_SYMLINK ? 0777 : from->mode;
	e.uid = from->uid;
	e.gid = from->gid;
	e.mtime = from->mtime < m->tree->epoch ? from->mtime : m->tree->epoch;
	if (from->type == MEMBER_SYMLINK)
		e.link = arena_strdup(m->tree->arena, from->link);
	if (from->type == MEMBER_HARDLINK) {
		e.link = image_path(m, from->link);
		if (e.link == NULL) {
			members_problem(
				m, "strip fewer segments, or exclude it",
				"member '%s' is a hard link to '%s', which is stripped away",
				from->path, from->link);
			return 0;
		}
	}
	if (keep_xattrs(m, from, &e, err) != 0)
		return -1;
	if (from->type == MEMBER_FILE && spool(m, from, &e, err) != 0)
		return -1;
	add_entry(m, &e);
	return 0;
}

static int read_members(struct members *m, struct err *err)
{
	struct member from;
	bool more = true;

	while (!m->stopped) {
		if (interrupt_check(err) != 0 || tar_reader_next(m->tar, &from, &more, err) != 0)
			return -1;
		if (!more)
			break;
		if (++m->n_seen > MEMBERS_MAX)
			return err_set(err, ERR_LIMIT, "the archive has over %d members",
			               MEMBERS_MAX);
		if (!select_path(&m->rules->select, from.path, from.type == MEMBER_DIR)) {
			m->n_excluded++;
			continue;
		}
		if (acceptable(m, &from) && take_member(m, &from, err) != 0)
			return err_wrap(err, "member '%.256s'", from.path);
	}
	return 0;
}

/* ---- several of one path ---- */

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int paths = strcmp(x->entry.path, y->entry.path);

	return paths != 0 ? paths : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool is_last(const struct members *m, size_t i)
{
	return i + 1 == m->n || strcmp(m->at[i].entry.path, m->at[i + 1].entry.path) != 0;
}

/* Index of the newest member `path` older than `rank`, m->n if there is none. */
static size_t find_older(const struct members *m, const char *path, size_t rank)
{
	size_t low = 0, high = m->n;
	struct ranked key = {.entry = {.path = path}, .rank = rank};

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_ranked(&m->at[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && strcmp(m->at[low - 1].entry.path, path) == 0 ? low - 1 : m->n;
}

/* A hard link means the file as it was when the link was made, not what replaced it later. */
static struct entry follow_hardlink(const struct members *m, size_t i)
{
	struct entry e = m->at[i].entry;

	if (e.type != ENTRY_HARDLINK)
		return e;
	size_t target = find_older(m, e.link, m->at[i].rank);

	if (target == m->n || is_last(m, target) || m->at[target].entry.type != ENTRY_FILE)
		return e;
	e = m->at[target].entry;
	e.path = m->at[i].entry.path;
	return e;
}

static int add_entries(struct members *m, struct err *err)
{
	if (m->n > 0)
		qsort(m->at, m->n, sizeof(*m->at), compare_ranked);
	for (size_t i = 0; i < m->n; i++) {
		struct entry e = follow_hardlink(m, i);
		struct err why = {0};

		if (!is_last(m, i) || tree_add(m->tree, &e, &why) == 0)
			continue;
		if (why.code != ERR_FORMAT) {
			*err = why;
			return -1;
		}
		members_problem(m, why.hint[0] != '\0' ? why.hint : NULL, "%s", why.msg);
	}
	return 0;
}

static void check_end(struct members *m)
{
	struct diag *diag;

	if (m->stopped)
		return;
	if (m->n_seen == 0 && !tar_reader_marked_end(m->tar)) {
		members_problem(m, NULL, "the archive is empty");
	} else if (!tar_reader_marked_end(m->tar)) {
		diag = diags_add(m->diags, DIAG_WARNING, m->rules->at,
		                 "layer '%s': '%s' ends without an end mark", m->tree->label,
		                 m->rules->name);
		diag_hint(m->diags, diag, "the archive may be incomplete: make it again");
	} else if (!m->rules->may_lack && m->n_excluded > 0 && m->n_excluded == m->n_seen) {
		members_problem(m, "globs are matched with members' paths before they are stripped",
		                "no member of the archive is included");
	}
}

int members_add(struct tree *t, struct source *in, const struct members_rules *rules,
                struct diags *d, struct err *err)
{
	struct members m = {.tree = t, .rules = rules, .diags = d, .tar = tar_reader_new(in)};
	int rc = read_members(&m, err);

	if (rc == 0) {
		check_end(&m);
		rc = add_entries(&m, err);
	} else if (archive_problem(t, rules->name, rules->at, d, err)) {
		rc = 0;
	}
	tar_reader_free(m.tar);
	free(m.at);
	return rc;
}
