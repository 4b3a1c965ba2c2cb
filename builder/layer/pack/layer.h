/*
 * One tree becomes one blob: tree -> deterministic tar -> [sha256: diff ID] -> fixed blocks
 * compressed on N threads -> ordered join -> [sha256: digest] -> layout, in one pass and bounded
 * memory. A zTOC (builder/layer/ztoc) comes of the same pass. The bits depend on the entries, the
 * format version, the codec and its level only: never on threads, machine, umask, time zone or the
 * order of folders.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_LAYER_H
#define SLIPWAY_BUILDER_LAYER_PACK_LAYER_H

#include "base/progress.h"
#include "builder/layer/pack/cache.h"
#include "builder/layer/tree/tree.h"
#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

/* Raised when the bits of the tar or of the blocks change on purpose (docs/FORMAT.md). */
enum { LAYER_FORMAT_VERSION = 1 };

enum { LAYER_LEVEL_ZSTD = 3, LAYER_LEVEL_GZIP = 1 /* defaults, used when level is 0 */ };

struct layer_opts {
	enum compression compression;
	int level;                 /* 0 = the default above */
	unsigned threads;          /* compressors; 0 = cpus_usable() */
	struct layout *layout;     /* where the blob goes */
	struct layer_cache *cache; /* NULL = no cache */
	struct progress *progress; /* NULL = silent */
	bool ztoc;                 /* a gzip layer of ZTOCS_LAYER_MIN bytes gets a zTOC */
};

struct layer_result {
	struct digest diff_id;
	struct digest digest;
	const char *media_type; /* static */
	int64_t size;           /* compressed bytes */
	int64_t raw_size;       /* bytes of the tar */
	bool cached;            /* nothing was compressed */
	struct descriptor ztoc; /* in the layout too; size 0 = none */
};

/* Packs a finished tree. ERR_CONFLICT when a source file changes while it is read. */
int layer_write(const struct tree *t, const struct layer_opts *opts,
                struct layer_result *ret_result, struct err *err) MUST_USE;

/* The text of the format annotation: version, codec, encoder version, level: "1 zstd-1.5.4 level
 * 3". */
char *layer_format_text(enum compression compression, int level, struct arena *a);

#endif
