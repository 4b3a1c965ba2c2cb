#include "builder/check/secret/archive.h"

#include <string.h>
#define ZLIB_CONST /* what is inflated is only read */
#include <zlib.h>

#include "base/attr.h"
#include "base/mem.h"

enum {
	OUT_BYTES = 64 << 10,
	LOCAL_HEADER = 30,
	NAME_BYTES_MAX = 4096,
	GAP_MAX = 64,      /* between zip members: a data descriptor, padding */
	MEMBER_COST = 1024 /* what a member takes from the budget besides its bytes */
};

/* How the next bytes are read. */
enum archive_stage {
	STAGE_HEADER, /* of a zip member */
	STAGE_NAME,
	STAGE_EXTRA,
	STAGE_STORED,
	STAGE_SKIPPED, /* content that cannot be read, of a known length */
	STAGE_DEFLATED,
	STAGE_GZIP,
	STAGE_GZIP_NEXT, /* behind a member of gzip: another one, or the end */
	STAGE_GAP,       /* behind a member: looks for the next signature */
	STAGE_OVER
};

struct secret_archive {
	struct archive_events events;
	enum archive_stage stage;
	enum archive_result result;
	z_stream z;
	bool z_open, in_member;
	int64_t *budget;
	int64_t unpacked; /* of this archive */
	uint64_t left;    /* bytes of the stage */
	unsigned char header[LOCAL_HEADER];
	size_t have;   /* bytes of header */
	uint32_t last; /* STAGE_GAP: the last four bytes */
	unsigned gap;  /* bytes seen there */
	char name[ARCHIVE_NAME_MAX];
	size_t name_len;
	unsigned char *out;
};

/* What is left of the bytes at hand. */
struct archive_input {
	const unsigned char *at;
	size_t n;
};

struct secret_archive *secret_archive_new(const struct archive_events *events)
{
	struct secret_archive *a = mem_zalloc(sizeof(*a));

	a->events = *events;
	a->stage = STAGE_OVER;
	a->out = mem_zalloc(OUT_BYTES);
	return a;
}

static void close_stream(struct secret_archive *a)
{
	if (a->z_open)
		(void)inflateEnd(&a->z);
	a->z_open = false;
}

void secret_archive_free(struct secret_archive *a)
{
	if (a == NULL)
		return;
	close_stream(a);
	free(a->out);
	free(a);
}

static void stop(struct secret_archive *a, enum archive_result result)
{
	a->stage = STAGE_OVER;
	if (a->result == ARCHIVE_WHOLE)
		a->result = result;
}

/* window_bits as inflateInit2 has them: 31 = gzip, -15 = bare deflate. */
static bool open_stream(struct secret_archive *a, int window_bits)
{
	close_stream(a);
	memset(&a->z, 0, sizeof(a->z));
	a->z_open = inflateInit2(&a->z, window_bits) == Z_OK;
	if (!a->z_open)
		stop(a, ARCHIVE_UNREADABLE);
	return a->z_open;
}

static void begin_member(struct secret_archive *a, const char *name)
{
	if (*a->budget < MEMBER_COST) {
		stop(a, ARCHIVE_TOO_LARGE);
		return;
	}
	*a->budget -= MEMBER_COST;
	a->in_member = true;
	a->events.begin(a->events.ctx, name);
}

static void end_member(struct secret_archive *a)
{
	if (a->in_member)
		a->events.end(a->events.ctx);
	a->in_member = false;
}

/* False when a bound is met. */
static bool hand_on(struct secret_archive *a, const void *bytes, size_t len)
{
	if (*a->budget < (int64_t)len || a->unpacked > ARCHIVE_BYTES_MAX - (int64_t)len) {
		stop(a, ARCHIVE_TOO_LARGE);
		return false;
	}
	*a->budget -= (int64_t)len;
	a->unpacked += (int64_t)len;
	a->events.bytes(a->events.ctx, bytes, len);
	return true;
}

