/*
 * A candidate is judged with SECRET_LOOK bytes on both sides, so that chunk borders do not matter.
 */
#include "builder/check/secret/stream.h"

#include <string.h>

#include "base/mem.h"
#include "builder/check/secret/anchors.h"

enum {
	BLOCK = 32,
	SLACK = BLOCK + 8 /* readable bytes behind the buffer's content */
};

void secret_init(struct secret_scanner *s)
{
	*s = (struct secret_scanner){
		.buf = mem_calloc(1, 3 * SECRET_LOOK + SECRET_CHUNK + SLACK),
		.anchors = mem_zalloc(sizeof(*s->anchors)),
		.text = STRBUF_INIT(SECRET_FILE_MAX),
	};
	anchors_init(s->anchors);
}

void secret_done(struct secret_scanner *s)
{
	free(s->buf);
	free(s->anchors);
	strbuf_done(&s->text);
	s->buf = NULL;
	s->anchors = NULL;
}

void secret_begin(struct secret_scanner *s, const char *path)
{
	s->len = s->done = 0;
	s->start = 0;
	s->named = secret_named_find(path);
	strbuf_reset(&s->text);
	s->text.overflow = false;
	secret_whole_begin(&s->whole, path);
	memset(s->found, 0, sizeof(s->found));
}

static void found(struct secret_scanner *s, enum secret_kind kind, int64_t offset)
{
	if (s->found[kind])
		return;
	s->found[kind] = true;
	s->offset[kind] = offset;
}

/* Whether the looked-up bytes of an anchor begin at p, and what it belongs to is a secret. */
static void judge_at(struct secret_scanner *s, const struct secret_window *w,
                     const unsigned char *p)
{
	uint8_t row = s->anchors->first[anchors_list(anchors_hash(p))];

	for (; row != ANCHOR_NONE; row = s->anchors->next[row]) {
		const struct secret_pattern *pattern = &secret_patterns[row];
		const size_t before = s->anchors->probe[row] + (size_t)pattern->back;
		const unsigned char *anchor = p - s->anchors->probe[row];

		if (s->found[pattern->kind] || (size_t)(p - w->start) < before ||
		    (size_t)(w->end - anchor) < pattern->anchor_len ||
		    memcmp(anchor, pattern->anchor, pattern->anchor_len) != 0)
			continue;
		if (pattern->judge(w, p - before, pattern))
			found(s, pattern->kind, s->start + (p - w->start) - (int64_t)before);
	}
}

/* Whether any of the groups at every other place of a block is one of an anchor; no branches. */
static bool block_hit(const struct secret_anchors *anchors, const unsigned char *p)
{
	const uint8_t *seen = anchors->seen;
	unsigned any = 0;

	for (const unsigned char *end = p + BLOCK; p < end; p += 8)
		any |= (unsigned)(seen[anchors_hash(p)] | seen[anchors_hash(p + 2)] |
		                  seen[anchors_hash(p + 4)] | seen[anchors_hash(p + 6)]);
	return any != 0;
}

/* Looks at candidates from `done` up to `limit`. */
static void scan_up_to(struct secret_scanner *s, size_t limit)
{
	struct window_memo memo = {0};
	const struct secret_window w = {s->buf, s->buf + s->len, &memo};

	memset(s->buf + s->len, 0, SLACK);
	/* One more: an anchor that begins at an odd place is seen by its second group. */
	for (size_t i = s->done; i < limit + 1; i += BLOCK) {
		if (!block_hit(s->anchors, s->buf + i))
			continue;
		for (size_t k = i; k < i + BLOCK && k < limit + 1; k += 2) {
			uint8_t groups = s->anchors->seen[anchors_hash(s->buf + k)];

			if ((groups & ANCHOR_SECOND) != 0 && k > 0)
				judge_at(s, &w, s->buf + k - 1);
			if ((groups & ANCHOR_FIRST) != 0)
				judge_at(s, &w, s->buf + k);
		}
	}
	s->done = limit;
}

static void feed_piece(struct secret_scanner *s, const unsigned char *bytes, size_t len)
{
	if (s->done > SECRET_LOOK) {
		size_t drop = s->done - SECRET_LOOK;

		memmove(s->buf, s->buf + drop, s->len - drop);
		s->len -= drop;
		s->done -= drop;
		s->start += (int64_t)drop;
	}
	memcpy(s->buf + s->len, bytes, len);
	s->len += len;
	if (s->len > s->done + SECRET_LOOK)
		scan_up_to(s, s->len - SECRET_LOOK);
}

void secret_feed(struct secret_scanner *s, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	if (s->named != NULL)
		strbuf_add(&s->text, bytes, len);
	secret_whole_feed(&s->whole, bytes, len);
	while (len > 0) {
		size_t n = len < SECRET_CHUNK ? len : SECRET_CHUNK;

		feed_piece(s, p, n);
		p += n;
		len -= n;
	}
}

void secret_end(struct secret_scanner *s)
{
	enum secret_kind kind;

	scan_up_to(s, s->len);
	/* Elsewhere it is a name in a library's list. */
	if (!secret_whole_is_pkcs12(&s->whole))
		s->found[SECRET_PKCS12] = false;
	if (secret_whole_judge(&s->whole, &kind))
		found(s, kind, 0);
	if (s->named != NULL && secret_named_judge(s->named, strbuf_str(&s->text), s->text.len))
		found(s, s->named->kind, 0);
}
