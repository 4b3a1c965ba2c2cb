/* A cache folder as it lies on disk. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/neff/neff.h"

struct scan {
	const char *dir;
	struct arena *arena;
	struct neff_list list; /* room for NEFF_MODULES_MAX */
};

int neff_path(char out[PATH_MAX], const char *dir, const struct neff_module *m, const char *file,
              struct err *err)
{
	int n = snprintf(out, PATH_MAX, "%s/%s/%s%s%s", dir, m->compiler, m->key,
	                 file != NULL ? "/" : "", file != NULL ? file : "");

	if (n < 0 || n >= PATH_MAX)
		return err_set(err, ERR_LIMIT, "the path of %s is too long", m->key);
	return 0;
}

static int hash_file(int fd, const struct neff_file *kind, struct descriptor *ret, struct err *err)
{
	struct digest_sink sink;
	struct source *source = source_from_fd(fd);
	int64_t size = 0;
	int rc;

	digest_sink_init(&sink, NULL);
	rc = stream_copy(source, &sink.sink, &size, err);
	if (rc == 0)
		*ret = (struct descriptor){.media_type = kind->media_type,
		                           .digest = digest_sink_final(&sink),
		                           .size = size};
	digest_sink_done(&sink);
	source_close(source);
	return rc;
}

static int describe(const char *path, const struct neff_file *kind, struct descriptor *ret,
                    struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT && !kind->needed)
		return 0;
	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set(err, ERR_IO, "open '%s'", path);
		attr_close_fd(&fd);
		return -1;
	}
	if (S_ISREG(st.st_mode) && st.st_size <= kind->max)
		return hash_file(fd, kind, ret, err);
	attr_close_fd(&fd);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	return err_set(err, ERR_LIMIT, "'%s' has %lld bytes; at most %lld are taken", path,
	               (long long)st.st_size, (long long)kind->max);
}

static bool is_whole(const char *dir, const struct neff_module *m)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	return neff_path(path, dir, m, "model.done", &ignored) == 0 && fs_exists(path);
}

static int add_entry(struct scan *s, const char *compiler, const char *key, struct err *err)
{
	struct neff_module m = {.compiler = compiler, .key = arena_strdup(s->arena, key)};
	char path[PATH_MAX];

	if (!is_whole(s->dir, &m))
		return 0;
	if (s->list.n == NEFF_MODULES_MAX)
		return err_set(err, ERR_LIMIT, "there are more than %d modules", NEFF_MODULES_MAX);
	for (size_t i = 0; i < NEFF_FILES; i++)
		if (interrupt_check(err) != 0 ||
		    neff_path(path, s->dir, &m, neff_files[i].name, err) != 0 ||
		    describe(path, &neff_files[i], &m.files[i], err) != 0)
			return -1;
	s->list.at[s->list.n++] = m;
	return 0;
}

/* Calls `take` with each name in the folder that is one of ours. */
static int each_name(struct scan *s, const char *folder, const char *compiler,
                     bool (*is_ours)(const char *name),
                     int (*take)(struct scan *s, const char *compiler, const char *name,
                                 struct err *err),
                     struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *one;
	int rc = 0;

	if (dir == NULL)
		return errno == ENOTDIR ? 0 : err_set(err, ERR_IO, "open the folder '%s'", folder);
	while (rc == 0 && (one = readdir(dir)) != NULL)
		if (is_ours(one->d_name))
			rc = take(s, compiler, one->d_name, err);
	closedir(dir);
	return rc;
}

static int add_compiler(struct scan *s, const char *ignored UNUSED, const char *name,
                        struct err *err)
{
	char folder[PATH_MAX];

	return fs_join(folder, s->dir, name, err) == 0
	               ? each_name(s, folder, arena_strdup(s->arena, name), neff_is_key, add_entry,
	                           err)
	               : -1;
}

int neff_folder_list(const char *dir, struct arena *a, struct neff_list *ret, struct err *err)
{
	struct scan s = {.dir = dir, .arena = a};

	s.list.at = arena_calloc(a, NEFF_MODULES_MAX, sizeof(*s.list.at));
	if (each_name(&s, dir, NULL, neff_is_compiler, add_compiler, err) != 0)
		return -1;
	if (s.list.n == 0) {
		err_set(err, ERR_NOT_FOUND, "the folder '%s' holds no compiled module", dir);
		return err_hint(err,
		                "Compile first: slipway-trainer compile --cache_dir %.200s and "
		                "the words of the run.",
		                dir);
	}
	neff_sort(&s.list);
	*ret = s.list;
	return 0;
}
