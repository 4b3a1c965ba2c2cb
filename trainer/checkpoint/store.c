#include "trainer/checkpoint/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "base/text.h"
#include "trainer/checkpoint/manifest.h"

static const char temp_prefix[] = ".tmp-", step_prefix[] = "step-";
static const char *const names[] = {"latest", "best"};

enum { NAME_MAX_HERE = 64 };

struct steps {
	uint64_t *at; /* ascending */
	size_t n, cap;
};

static void steps_done(struct steps *s)
{
	vec_done(s);
}

static int compare_steps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The step of a folder name "step-00000200"; false for other names. */
static bool parse_step(const char *name, uint64_t *ret)
{
	int64_t step;
	size_t skip = sizeof(step_prefix) - 1;

	if (!text_has_prefix(name, step_prefix) || strlen(name) != skip + 8 ||
	    !text_int64(name + skip, 8, &step) || step < 0)
		return false;
	*ret = (uint64_t)step;
	return true;
}

static int list_steps(const char *folder, struct steps *ret, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	uint64_t step;

	if (dir == NULL)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s'", folder);
	while ((e = readdir(dir)) != NULL)
		if (parse_step(e->d_name, &step))
			vec_push(ret, step);
	closedir(dir);
	if (ret->n > 0)
		qsort(ret->at, ret->n, sizeof(*ret->at), compare_steps);
	return 0;
}

static int step_path(char out[PATH_MAX], const char *folder, const char *prefix, uint64_t step,
                     struct err *err)
{
	char name[NAME_MAX_HERE];

	snprintf(name, sizeof(name), "%s%s%08llu", prefix, step_prefix, (unsigned long long)step);
	return fs_join(out, folder, name, err);
}

static int sync_folder(const char *path, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		return err_set(err, ERR_IO, "sync folder '%s'", path);
	return 0;
}

/* What a crash left half written: .tmp-*. */
static int sweep(const char *folder, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	char path[PATH_MAX];
	int rc = 0;

	if (dir == NULL)
		return err_set(err, ERR_IO, "open '%s'", folder);
	while (rc == 0 && (e = readdir(dir)) != NULL)
		if (text_has_prefix(e->d_name, temp_prefix)) {
			rc = fs_join(path, folder, e->d_name, err);
			if (rc == 0)
				rc = fs_remove_tree(path, err);
		}
	closedir(dir);
	return rc;
}

int store_lock(const char *folder, int *ret_fd, struct err *err)
{
	char path[PATH_MAX];
	AUTO_CLOSE int fd = -1;

	if (fs_mkdirs(folder, err) != 0 || fs_join(path, folder, "lock", err) != 0)
		return -1;
	if (fs_lock(path, FS_LOCK_TRY_EXCLUSIVE, &fd, err) != 0) {
		if (err->code != ERR_CONFLICT)
			return -1;
		err_set(err, ERR_CONFLICT, "another trainer is writing to '%s'", folder);
		return err_hint(err, "Wait for it, or give another --output_dir.");
	}
	if (sweep(folder, err) != 0)
		return -1;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/*
 * Puts temp in final's place. A checkpoint of the same step changes places with it at one stroke
 * and is removed under the temporary name; where the file system cannot do that, it is moved away
 * first.
 */
static int put_in_place(const char *folder, const char *temp, const char *final, struct err *err)
{
	char old[PATH_MAX] = "";
	bool swapped = renameat2(AT_FDCWD, temp, AT_FDCWD, final, RENAME_EXCHANGE) == 0;

	if (!swapped && errno != ENOENT) {
		if (fs_join(old, folder, ".tmp-replaced", err) != 0 ||
		    fs_remove_tree(old, err) != 0)
			return -1;
		if (rename(final, old) != 0 && errno != ENOENT)
			return err_set(err, ERR_IO, "rename '%s'", final);
	}
	if (swapped)
		snprintf(old, sizeof(old), "%s", temp);
	else if (rename(temp, final) != 0)
		return err_set(err, ERR_IO, "rename '%s' to '%s'", temp, final);
	if (sync_folder(folder, err) != 0)
		return -1;
	return old[0] != '\0' ? fs_remove_tree(old, err) : 0;
}

/* OUT/latest or OUT/best. */
static int write_name(const char *folder, const char *name, const char *final, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PATH_MAX);
	char path[PATH_MAX];

	strbuf_addf(&text, "%s\n", strrchr(final, '/') + 1);
	if (fs_join(path, folder, name, err) != 0)
		return -1;
	return fs_write_file(path, strbuf_str(&text), text.len, 0644, err);
}

int store_name_best(const char *folder, uint64_t step, bool *ret_there, struct err *err)
{
	char final[PATH_MAX], path[PATH_MAX];

	if (step_path(final, folder, "", step, err) != 0)
		return -1;
	*ret_there = fs_exists(final);
	if (*ret_there)
		return write_name(folder, "best", final, err);
	if (fs_join(path, folder, "best", err) != 0)
		return -1;
	return fs_remove_tree(path, err);
}

