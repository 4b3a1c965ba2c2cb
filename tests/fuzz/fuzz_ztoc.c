/*
 * The zTOC of any bytes: no harm, and what is accepted comes out again as a zTOC. The input is a
 * gzip file, or, behind a byte 0, a tar that is packed first, so that hostile headers are reached.
 */
#include <stdint.h>
#include <zlib.h>

#include "base/mem.h"
#include "builder/layer/ztoc/read.h"

enum { INPUT_MAX = 1 << 16, PACKED_MAX = INPUT_MAX + 4096, SPAN = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* gzip, quickly. */
static size_t pack(const uint8_t *data, size_t size, uint8_t *out)
{
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)data,
	              .avail_in = (unsigned)size,
	              .next_out = out,
	              .avail_out = PACKED_MAX};

	if (deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		BUG("zlib");
	deflateEnd(&z);
	return z.total_out;
}

static void check(const void *bytes, size_t len)
{
	AUTO(ztoc) struct ztoc z = {0};
	AUTO(strbuf) struct strbuf out = {0};
	struct source *in = source_from_bytes(bytes, len);
	struct err err = {0};

	ztoc_init(&z, SPAN);
	if (ztoc_read(in, &z, &err) == 0) {
		if (ztoc_print(&z, "fuzz", &out, &err) != 0 || z.packed != (int64_t)len)
			BUG("a zTOC that cannot be written");
		for (size_t i = 1; i < z.points.n; i++)
			if (z.points.at[i]->in < z.points.at[i - 1]->in)
				BUG("points out of order");
	}
	source_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE uint8_t *packed = mem_calloc(1, PACKED_MAX);

	if (size == 0 || size > INPUT_MAX)
		return 0;
	if (data[0] == 0)
		check(packed, pack(data + 1, size - 1, packed));
	else
		check(data, size);
	return 0;
}
