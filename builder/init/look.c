#include "builder/init/look.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/strbuf.h"
#include "base/text.h"

enum { LOOK_FILES_MAX = 100000, LOOK_BYTES_MAX = 256 << 10, LOOK_NAMES_MAX = 64 };

/* What is known of a folder's files. */
struct look {
	const char *dir;
	struct arena *arena;
	struct strlist endings; /* ".c", of the folder and of src/ */
	size_t n_here;          /* the first so many of them are the folder's own */
	struct strlist scripts; /* Python's in the folder itself, the first few */
};

static void close_dir(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

static void list_add(struct strlist *list, struct arena *a, const char *text)
{
	if (list->at == NULL)
		list->at = arena_calloc(a, LOOK_NAMES_MAX, sizeof(*list->at));
	if (list->n < LOOK_NAMES_MAX && !strlist_has(list, text))
		list->at[list->n++] = arena_strdup(a, text);
}

static int no_folder(const char *path, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "there is no folder '%s'", path);
	return err_hint(err, "make it, or name the one with the program by --dir");
}

static int read_names(struct look *l, const char *path, bool top, struct err *err)
{
	__attribute__((cleanup(close_dir))) DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	if (dir == NULL && errno == ENOENT)
		return no_folder(path, err);
	if (dir == NULL)
		return err_set(err, ERR_IO, "cannot read the folder '%s'", path);
	while ((entry = readdir(dir)) != NULL) {
		const char *ending = strrchr(entry->d_name, '.');

		if (n++ == LOOK_FILES_MAX)
			return err_set(err, ERR_LIMIT, "'%s' has more than %d files", path,
			               LOOK_FILES_MAX);
		if (ending == NULL || ending == entry->d_name)
			continue;
		list_add(&l->endings, l->arena, ending);
		if (top && strcmp(ending, ".py") == 0)
			list_add(&l->scripts, l->arena, entry->d_name);
	}
	return 0;
}

/* The folder's file `name` as text, "" where there is none that we could read. */
static const char *text_of(const struct look *l, const char *name)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(LOOK_BYTES_MAX);
	char path[PATH_MAX];
	struct err ignored = {0};

	if (fs_join(path, l->dir, name, &ignored) != 0 ||
	    fs_read_file(path, LOOK_BYTES_MAX, &text, &ignored) != 0)
		return "";
	return arena_strdup(l->arena, strbuf_str(&text));
}

static bool has_file(const struct look *l, const char *name)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	return fs_join(path, l->dir, name, &ignored) == 0 && fs_exists(path);
}

/* Has a file one of these endings, of the first n that were seen? */
static bool has_sources(const struct look *l, size_t n, const char *endings)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = strstr(endings, l->endings.at[i]);
		size_t len = strlen(l->endings.at[i]);

		if (at != NULL && (at[len] == ' ' || at[len] == '\0'))
			return true;
	}
	return false;
}

static bool is_marked(const struct look *l, const struct init_project *row)
{
	return row->marker != NULL && has_file(l, row->marker) &&
	       (row->says == NULL || strstr(text_of(l, row->marker), row->says) != NULL);
}

/* Of a kind that is named the marker tells how it is built, and the last row serves without one. */
static const struct init_project *choose_of(const struct look *l, const char *kind)
{
	const struct init_project *last = NULL;

	for (size_t i = 0; i < n_init_projects; i++) {
		if (strcmp(init_projects[i].kind, kind) != 0)
			continue;
		last = &init_projects[i];
		if (is_marked(l, last))
			break;
	}
	return last;
}

/* Of any kind: a marker beside such sources tells more than sources alone. These say nothing of
 * PyTorch. */
static const struct init_project *choose(const struct look *l)
{
	const struct init_project *by_sources = NULL;

	for (size_t i = 0; i < n_init_projects; i++) {
		const struct init_project *row = &init_projects[i];

		if (!has_sources(l, l->endings.n, row->sources))
			continue;
		if (is_marked(l, row))
			return row;
		if (row->marker == NULL && !row->torch && by_sources == NULL)
			by_sources = row;
	}
	return by_sources;
}

bool init_program_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= 255 && name[0] != '-' && name[0] != '/' &&
	       strstr(name, "..") == NULL &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
	               len;
}