/* Renamed away first, so that a crash in the removal leaves no half checkpoint under its name. */
static int remove_step(const char *folder, uint64_t step, struct err *err)
{
	char path[PATH_MAX], temp[PATH_MAX];

	if (step_path(path, folder, "", step, err) != 0 ||
	    step_path(temp, folder, temp_prefix, step, err) != 0 || fs_remove_tree(temp, err) != 0)
		return -1;
	if (rename(path, temp) != 0)
		return err_set(err, ERR_IO, "rename '%s'", path);
	return fs_remove_tree(temp, err);
}

/* Whose manifest cannot be read is nobody's. */
static bool is_of_run(const char *folder, uint64_t step, const char *run)
{
	char path[PATH_MAX], writer[MANIFEST_RUN_MAX];
	struct err ignored = {0};

	return step_path(path, folder, "", step, &ignored) == 0 &&
	       manifest_run(path, writer, &ignored) == 0 && strcmp(writer, run) == 0;
}

/* Does OUT/latest or OUT/best name it? */
static bool is_named(const char *folder, uint64_t step)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
		char path[PATH_MAX], name[NAME_MAX_HERE];
		struct err ignored = {0};

		snprintf(name, sizeof(name), "%s%08llu\n", step_prefix, (unsigned long long)step);
		if (fs_join(path, folder, names[i], &ignored) == 0 &&
		    slurp_file(path, NAME_MAX_HERE, &text, &ignored) == 0 &&
		    strcmp(strbuf_str(&text), name) == 0)
			return true;
	}
	return false;
}

