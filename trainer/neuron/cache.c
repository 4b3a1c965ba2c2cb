#include "trainer/neuron/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/jsonw.h"
#include "base/sha256.h"
#include "trainer/neuron/neff.h"

#define COMPILER_FOLDER "neuronxcc-"

enum { MODULE_DIGITS = 20, FLAGS_DIGITS = 8 };

static void flags_text(const char *const flags[], struct strbuf *ret)
{
	struct jsonw w = {0};

	jsonw_init(&w, ret, false);
	jsonw_begin_array(&w);
	for (size_t i = 0; flags[i] != NULL; i++)
		jsonw_string(&w, flags[i]);
	jsonw_end_array(&w);
}

static void digest(const void *bytes, size_t n, char ret[SHA256_HEX_MAX])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, bytes, n);
	sha256_hex(&s, ret);
}

void neuron_cache_key(const struct strbuf *module, const char *const flags[],
                      char ret[NEURON_KEY_MAX])
{
	AUTO(strbuf) struct strbuf text = {0};
	char of_module[SHA256_HEX_MAX], of_flags[SHA256_HEX_MAX];

	flags_text(flags, &text);
	digest(module->ptr, module->len, of_module);
	digest(text.ptr, text.len, of_flags);
	snprintf(ret, NEURON_KEY_MAX, "MODULE_%.*s+%.*s", MODULE_DIGITS, of_module, FLAGS_DIGITS,
	         of_flags);
}

/* CACHE/FOLDER/KEY/FILE */
static int path_of(char out[PATH_MAX], const char *folder, const char *file, struct err *err)
{
	return fs_join(out, folder, file, err);
}

static bool is_whole(const char *folder)
{
	char done[PATH_MAX];
	struct err ignored = {0};

	return path_of(done, folder, "model.done", &ignored) == 0 && fs_exists(done);
}

/* The newest of two compilers' folders. */
static void prefer(char best[NAME_MAX + 1], const char *name)
{
	if (best[0] == '\0' || strverscmp(name, best) > 0)
		snprintf(best, NAME_MAX + 1, "%s", name);
}

/* The compiler's folder that has a whole entry, "" when none has. */
static void find_version(const char *cache, const char *key, char ret[NAME_MAX + 1])
{
	DIR *dir = opendir(cache);
	struct dirent *one;

	ret[0] = '\0';
	while (dir != NULL && (one = readdir(dir)) != NULL) {
		char folder[PATH_MAX];
		int n = snprintf(folder, sizeof(folder), "%s/%s/%s", cache, one->d_name, key);

		if (strncmp(one->d_name, COMPILER_FOLDER, strlen(COMPILER_FOLDER)) == 0 &&
		    n < (int)sizeof(folder) && is_whole(folder))
			prefer(ret, one->d_name);
	}
	if (dir != NULL)
		closedir(dir);
}

int neuron_cache_find(const char *cache, const char *key, char ret_neff[PATH_MAX], struct err *err)
{
	char version[NAME_MAX + 1], path[PATH_MAX];
	struct neff ignored;

	find_version(cache, key, version);
	if (version[0] == '\0') {
		err_set(err, ERR_NOT_FOUND, "%s holds no compiled %s", cache, key);
		return err_hint(err,
		                "Compile it first, where neuronx-cc is: slipway-trainer compile "
		                "--cache_dir %.200s and the words of this run.",
		                cache);
	}
	if (snprintf(path, sizeof(path), "%s/%s/%s/model.neff", cache, version, key) >=
	    (int)sizeof(path))
		return err_set(err, ERR_LIMIT, "the path of %s is too long", key);
	if (neff_check(path, &ignored, err) != 0)
		return -1;
	memcpy(ret_neff, path, PATH_MAX);
	return 0;
}

/* Polls, since a signal must end the waiting. */
static int take_lock(const char *path, void (*wait)(void *ctx), void *ctx, int *ret,
                     struct err *err)
{
	const struct timespec pause = {.tv_nsec = 200 * 1000 * 1000};