/* What stands between `before` and one of `ends` in a text; NULL = it is not in it. */
static char *words_after(struct arena *a, const char *text, const char *before, const char *ends)
{
	const char *at = strstr(text, before);

	if (at == NULL)
		return NULL;
	at += strlen(before);
	at += strspn(at, " \t\"");
	return arena_strndup(a, at, strcspn(at, ends));
}

/* The last segment of Go's module path, without a major version. */
static const char *module_name(const struct look *l)
{
	char *path = words_after(l->arena, text_of(l, "go.mod"), "module ", " \t\r\n");
	char *slash = path != NULL ? strrchr(path, '/') : NULL;

	if (slash == NULL)
		return path;
	if (slash[1] == 'v' && slash[2 + strspn(slash + 2, "0123456789")] == '\0')
		*slash = '\0';
	slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static const char *script_name(const struct look *l, bool torch)
{
	static const char *const usual[] = {"main.py", "app.py", "train.py", "__main__.py"};

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (strlist_has(&l->scripts, usual[i]))
			return usual[i];
	if (l->scripts.n == 1 && init_program_valid(l->scripts.at[0]))
		return l->scripts.at[0];
	return torch ? "train.py" : "main.py";
}

static const char *cargo_name(const struct look *l)
{
	const char *text = text_of(l, "Cargo.toml");
	const char *name = words_after(l->arena, text, "\nname =", "\"\r\n");

	return name != NULL ? name : words_after(l->arena, text, "\nname=", "\"\r\n");
}

/* That of the first program; many are called as the project is. */
static const char *cmake_name(const struct look *l, const char *text)
{
	const char *name = words_after(l->arena, text, "add_executable(", " \t\r\n)");

	return name != NULL && strcmp(name, "${PROJECT_NAME}") == 0
	               ? words_after(l->arena, text, "project(", " \t\r\n)")
	               : name;
}

/* The program's name as its build has it, NULL = it says nothing. */
static const char *program_name(const struct look *l, const struct init_project *row)
{
	if (strcmp(row->part, "python") == 0)
		return script_name(l, row->torch);
	if (strcmp(row->kind, "go") == 0)
		return module_name(l);
	if (strcmp(row->kind, "rust") == 0)
		return cargo_name(l);
	if (row->marker != NULL && strcmp(row->marker, "CMakeLists.txt") == 0)
		return cmake_name(l, text_of(l, row->marker));
	return NULL;
}

/* OWNER/NAME of git's first remote: the end of an address like git@HOST:OWNER/NAME.git. What stands
 * before it, where a password may be, is not used. */
static const char *remote_name(const struct look *l)
{
	char *url = words_after(l->arena, text_of(l, ".git/config"), "url =", " \t\r\n");
	char *name = url != NULL ? strrchr(url, '/') : NULL;

	if (name == NULL)
		return NULL;
	if (text_has_suffix(name, ".git"))
		name[strlen(name) - strlen(".git")] = '\0';
	while (name > url && name[-1] != '/' && name[-1] != ':')
		name--;
	return name > url && init_program_valid(name) ? name : NULL;
}

/* The folder's own name. */
static const char *folder_name(const struct look *l)
{
	AUTO_FREE char *path = realpath(l->dir, NULL);
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL && init_program_valid(slash + 1) ? arena_strdup(l->arena, slash + 1)
	                                                      : "app";
}

int init_look(const char *dir, const char *kind, struct arena *a, struct init_seen *ret_seen,
              struct err *err)
{
	struct look l = {.dir = dir, .arena = a};
	char src[PATH_MAX];
	struct init_seen seen = {0};

	if (read_names(&l, dir, true, err) != 0 || fs_join(src, dir, "src", err) != 0)
		return -1;
	l.n_here = l.endings.n;
	if (fs_exists(src) && read_names(&l, src, false, err) != 0)
		return -1;
	seen.project = kind != NULL ? choose_of(&l, kind) : choose(&l);
	seen.sources = "";
	if (seen.project != NULL) {
		const char *endings = seen.project->sources;

		seen.program = program_name(&l, seen.project);
		if (!has_sources(&l, l.n_here, endings) && has_sources(&l, l.endings.n, endings))
			seen.sources = "src/";
	}
	if (seen.program == NULL || !init_program_valid(seen.program))
		seen.program = folder_name(&l);
	seen.folder = folder_name(&l);
	seen.source = remote_name(&l);
	*ret_seen = seen;
	return 0;
}
