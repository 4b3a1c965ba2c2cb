#include "builder/layer/source/sysroot.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "builder/layer/elf/elf_search.h"

enum { LINKS_MAX = 40, CONF_BYTES_MAX = 64 << 10, CONF_FILES_MAX = 64, TODO_MAX = 4 * PATH_MAX };

const char *sysroot_host_path(const struct sysroot *s, const char *path, struct arena *a)
{
	return s->root[0] == '\0' ? path : arena_printf(a, "%s%s", s->root, path);
}

/* A walk along a path: what is resolved so far, and what is still to do. */
struct path_walk {
	struct strbuf done, todo;
	unsigned links;
};

static void drop_last(struct strbuf *done)
{
	while (done->len > 0 && done->ptr[--done->len] != '/')
		;
	if (done->ptr != NULL)
		done->ptr[done->len] = '\0';
}

/* Puts a link's target before the rest of the path. */
static int take_link(struct path_walk *w, const char *target, const char *rest, struct err *err)
{
	AUTO(strbuf) struct strbuf todo = STRBUF_INIT(TODO_MAX);

	if (++w->links > LINKS_MAX)
		return err_set(err, ERR_FORMAT, "more than %d symbolic links", LINKS_MAX);
	strbuf_addf(&todo, "%s/%s", target, rest);
	if (todo.overflow)
		return err_set(err, ERR_LIMIT, "path is too long");
	/* An absolute target starts again at the root of the sysroot, not of this machine. */
	if (target[0] == '/')
		strbuf_reset(&w->done);
	strbuf_reset(&w->todo);
	strbuf_adds(&w->todo, strbuf_str(&todo));
	return 0;
}

/* One segment of the path; `rest` is what follows it. */
static int walk_step(const struct sysroot *s, struct path_walk *w, const char *segment,
                     const char *rest, struct err *err)
{
	char host[2 * PATH_MAX], target[PATH_MAX];
	size_t before = w->done.len;
	ssize_t n;

	if (strcmp(segment, "..") == 0)
		drop_last(&w->done);
	else if (segment[0] != '\0' && strcmp(segment, ".") != 0)
		strbuf_addf(&w->done, "/%s", segment);
	if (w->done.len <= before)
		n = -1;
	else if (snprintf(host, sizeof(host), "%s%s", s->root, strbuf_str(&w->done)) >=
	         (int)sizeof(host))
		return err_set(err, ERR_LIMIT, "path is too long");
	else if ((n = readlink(host, target, sizeof(target) - 1)) < 0 && errno != EINVAL)
		return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO,
		               "'%s'", host);
	if (n >= 0) {
		target[n] = '\0';
		drop_last(&w->done);
		return take_link(w, target, rest, err);
	}
	/* `rest` points into todo: copied before todo is emptied. */
	AUTO_FREE char *copy = mem_strdup(rest);
	strbuf_reset(&w->todo);
	strbuf_adds(&w->todo, copy);
	return 0;
}

int sysroot_resolve(const struct sysroot *s, const char *path, struct arena *a,
                    const char **ret_path, struct err *err)
{
	struct path_walk w = {.done = STRBUF_INIT(PATH_MAX), .todo = STRBUF_INIT(TODO_MAX)};
	int rc = 0;

	strbuf_adds(&w.todo, path);
	while (rc == 0 && w.todo.len > 0) {
		size_t len = strcspn(w.todo.ptr, "/");
		AUTO_FREE char *segment = mem_strndup(w.todo.ptr, len);

		rc = walk_step(s, &w, segment, w.todo.ptr + len + (w.todo.ptr[len] == '/'), err);
		if (rc == 0 && (w.done.overflow || w.todo.overflow))
			rc = err_set(err, ERR_LIMIT, "path is too long");
	}
	if (rc == 0)
		*ret_path = w.done.len > 0 ? arena_strdup(a, strbuf_str(&w.done)) : "/";
	strbuf_done(&w.done);
	strbuf_done(&w.todo);
	return rc;
}

