/*
 * Names of programs and plug-ins: globs, matched in byte order whatever the locale, and the packing
 * of one plug-in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

enum { MATCHES_MAX = 4096, NAMES_MAX = 1000000, DEPTH_MAX = 200 };

/* One search. */
struct matching {
	const char *base;     /* folder on this machine */
	const char *pattern;  /* relative to it */
	unsigned segments;    /* of the pattern */
	bool deep;            /* it has a `**` */
	size_t n_names;       /* seen so far */
	struct strlist found; /* relative to the folder; MATCHES_MAX are there */
	struct arena *arena;
};

static bool is_glob(const char *path)
{
	return strpbrk(path, "*?[") != NULL;
}

static int search_folder(struct matching *m, const char *folder, unsigned depth, struct err *err);

/* A pattern without '/' would match at any depth; here it stands for one name. */
static bool fits(const struct matching *m, const char *path, unsigned depth)
{
	return (m->deep || depth == m->segments) && text_glob(m->pattern, path);
}

static int take_name(struct matching *m, const char *path, unsigned depth, struct err *err)
{
	const char *full = arena_printf(m->arena, "%s/%s", m->base, path);
	struct stat st, target;

	if (lstat(full, &st) != 0)
		return 0;
	if (fits(m, path, depth) && stat(full, &target) == 0 && S_ISREG(target.st_mode)) {
		if (m->found.n >= MATCHES_MAX)
			return err_set(err, ERR_LIMIT, "'%s/%s' matches more than %d files",
			               m->base, m->pattern, MATCHES_MAX);
		m->found.at[m->found.n++] = path;
	}
	/* A link to a folder is entered where a segment of the pattern asks for it. */
	if (depth < DEPTH_MAX && (S_ISDIR(st.st_mode) ? m->deep || depth < m->segments
	                                              : !m->deep && depth < m->segments))
		return search_folder(m, path, depth, err);
	return 0;
}

static int search_folder(struct matching *m, const char *folder, unsigned depth, struct err *err)
{
	const char *full =
		folder[0] == '\0' ? m->base : arena_printf(m->arena, "%s/%s", m->base, folder);
	DIR *d = opendir(full);
	struct dirent *entry;
	int rc = 0;

	while (d != NULL && rc == 0 && (entry = readdir(d)) != NULL) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (++m->n_names > NAMES_MAX)
			rc = err_set(err, ERR_LIMIT, "'%s' has more than %d files", m->base,
			             NAMES_MAX);
		else if (interrupt_check(err) != 0)
			rc = -1;
		else
			rc = take_name(m,
			               folder[0] == '\0'
			                       ? arena_strdup(m->arena, name)
			                       : arena_printf(m->arena, "%s/%s", folder, name),
			               depth + 1, err);
	}
	if (d != NULL)
		closedir(d);
	return rc;
}

/* Where the search starts: the folder before the first segment with a wildcard, on this machine.
 * NULL when a sysroot does not have it. */
static const char *search_base(const struct sysroot *s, const char *folder, struct arena *a)
{
	struct err err = {0};

	if (s == NULL)
		return folder[0] != '\0' ? folder : ".";
	return sysroot_resolve(s, folder, a, &folder, &err) == 0 ? sysroot_host_path(s, folder, a)
	                                                         : NULL;
}

/* The regular files that a glob names, sorted, as it would be written; in a sysroot when there is
 * one. */
static int match(const char *pattern, const struct sysroot *s, struct arena *a,
                 struct strlist *ret_found, struct err *err)
{
	size_t cut = strcspn(pattern, "*?[");
	struct matching m = {.arena = a, .segments = 1};

	while (cut > 0 && pattern[cut - 1] != '/')
		cut--;
	m.base = search_base(s, arena_strndup(a, pattern, cut), a);
	if (m.base == NULL)
		return 0;
	m.pattern = pattern + cut;
	for (const char *p = m.pattern; (p = strchr(p, '/')) != NULL; p++)
		m.segments++;
	m.deep = strstr(m.pattern, "**") != NULL;
	m.found.at = arena_calloc(a, MATCHES_MAX, sizeof(*m.found.at));
	if (search_folder(&m, "", 0, err) != 0)
		return -1;
	qsort(m.found.at, m.found.n, sizeof(*m.found.at), text_compare);
	for (size_t i = 0; i < m.found.n; i++)
		m.found.at[i] = arena_printf(a, "%.*s%s", (int)cut, pattern, m.found.at[i]);
	*ret_found = m.found;
	return 0;
}

