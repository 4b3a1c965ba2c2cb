/* See pack.h. */
#include "builder/layer/pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/timestamp.h"
#include "builder/layer/tar/tar.h"

enum {
	READ_MAX = 256 << 10, /* at a time: hashed while it is still in the processor's cache */
	HEADER_MAX = 4 << 20
};

struct packing {
	const struct tree *tree;
	struct tar_out *out;
	struct progress *progress;
	unsigned task;
	struct strbuf header; /* reused */
};

static const char *source_name(const struct entry *e)
{
	return e->source != NULL ? e->source : e->path;
}

static int changed(const struct entry *e, struct err *err)
{
	err_set(err, ERR_CONFLICT, "'%s' changed while it was being packed", source_name(e));
	return err_hint(err, "Build again when nothing writes to the source files.");
}

/* Reads up to cap bytes at `offset`; fewer only at the end of the file. */
static int read_some(int fd, unsigned char *at, size_t cap, int64_t offset, size_t *ret_n)
{
	ssize_t n = fs_pread(fd, at, cap, offset);

	if (n < 0)
		return -1;
	*ret_n = (size_t)n;
	return 0;
}

/* Exactly e->size bytes of fd from `offset` on. */
static int copy_content(struct packing *p, const struct entry *e, int fd, int64_t offset,
                        struct err *err)
{
	int64_t done = 0;

	while (done < e->size) {
		unsigned char *at;
		size_t n;

		if (interrupt_check(err) != 0 || p->out->room(p->out, &at, &n, err) != 0)
			return -1;
		n = n < READ_MAX ? n : READ_MAX;
		n = (int64_t)n < e->size - done ? n : (size_t)(e->size - done);
		if (read_some(fd, at, n, offset + done, &n) != 0)
			return err_set(err, ERR_IO, "read '%s'", source_name(e));
		if (n == 0)
			return changed(e, err);
		if (p->out->advance(p->out, n, err) != 0)
			return -1;
		progress_advance(p->progress, p->task, (int64_t)n);
		done += (int64_t)n;
	}
	return 0;
}

/* True while the open file is the one that the tree describes. */
static bool same_file(const struct entry *e, const struct stat *st)
{
	const struct entry_stamp *s = &e->stamp;

	if (!S_ISREG(st->st_mode) || st->st_size != e->size)
		return false;
	if (s->ino == 0)
		return true;
	return s->dev == st->st_dev && s->ino == st->st_ino &&
	       s->mtime_ns == timespec_ns(st->st_mtim);
}

static int check_file(const struct entry *e, int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set(err, ERR_IO, "read '%s'", e->source);
	return same_file(e, &st) ? 0 : changed(e, err);
}

static int copy_file(struct packing *p, const struct entry *e, struct err *err)
{
	/* Non-blocking, should a fifo have taken the file's place. */
	AUTO_CLOSE int fd = open(e->source, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_CONFLICT : ERR_IO, "open '%s': %s",
		               e->source, errno == ENOENT ? "it is gone" : "cannot be read");
	if (check_file(e, fd, err) != 0 || copy_content(p, e, fd, 0, err) != 0)
		return -1;
	return check_file(e, fd, err);
}

static int put_content(struct packing *p, const struct entry *e, struct err *err)
{
	static const char zeros[TAR_BLOCK] = {0};
	int rc = 0;

	switch (e->content) {
	case CONTENT_NONE:
		if (e->size != 0)
			BUG("'%s' has %lld bytes but no content", e->path, (long long)e->size);
		break;
	case CONTENT_PATH:
		rc = copy_file(p, e, err);
		break;
	case CONTENT_BYTES:
		rc = tar_out_write(p->out, e->bytes, (size_t)e->size, err);
		progress_advance(p->progress, p->task, e->size);
		break;
	case CONTENT_SPOOL:
		rc = copy_content(p, e, p->tree->spool_fd, e->offset, err);
		break;
	}
	if (rc != 0)
		return -1;
	return tar_out_write(p->out, zeros, tar_padding(e->size), err);
}

static int put_entry(struct packing *p, const struct entry *e, struct err *err)
{
	if (interrupt_check(err) != 0)
		return -1;
	strbuf_reset(&p->header);
	if (tar_header(e, &p->header, err) != 0 ||
	    tar_out_write(p->out, p->header.ptr, p->header.len, err) != 0)
		return -1;
	return e->type == ENTRY_FILE ? put_content(p, e, err) : 0;
}

static int put_all(struct packing *p, struct err *err)
{
	static const char end[TAR_END_BYTES] = {0};

	for (size_t i = 0; i < p->tree->n; i++)
		if (put_entry(p, &p->tree->at[i], err) != 0)
			return -1;
	return tar_out_write(p->out, end, sizeof(end), err);
}

int pack_tree(const struct tree *t, struct tar_out *out, struct progress *progress, unsigned task,
              struct err *err)
{
	struct packing p = {.tree = t,
	                    .out = out,
	                    .progress = progress,
	                    .task = task,
	                    .header = STRBUF_INIT(HEADER_MAX)};
	int rc = put_all(&p, err);

	strbuf_done(&p.header);
	return rc;
}
