/*
 * One pass over one layer blob: what the rules and diff need to know of every member, without
 * keeping any content. Digest, size and diff ID are verified on the way. Layers shared by platforms
 * are scanned once. Ownership: all strings live in the scan's own arena, so scans run on several
 * threads. Thread rule: one scan belongs to one thread while it runs, and is read-only afterwards.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SCAN_H
#define SLIPWAY_BUILDER_CHECK_SCAN_H

#include "base/mem.h"
#include "base/progress.h"
#include "builder/layer/elf/elf.h"
#include "builder/layer/tar/reader.h"
#include "builder/oci/platform.h"
#include "builder/oci/store.h"

enum scan_flags {
	SCAN_ELF = 1 << 0,     /* parse ELF files, keep loaders' folders and ld.so.conf texts */
	SCAN_SECRETS = 1 << 1, /* look for secrets */
	SCAN_DIGESTS = 1 << 2  /* digest of every file's content */
};

struct scan_member {
	const char *path;
	enum member_type type;
	uint32_t mode, uid, gid;
	int64_t mtime, size;
	const char *link;
	bool capability;            /* has the extended attribute security.capability */
	struct digest xattrs;       /* of all names and values; zero when there are none */
	struct digest content;      /* with SCAN_DIGESTS, of regular files */
	const struct elf_info *elf; /* NULL when it is not ELF or could not be read */
	const char *elf_error;      /* why an ELF file could not be read; NULL otherwise */
	struct strlist loader_dirs; /* of a dynamic loader: folders it searches by default */
	const char *text;           /* content of a loader's configuration file, NULL otherwise */
};

struct scan_secret {
	const struct scan_member *member;
	const char *what; /* "an AWS secret access key": static text, never the secret */
	int64_t offset;   /* bytes from the start of the file */
};

struct layer_scan {
	struct arena arena;
	const struct descriptor *desc;
	const struct platform_arch *arch;  /* whose loader folders are looked for; may be NULL */
	VEC(struct scan_member *) members; /* in the layer's order */
	VEC(struct scan_secret) secrets;
	struct digest diff_id;
	int64_t raw_size;
	/* code ERR_NONE, or why the layer is bad (digest, format, limit, missing) */
	struct err failure;
	bool reported; /* its own problems have been reported */
};

/*
 * Reads the layer `scan->desc` within a budget (may be NULL) that also pays for what is kept of it.
 * A layer that is itself bad is no error: it is in scan->failure, and
 * the members found so far are kept. err: the store could not be read, or an interruption.
 */
int layer_scan_run(struct store *store, unsigned flags, struct budget *budget,
                   struct progress *progress, struct layer_scan *scan, struct err *err) MUST_USE;

void layer_scan_done(struct layer_scan *scan);

#endif