static void report_nothing(struct closure_run *run, const char *what, const char *root,
                           const char *pattern, struct srcpos at)
{
	struct diag *diag = diags_add(run->diags, DIAG_ERROR, at, "closure: no %s matches '%s%s'",
	                              what, root, pattern);

	diag_hint(run->diags, diag,
	          "programs are looked for on this machine, plug-ins in the sysroot where one is "
	          "named; `*` stands for one name, `**` for folders");
}

/* Appends what a glob or a path names. */
static void add_matches(struct closure_matches *list, const struct strlist *paths, struct srcpos at,
                        struct arena *a)
{
	struct closure_match *all = arena_calloc(a, list->n + paths->n, sizeof(*all));

	if (list->n > 0)
		memcpy(all, list->at, list->n * sizeof(*all));
	for (size_t i = 0; i < paths->n; i++)
		all[list->n + i] = (struct closure_match){paths->at[i], at};
	list->at = all;
	list->n += paths->n;
}

int closure_programs(struct closure_run *run, struct closure_matches *ret_programs, struct err *err)
{
	const struct layer_closure *item = run->item;
	const char *path = item->path;
	struct closure_matches out = {0};
	struct strlist found = {&path, 1};
	struct stat st;

	/* A file of exactly this name is meant, whatever characters it has. */
	if (is_glob(path) && stat(path, &st) != 0) {
		found = (struct strlist){0};
		if (match(path, NULL, run->arena, &found, err) != 0)
			return err_wrap(err, "closure");
	}
	if (found.n == 0)
		report_nothing(run, "program", "", path, item->at);
	add_matches(&out, &found, item->at, run->arena);
	*ret_programs = out;
	return 0;
}

int closure_plugins(struct closure_run *run, struct closure_matches *ret_plugins, struct err *err)
{
	const struct layer_closure *item = run->item;
	struct closure_matches out = {0};

	for (size_t i = 0; i < item->n_plugins; i++) {
		const struct layer_path *plugin = &item->plugins[i];
		struct strlist found = {0};

		if (match(plugin->path, &run->sysroot, run->arena, &found, err) != 0)
			return err_wrap(err, "closure");
		if (found.n == 0)
			report_nothing(run, "plug-in", run->sysroot.root, plugin->path, plugin->at);
		add_matches(&out, &found, plugin->at, run->arena);
	}
	*ret_plugins = out;
	return 0;
}

/* ---- one plug-in ---- */

static bool read_plugin(struct closure_run *run, struct closure_object *o)
{
	struct err err = {0};
	struct diag *diag;
	AUTO_CLOSE int fd = open(o->label, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		diags_add(run->diags, DIAG_ERROR, run->at, "closure: plug-in '%s': %s", o->name,
		          strerror(errno));
		return false;
	}
	if (elf_parse_fd(fd, run->arena, &o->elf, &err) != 0) {
		diag = diags_add(run->diags, DIAG_ERROR, run->at, "closure: plug-in '%s': %s",
		                 o->name, err.msg);
		diag_hint(run->diags, diag,
		          "plug-ins are shared libraries; pack data beside them by `files:`");
		return false;
	}
	return closure_check_machine(run, "plug-in", o->name, &o->elf);
}

void closure_add_plugin(struct closure_run *run, const char *path)
{
	struct arena *a = run->arena;
	const char *slash = strrchr(path, '/'), *real;
	struct closure_object o = {.name = path, .loader = run->objects.at[0], .nameless = true};
	struct closure_object in_base;

	o.dir = o.image_dir = arena_strndup(a, path, (size_t)(slash - path));
	if (run->item->on == CLOSURE_ON_BASE && closure_find_in_base(run, &o, path, &in_base)) {
		in_base.name = path;
		in_base.loader = o.loader;
		in_base.nameless = true;
		closure_push_object(run, &in_base);
		return;
	}
	/* A link that leads out of a named root is not followed. */
	if (!sysroot_is_file(&run->sysroot, path, a, &real)) {
		report_nothing(run, "plug-in", run->sysroot.root, path, run->at);
		return;
	}
	o.label = sysroot_host_path(&run->sysroot, real, a);
	if (!read_plugin(run, &o))
		return;
	closure_push_object(run, &o);
	closure_add_library(run, &(struct closure_dir){o.dir, o.image_dir, CLOSURE_BY_PATH},
	                    slash + 1);
}