/* Inflates what is at hand; the zlib status when the stream ended or failed, Z_OK for more. */
static int inflate_input(struct secret_archive *a, struct archive_input *in)
{
	int status = Z_OK;

	a->z.next_in = in->at;
	a->z.avail_in = (unsigned)in->n;
	do {
		a->z.next_out = a->out;
		a->z.avail_out = OUT_BYTES;
		status = inflate(&a->z, Z_NO_FLUSH);
		if (!hand_on(a, a->out, OUT_BYTES - a->z.avail_out))
			return Z_OK;
	} while (status == Z_OK && a->z.avail_out == 0);
	in->at = a->z.next_in;
	in->n = a->z.avail_in;
	return status == Z_BUF_ERROR ? Z_OK : status;
}

static void next_gap(struct secret_archive *a)
{
	end_member(a);
	a->stage = STAGE_GAP;
	a->last = 0;
	a->gap = 0;
}

/* ---- the stages: each takes bytes from `in` ---- */

static void take_gzip(struct secret_archive *a, struct archive_input *in)
{
	int status = inflate_input(a, in);

	if (a->stage == STAGE_OVER || status == Z_OK)
		return;
	if (status != Z_STREAM_END) {
		stop(a, ARCHIVE_UNREADABLE);
		return;
	}
	a->stage = STAGE_GZIP_NEXT;
}

/* Another member may follow; anything else behind the end is no part of it. */
static void take_gzip_next(struct secret_archive *a, struct archive_input *in)
{
	a->stage = in->at[0] == 0x1f && inflateReset(&a->z) == Z_OK ? STAGE_GZIP : STAGE_OVER;
}

static void take_deflated(struct secret_archive *a, struct archive_input *in)
{
	int status = inflate_input(a, in);

	if (a->stage == STAGE_OVER || status == Z_OK)
		return;
	if (status == Z_STREAM_END)
		next_gap(a);
	else
		stop(a, ARCHIVE_UNREADABLE);
}

static uint32_t number(const unsigned char *p, size_t n)
{
	uint32_t value = 0;

	while (n-- > 0)
		value = value << 8 | p[n];
	return value;
}

/* The header is complete: name and extra field follow. */
static void read_header(struct secret_archive *a)
{
	a->left = number(a->header + 26, 2);
	a->name_len = 0;
	a->stage = STAGE_NAME;
	if (a->left > NAME_BYTES_MAX)
		stop(a, ARCHIVE_UNREADABLE);
}

static void take_header(struct secret_archive *a, struct archive_input *in)
{
	static const unsigned char signature[] = {'P', 'K', 3, 4};

	while (in->n > 0 && a->have < LOCAL_HEADER) {
		a->header[a->have++] = *in->at++;
		in->n--;
	}
	if (a->have < LOCAL_HEADER)
		return;
	if (memcmp(a->header, signature, sizeof(signature)) != 0)
		stop(a, ARCHIVE_UNREADABLE);
	else
		read_header(a);
}

static void take_name(struct secret_archive *a, struct archive_input *in)
{
	for (; in->n > 0 && a->left > 0; a->left--, in->n--) {
		if (a->name_len < sizeof(a->name) - 1)
			a->name[a->name_len++] = (char)*in->at;
		in->at++;
	}
	if (a->left > 0)
		return;
	a->name[a->name_len] = '\0';
	a->left = number(a->header + 28, 2);
	a->stage = STAGE_EXTRA;
}

/* Flags (4.4.4): bit 0 = encrypted, bit 3 = sizes stand behind the content. Methods 4.4.5. */
static void begin_content(struct secret_archive *a)
{
	const uint32_t flags = number(a->header + 6, 2), method = number(a->header + 8, 2);
	const uint32_t packed = number(a->header + 18, 4);
	const bool sized = (flags & 8) == 0 && packed != UINT32_MAX;

	a->left = packed;
	if ((flags & 1) == 0 && method == Z_DEFLATED) {
		a->stage = STAGE_DEFLATED;
		if (open_stream(a, -MAX_WBITS))
			begin_member(a, a->name);
		return;
	}
	if (!sized) {
		stop(a, ARCHIVE_UNREADABLE);
		return;
	}
	a->stage = (flags & 1) == 0 && method == 0 ? STAGE_STORED : STAGE_SKIPPED;
	if (a->stage == STAGE_STORED)
		begin_member(a, a->name);
	else
		a->result = ARCHIVE_UNREADABLE;
}

