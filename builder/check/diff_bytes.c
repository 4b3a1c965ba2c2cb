/*
 * The first byte that differs of two documents or two layers, and what it belongs to. Layers are
 * compared as tars; where these are equal, as compressed bytes.
 */
#include <string.h>

#include "base/interrupt.h"
#include "builder/check/diff_internal.h"
#include "builder/layer/tar/tar_read.h"
#include "builder/oci/decompress.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/weighed.h"

enum { CHUNK_BYTES = 64 << 10, TAR_RECORD = 512, NO_BYTE = -1 };

/* Where two streams part; a or b is NO_BYTE where that side has ended. */
struct parting {
	bool differs;
	int64_t offset;
	int a, b;
};

static void add_byte(cJSON *item, const char *key, int byte)
{
	if (byte != NO_BYTE)
		json_add_int(item, key, byte);
}

static void add_bytes(cJSON *item, int64_t offset, const struct parting *p)
{
	json_add_int(item, "offset", offset);
	add_byte(item, "a", p->a);
	add_byte(item, "b", p->b);
}

static struct parting compare(const unsigned char *a, size_t n_a, const unsigned char *b,
                              size_t n_b)
{
	size_t n = n_a < n_b ? n_a : n_b, i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return (struct parting){.differs = i < n_a || i < n_b,
	                        .offset = (int64_t)i,
	                        .a = i < n_a ? a[i] : NO_BYTE,
	                        .b = i < n_b ? b[i] : NO_BYTE};
}

/* ---- documents ---- */

int diff_document_bytes(struct diff_run *run, const char *what, const struct diff_blob *a,
                        const struct diff_blob *b, size_t max, struct err *err)
{
	AUTO(strbuf) struct strbuf x = STRBUF_INIT(max);
	AUTO(strbuf) struct strbuf y = STRBUF_INIT(max);

	if (digest_equal(&a->desc->digest, &b->desc->digest))
		return 0;
	if (store_read(a->store, a->desc, max, &x, err) != 0 ||
	    store_read(b->store, b->desc, max, &y, err) != 0)
		return err_wrap(err, "%s", what);
	const struct parting p =
		compare((const unsigned char *)x.ptr, x.len, (const unsigned char *)y.ptr, y.len);
	cJSON *item = cJSON_CreateObject();

	json_add_string(item, "what", what);
	add_bytes(item, p.offset, &p);
	json_push(run->documents, item);
	return 0;
}

/* ---- streams ---- */

/* Reads until the buffer is full or the stream ends. */
static int fill(struct source *s, unsigned char *buf, size_t *ret_n, struct err *err)
{
	size_t n = 0, got = 1;

	while (n < CHUNK_BYTES && got > 0) {
		if (source_read(s, buf + n, CHUNK_BYTES - n, &got, err) != 0)
			return -1;
		n += got;
	}
	*ret_n = n;
	return 0;
}

static int part_chunks(struct budget *budget, struct source *const s[2],
                       unsigned char *const buf[2], struct parting *p, struct err *err)
{
	size_t n[2] = {1, 1};
	int64_t before = 0;

	while (!p->differs && n[0] > 0) {
		if (interrupt_check(err) != 0 || fill(s[0], buf[0], &n[0], err) != 0 ||
		    fill(s[1], buf[1], &n[1], err) != 0)
			return -1;
		budget_spend(budget, BUDGET_UNPACKED, (int64_t)(n[0] + n[1]));
		if (budget_check(budget, err) != 0)
			return -1;
		*p = compare(buf[0], n[0], buf[1], n[1]);
		p->offset += before;
		before += (int64_t)n[0];
	}
	return 0;
}

static int part(struct budget *budget, struct source *const s[2], struct parting *ret_parting,
                struct err *err)
{
	AUTO_FREE unsigned char *x = mem_calloc(1, CHUNK_BYTES);
	AUTO_FREE unsigned char *y = mem_calloc(1, CHUNK_BYTES);
	unsigned char *const buf[2] = {x, y};
	struct parting p = {0};

	if (part_chunks(budget, s, buf, &p, err) != 0)
		return -1;
	*ret_parting = p;
	return 0;
}

/* A layer's tar. Two of these are read in turn by one thread, which would wait for ever for a
 * window that the other one holds: their windows are not held. */
static int open_tar(struct budget *budget, const struct diff_blob *blob, struct source **ret_source,
                    struct err *err)
{
	enum compression compression;
	struct source *in = NULL;

	if (!media_layer_compression(blob->desc->media_type, &compression))
		return err_set(err, ERR_UNSUPPORTED, "unsupported layer media type '%.100s'",
		               blob->desc->media_type);
	if (store_open(blob->store, blob->desc, &in, err) != 0)
		return -1;
	*ret_source = source_decompress(source_weighed(in, budget), compression, NULL);
	return 0;
}

