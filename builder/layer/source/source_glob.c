/*
 * Globs in `from`: our own walk in byte order, because glob(3) sorts by locale. Like the rest of
 * the spec a `*` also matches names that start with a dot.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/source/source_walk.h"

struct globbing {
	struct files_walk *walk;
	const char *pattern; /* relative to the walk's base */
	size_t segments;     /* of the pattern */
	bool deep;           /* it has a `**` */
	bool folders;        /* it ended in '/' */
	const char *image;
	size_t n_matches;
};

bool walk_is_glob(const char *path)
{
	return strpbrk(path, "*?[") != NULL;
}

static int visit_folder(struct globbing *g, int fd, const char *source, unsigned depth,
                        struct err *err);

/* A pattern without '/' would match at any depth; here it stands for one name. */
static bool glob_matches(const struct globbing *g, const char *path, unsigned depth)
{
	if (g->segments == 1 && depth > 1 && !g->deep)
		return false;
	return text_glob(g->pattern, path);
}

static int visit_name(struct globbing *g, int fd, const char *source, const char *name,
                      unsigned depth, struct err *err)
{
	struct files_walk *w = g->walk;
	struct stat st;
	bool added = false;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return err_set(err, ERR_IO, "stat '%s'", source);
	if (glob_matches(g, source + strlen(w->base) + 1, depth) &&
	    (!g->folders || S_ISDIR(st.st_mode))) {
		struct walk_node n = {.dirfd = fd,
		                      .name = name,
		                      .source = source,
		                      .image = walk_join(w, g->image, name),
		                      .depth = depth};

		g->n_matches++;
		return walk_visit(w, &n, &added, err);
	}
	if (!S_ISDIR(st.st_mode) || (!g->deep && depth >= g->segments) || depth >= WALK_DEPTH_MAX)
		return 0;
	int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (below < 0) {
		walk_problem(w, NULL, "folder '%s' cannot be searched: %s", source,
		             strerror(errno));
		return 0;
	}
	return visit_folder(g, below, source, depth, err);
}

/* Takes fd over. */
static int visit_folder(struct globbing *g, int fd, const char *source, unsigned depth,
                        struct err *err)
{
	AUTO(walk_names) struct walk_names names = {0};
	DIR *dir = fdopendir(fd);
	int rc = 0;

	if (dir == NULL) {
		close(fd);
		return err_set(err, ERR_IO, "read folder '%s'", source);
	}
	size_t skip = strlen(source) + 1;

	rc = interrupt_check(err) != 0 ? -1 : walk_list(g->walk, dir, source, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n && !g->walk->stopped; i++)
		rc = visit_name(g, dirfd(dir), names.at[i], names.at[i] + skip, depth + 1, err);
	closedir(dir);
	return rc;
}

static size_t count_segments(const char *pattern)
{
	size_t n = 1;

	for (const char *s = pattern; (s = strchr(s, '/')) != NULL; s++)
		n++;
	return n;
}

/* Cuts "build/lib*.so" into "build" and "lib*.so". */
static void split_pattern(struct globbing *g, const char *pattern, const char **ret_base)
{
	struct arena *a = g->walk->tree->arena;
	size_t magic = strcspn(pattern, "*?["), len = strlen(pattern);
	size_t cut = magic;

	while (cut > 0 && pattern[cut - 1] != '/')
		cut--;
	*ret_base = cut == 0 ? "." : arena_strndup(a, pattern, cut - 1);
	while (len > cut + 1 && pattern[len - 1] == '/') {
		g->folders = true;
		len--;
	}
	g->pattern = arena_strndup(a, pattern + cut, len - cut);
	g->segments = count_segments(g->pattern);
	g->deep = strstr(g->pattern, "**") != NULL;
}

int walk_glob(struct files_walk *w, const char *pattern, const char *image, struct err *err)
{
	struct globbing g = {.walk = w, .image = image};
	const char *base;

	split_pattern(&g, pattern, &base);
	int fd = open(base[0] == '\0' ? "/" : base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		walk_problem(w, "paths in the spec are relative to its folder",
		             "'%s': folder '%s' cannot be read: %s", pattern, base,
		             strerror(errno));
		return 0;
	}
	if (walk_set_base(w, fd, base, err) != 0) {
		close(fd);
		return -1;
	}
	if (visit_folder(&g, fd, base, 0, err) != 0)
		return -1;
	if (g.n_matches == 0 && !w->stopped)
		walk_problem(w, "paths in the spec are relative to its folder",
		             "nothing matches '%s'", pattern);
	return 0;
}
