/* See toc.h. Sections: time, one member, a tar, a tree. */
#include "builder/layer/ztoc/toc.h"

#include <string.h>
#include <time.h>

#include "builder/layer/tar/tar.h"
#include "builder/layer/tar/tar_raw.h"
#include "builder/layer/tar/tar_read.h"

enum {
	TIME_MAX = 48,
	NANO_DIGITS = 9,
	FILE_WEIGHT = 200, /* of a member's numbers and references */
	RECORD_WEIGHT = 40,
	HEADER_MAX = 4 << 20
};

/* A source that counts what is read from it. */
struct counted {
	struct source source;
	struct source *in;
	int64_t n;
};

static int counted_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct counted *c = (struct counted *)s;

	if (source_read(c->in, buf, cap, ret_n, err) != 0)
		return -1;
	c->n += (int64_t)*ret_n;
	return 0;
}

/* ---- time ---- */

static const struct ztoc_record *find_record(const struct ztoc_file *f, const char *key)
{
	for (size_t i = 0; i < f->n_records; i++)
		if (strcmp(f->records[i].key, key) == 0)
			return &f->records[i];
	return NULL;
}

/* ".5" of a record "12.50000", nanoseconds at most; "" for a whole second. */
static void fraction(const struct ztoc_record *mtime, char out[NANO_DIGITS + 2])
{
	const char *dot = mtime != NULL ? strchr(mtime->value, '.') : NULL;
	size_t n = dot != NULL ? strspn(dot + 1, "0123456789") : 0;

	n = n < NANO_DIGITS ? n : NANO_DIGITS;
	while (n > 0 && dot[n] == '0')
		n--;
	snprintf(out, NANO_DIGITS + 2, "%.*s", n > 0 ? (int)n + 1 : 0, n > 0 ? dot : "");
}

