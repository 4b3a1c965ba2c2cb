#include "builder/layer/source/sysroot.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "builder/layer/elf/elf_search.h"
#include "builder/layer/source/link_walk.h"

enum { CONF_BYTES_MAX = 64 << 10, CONF_FILES_MAX = 64 };

const char *sysroot_host_path(const struct sysroot *s, const char *path, struct arena *a)
{
	return s->root[0] == '\0' ? path : arena_printf(a, "%s%s", s->root, path);
}

static int read_host_link(void *ctx, const char *path, struct arena *a, const char **ret_target,
                          struct err *err)
{
	const struct sysroot *s = ctx;
	const char *host = sysroot_host_path(s, path, a);
	char target[PATH_MAX];
	ssize_t n = readlink(host, target, sizeof(target) - 1);

	if (n < 0 && errno != EINVAL)
		return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO,
		               "'%s'", host);
	*ret_target = n >= 0 ? arena_strndup(a, target, (size_t)n) : NULL;
	return 0;
}

int sysroot_resolve(const struct sysroot *s, const char *path, struct arena *a,
                    const char **ret_path, struct err *err)
{
	struct sysroot copy = *s;
	const struct link_reader links = {read_host_link, &copy};

	return link_walk(&links, path, a, ret_path, err);
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
