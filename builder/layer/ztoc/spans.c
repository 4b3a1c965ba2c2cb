/* See spans.h. Sections: points, reading, writing. */
#include "builder/layer/ztoc/spans.h"

#include <string.h>
#include <zlib.h>

enum {
	INPUT_BYTES = 128 << 10,
	GZIP_WINDOW = 16 + MAX_WBITS,
	POINT_WEIGHT = 128 /* of a point beside its window: digest, reference */
};

/* inflate's data_type, as zlib.h describes it. */
enum { DATA_BITS = 7, DATA_LAST = 64, DATA_BLOCK_END = 128 };

/* What both ways share: where they are, and the span whose bytes are being hashed. */
struct span_finder {
	struct ztoc *z;
	int64_t in, out; /* bytes so far, compressed and not */
	struct hasher hasher;
	unsigned char last_byte; /* the compressed byte before `in` */
	/* The last ZTOC_WINDOW uncompressed bytes: the oldest is at ring[at]. */
	unsigned char ring[ZTOC_WINDOW];
	size_t at;
};

/* ---- points ---- */

static void finder_init(struct span_finder *f, struct ztoc *z)
{
	*f = (struct span_finder){.z = z};
}

static struct ztoc_point *last_point(const struct span_finder *f)
{
	return f->z->points.n > 0 ? f->z->points.at[f->z->points.n - 1] : NULL;
}

/* A stream's first block, empty blocks behind it, or far enough from the last point. */
static bool due(const struct span_finder *f, int64_t out)
{
	const struct ztoc_point *last = last_point(f);

	return out == 0 || last == NULL || out - last->out > f->z->span_bytes;
}

static void hash(struct span_finder *f, const unsigned char *bytes, size_t len)
{
	if (f->hasher.ctx != NULL)
		hasher_update(&f->hasher, bytes, len);
}

/* The span before ends here. */
static void close_span(struct span_finder *f)
{
	if (f->hasher.ctx == NULL)
		return;
	last_point(f)->span = hasher_final(&f->hasher);
	hasher_done(&f->hasher);
}

/* A point here. A byte that is shared is the last of one span and the first of the next. */
static int add_point(struct span_finder *f, unsigned bits, struct err *err)
{
	struct ztoc_point *p;

	if (ztoc_weigh(f->z, sizeof(*p) + POINT_WEIGHT, err) != 0)
		return -1;
	close_span(f);
	p = mem_zalloc(sizeof(*p));
	*p = (struct ztoc_point){.in = f->in, .out = f->out, .bits = (uint8_t)bits};
	memcpy(p->window, f->ring + f->at, ZTOC_WINDOW - f->at);
	memcpy(p->window + ZTOC_WINDOW - f->at, f->ring, f->at);
	vec_push(&f->z->points, p);
	hasher_init(&f->hasher);
	if (bits != 0)
		hash(f, &f->last_byte, 1);
	return 0;
}

/* One call of inflate: hashes what it took, and looks whether a block's end is a point. */
static int inflate_step(struct span_finder *f, z_stream *s, int *ret_rc, struct err *err)
{
	const unsigned char *from = s->next_in;
	unsigned room = s->avail_out;
	int rc = inflate(s, Z_BLOCK);
	size_t taken = (size_t)(s->next_in - from);

	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return err_set(err, ERR_FORMAT, "gzip: %s",
		               s->msg != NULL ? s->msg : "damaged data");
	hash(f, from, taken);
	if (taken > 0)
		f->last_byte = from[taken - 1];
	f->in += (int64_t)taken;
	f->out += room - s->avail_out;
	f->at = (f->at + room - s->avail_out) % ZTOC_WINDOW;
	*ret_rc = rc;
	if (rc != Z_OK || (s->data_type & DATA_BLOCK_END) == 0 || (s->data_type & DATA_LAST) != 0 ||
	    !due(f, f->out))
		return 0;
	return add_point(f, (unsigned)s->data_type & DATA_BITS, err);
}

/* The rest of the ring is where inflate writes. */
static void give_ring(const struct span_finder *f, z_stream *s, unsigned char *ring)
{
	s->next_out = ring + f->at;
	s->avail_out = (unsigned)(ZTOC_WINDOW - f->at);
}

/* ---- reading ---- */

struct spans_source {
	struct source source;
	struct source *in;
	struct span_finder f;
	z_stream s;
	unsigned char *input;
	bool end, whole; /* of the input; the last member is complete */
	size_t given;    /* of the ring up to f.at: not yet handed on */
};

static int refill(struct spans_source *r, struct err *err)
{
	size_t n;

	if (r->s.avail_in > 0 || r->end)
		return 0;
	if (source_read(r->in, r->input, INPUT_BYTES, &n, err) != 0)
		return -1;
	r->s.next_in = r->input;
	r->s.avail_in = (unsigned)n;
	r->end = n == 0;
	return 0;
}