/* RFC 3339 knows the years 0 to 9999 only. A time before 1970 with a fraction keeps its seconds. */
static const char *time_text(struct arena *a, int64_t seconds, const struct ztoc_record *mtime)
{
	char text[TIME_MAX], nano[NANO_DIGITS + 2];
	time_t at = (time_t)seconds;
	struct tm tm;

	if (gmtime_r(&at, &tm) == NULL || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		return "";
	strftime(text, sizeof(text), "-%m-%dT%H:%M:%S", &tm);
	fraction(seconds < 0 ? NULL : mtime, nano);
	return arena_printf(a, "%04d%s%sZ", tm.tm_year + 1900, text, nano);
}

/* ---- one member ---- */

static const char *type_name(enum member_type type)
{
	static const char *const names[] = {
		[MEMBER_FILE] = "reg",        [MEMBER_DIR] = "dir",
		[MEMBER_SYMLINK] = "symlink", [MEMBER_HARDLINK] = "hardlink",
		[MEMBER_CHAR] = "char",       [MEMBER_BLOCK] = "block",
		[MEMBER_FIFO] = "fifo",       [MEMBER_OTHER] = NULL,
	};

	return names[type];
}

static int by_key(const void *a, const void *b)
{
	const struct ztoc_record *x = a, *y = b;
	int keys = strcmp(x->key, y->key);

	/* Of equal keys the one that came last counts; texts lie in the arena in their order. */
	return keys != 0 ? keys : (x->key < y->key) - (x->key > y->key);
}

/* Sorted by key, each once. */
static void sort_records(struct ztoc_file *f)
{
	size_t n = 0;

	if (f->n_records > 1)
		qsort(f->records, f->n_records, sizeof(*f->records), by_key);
	for (size_t i = 0; i < f->n_records; i++)
		if (n == 0 || strcmp(f->records[n - 1].key, f->records[i].key) != 0)
			f->records[n++] = f->records[i];
	f->n_records = n;
}

static int copy_records(struct ztoc *z, const struct tar_raw *raw, struct ztoc_file *f,
                        struct err *err)
{
	/* One piece of memory for all texts, so that their order is that of the records. */
	size_t room = 0;

	for (size_t i = 0; i < raw->n_records; i++)
		room += strlen(raw->records[i].key) + raw->records[i].value_len + 2;
	if (ztoc_weigh(z, room + raw->n_records * RECORD_WEIGHT, err) != 0)
		return -1;
	char *at = arena_alloc(&z->arena, room + 1);

	f->records = arena_calloc(&z->arena, raw->n_records, sizeof(*f->records));
	f->n_records = raw->n_records;
	for (size_t i = 0; i < raw->n_records; i++) {
		const struct tar_pax_record *r = &raw->records[i];
		size_t key = strlen(r->key) + 1;

		memcpy(at, r->key, key);
		memcpy(at + key, r->value, r->value_len + 1);
		f->records[i] = (struct ztoc_record){at, at + key, r->value_len};
		at += key + r->value_len + 1;
	}
	sort_records(f);
	return 0;
}

static int check_kind(const struct member *m, struct err *err)
{
	if (m->holes > 0)
		return err_set(err, ERR_UNSUPPORTED, "'%s' is a sparse file", m->path);
	if (type_name(m->type) == NULL)
		return err_set(err, ERR_UNSUPPORTED, "'%s' is not a file of a known kind", m->path);
	return 0;
}

/* `offset`: where the member's content begins. */
static int add_member(struct ztoc *z, const struct member *m, const struct tar_raw *raw,
                      int64_t offset, struct err *err)
{
	struct ztoc_file f = {.type = type_name(m->type),
	                      .offset = offset,
	                      .size = m->size,
	                      .mode = raw->mode,
	                      .major = raw->major,
	                      .minor = raw->minor,
	                      .uid = m->uid,
	                      .gid = m->gid};

	if (check_kind(m, err) != 0 || copy_records(z, raw, &f, err) != 0 ||
	    ztoc_weigh(z,
	               FILE_WEIGHT + raw->path.len + raw->link.len + raw->user.len + raw->group.len,
	               err) != 0)
		return -1;
	f.name = arena_strdup(&z->arena, strbuf_str(&raw->path));
	f.link = arena_strdup(&z->arena, strbuf_str(&raw->link));
	f.user = arena_strdup(&z->arena, strbuf_str(&raw->user));
	f.group = arena_strdup(&z->arena, strbuf_str(&raw->group));
	f.time = time_text(&z->arena, m->mtime, find_record(&f, "mtime"));
	vec_push(&z->files, f);
	return 0;
}

/* ---- a tar ---- */

/* The second record of zeros belongs to the archive, if it is there. */
static int take_end(struct counted *in, struct err *err)
{
	unsigned char block[TAR_BLOCK];
	size_t got = 0, n = 1;

	while (got < sizeof(block) && n > 0) {
		if (source_read(&in->source, block + got, sizeof(block) - got, &n, err) != 0)
			return -1;
		got += n;
	}
	if (!mem_is_zero(block, got))
		return err_set(err, ERR_UNSUPPORTED, "its tar goes on behind its end");
	return 0;
}

static int read_members(struct tar_reader *r, const struct counted *in, struct ztoc *z,
                        struct err *err)
{
	AUTO(tar_raw) struct tar_raw raw = {0};
	struct member m;
	bool more;

	for (;;) {
		if (tar_reader_next(r, &m, &more, err) != 0)
			return -1;
		if (!more)
			return 0;
		if (tar_reader_raw(r, &raw, err) != 0 || add_member(z, &m, &raw, in->n, err) != 0)
			return -1;
	}
}

int toc_of_tar(struct source *tar, struct ztoc *z, struct err *err)
{
	struct counted in = {.source = {.read = counted_read}, .in = tar};
	struct tar_reader *r = tar_reader_new(&in.source);
	int rc = read_members(r, &in, z, err);

	if (rc == 0 && tar_reader_marked_end(r))
		rc = take_end(&in, err);
	tar_reader_free(r);
	z->unpacked = in.n;
	return rc;
}

/* ---- a tree ---- */

/* The headers of a tree's tar, one entry after the other. */
struct header_source {
	struct source source;
	const struct tree *tree;
	size_t next, at;
	struct strbuf header;
};

static int header_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct header_source *h = (struct header_source *)s;

	if (h->at == h->header.len && h->next < h->tree->n) {
		strbuf_reset(&h->header);
		h->at = 0;
		if (tar_header(&h->tree->at[h->next++], &h->header, err) != 0)
			return -1;
	}
	size_t left = h->header.len - h->at, n = left < cap ? left : cap;

	memcpy(buf, strbuf_str(&h->header) + h->at, n);
	h->at += n;
	*ret_n = n;
	return 0;
}

/* Offsets are those of the headers so far: the contents between them are added. */
static void add_contents(struct ztoc *z)
{
	int64_t contents = 0;

	for (size_t i = 0; i < z->files.n; i++) {
		struct ztoc_file *f = &z->files.at[i];

		f->offset += contents;
		contents += f->size + (int64_t)tar_padding(f->size);
	}
	z->unpacked += contents + TAR_END_BYTES;
}

int toc_of_tree(const struct tree *t, struct ztoc *z, struct err *err)
{
	struct header_source headers = {
		.source = {.read = header_read}, .tree = t, .header = STRBUF_INIT(HEADER_MAX)};
	struct counted in = {.source = {.read = counted_read}, .in = &headers.source};
	struct tar_reader *r = tar_reader_new(&in.source);
	int rc;

	tar_reader_headers_only(r);
	rc = read_members(r, &in, z, err);
	tar_reader_free(r);
	strbuf_done(&headers.header);
	z->unpacked = in.n;
	if (rc == 0)
		add_contents(z);
	return rc;
}
