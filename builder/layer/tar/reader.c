/* See reader.h: blob -> [decompress, ahead on a thread] -> [sha256: diff ID] -> tar members. */
#include "builder/layer/tar/reader.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/layer/tar/ahead.h"
#include "builder/layer/tar/tar_read.h"
#include "builder/oci/decompress.h"
#include "builder/oci/weighed.h"

/* The uncompressed bytes, hashed chunk by chunk before anybody sees them. */
struct raw {
	struct source source;
	struct ahead *ahead;
	struct budget *budget;
	struct hasher hasher;
	int64_t bytes;
	const unsigned char *at; /* what is left of the chunk */
	size_t left;
};

struct layer_reader {
	struct raw raw;
	struct tar_reader *tar;
	struct budget own; /* when none is shared */
};

static int next_chunk(struct raw *r, struct err *err)
{
	if (interrupt_check(err) != 0 || ahead_next(r->ahead, &r->at, &r->left, err) != 0)
		return -1;
	hasher_update(&r->hasher, r->at, r->left);
	r->bytes += (int64_t)r->left;
	budget_spend(r->budget, BUDGET_UNPACKED, (int64_t)r->left);
	return budget_check(r->budget, err);
}

static int raw_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct raw *r = (struct raw *)s;

	if (r->left == 0 && next_chunk(r, err) != 0)
		return -1;
	size_t n = r->left < cap ? r->left : cap;

	*ret_n = n;
	if (n == 0)
		return 0;
	memcpy(buf, r->at, n);
	r->at += n;
	r->left -= n;
	return 0;
}

int layer_reader_open(struct source *blob, const char *media_type, struct layer_reader **ret_reader,
                      struct err *err)
{
	return layer_reader_open_within(blob, media_type, NULL, ret_reader, err);
}

int layer_reader_open_within(struct source *blob, const char *media_type, struct budget *budget,
                             struct layer_reader **ret_reader, struct err *err)
{
	enum compression compression;

	if (!media_layer_compression(media_type, &compression)) {
		source_close(blob);
		return err_set(err, ERR_UNSUPPORTED, "unsupported layer media type '%s'",
		               media_type);
	}
	struct layer_reader *r = mem_zalloc(sizeof(*r));

	r->raw.source.read = raw_read;
	r->raw.budget = budget != NULL ? budget : &r->own;
	r->raw.ahead = ahead_new(
		source_decompress(source_weighed(blob, r->raw.budget), compression, r->raw.budget));
	hasher_init(&r->raw.hasher);
	r->tar = tar_reader_new(&r->raw.source);
	*ret_reader = r;
	return 0;
}

int layer_reader_next(struct layer_reader *r, struct member *ret_member, bool *ret_more,
                      struct err *err)
{
	if (tar_reader_next(r->tar, ret_member, ret_more, err) != 0)
		return -1;
	if (!*ret_more || ret_member->holes == 0)
		return 0;
	/* Before anybody reads them. */
	budget_spend(r->raw.budget, BUDGET_UNPACKED, ret_member->holes);
	return budget_check(r->raw.budget, err);
}

int layer_reader_read(struct layer_reader *r, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return tar_reader_read(r->tar, buf, cap, ret_n, err);
}

int layer_reader_finish(struct layer_reader *r, struct digest *ret_diff_id, int64_t *ret_raw_size,
                        struct err *err)
{
	/* Anything behind the end of the archive counts too. */
	do {
		if (next_chunk(&r->raw, err) != 0)
			return -1;
	} while (r->raw.left > 0);
	*ret_diff_id = hasher_final(&r->raw.hasher);
	*ret_raw_size = r->raw.bytes;
	return 0;
}

void layer_reader_close(struct layer_reader *r)
{
	if (r == NULL)
		return;
	tar_reader_free(r->tar);
	hasher_done(&r->raw.hasher);
	ahead_close(r->raw.ahead);
	free(r);
}
