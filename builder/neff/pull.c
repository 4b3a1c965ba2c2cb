/* Modules from an image into a cache folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "builder/neff/neff.h"

/* An entry on its way; see neff.h for the names. */
struct incoming {
	struct store *store;
	struct progress *progress;
	const struct neff_module *module;
	char folder[PATH_MAX], work[PATH_MAX], lock[PATH_MAX];
};

static int set_names(struct incoming *in, const char *dir, struct err *err)
{
	int work, lock;

	if (neff_path(in->folder, dir, in->module, NULL, err) != 0)
		return -1;
	work = snprintf(in->work, PATH_MAX, "%s.work", in->folder);
	lock = snprintf(in->lock, PATH_MAX, "%s.lock", in->folder);
	if (work >= PATH_MAX || lock >= PATH_MAX)
		return err_set(err, ERR_LIMIT, "the path of %s is too long", in->module->key);
	return 0;
}

static bool is_whole(const struct incoming *in)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	return fs_join(path, in->folder, "model.done", &ignored) == 0 && fs_exists(path);
}

/* Polls, since a signal must end the waiting: whoever holds it may be compiling. */
static int take_lock(const struct incoming *in, int *ret_fd, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 200 * 1000 * 1000};
	bool said = false;

	while (fs_lock(in->lock, FS_LOCK_TRY_EXCLUSIVE, ret_fd, err) != 0) {
		if (err->code != ERR_CONFLICT)
			return -1;
		*err = (struct err){0};
		if (!said)
			progress_note(in->progress, "waiting for who makes %s", in->module->key);
		said = true;
		nanosleep(&pause, NULL);
		if (interrupt_check(err) != 0)
			return -1;
	}
	return 0;
}

/* ---- a file ---- */

/* Has a run that was stopped left it whole? */
static bool is_there(const char *path, const struct descriptor *want)
{
	struct digest_sink sink;
	struct source *source;
	struct stat st;
	struct err ignored = {0};
	bool same = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return false;
	source = source_from_fd(fd);
	digest_sink_init(&sink, NULL);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == want->size &&
	    stream_copy(source, &sink.sink, NULL, &ignored) == 0) {
		const struct digest have = digest_sink_final(&sink);

		same = digest_equal(&have, &want->digest);
	}
	digest_sink_done(&sink);
	source_close(source);
	return same;
}

/* Passes on what it takes, and says how much. */
struct neff_counted {
	struct sink sink;
	struct fd_sink *file;
	struct progress *progress;
	unsigned task;
};

static int counted_write(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	struct neff_counted *c = (struct neff_counted *)s;

	if (interrupt_check(err) != 0 || sink_write(&c->file->sink, bytes, len, err) != 0)
		return -1;
	progress_advance(c->progress, c->task, (int64_t)len);
	return 0;
}

static int fetch(const struct incoming *in, const struct descriptor *desc, int fd, struct err *err)
{
	struct fd_sink file;
	struct neff_counted out = {
		.sink = {counted_write}, .file = &file, .progress = in->progress};
	struct source *source = NULL;
	char label[64], hex[DIGEST_HEX_MAX];
	int rc;

	if (store_open(in->store, desc, &source, err) != 0)
		return -1;
	fd_sink_init(&file, fd);
	snprintf(label, sizeof(label), "blob %.12s", digest_hex(&desc->digest, hex));
	out.task = progress_start(in->progress, label, desc->size);
	rc = stream_copy(source, &out.sink, NULL, err);
	source_close(source);
	progress_finish(in->progress, out.task, rc == 0 ? "done" : "failed");
	return rc;
}

static int get_file(const struct incoming *in, size_t kind, struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	const struct descriptor *desc = &in->module->files[kind];
	char path[PATH_MAX];

	if (desc->media_type == NULL)
		return 0;
	if (fs_join(path, in->work, neff_files[kind].name, err) != 0)
		return -1;
	if (is_there(path, desc))
		return 0;
	return fs_temp_open(&temp, in->work, err) != 0 || fetch(in, desc, temp.fd, err) != 0 ||
	                       fs_temp_commit(&temp, path, 0644, err) != 0
	               ? -1
	               : 0;
}

/* ---- an entry ---- */

static int write_done(const struct incoming *in, struct err *err)
{
	char path[PATH_MAX];

	return fs_join(path, in->work, "model.done", err) == 0
	               ? fs_write_file(path, "", 0, 0644, err)
	               : -1;
}

/* In place of what a failed compiler left there. */
static int commit(const struct incoming *in, struct err *err)
{
	if (write_done(in, err) != 0 || fs_remove_tree(in->folder, err) != 0)
		return -1;
	if (rename(in->work, in->folder) != 0)
		return err_set(err, ERR_IO, "rename '%s'", in->work);
	return 0;
}

static int pull_locked(const struct incoming *in, struct err *err)
{
	if (fs_mkdirs(in->work, err) != 0)
		return -1;
	for (size_t i = 0; i < NEFF_FILES; i++)
		if (get_file(in, i, err) != 0)
			return err_wrap(err, "%s", neff_files[i].name);
	return commit(in, err);
}

static int pull_module(struct incoming *in, const char *dir, bool *ret_moved, struct err *err)
{
	char parent[PATH_MAX];
	AUTO_CLOSE int lock = -1;

	if (set_names(in, dir, err) != 0)
		return -1;
	*ret_moved = false;
	if (is_whole(in))
		return 0;
	fs_parent(in->folder, parent);
	if (fs_mkdirs(parent, err) != 0 || take_lock(in, &lock, err) != 0)
		return -1;
	if (is_whole(in))
		return 0;
	*ret_moved = true;
	return pull_locked(in, err);
}

int neff_pull(struct store *store, const char *dir, struct neff_list *list,
              struct progress *progress, struct err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct incoming in = {.store = store, .progress = progress, .module = &list->at[i]};

		if (interrupt_check(err) != 0 ||
		    pull_module(&in, dir, &list->at[i].moved, err) != 0)
			return err_wrap(err, "module %s", list->at[i].key);
	}
	return 0;
}
