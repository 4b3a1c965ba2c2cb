/*
 * The inside of struct tar_reader, for tar_read.c and tar_raw.c. Nobody else includes this.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TAR_TAR_READ_INTERNAL_H
#define SLIPWAY_BUILDER_LAYER_TAR_TAR_READ_INTERNAL_H

#include "builder/layer/tar/tar_pax.h"

enum { TAR_SCRATCH = 64 << 10 };

/*
 * ustar (POSIX.1-2017, pax, "ustar Interchange Format"), and GNU's old sparse header in its tail.
 */
struct tar_record {
	unsigned char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type[1],
		link[100], magic[6], version[2], uname[32], gname[32], major[8], minor[8],
		prefix[155], pad[12];
};

_Static_assert(sizeof(struct tar_record) == TAR_BLOCK, "a header is one record");

struct tar_reader {
	struct source *in;
	union {
		struct tar_record h;
		unsigned char bytes[TAR_BLOCK];
	} block;
	struct tar_pax pax;
	struct strbuf long_name, long_link; /* GNU 'L' and 'K' */
	struct strbuf path, link;
	uint64_t n_members;
	bool ended, marked_end;
	/* The current member's content: */
	int64_t stored; /* bytes of it still in the stream */
	size_t padding;
	int64_t at, size; /* position, and length with holes */
	int64_t holes;
	size_t piece; /* index into pax.map, for a sparse file */
	bool sparse;
	bool headers_only; /* the stream has no contents */
	unsigned char scratch[TAR_SCRATCH];
};

/* Appends the current member's path and link as they are stored. */
void tar_stored_path(const struct tar_reader *r, struct strbuf *sb);
void tar_stored_link(const struct tar_reader *r, struct strbuf *sb);

#endif