/* Inflates a little; *ret_n new bytes stand before f.at in the ring, 0 only at the end. */
static int inflate_more(struct spans_source *r, size_t *ret_n, struct err *err)
{
	for (*ret_n = 0; *ret_n == 0;) {
		int64_t before = r->f.out;
		int rc;

		if (refill(r, err) != 0)
			return -1;
		if (r->end && r->whole)
			return 0;
		if (r->whole)
			inflateReset(&r->s);
		give_ring(&r->f, &r->s, r->f.ring);
		if (inflate_step(&r->f, &r->s, &rc, err) != 0)
			return -1;
		r->whole = rc == Z_STREAM_END;
		*ret_n = (size_t)(r->f.out - before);
		if (r->end && !r->whole && *ret_n == 0)
			return err_set(err, ERR_FORMAT, "gzip: the compressed data is truncated");
	}
	return 0;
}

/* The bytes that inflate_more made are those before f.at; it never wraps within one call. */
static int spans_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct spans_source *r = (struct spans_source *)s;
	size_t end, n;

	if (r->given == 0 && inflate_more(r, &r->given, err) != 0)
		return -1;
	if (r->given == 0) {
		close_span(&r->f);
		r->f.z->packed = r->f.in;
		*ret_n = 0;
		return 0;
	}
	end = r->f.at != 0 ? r->f.at : ZTOC_WINDOW;
	n = r->given < cap ? r->given : cap;
	memcpy(buf, r->f.ring + end - r->given, n);
	r->given -= n;
	*ret_n = n;
	return 0;
}

static void spans_close(struct source *s)
{
	struct spans_source *r = (struct spans_source *)s;

	inflateEnd(&r->s);
	hasher_done(&r->f.hasher);
	free(r->input);
	free(r);
}

struct source *spans_reader(struct source *packed, struct ztoc *z)
{
	struct spans_source *r = mem_zalloc(sizeof(*r));

	r->source = (struct source){spans_read, spans_close};
	r->in = packed;
	finder_init(&r->f, z);
	r->input = mem_calloc(1, INPUT_BYTES);
	if (inflateInit2(&r->s, GZIP_WINDOW) != Z_OK)
		mem_exhausted("zlib");
	return &r->source;
}

/* ---- writing ---- */

struct spans_writer {
	struct span_finder f;
	z_stream s;
};

struct spans_writer *spans_writer_new(struct ztoc *z)
{
	struct spans_writer *w = mem_zalloc(sizeof(*w));

	finder_init(&w->f, z);
	if (inflateInit2(&w->s, -MAX_WBITS) != Z_OK)
		mem_exhausted("zlib");
	return w;
}

void spans_writer_free(struct spans_writer *w)
{
	if (w == NULL)
		return;
	inflateEnd(&w->s);
	hasher_done(&w->f.hasher);
	free(w);
}

static void pass_by(struct span_finder *f, const void *bytes, size_t len)
{
	hash(f, bytes, len);
	f->in += (int64_t)len;
}

void spans_writer_head(struct spans_writer *w, const void *bytes, size_t len)
{
	pass_by(&w->f, bytes, len);
}

/* The window as it is behind a piece that was not inflated. */
static void take_window(struct span_finder *f, const struct spans_piece *piece)
{
	size_t room = ZTOC_WINDOW - f->at;
	size_t first = piece->raw_end_len < room ? piece->raw_end_len : room;

	memcpy(f->ring + f->at, piece->raw_end, first);
	memcpy(f->ring, piece->raw_end + first, piece->raw_end_len - first);
	f->at = (f->at + piece->raw_end_len) % ZTOC_WINDOW;
}

static int inflate_piece(struct spans_writer *w, const struct spans_piece *piece, struct err *err)
{
	int rc = Z_OK;

	inflateReset(&w->s);
	w->s.next_in = (unsigned char *)piece->bytes;
	w->s.avail_in = (unsigned)piece->len;
	/* Nothing but the last output is left when inflate asks for more of both. */
	while (rc == Z_OK) {
		give_ring(&w->f, &w->s, w->f.ring);
		if (inflate_step(&w->f, &w->s, &rc, err) != 0)
			return -1;
	}
	if (w->s.avail_in > 0 || rc == Z_STREAM_END)
		return err_set(err, ERR_FORMAT, "gzip: a piece ends before its last byte");
	return 0;
}

int spans_writer_piece(struct spans_writer *w, const struct spans_piece *piece, struct err *err)
{
	struct span_finder *f = &w->f;

	/* Where the stream begins no block has ended, so that inflate does not stop there. */
	if (f->z->points.n == 0 && add_point(f, 0, err) != 0)
		return -1;
	if (due(f, f->out + (int64_t)piece->raw_len))
		return inflate_piece(w, piece, err);
	pass_by(f, piece->bytes, piece->len);
	f->out += (int64_t)piece->raw_len;
	take_window(f, piece);
	return 0;
}

void spans_writer_tail(struct spans_writer *w, const void *bytes, size_t len)
{
	pass_by(&w->f, bytes, len);
	close_span(&w->f);
	w->f.z->packed = w->f.in;
}
