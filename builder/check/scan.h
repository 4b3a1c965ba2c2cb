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
#include "builder/check/secret/kinds.h"
#include "builder/layer/elf/elf_symbols.h"
#include "builder/layer/tar/reader.h"
#include "builder/oci/platform.h"
#include "builder/oci/store.h"

enum scan_flags {
	SCAN_ELF = 1 << 0,     /* parse ELF files, keep loaders' folders, texts and heads */
	SCAN_SECRETS = 1 << 1, /* look for secrets */
	SCAN_DIGESTS = 1 << 2  /* digest of every file's content */
};

/* Whether the content of the regular file at a path is wanted. */
typedef bool scan_keep(const char *path);

struct scan_member {
	const char *path;
	enum member_type type;
	uint32_t mode, uid, gid;
	int64_t mtime, size;
	const char *link;
	bool capability;      /* has the extended attribute security.capability */
	struct digest xattrs; /* of all names and values; zero when there are none */
	/* Of regular files: with SCAN_DIGESTS, else of small ones with secrets; else zero. */
	struct digest content;
	const struct elf_info *elf; /* NULL when it is not ELF or could not be read */
	const char *elf_error;      /* why an ELF file could not be read; NULL otherwise */
	struct strlist loader_dirs; /* of a dynamic loader: folders it searches by default */
	/*
	 * Content of a loader's cache or configuration file, of passwd and of group, and of what
	 * the scan's `keep` wants, with a NUL behind; NULL otherwise, and when it is too large.
	 */
	const char *text;
	size_t text_len;
	/* what an executable file begins with if it is not ELF (builder/check/script.h) */
	const char *head;
	size_t head_len;
};

struct scan_secret {
	const struct scan_member *member;
	enum secret_kind kind;
	int64_t offset;    /* bytes from the start of the file, or of the archive's member */
	size_t line;       /* from 1; 0 = not known: a large file, or no text */
	const char *inner; /* the member of an archive, "" in a gzip file, NULL if in no archive */
};

struct layer_scan {
	struct arena arena;
	const struct descriptor *desc;
	const char *task;                  /* what progress calls the pass; NULL = "check" */
	const struct platform_arch *arch;  /* whose loader folders are looked for; may be NULL */
	scan_keep *keep;                   /* further texts to keep, larger ones too; may be NULL */
	VEC(struct scan_member *) members; /* in the layer's order */
	VEC(struct scan_secret) secrets;
	/* Archives that could not be looked into for secrets, or not to their end. */
	size_t n_archives_too_large, n_archives_unreadable;
	struct elf_room room; /* the names of symbols that are needed */
	size_t text_bytes;    /* kept of the texts for the rules */
	size_t kept_bytes;    /* and of those for the caller */
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