bool sysroot_is_file(const struct sysroot *s, const char *path, struct arena *a,
                     const char **ret_path)
{
	struct err err = {0};
	const char *resolved;
	struct stat st;

	if (sysroot_resolve(s, path, a, &resolved, &err) != 0 ||
	    stat(sysroot_host_path(s, resolved, a), &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (ret_path != NULL)
		*ret_path = resolved;
	return true;
}

static bool is_dir(const struct sysroot *s, const char *path, struct arena *a,
                   const char **ret_path)
{
	struct err err = {0};
	struct stat st;

	return sysroot_resolve(s, path, a, ret_path, &err) == 0 &&
	       stat(sysroot_host_path(s, *ret_path, a), &st) == 0 && S_ISDIR(st.st_mode);
}

/* Adds a folder that exists; one that is a link to an earlier one is the same folder. */
static bool add_dir(struct sysroot *s, const char *path, const char *image, struct arena *a)
{
	const char *resolved;

	if (!is_dir(s, path, a, &resolved))
		return false;
	for (size_t i = 0; i < s->n_dirs; i++)
		if (strcmp(s->dirs[i].path, resolved) == 0)
			return true;
	if (image == NULL)
		image = resolved; /* a link /lib -> usr/lib is normalised by this */
	s->dirs[s->n_dirs++] = (struct sysroot_dir){resolved, arena_strdup(a, image)};
	return true;
}

static void add_default_dirs(struct sysroot *s, struct arena *a)
{
	const char *multiarch = s->arch->multiarch;
	const char *image = s->named ? NULL : arena_printf(a, "/usr/lib/%s", multiarch);
	bool found;

	s->dirs = arena_calloc(a, 8, sizeof(*s->dirs));
	found = add_dir(s, arena_printf(a, "/lib/%s", multiarch), image, a);
	found = add_dir(s, arena_printf(a, "/usr/lib/%s", multiarch), image, a) || found;
	/* Debian's packages for cross compilers (dpkg-cross) move /lib/MULTIARCH and
	 * /usr/lib/MULTIARCH here. */
	if (!s->named)
		found = add_dir(s, arena_printf(a, "/usr/%s/lib", multiarch), image, a) || found;
	if (s->arch->elf_bits == 64) {
		add_dir(s, "/lib64", NULL, a);
		add_dir(s, "/usr/lib64", NULL, a);
	}
	add_dir(s, "/lib", NULL, a);
	add_dir(s, "/usr/lib", NULL, a);
	/* glibc's slibdir of each system: Debian's is the multiarch folder, others have lib64 on 64
	 * bit. */
	s->lib_token = found                     ? arena_printf(a, "lib/%s", multiarch)
	               : s->arch->elf_bits == 64 ? "lib64"
	                                         : "lib";
}

/* The files of an include pattern, in glob's sorted order; links that leave a named root do not
 * count. */
static void conf_include(const struct sysroot *s, const char *pattern, struct strlist *dirs,
                         struct strlist *includes, struct arena *a)
{
	const char *absolute = pattern[0] == '/' ? pattern : arena_printf(a, "/etc/%s", pattern);
	glob_t found = {0};

	if (glob(sysroot_host_path(s, absolute, a), 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && i < CONF_FILES_MAX; i++) {
			AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONF_BYTES_MAX);
			struct err err = {0};
			const char *path;

			if (sysroot_is_file(s, found.gl_pathv[i] + strlen(s->root), a, &path) &&
			    fs_read_file(sysroot_host_path(s, path, a), CONF_BYTES_MAX, &text,
			                 &err) == 0)
				elf_search_conf(strbuf_str(&text), text.len, dirs, includes, a);
		}
	}
	globfree(&found);
}

/* Folders the machine's own loader knows from ldconfig's configuration. An unreadable file is no
 * error: a library that is then not found is reported anyway. */
static void add_conf_dirs(struct sysroot *s, struct arena *a)
{
	struct strlist dirs = {0}, includes = {0};
	const size_t n_defaults = s->n_dirs;
	struct sysroot_dir *defaults = s->dirs;

	elf_search_add(&includes, "/etc/ld.so.conf", a);
	for (size_t i = 0; i < includes.n && i < CONF_FILES_MAX; i++)
		conf_include(s, includes.at[i], &dirs, &includes, a);
	s->dirs = arena_calloc(a, n_defaults + dirs.n + 1, sizeof(*s->dirs));
	memcpy(s->dirs, defaults, n_defaults * sizeof(*s->dirs));
	for (size_t i = 0; i < dirs.n; i++)
		add_dir(s, dirs.at[i], NULL, a);
	s->extra = s->dirs + n_defaults;
	s->n_extra = s->n_dirs - n_defaults;
	s->n_dirs = n_defaults;
}

int sysroot_init(struct sysroot *s, const char *root, const struct platform_arch *arch,
                 struct arena *a, struct err *err)
{
	struct sysroot out = {.root = "", .arch = arch};
	char resolved[PATH_MAX];
	struct stat st;

	if (root != NULL && strcmp(root, "/") != 0) {
		if (realpath(root, resolved) == NULL || stat(resolved, &st) != 0 ||
		    !S_ISDIR(st.st_mode)) {
			err_set(err, ERR_NOT_FOUND, "sysroot '%s' is not a folder", root);
			return err_hint(err, "name the folder that holds usr/lib of the platform, "
			                     "or leave sysroot out");
		}
		out.named = strcmp(resolved, "/") != 0;
		out.root = out.named ? arena_strdup(a, resolved) : "";
	}
	add_default_dirs(&out, a);
	add_conf_dirs(&out, a);
	*s = out;
	return 0;
}

const char *sysroot_path_of(const struct sysroot *s, const char *host_path, struct arena *a)
{
	size_t n = strlen(s->root);
	char resolved[PATH_MAX];

	if (realpath(host_path, resolved) == NULL || strncmp(resolved, s->root, n) != 0)
		return NULL;
	if (resolved[n] == '\0')
		return "/";
	return resolved[n] == '/' ? arena_strdup(a, resolved + n) : NULL;
}

const char *sysroot_image_dir(const struct sysroot *s, const char *path, struct arena *a)
{
	struct err err = {0};
	const char *resolved;

	if (sysroot_resolve(s, path, a, &resolved, &err) != 0)
		return path;
	for (size_t i = 0; i < s->n_dirs; i++)
		if (strcmp(s->dirs[i].path, resolved) == 0)
			return s->dirs[i].image;
	return path;
}
