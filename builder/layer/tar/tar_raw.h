/*
 * What a tar reader's current member says of itself word for word, for whoever has to repeat it: a
 * struct member (reader.h) is what it means. And reading headers whose contents are elsewhere.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_TAR_RAW_H
#define SLIPWAY_BUILDER_LAYER_TAR_TAR_RAW_H

#include "builder/layer/tar/tar_read.h"

/* One record of a pax extended header. A value may hold any byte; a zero byte follows it. */
struct tar_pax_record {
	const char *key, *value;
	size_t value_len;
};

/* Zero-initialise; AUTO(tar_raw). It can be filled again and again. */
struct tar_raw {
	struct strbuf path, link;   /* with the slashes that are stored */
	struct strbuf user, group;  /* empty = none, as in v7's headers */
	int64_t mode, major, minor; /* a device's numbers; 0 for what is not a device */
	/* In their order, a key maybe twice; valid until the reader's next call. */
	const struct tar_pax_record *records;
	size_t n_records;
};
void tar_raw_done(struct tar_raw *raw);

/* Of the member that tar_reader_next gave last. ERR_FORMAT for a number that is none. */
int tar_reader_raw(const struct tar_reader *r, struct tar_raw *raw, struct err *err) MUST_USE;

/* From now on the stream holds the members' headers alone, one after the other. */
void tar_reader_headers_only(struct tar_reader *r);

#endif