static int list_of_run(const char *folder, const char *run, struct steps *ret, struct err *err)
{
	AUTO(steps) struct steps all = {0};

	if (list_steps(folder, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (is_of_run(folder, all.at[i], run))
			vec_push(ret, all.at[i]);
	return 0;
}

static int prune(const char *folder, const char *run, uint64_t saved, const struct store_keep *keep,
                 struct err *err)
{
	AUTO(steps) struct steps own = {0};

	if (keep->keep == 0)
		return 0;
	if (list_of_run(folder, run, &own, err) != 0)
		return -1;
	for (size_t i = 0; i + keep->keep < own.n; i++) {
		if (own.at[i] == saved || is_named(folder, own.at[i]) ||
		    (keep->keep_every > 0 && own.at[i] % keep->keep_every == 0))
			continue;
		if (remove_step(folder, own.at[i], err) != 0)
			return -1;
	}
	return 0;
}

int store_is_used(const char *folder, bool *ret, struct err *err)
{
	AUTO(steps) struct steps steps = {0};
	struct err why = {0};

	if (list_steps(folder, &steps, &why) != 0 && why.code != ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	*ret = steps.n > 0;
	return 0;
}

int store_clear(const char *folder, const char *run, struct err *err)
{
	AUTO(steps) struct steps all = {0};
	char path[PATH_MAX];

	if (list_steps(folder, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (fs_join(path, folder, names[i], err) != 0 || fs_remove_tree(path, err) != 0)
			return -1;
	for (size_t i = 0; i < all.n; i++)
		if (!is_of_run(folder, all.at[i], run) && remove_step(folder, all.at[i], err) != 0)
			return -1;
	return 0;
}

static int write_temp(const char *temp, const char *run, uint64_t step,
                      const struct store_writer *w, struct err *err)
{
	if (fs_remove_tree(temp, err) != 0)
		return -1;
	if (mkdir(temp, 0777) != 0)
		return err_set(err, ERR_IO, "make folder '%s'", temp);
	if (w->write(w->ctx, temp, err) != 0 || manifest_write(temp, run, step, err) != 0)
		return -1;
	return sync_folder(temp, err);
}

int store_commit(const char *folder, const char *run, uint64_t step, const struct store_writer *w,
                 const struct store_keep *keep, struct err *err)
{
	char temp[PATH_MAX], final[PATH_MAX];
	struct err ignored = {0};

	if (step > STORE_STEP_MAX)
		return err_set(err, ERR_LIMIT,
		               "step %llu is larger than a checkpoint's name can hold",
		               (unsigned long long)step);
	if (step_path(temp, folder, temp_prefix, step, err) != 0 ||
	    step_path(final, folder, "", step, err) != 0)
		return -1;
	if (write_temp(temp, run, step, w, err) != 0 ||
	    put_in_place(folder, temp, final, err) != 0) {
		/* The room it took is what a full disk needs back. */
		if (fs_remove_tree(temp, &ignored) != 0)
			ignored.code = ERR_NONE;
		err_wrap(err, "save checkpoint %llu in '%s'", (unsigned long long)step, folder);
		return err_hint(err, "Earlier checkpoints are intact; free some space and resume.");
	}
	if (write_name(folder, "latest", final, err) != 0 ||
	    (keep->best && write_name(folder, "best", final, err) != 0))
		return -1;
	return prune(folder, run, step, keep, err);
}

int store_verify(const char *checkpoint, struct err *err)
{
	if (manifest_verify(checkpoint, err) == 0)
		return 0;
	/* Its run removes its older ones. */
	if (!fs_exists(checkpoint))
		return err_set(err, ERR_NOT_FOUND,
		               "checkpoint '%s' is not there, or was removed while it was read",
		               checkpoint);
	return err_wrap(err, "checkpoint '%s'", checkpoint);
}

int store_verify_ours(const char *path, bool *ret_verified, struct err *err)
{
	char manifest[PATH_MAX];

	if (fs_join(manifest, path, "manifest.json", err) != 0)
		return -1;
	*ret_verified = fs_exists(manifest);
	return *ret_verified ? store_verify(path, err) : 0;
}

/* A checkpoint that another run says it wrote. */
static bool is_foreign(const char *path, const char *run)
{
	char writer[MANIFEST_RUN_MAX];
	struct err ignored = {0};

	return run != NULL && manifest_run(path, writer, &ignored) == 0 && strcmp(writer, run) != 0;
}

int store_newest(const char *folder, const char *run, char ret_path[PATH_MAX], uint64_t *ret_step,
                 struct strbuf *remarks, struct err *err)
{
	AUTO(steps) struct steps steps = {0};
	char path[PATH_MAX];

	if (list_steps(folder, &steps, err) != 0)
		return -1;
	for (size_t i = steps.n; i-- > 0;) {
		struct err why = {0};

		if (step_path(path, folder, "", steps.at[i], err) != 0)
			return -1;
		if (is_foreign(path, run))
			continue;
		if (store_verify(path, &why) == 0) {
			memcpy(ret_path, path, sizeof(path));
			*ret_step = steps.at[i];
			return 0;
		}
		strbuf_addf(remarks, "skipped: %s\n", why.msg);
	}
	return err_set(err, ERR_NOT_FOUND, "no whole checkpoint in '%s'", folder);
}

/* ---- for readers ---- */

void store_named(const char *folder, const char *which, char ret[STORE_NAME_MAX])
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct err ignored = {0};
	char path[PATH_MAX];
	uint64_t step;

	ret[0] = '\0';
	if (fs_join(path, folder, which, &ignored) != 0 ||
	    slurp_file(path, STORE_NAME_MAX - 1, &text, &ignored) != 0)
		return;
	snprintf(ret, STORE_NAME_MAX, "%.*s", (int)strcspn(strbuf_str(&text), "\n"),
	         strbuf_str(&text));
	if (!parse_step(ret, &step))
		ret[0] = '\0';
}

int store_name_latest(const char *folder, const char *checkpoint, struct err *err)
{
	char name[STORE_NAME_MAX];

	store_named(folder, "latest", name);
	if (strcmp(name, strrchr(checkpoint, '/') + 1) == 0)
		return 0;
	return write_name(folder, "latest", checkpoint, err);
}

static int resolve_name(const char *folder, const char *which, char ret[PATH_MAX], struct err *err)
{
	char name[STORE_NAME_MAX];

	store_named(folder, which, name);
	if (name[0] == '\0')
		return err_set(err, ERR_FORMAT, "'%s/%s' does not name a checkpoint", folder,
		               which);
	return fs_join(ret, folder, name, err);
}

int store_find_named(const char *path, char ret[PATH_MAX], struct err *err)
{
	const char *slash = strrchr(path, '/'), *last = slash != NULL ? slash + 1 : path;
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - path) : 1,
	         slash != NULL ? path : ".");
	if ((strcmp(last, "latest") == 0 || strcmp(last, "best") == 0) && stat(path, &st) == 0 &&
	    S_ISREG(st.st_mode))
		return resolve_name(folder, last, ret, err);
	snprintf(ret, PATH_MAX, "%s", path);
	return 0;
}

int store_find(const char *path, char ret[PATH_MAX], struct err *err)
{
	char latest[PATH_MAX];

	if (fs_join(latest, path, "latest", err) != 0)
		return -1;
	if (fs_exists(latest))
		return resolve_name(path, "latest", ret, err);
	return store_find_named(path, ret, err);
}

int store_steps(const char *folder, uint64_t **ret, size_t *ret_n, struct err *err)
{
	struct steps steps = {0};

	if (list_steps(folder, &steps, err) != 0) {
		steps_done(&steps);
		return -1;
	}
	*ret = steps.at;
	*ret_n = steps.n;
	return 0;
}
