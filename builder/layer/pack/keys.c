/* See keys.h. */
#include "builder/layer/pack/keys.h"

#include "base/mem.h"
#include "builder/layer/pack/layer.h"

enum {
	CHUNK = 256 << 10,
	RACY_NS = 2000000000 /* the coarsest file times in use (FAT) have two seconds */
};

/* A compact serialisation, hashed in large pieces. */
struct writer {
	struct hasher hasher;
	unsigned char *buf; /* CHUNK bytes */
	size_t n;
};

static void writer_init(struct writer *w, const char *what)
{
	*w = (struct writer){.buf = mem_calloc(1, CHUNK)};
	hasher_init(&w->hasher);
	hasher_update(&w->hasher, what, strlen(what) + 1);
}

static void writer_done(struct writer *w)
{
	hasher_done(&w->hasher);
	free(w->buf);
}

static void writer_flush(struct writer *w)
{
	hasher_update(&w->hasher, w->buf, w->n);
	w->n = 0;
}

static void put_bytes(struct writer *w, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	if (len > CHUNK - w->n)
		writer_flush(w);
	if (len > CHUNK) {
		hasher_update(&w->hasher, bytes, len);
		return;
	}
	memcpy(w->buf + w->n, bytes, len);
	w->n += len;
}

static void put_int(struct writer *w, uint64_t value)
{
	unsigned char le[8];

	for (unsigned i = 0; i < sizeof(le); i++, value >>= 8)
		le[i] = (unsigned char)value;
	put_bytes(w, le, sizeof(le));
}

/* NULL is a zero byte, a string a one, its bytes and a NUL: no two serialisations are equal. */
static void put_text(struct writer *w, const char *text)
{
	put_bytes(w, text == NULL ? "\0" : "\1", 1);
	if (text != NULL)
		put_bytes(w, text, strlen(text) + 1);
}

static struct digest writer_final(struct writer *w)
{
	writer_flush(w);
	return hasher_final(&w->hasher);
}

static int put_spooled(struct writer *w, const struct tree *t, const struct entry *e,
                       struct err *err)
{
	for (int64_t done = 0; done < e->size;) {
		size_t want = e->size - done < CHUNK ? (size_t)(e->size - done) : CHUNK;
		ssize_t n;

		writer_flush(w);
		n = pread(t->spool_fd, w->buf, want, e->offset + done);
		if (n <= 0)
			return err_set(err, ERR_IO, "read spooled '%s'", e->path);
		w->n = (size_t)n;
		done += n;
	}
	return 0;
}

static bool racy(const struct entry_stamp *s, int64_t now_ns)
{
	return s->mtime_ns > now_ns - RACY_NS || s->ctime_ns > now_ns - RACY_NS;
}

static int put_content(struct writer *w, const struct tree *t, const struct entry *e,
                       int64_t now_ns, bool *usable, struct err *err)
{
	if (e->type != ENTRY_FILE || e->content == CONTENT_NONE)
		return 0;
	if (e->content == CONTENT_BYTES) {
		put_bytes(w, e->bytes, (size_t)e->size);
		return 0;
	}
	if (e->content == CONTENT_SPOOL)
		return put_spooled(w, t, e, err);
	if (e->stamp.ino == 0 || racy(&e->stamp, now_ns))
		*usable = false;
	put_int(w, e->stamp.dev);
	put_int(w, e->stamp.ino);
	put_int(w, (uint64_t)e->stamp.mtime_ns);
	put_int(w, (uint64_t)e->stamp.ctime_ns);
	return 0;
}

static void put_header(struct writer *w, const struct entry *e)
{
	put_text(w, e->path);
	put_text(w, e->link);
	put_int(w, (uint64_t)e->type << 48 | (uint64_t)e->content << 32 | e->mode);
	put_int(w, (uint64_t)e->uid << 32 | e->gid);
	put_int(w, (uint64_t)e->mtime);
	put_int(w, (uint64_t)e->size);
	put_int(w, e->n_xattrs);
	for (size_t i = 0; i < e->n_xattrs; i++) {
		put_text(w, e->xattrs[i].name);
		put_int(w, e->xattrs[i].len);
		put_bytes(w, e->xattrs[i].value, e->xattrs[i].len);
	}
}

int keys_stat(const struct tree *t, int64_t now_ns, struct digest *ret_key, bool *ret_usable,
              struct err *err)
{
	struct writer w;
	bool usable = true;
	int rc = 0;

	writer_init(&w, "slipway stat key");
	put_int(&w, LAYER_FORMAT_VERSION);
	for (size_t i = 0; i < t->n && rc == 0; i++) {
		put_header(&w, &t->at[i]);
		rc = put_content(&w, t, &t->at[i], now_ns, &usable, err);
	}
	if (rc == 0) {
		*ret_key = writer_final(&w);
		*ret_usable = usable;
	}
	writer_done(&w);
	return rc;
}

struct digest keys_shape(const struct tree *t)
{
	struct writer w;
	struct digest key;

	writer_init(&w, "slipway shape key");
	put_int(&w, LAYER_FORMAT_VERSION);
	for (size_t i = 0; i < t->n; i++) {
		put_text(&w, t->at[i].path);
		put_int(&w, (uint64_t)t->at[i].type);
		put_int(&w, (uint64_t)t->at[i].size);
	}
	key = writer_final(&w);
	writer_done(&w);
	return key;
}