	while (fs_lock(path, FS_LOCK_TRY_EXCLUSIVE, ret, err) != 0) {
		if (err->code != ERR_CONFLICT)
			return -1;
		*err = (struct err){0};
		if (wait != NULL)
			wait(ctx);
		wait = NULL;
		nanosleep(&pause, NULL);
		if (interrupt_check(err) != 0)
			return -1;
	}
	return 0;
}

static bool has_file(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	return path_of(path, folder, name, &ignored) == 0 && fs_exists(path);
}

int neuron_entry_open(const char *cache, const char *version, const char *key,
                      void (*wait)(void *ctx), void *ctx, struct neuron_entry *ret, struct err *err)
{
	char folder[PATH_MAX], lock[PATH_MAX], name[NAME_MAX + 1];

	*ret = (struct neuron_entry){.lock = -1};
	snprintf(name, sizeof(name), COMPILER_FOLDER "%.200s", version);
	if (path_of(folder, cache, name, err) != 0 || fs_mkdirs(folder, err) != 0 ||
	    path_of(ret->folder, folder, key, err) != 0)
		return -1;
	if (snprintf(lock, sizeof(lock), "%s.lock", ret->folder) >= (int)sizeof(lock) ||
	    snprintf(ret->work, sizeof(ret->work), "%s.work", ret->folder) >=
	            (int)sizeof(ret->work))
		return err_set(err, ERR_LIMIT, "the path of %s is too long", key);
	if (take_lock(lock, wait, ctx, &ret->lock, err) != 0)
		return -1;
	ret->there = is_whole(ret->folder);
	ret->failed = !ret->there && has_file(ret->folder, "model.log");
	return 0;
}

static int put(const struct neuron_entry *e, const char *name, const void *bytes, size_t n,
               struct err *err)
{
	char path[PATH_MAX];

	return path_of(path, e->work, name, err) == 0 ? fs_write_file(path, bytes, n, 0644, err)
	                                              : -1;
}

int neuron_entry_begin(struct neuron_entry *e, const struct strbuf *module,
                       const char *const flags[], struct err *err)
{
	AUTO(strbuf) struct strbuf text = {0};

	flags_text(flags, &text);
	/* what a compiler left that was killed */
	if (fs_remove_tree(e->work, err) != 0 || fs_mkdirs(e->work, err) != 0 ||
	    put(e, "model.hlo_module.pb", module->ptr, module->len, err) != 0 ||
	    put(e, "compile_flags.json", text.ptr, text.len, err) != 0)
		return -1;
	return 0;
}

/* Its bytes, on disk before the name that says they are whole. */
static int flush_file(const char *folder, const char *name, struct err *err)
{
	char path[PATH_MAX];
	AUTO_CLOSE int fd = -1;

	if (path_of(path, folder, name, err) != 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) != 0)
		return err_set(err, ERR_IO, "flush '%s'", path);
	return 0;
}

static int check_result(const struct neuron_entry *e, struct err *err)
{
	char path[PATH_MAX];
	struct neff ignored;

	if (path_of(path, e->work, "model.neff", err) != 0 ||
	    neff_check(path, &ignored, err) != 0 || flush_file(e->work, "model.neff", err) != 0 ||
	    put(e, "model.done", "", 0, err) != 0)
		return -1;
	return 0;
}

int neuron_entry_commit(struct neuron_entry *e, bool failed, struct err *err)
{
	if (!failed && check_result(e, err) != 0)
		return -1;
	if (fs_remove_tree(e->folder, err) != 0)
		return -1;
	if (rename(e->work, e->folder) != 0)
		return err_set(err, ERR_IO, "rename '%s'", e->work);
	e->work[0] = '\0';
	return 0;
}

void neuron_entry_done(struct neuron_entry *e)
{
	struct err ignored = {0};

	if (e->lock >= 0 && e->work[0] != '\0')
		(void)!fs_remove_tree(e->work, &ignored);
	attr_close_fd(&e->lock);
}