static int open_blob(struct budget *budget, const struct diff_blob *blob,
                     struct source **ret_source, struct err *err)
{
	struct source *in = NULL;

	if (store_open(blob->store, blob->desc, &in, err) != 0)
		return -1;
	*ret_source = source_weighed(in, budget);
	return 0;
}

typedef int open_stream(struct budget *budget, const struct diff_blob *blob,
                        struct source **ret_source, struct err *err);

static int part_blobs(struct budget *budget, const struct diff_blob *a, const struct diff_blob *b,
                      open_stream *open, struct parting *p, struct err *err)
{
	struct source *s[2] = {NULL, NULL};
	int result = open(budget, a, &s[0], err) != 0 || open(budget, b, &s[1], err) != 0 ||
	                             part(budget, s, p, err) != 0
	                     ? -1
	                     : 0;

	source_close(s[0]);
	source_close(s[1]);
	return result;
}

/* ---- whose byte it is ---- */

/* How far a tar was read: its reader takes records and content as they come, and none ahead. */
struct tar_position {
	struct source source;
	struct source *in;
	int64_t bytes;
};

static int counted_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct tar_position *c = (struct tar_position *)s;

	if (source_read(c->in, buf, cap, ret_n, err) != 0)
		return -1;
	c->bytes += (int64_t)*ret_n;
	return 0;
}

struct byte_owner {
	const char *in;
	char path[TAR_PATH_MAX + 1];
	int64_t offset;
};

static void set_owner(struct byte_owner *o, const char *in, const char *path, int64_t offset)
{
	o->in = in;
	o->offset = offset;
	snprintf(o->path, sizeof(o->path), "%s", path);
}

/* Walks to the member that holds the byte. Damage before it was met by whoever read the layer's
 * files; a damaged header at the byte itself is that header's. */
static void walk_to(struct tar_reader *tar, const struct tar_position *c, int64_t offset,
                    struct byte_owner *o)
{
	struct member m;
	struct err ignored = {0};
	bool more = true;
	int64_t end = 0, padded = 0;
	char last[TAR_PATH_MAX + 1] = "";

	while (tar_reader_next(tar, &m, &more, &ignored) == 0 && more) {
		int64_t start = c->bytes, stored = m.type == MEMBER_FILE ? m.size - m.holes : 0;

		if (offset < start) {
			if (offset >= padded)
				set_owner(o, "header", m.path, offset - padded);
			else
				set_owner(o, "padding", last, offset - end);
			return;
		}
		if (offset < start + stored) {
			set_owner(o, "content", m.path, offset - start);
			return;
		}
		end = start + stored;
		padded = (end + TAR_RECORD - 1) / TAR_RECORD * TAR_RECORD;
		snprintf(last, sizeof(last), "%s", m.path);
	}
	if (offset < padded)
		set_owner(o, "padding", last, offset - end);
	else
		set_owner(o, more ? "header" : "end", "", offset - padded);
}

static int find_owner(struct budget *budget, const struct diff_blob *blob, int64_t offset,
                      struct byte_owner *o, struct err *err)
{
	struct tar_position c = {.source.read = counted_read};

	if (open_tar(budget, blob, &c.in, err) != 0)
		return -1;
	struct tar_reader *tar = tar_reader_new(&c.source);

	walk_to(tar, &c, offset, o);
	tar_reader_free(tar);
	source_close(c.in);
	return 0;
}

/* ---- layers ---- */

static void add_first(cJSON *item, const struct byte_owner *o, const struct parting *p, bool in_tar)
{
	cJSON *first = json_add_object(item, "first");

	json_add_string(first, "in", o->in);
	if (o->path[0] != '\0')
		json_add_string(first, "path", o->path);
	add_bytes(first, o->offset, p);
	if (in_tar)
		json_add_int(first, "tar_offset", p->offset);
}

int diff_layer_bytes(struct diff_run *run, const struct diff_blob *a, const struct diff_blob *b,
                     cJSON *item, struct err *err)
{
	struct byte_owner owner = {0};
	struct parting p = {0};

	if (part_blobs(run->budget, a, b, open_tar, &p, err) != 0)
		return -1;
	bool in_tar = p.differs;

	if (in_tar) {
		if (find_owner(run->budget, b, p.offset, &owner, err) != 0)
			return -1;
	} else {
		if (part_blobs(run->budget, a, b, open_blob, &p, err) != 0)
			return -1;
		set_owner(&owner, "compression", "", p.offset);
	}
	add_first(item, &owner, &p, in_tar);
	return 0;
}
