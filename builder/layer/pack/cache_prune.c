/*
 * Keeping the cache small: blobs by last use until they fit, records and left-over temporary files
 * by age. Another process may use the cache meanwhile: a blob that goes away under it is a miss.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/layer/pack/cache.h"
#include "builder/layer/pack/cache_dir.h"

enum {
	RECORD_DAYS = 60, /* a record not used for so long is dropped */
	TEMP_DAYS = 1,
	SECONDS_PER_DAY = 86400,
	NAME_LEN_MAX = 128 /* longer names are not ours */
};

struct cached {
	char name[NAME_LEN_MAX];
	int64_t size;
	struct timespec used;
};

struct listing {
	struct cached *at;
	size_t n, cap;
	int64_t bytes;
};

static void listing_done(struct listing *l)
{
	free(l->at);
}

static void close_dir(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

/* Lists the regular files of a folder. */
static int list_folder(const char *path, struct listing *l, struct err *err)
{
	__attribute__((cleanup(close_dir))) DIR *dir = opendir(path);
	struct dirent *d;

	if (dir == NULL)
		return err_set(err, ERR_IO, "read the build cache '%s'", path);
	while ((d = readdir(dir)) != NULL) {
		struct cached item = {0};
		struct stat st;

		if (strlen(d->d_name) >= sizeof(item.name) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		snprintf(item.name, sizeof(item.name), "%.127s", d->d_name);
		item.size = st.st_size;
		item.used = st.st_mtim;
		l->bytes += item.size;
		l->at = mem_vec_grow(l->at, l->n, &l->cap, sizeof(item));
		l->at[l->n++] = item;
	}
	return 0;
}

static int older_first(const void *a, const void *b)
{
	const struct cached *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int remove_item(const char *folder, const struct cached *item, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, folder, item->name, err) != 0)
		return -1;
	if (unlink(path) != 0 && errno != ENOENT)
		return err_set(err, ERR_IO, "remove '%s'", path);
	return 0;
}

static int prune_blobs(const char *folder, int64_t max_bytes, struct err *err)
{
	AUTO(listing) struct listing l = {0};

	if (list_folder(folder, &l, err) != 0)
		return -1;
	if (l.n > 1)
		qsort(l.at, l.n, sizeof(*l.at), older_first);
	for (size_t i = 0; i < l.n && l.bytes > max_bytes; i++) {
		if (remove_item(folder, &l.at[i], err) != 0)
			return -1;
		l.bytes -= l.at[i].size;
	}
	return 0;
}

static int prune_records(const char *folder, time_t now, struct err *err)
{
	AUTO(listing) struct listing l = {0};

	if (list_folder(folder, &l, err) != 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		int64_t days = l.at[i].name[0] == '.' ? TEMP_DAYS : RECORD_DAYS;

		if (now - l.at[i].used.tv_sec > days * SECONDS_PER_DAY &&
		    remove_item(folder, &l.at[i], err) != 0)
			return -1;
	}
	return 0;
}

int cache_prune(struct layer_cache *c, int64_t max_bytes, struct err *err)
{
	static const char *const folders[] = {"stat", "shape", "blob", "verdict"};
	char path[PATH_MAX];

	if (fs_join(path, cache_dir(c), CACHE_BLOBS, err) != 0 ||
	    prune_blobs(path, max_bytes, err) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		if (cache_path(path, cache_dir(c), CACHE_RECORDS, folders[i]) != 0)
			return err_set(err, ERR_LIMIT, "cache '%s': the path is too long",
			               cache_dir(c));
		if (prune_records(path, time(NULL), err) != 0)
			return -1;
	}
	return 0;
}
