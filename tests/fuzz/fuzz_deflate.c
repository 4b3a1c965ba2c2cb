/*
 * deflate_join on any bytes: no harm, and what it accepts means the same as before. zlib is the
 * judge: a stream that inflates must, once joined, inflate to the same bytes with an empty block
 * behind it.
 */
#include <stdint.h>
#include <zlib.h>

#include "base/mem.h"
#include "builder/layer/pack/deflate_join.h"

enum { INPUT_MAX = 1 << 16, OUTPUT_MAX = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inflates exactly `size` bytes; -1 when they are not one whole stream (or a huge one). */
static long inflate_all(const uint8_t *data, size_t size, uint8_t *out)
{
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)data,
		      .avail_in = (unsigned)size,
		      .next_out = out,
		      .avail_out = OUTPUT_MAX};
	int rc;

	if (inflateInit2(&z, -15) != Z_OK)
		BUG("zlib");
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.avail_in == 0 ? (long)z.total_out : -1;
}

/* Two streams at once must come out as each does alone. */
static void check_two(const uint8_t *data, size_t size, const struct deflate_stream *alone, int rc)
{
	uint8_t *copy = mem_calloc(1, size + DEFLATE_JOIN_SLACK), fixed[32] = {3, 0};
	struct deflate_stream s = {copy, size, size + DEFLATE_JOIN_SLACK},
			      f = {fixed, 2, sizeof(fixed)};
	struct err err = {0};

	if (size > 0)
		memcpy(copy, data, size);
	if (deflate_join_two(&s, &f, &err) != rc)
		BUG("one and two disagree");
	if (rc == 0 && (s.len != alone->len || memcmp(s.bytes, alone->bytes, s.len) != 0))
		BUG("one and two differ");
	free(copy);
}

static void check_meaning(const uint8_t *data, size_t size, struct deflate_stream *s, int rc)
{
	static const uint8_t end[2] = {3, 0};
	uint8_t *before = mem_calloc(1, OUTPUT_MAX), *after = mem_calloc(1, OUTPUT_MAX);
	long n = inflate_all(data, size, before);

	if (n >= 0 && rc != 0)
		BUG("a good stream was refused");
	if (n >= 0) {
		memcpy(s->bytes + s->len, end, sizeof(end));
		if (inflate_all(s->bytes, s->len + sizeof(end), after) != n ||
		    memcmp(before, after, (size_t)n) != 0)
			BUG("a joined stream says something else");
	}
	free(before);
	free(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct deflate_stream s = {.len = size, .cap = size + DEFLATE_JOIN_SLACK};
	struct err err = {0};
	int rc;

	if (size > INPUT_MAX)
		return 0;
	s.bytes = mem_calloc(1, s.cap);
	if (size > 0)
		memcpy(s.bytes, data, size);
	rc = deflate_join(&s, &err);
	if (rc == 0 && s.len > size + 5)
		BUG("%zu bytes became %zu", size, s.len);
	check_two(data, size, &s, rc);
	check_meaning(data, size, &s, rc);
	free(s.bytes);
	return 0;
}
