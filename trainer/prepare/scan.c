#include "trainer/prepare/scan.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

enum { CSV_BYTES_MAX = 256 << 20, DEPTH_MAX = 16 };

static bool is_video(const char *name)
{
	static const char *const endings[] = {".avi",  ".mp4", ".mkv", ".webm", ".mov", ".mpg",
	                                      ".mpeg", ".ogv", ".m4v", ".3gp",  ".flv", ".wmv"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot != NULL && i < ARRAY_LEN(endings); i++)
		if (strcasecmp(dot, endings[i]) == 0)
			return true;
	return false;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_videos(const void *a, const void *b)
{
	return strcmp(((const struct video *)a)->path, ((const struct video *)b)->path);
}

static void add_video(struct videos *v, const char *path, uint32_t label)
{
	struct video video = {.label = label};
	struct stat st;

	video.missing = stat(path, &st) != 0 || !S_ISREG(st.st_mode);
	if (!video.missing) {
		video.size = (uint64_t)st.st_size;
		video.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	}
	video.path = mem_strdup(path);
	v->at = mem_vec_grow(v->at, v->n, &v->cap, sizeof(*v->at));
	v->at[v->n++] = video;
}

/* Calls each(ctx, path, name, is_folder) for what is in a folder, hidden entries left out. */
struct visitor {
	int (*each)(void *ctx, const char *path, const char *name, bool folder, struct err *err);
	void *ctx;
};

static int visit(const char *folder, const struct visitor *visitor, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	char path[PATH_MAX];
	struct stat st;
	int rc = 0;

	if (dir == NULL)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s'", folder);
	while (rc == 0 && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		rc = fs_join(path, folder, e->d_name, err);
		if (rc == 0 && stat(path, &st) == 0)
			rc = visitor->each(visitor->ctx, path, e->d_name, S_ISDIR(st.st_mode), err);
	}
	closedir(dir);
	return rc;
}

static int see_class(void *ctx, const char *path, const char *name, bool folder, struct err *err)
{
	struct videos *v = ctx;

	(void)path;
	if (!folder) {
		v->ignored++;
		return 0;
	}
	if (v->classes.n >= CLASSES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d classes", CLASSES_MAX);
	class_list_add(&v->classes, name);
	return 0;
}

struct class_walk {
	struct videos *videos;
	uint32_t label;
};

static int see_video(void *ctx, const char *path, const char *name, bool folder, struct err *err)
{
	struct class_walk *w = ctx;

	(void)err;
	if (folder || !is_video(name))
		w->videos->ignored++;
	else
		add_video(w->videos, path, w->label);
	return 0;
}

static int scan_folder(const char *source, struct videos *v, struct err *err)
{
	struct visitor classes = {see_class, v};
	char path[PATH_MAX];

	if (visit(source, &classes, err) != 0)
		return -1;
	if (v->classes.n > 0)
		qsort(v->classes.at, v->classes.n, sizeof(*v->classes.at), compare_names);
	if (class_list_seal(&v->classes, source, err) != 0)
		return -1;
	for (size_t i = 0; i < v->classes.n; i++) {
		struct class_walk walk = {v, (uint32_t)i};
		struct visitor videos = {see_video, &walk};

		if (fs_join(path, source, v->classes.at[i], err) != 0 ||
		    visit(path, &videos, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- CSV ---- */

struct row {
	char *path, *label;
};
struct rows {
	struct row *at;
	size_t n, cap;
};

static void rows_done(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->at[i].path);
		free(rows->at[i].label);
	}
	vec_done(rows);
}

/* Field number `want` of a line into out; false when there are fewer. Quotes as in RFC 4180. */
static bool csv_field(const char *p, size_t n, unsigned want, struct strbuf *out)
{
	unsigned field = 0;
	bool quoted = false;

	strbuf_reset(out);
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"' && quoted && i + 1 < n && p[i + 1] == '"')
			i++;
		else if (p[i] == '"') {
			quoted = !quoted;
			continue;
		} else if (p[i] == ',' && !quoted) {
			field++;
			continue;
		}
		if (field == want)
			strbuf_addc(out, p[i]);
	}
	return field >= want;
}

static int csv_columns(const char *p, size_t n, unsigned *ret_path, unsigned *ret_label)
{
	AUTO(strbuf) struct strbuf field = STRBUF_INIT(PATH_MAX);
	bool path = false, label = false;

	for (unsigned i = 0; i < 64 && csv_field(p, n, i, &field); i++) {
		if (strcmp(strbuf_str(&field), "path") == 0) {
			*ret_path = i;
			path = true;
		}
		if (strcmp(strbuf_str(&field), "label") == 0) {
			*ret_label = i;
			label = true;
		}
	}
	return path && label ? 0 : -1;
}

static int csv_rows(const char *source, const struct strbuf *text, struct rows *ret,
                    struct err *err)
{
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(PATH_MAX);
	AUTO(strbuf) struct strbuf label = STRBUF_INIT(PATH_MAX);
	const char *p = strbuf_str(text), *end = p + text->len;
	unsigned line = 0, path_at = 0, label_at = 0;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((stop != NULL ? stop : end) - p);
		size_t cut = n > 0 && p[n - 1] == '\r' ? n - 1 : n;

		line++;
		if (line == 1 && csv_columns(p, cut, &path_at, &label_at) != 0)
			return err_set(
				err, ERR_FORMAT,
				"'%s': the first line does not name the columns path and label",
				source);
		if (line > 1 && cut > 0) {
			if (!csv_field(p, cut, path_at, &path) ||
			    !csv_field(p, cut, label_at, &label) || path.len == 0 ||
			    label.len == 0 || path.overflow || label.overflow ||
			    !text_is_utf8(label.ptr, label.len))
				return err_set(err, ERR_FORMAT,
				               "'%s': line %u has no path and label", source, line);
			vec_push(ret, ((struct row){mem_strdup(path.ptr), mem_strdup(label.ptr)}));
		}
		p += n + (stop != NULL);
	}
	return 0;
}

/* The sorted, distinct labels. */
static void csv_classes(const struct rows *rows, struct videos *v)
{
	char **all = mem_calloc(rows->n + 1, sizeof(*all));

	for (size_t i = 0; i < rows->n; i++)
		all[i] = rows->at[i].label;
	qsort(all, rows->n, sizeof(*all), compare_names);
	for (size_t i = 0; i < rows->n; i++)
		if (i == 0 || strcmp(all[i], all[i - 1]) != 0)
			class_list_add(&v->classes, all[i]);
	free(all);
}

static int scan_csv(const char *source, struct videos *v, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(rows) struct rows rows = {0};
	char folder[PATH_MAX], path[PATH_MAX];
	char *slash;

	if (fs_read_file(source, CSV_BYTES_MAX, &text, err) != 0 ||
	    csv_rows(source, &text, &rows, err) != 0)
		return -1;
	csv_classes(&rows, v);
	if (class_list_seal(&v->classes, source, err) != 0)
		return -1;
	snprintf(folder, sizeof(folder), "%s", source);
	slash = strrchr(folder, '/');
	if (slash != NULL)
		*slash = '\0';
	for (size_t i = 0; i < rows.n; i++) {
		uint32_t label = (uint32_t)class_list_find(&v->classes, rows.at[i].label);

		if (rows.at[i].path[0] == '/')
			add_video(v, rows.at[i].path, label);
		else if (fs_join(path, slash != NULL ? folder : ".", rows.at[i].path, err) != 0)
			return -1;
		else
			add_video(v, path, label);
	}
	return 0;
}

/* ---- without classes ---- */

struct tree_walk {
	struct videos *videos;
	unsigned depth;
};

static int see_any(void *ctx, const char *path, const char *name, bool folder, struct err *err)
{
	struct tree_walk *w = ctx;
	struct tree_walk below = {w->videos, w->depth + 1};
	struct visitor visitor = {see_any, &below};
	struct stat st;

	if (!folder && is_video(name)) {
		add_video(w->videos, path, VIDEO_NO_LABEL);
		return 0;
	}
	if (!folder || lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		w->videos->ignored++;
		return 0;
	}
	if (w->depth >= DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "'%s' is more than %d folders deep", path,
		               DEPTH_MAX);
	return visit(path, &visitor, err);
}

static int scan_tree(const char *source, struct videos *v, struct err *err)
{
	struct tree_walk walk = {v, 1};
	struct visitor visitor = {see_any, &walk};

	return visit(source, &visitor, err);
}

/* ---- all ---- */

/* Takes *v, whole or not (rc). */
static int finish(const char *source, int rc, struct videos *v, const char *expected,
                  struct videos *ret, struct err *err)
{
	if (rc == 0 && v->n == 0) {
		rc = err_set(err, ERR_SPEC, "'%s' holds no video", source);
		err_hint(err, "Expected %s.", expected);
	}
	if (rc != 0) {
		videos_done(v);
		return -1;
	}
	qsort(v->at, v->n, sizeof(*v->at), compare_videos);
	*ret = *v;
	return 0;
}

int videos_scan(const char *source, struct videos *ret, struct err *err)
{
	struct videos v = {0};
	struct stat st;
	int rc;

	if (stat(source, &st) != 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "read '%s'", source);
	rc = S_ISDIR(st.st_mode) ? scan_folder(source, &v, err) : scan_csv(source, &v, err);
	return finish(source, rc, &v,
	              "SOURCE/CLASS/VIDEO.mp4, or a CSV with the columns path and label", ret, err);
}

int videos_scan_unlabelled(const char *source, struct videos *ret, struct err *err)
{
	struct videos v = {0};

	return finish(source, scan_tree(source, &v, err), &v, "a folder with videos", ret, err);
}

int videos_renumber(struct videos *v, const struct class_list *list, const char *where,
                    struct err *err)
{
	for (size_t i = 0; i < v->n; i++) {
		const char *name = v->classes.at[v->at[i].label];
		size_t number = class_list_find(list, name);

		if (number == CLASS_NONE) {
			err_set(err, ERR_SPEC, "class '%.80s' of '%s' is not among the %zu of '%s'",
			        name, v->at[i].path, list->n, where);
			return err_hint(
				err, "Give the class the name it has there, leave its videos out, "
				     "or give all splits one list: --classes FILE, a name a line.");
		}
		v->at[i].label = (uint32_t)number;
	}
	class_list_done(&v->classes);
	class_list_copy(list, &v->classes);
	return 0;
}

void videos_done(struct videos *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->at[i].path);
	class_list_done(&v->classes);
	free(v->at);
	*v = (struct videos){0};
}