/* Takes what is there of a->left bytes. */
static struct archive_input take_left(struct secret_archive *a, struct archive_input *in)
{
	struct archive_input part = {in->at, a->left < in->n ? (size_t)a->left : in->n};

	in->at += part.n;
	in->n -= part.n;
	a->left -= part.n;
	return part;
}

static void take_extra(struct secret_archive *a, struct archive_input *in)
{
	(void)take_left(a, in);
	if (a->left == 0)
		begin_content(a);
}

static void take_stored(struct secret_archive *a, struct archive_input *in)
{
	struct archive_input part = take_left(a, in);

	if (part.n > 0 && !hand_on(a, part.at, part.n))
		return;
	if (a->left == 0)
		next_gap(a);
}

static void take_skipped(struct secret_archive *a, struct archive_input *in)
{
	(void)take_left(a, in);
	if (a->left == 0)
		next_gap(a);
}

static void take_gap(struct secret_archive *a, struct archive_input *in)
{
	static const unsigned char signature[] = {'P', 'K', 3, 4};

	for (; in->n > 0 && a->gap < GAP_MAX; in->n--) {
		a->last = a->last << 8 | *in->at++;
		a->gap++;
		if (a->gap < 4 || a->last != UINT32_C(0x504b0304))
			continue;
		memcpy(a->header, signature, sizeof(signature));
		a->have = sizeof(signature);
		a->stage = STAGE_HEADER;
		in->n--;
		return;
	}
	/* Nothing like a member follows: the central directory. */
	if (a->gap == GAP_MAX)
		a->stage = STAGE_OVER;
}

static void (*const stages[])(struct secret_archive *a, struct archive_input *in) = {
	[STAGE_HEADER] = take_header,   [STAGE_NAME] = take_name,
	[STAGE_EXTRA] = take_extra,     [STAGE_STORED] = take_stored,
	[STAGE_SKIPPED] = take_skipped, [STAGE_DEFLATED] = take_deflated,
	[STAGE_GZIP] = take_gzip,       [STAGE_GZIP_NEXT] = take_gzip_next,
	[STAGE_GAP] = take_gap,
};

/* ---- */

/* A zip may have a line before it that names its interpreter, as Python's zipapp writes it. */
static const unsigned char *zip_start(const unsigned char *p, size_t len)
{
	const unsigned char *line = NULL;

	if (len > 2 && p[0] == '#' && p[1] == '!')
		line = memchr(p, '\n', len < 256 ? len : 256);
	if (line != NULL) {
		len -= (size_t)(line + 1 - p);
		p = line + 1;
	}
	return len >= 4 && memcmp(p, "PK\3\4", 4) == 0 ? p : NULL;
}

bool secret_archive_begin(struct secret_archive *a, const void *bytes, size_t len, int64_t *budget)
{
	const unsigned char *p = bytes, *zip = zip_start(p, len);

	a->result = ARCHIVE_WHOLE;
	a->stage = STAGE_OVER;
	a->budget = budget;
	a->unpacked = 0;
	a->have = 0;
	if (zip != NULL) {
		/* The feed begins with the line: it is passed over like a gap. */
		next_gap(a);
		return true;
	}
	if (len < 18 || p[0] != 0x1f || p[1] != 0x8b || p[2] != Z_DEFLATED)
		return false;
	if (open_stream(a, MAX_WBITS + 16)) {
		a->stage = STAGE_GZIP;
		begin_member(a, "");
	}
	return true;
}

void secret_archive_feed(struct secret_archive *a, const void *bytes, size_t len)
{
	struct archive_input in = {bytes, len};

	/* A stage of no length takes nothing and is over at once. */
	while (in.n > 0 && a->stage != STAGE_OVER)
		stages[a->stage](a, &in);
}

enum archive_result secret_archive_end(struct secret_archive *a)
{
	/* Cut short in the midst of a member. */
	if (a->stage != STAGE_OVER && a->stage != STAGE_GAP && a->stage != STAGE_GZIP_NEXT)
		stop(a, ARCHIVE_UNREADABLE);
	end_member(a);
	close_stream(a);
	a->stage = STAGE_OVER;
	return a->result;
}
