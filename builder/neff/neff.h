/*
 * Modules compiled for Trainium as referrers of the image that runs them: an artifact per module,
 * whose layers are the files of its entry in a cache folder. So a cold start compiles nothing.
 *
 * Folder: that of AWS's persistent cache (AWS Neuron, "Neuron persistent cache"), which
 * slipway-trainer keeps, too: DIR/neuronxcc-VERSION/MODULE_HASH+FLAGS/FILES. An entry with a
 * model.done is whole. KEY.lock beside it is held while it is made, KEY.work is where.
 *
 * Artifact: an OCI manifest with artifactType NEFF_ARTIFACT_TYPE and the image as its subject;
 * annotations name compiler and module, a layer is a file as it is, told by its media type. No
 * archive, hence no names from outside. The same files always give the same manifest.
 *
 * All strings live in the caller's arena.
 */
#ifndef SLIPWAY_BUILDER_NEFF_NEFF_H
#define SLIPWAY_BUILDER_NEFF_NEFF_H

#include "base/progress.h"
#include "base/strlist.h"
#include "builder/image/attach.h"
#include "builder/oci/manifest.h"

#define NEFF_ARTIFACT_TYPE "application/vnd.slipway.neff.v1"
#define NEFF_COMPILER      "dev.slipway.neff.compiler"
#define NEFF_MODULE        "dev.slipway.neff.module"

/* Most modules of a folder or an image, and bytes of a name. */
enum { NEFF_MODULES_MAX = 1024, NEFF_NAME_MAX = 160 };

enum neff_file_kind { NEFF_FILE_FLAGS, NEFF_FILE_SOURCE, NEFF_FILE_RESULT, NEFF_FILES };

struct neff_file {
	const char *name, *media_type;
	int64_t max; /* bytes */
	bool needed; /* there is no module without it */
};
extern const struct neff_file neff_files[NEFF_FILES];

struct neff_module {
	const char *compiler, *key;          /* "neuronxcc-2.16.372.0", "MODULE_1f..+ab.." */
	struct descriptor files[NEFF_FILES]; /* media_type NULL: it is not there */
	struct descriptor manifest;          /* of the artifact, where it is attached */
	bool moved;                          /* sent or fetched by this run */
};

struct neff_list {
	struct neff_module *at; /* by compiler, then key */
	size_t n;
};

/* Bytes of all its files. */
int64_t neff_size(const struct neff_module *m);

const struct neff_module *neff_find(const struct neff_list *list, const char *compiler,
                                    const char *key); /* NULL = none */

/* ---- pure ---- */

bool neff_is_compiler(const char *name);
bool neff_is_key(const char *name);

/* The artifact's exact bytes; m->files say what is in it. Sets m->manifest. */
void neff_print(struct neff_module *m, const struct descriptor *subject, struct arena *a,
                struct strbuf *text);

/* ERR_FORMAT: it is of another type or about another image, a name is not a module's, a layer is
 * of no kind that a module has, or one it needs is missing. ERR_LIMIT: a file is too large. */
int neff_parse(const struct manifest *m, const struct digest *subject,
               struct neff_module *ret_module, struct err *err) MUST_USE;

void neff_sort(struct neff_list *list);

/* ---- a folder ---- */

/* Whole entries, with the digests of their files: all are read. What is not an entry is passed
 * over. ERR_NOT_FOUND without one. */
int neff_folder_list(const char *dir, struct arena *a, struct neff_list *ret,
                     struct err *err) MUST_USE;

/* DIR/COMPILER/KEY/FILE, or the entry itself without a file (NULL). */
int neff_path(char out[PATH_MAX], const char *dir, const struct neff_module *m, const char *file,
              struct err *err) MUST_USE;

/* ---- an image ---- */

/* What is attached to it; none is not an error. */
int neff_image_list(struct store *store, const struct digest *subject, struct arena *a,
                    struct neff_list *ret, struct err *err) MUST_USE;

/* Attaches the modules of the list that the image lacks, from their files in `dir`; sets `moved`,
 * and `manifest` of each. What is there already is not sent, whatever it was compiled to. */
int neff_push(const struct attach_place *place, struct store *store,
              const struct descriptor *subject, const char *dir, struct neff_list *list,
              struct arena *a, struct err *err) MUST_USE;

/* Writes each module into `dir` that has no whole entry there; sets `moved`. An entry appears at
 * once, with all its files; a stopped run is taken up where its last whole file was. */
int neff_pull(struct store *store, const char *dir, struct neff_list *list,
              struct progress *progress, struct err *err) MUST_USE;

/* The modules whose keys `wanted` names, of all compilers; an empty list means all. ERR_NOT_FOUND
 * names the first that there is not. */
int neff_choose(const struct neff_list *all, const struct strlist *wanted, struct arena *a,
                struct neff_list *ret, struct err *err) MUST_USE;

#endif
