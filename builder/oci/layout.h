/*
 * The OCI image layout on disk (image-spec, image-layout.md): oci-layout, index.json,
 * blobs/sha256/. Blobs are written by temp file + fsync + rename, index.json last; a kill at any
 * instant leaves the old image or the new one. Several processes may write one layout: blobs are
 * content-addressed, index.json is changed under an exclusive lock (.slipway-index.lock). Writers
 * hold a shared lock on .slipway-writers.lock and readers one on the oci-layout file, which every
 * layout has and which a reader can lock without the right to write. Garbage collection needs both
 * exclusively and never waits for them, so it removes neither a blob that is about to be referenced
 * nor one that somebody still reads, and no two processes can wait for each other. Reading writes
 * nothing. Thread rule: blob functions may be called from several threads.
 */
#ifndef SLIPWAY_BUILDER_OCI_LAYOUT_H
#define SLIPWAY_BUILDER_OCI_LAYOUT_H

#include <stdbool.h>

#include "base/crypto/digest_stream.h"
#include "base/fs.h"
#include "base/strlist.h"
#include "builder/oci/manifest.h"
#include "builder/oci/store.h"

struct layout; /* opaque */

enum layout_flags {
	LAYOUT_READ = 0,      /* must exist; holds the shared readers' lock until closed */
	LAYOUT_WRITE = 1 << 0 /* created when absent; holds the shared writers' lock until closed */
};

int layout_open(const char *path, unsigned flags, struct layout **ret_layout,
                struct err *err) MUST_USE;
void layout_close(struct layout *l);   /* accepts NULL */
void layout_closep(struct layout **l); /* __attribute__((cleanup)) form: AUTO_LAYOUT */
#define AUTO_LAYOUT __attribute__((cleanup(layout_closep)))

const char *layout_path(const struct layout *l);

/* A store that reads this layout; it borrows l, which must outlive it. */
struct store *layout_store(struct layout *l);

/* blobs/sha256/HEX below the layout's path. */
int layout_blob_path(const struct layout *l, const struct digest *d, char out[PATH_MAX],
                     struct err *err) MUST_USE;

/* True when the blob's file exists with exactly this size (content is not read; size -1 = any). */
bool layout_has(const struct layout *l, const struct digest *d, int64_t size);

/* Opens the blob's file for reading; the caller closes. ERR_NOT_FOUND names the digest. */
int layout_open_fd(const struct layout *l, const struct digest *d, int *ret_fd,
                   struct err *err) MUST_USE;

/* Stores bytes; fills digest, size and media_type (borrowed) of *ret_desc. */
int layout_put(struct layout *l, const char *media_type, const void *bytes, size_t len,
               struct descriptor *ret_desc, struct err *err) MUST_USE;

/*
 * A blob written piece by piece: begin, write to its sink, commit. The digest is computed on the
 * way; `want` (may be NULL) is what it must be. done() without commit leaves nothing.
 */
struct layout_blob {
	struct digest_sink hashed; /* write here: &blob.hashed.sink */
	struct fd_sink file;
	struct fs_temp temp;
	struct layout *layout;
};
int layout_blob_begin(struct layout *l, struct layout_blob *blob, struct err *err) MUST_USE;
int layout_blob_commit(struct layout_blob *blob, const struct digest *want,
                       struct digest *ret_digest, int64_t *ret_size, struct err *err) MUST_USE;
void layout_blob_done(struct layout_blob *blob);

/* Adds an existing file as blob d (hard link or copy); its content is trusted to match. */
int layout_adopt(struct layout *l, const char *path, const struct digest *d,
                 struct err *err) MUST_USE;

/* The parsed index.json. */
int layout_index(const struct layout *l, struct arena *a, struct index *ret_index,
                 struct err *err) MUST_USE;

/*
 * Sets index.json's entry for `tag` (NULL = the first entry without name) to desc, atomically,
 * under the index lock. Other entries and members we do not know stay as they are. ERR_LIMIT beyond
 * 4 MiB.
 */
int layout_set_tag(struct layout *l, const char *tag, const struct descriptor *desc,
                   struct err *err) MUST_USE;

/*
 * The same for a build, in one change: entries that `owner` (a name of the build's image) wrote
 * before are removed, and each of the tags names desc, whoever had set it. Entries of other owners,
 * and of other programs, stay.
 */
int layout_replace_tags(struct layout *l, const char *owner, const struct strlist *tags,
                        const struct descriptor *desc, struct err *err) MUST_USE;

/*
 * Adds an entry for a manifest that is attached to `subject` (its blobs are there already), unless
 * its digest has one. The entry goes when the subject is no longer reached: see layout_gc.
 */
int layout_attach(struct layout *l, const struct digest *subject, const struct descriptor *desc,
                  struct err *err) MUST_USE;

/*
 * Removes what was attached to an image that nothing reaches any more, blobs that no index.json
 * entry reaches, and temporary files older than an hour; unknown
 * files stay. Does nothing and sets `skipped` while anybody else has the layout open (then `in_use`
 * too), or when the layout is nested so deeply (8 documents) that reachability is not certain. Call
 * it on a layout opened with LAYOUT_WRITE, when this process has tagged all it wrote: trying for
 * the lock may let another process collect in between.
 */
struct layout_gc_result {
	size_t n_removed;
	int64_t bytes_removed;
	bool skipped;
	bool in_use;
};
int layout_gc(struct layout *l, struct layout_gc_result *ret_result, struct err *err) MUST_USE;

#endif
