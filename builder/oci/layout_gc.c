/*
 * Garbage collection: mark everything index.json reaches, then sweep blobs/sha256. Documents that are
 * missing or broken reach nothing; they are kept themselves as long as something names them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "builder/oci/layout_internal.h"

enum {
	GC_DEPTH_MAX = 8,          /* nested indexes */
	GC_MARKS_MAX = 1 << 20,    /* a hostile layout must not take all memory */
	GC_TEMP_AGE_S = 60 * 60    /* a temporary file this old has no owner */
};

struct marks {
	struct layout *layout;
	struct store *store;
	VEC(struct digest) seen;
};

static bool marked(const struct marks *m, const struct digest *d)
{
	for (size_t i = 0; i < m->seen.n; i++)
		if (digest_equal(&m->seen.at[i], d))
			return true;
	return false;
}

static void mark_document(struct marks *m, const struct descriptor *desc, int depth);

static void mark_list(struct marks *m, const struct descriptor *list, size_t n, int depth)
{
	for (size_t i = 0; i < n; i++)
		mark_document(m, &list[i], depth + 1);
}

/* Marks a descriptor and, when it is a manifest or an index we can read, what it names. */
static void mark_document(struct marks *m, const struct descriptor *desc, int depth)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	AUTO(arena) struct arena a = {0};
	struct manifest manifest;
	struct index index;
	struct err ignored = {0};

	if (depth > GC_DEPTH_MAX || m->seen.n >= GC_MARKS_MAX || marked(m, &desc->digest))
		return;
	vec_push(&m->seen, desc->digest);
	if (!media_is_index(desc->media_type) && !media_is_manifest(desc->media_type))
		return;
	if (store_read(m->store, desc, MANIFEST_BYTES_MAX, &text, &ignored) != 0)
		return;
	if (media_is_index(desc->media_type)) {
		if (index_parse(text.ptr, text.len, desc->media_type, &a, &index, &ignored) == 0)
			mark_list(m, index.manifests, index.n_manifests, depth);
		return;
	}
	if (manifest_parse(text.ptr, text.len, desc->media_type, &a, &manifest, &ignored) != 0)
		return;
	mark_document(m, &manifest.config, depth + 1);
	mark_list(m, manifest.layers, manifest.n_layers, depth);
}

static bool is_garbage(const struct marks *m, const char *name, const struct stat *st)
{
	char text[DIGEST_TEXT_MAX];
	struct digest d;
	struct err ignored = {0};

	if (!S_ISREG(st->st_mode))
		return false;
	if (strncmp(name, ".tmp-", 5) == 0)
		return time(NULL) - st->st_mtime > GC_TEMP_AGE_S;
	if (strlen(name) != 2 * DIGEST_BYTES)
		return false;
	snprintf(text, sizeof(text), "sha256:%s", name);
	return digest_parse(text, &d, &ignored) == 0 && !marked(m, &d);
}

static int sweep(const struct marks *m, struct layout_gc_result *result, struct err *err)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int status = 0;

	if (fs_join(path, m->layout->path, "blobs/sha256", err) != 0)
		return -1;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return err_set(err, ERR_IO, "open folder '%s'", path);
	while (status == 0 && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !is_garbage(m, entry->d_name, &st))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) != 0 && errno != ENOENT)
			status = err_set(err, ERR_IO, "remove '%s/%s'", path, entry->d_name);
		result->n_removed++;
		result->bytes_removed += st.st_size;
	}
	closedir(dir);
	return status;
}

static int mark_and_sweep(struct layout *l, struct layout_gc_result *result, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct marks m = {.layout = l};
	struct index index;

	if (layout_index(l, &a, &index, err) != 0)
		return -1;
	m.store = layout_store(l);
	mark_list(&m, index.manifests, index.n_manifests, 0);
	/* A walk that hit a cap has not seen everything: removing on its word would lose data. */
	int status = m.seen.n >= GC_MARKS_MAX ? 0 : sweep(&m, result, err);

	store_close(m.store);
	vec_done(&m.seen);
	return status;
}

int layout_gc(struct layout *l, struct layout_gc_result *ret_result, struct err *err)
{
	struct layout_gc_result result = {0};

	/* Converting our shared lock: fails at once while any other writer holds its own. */
	if (flock(l->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		if (flock(l->lock_fd, LOCK_SH) != 0)
			return err_set(err, ERR_IO, "lock '%s'", l->path);
		*ret_result = (struct layout_gc_result){.skipped = true};
		return 0;
	}
	int status = mark_and_sweep(l, &result, err);

	if (flock(l->lock_fd, LOCK_SH) != 0)
		return err_set(err, ERR_IO, "lock '%s'", l->path);
	if (status != 0)
		return err_wrap(err, "collect garbage in '%s'", l->path);
	*ret_result = result;
	return 0;
}
