/*
 * What the parts of the dependency closure share: the search over all programs (closure.c), the
 * search for one library (closure_find.c) and the list of files (closure_files.c). Nobody else
 * includes this.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_CLOSURE_INTERNAL_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_CLOSURE_INTERNAL_H

#include "base/mem.h"
#include "builder/layer/elf/elf.h"
#include "builder/layer/elf/elf_search.h"
#include "builder/layer/source/closure.h"
#include "builder/layer/source/sysroot.h"

enum { CLOSURE_OBJECTS_MAX = 4096 };

/* A file that the loader maps: the program or a library. */
struct closure_object {
	const char *label;       /* path for messages */
	const char *name;        /* as it was needed; the label for a program */
	const char *dir;         /* its folder in the sysroot; NULL when the program lies outside */
	const char *image_dir;   /* its folder in the image; NULL when not known */
	const char *outside_dir; /* folder of a program outside the sysroot, on this machine */
	const struct closure_object *loader; /* who needed it first; NULL for the program */
	struct elf_info elf;
	bool variant; /* of a glibc-hwcaps folder, beside the baseline that is found by name */
};

/* Why a folder is searched. */
enum closure_reason { CLOSURE_BY_PATH, CLOSURE_BY_DEFAULT, CLOSURE_BY_CONF, CLOSURE_OUTSIDE };

struct closure_dir {
	const char *path;  /* folder in the sysroot; on this machine for CLOSURE_OUTSIDE */
	const char *image; /* folder in the image; NULL for CLOSURE_OUTSIDE */
	enum closure_reason reason;
};

struct closure_run {
	const struct closure_request *req;
	struct arena *arena;
	struct diags *diags;
	struct sysroot sysroot;
	VEC(struct closure_file) files;
	/* The program at work: */
	struct srcpos at;
	VEC(struct closure_object *) objects; /* in the loader's order */
	const char *interpreter;
	/* folders its loader searches by default, in the image; empty = not known */
	struct strlist builtin;
};

/* Whether the file (on this machine) is ELF for the platform; its facts in *ret_elf. */
bool closure_fits(struct closure_run *run, const char *host_path, struct elf_info *ret_elf);

/* The folders searched for what `from` needs, in order; in the arena. */
size_t closure_search_dirs(struct closure_run *run, const struct closure_object *from,
                           struct closure_dir **ret_dirs);

/*
 * Looks for `needed` and fills *ret_object (without loader and name) and *ret_dir; false when it is
 * nowhere. *ret_wrong names a file of another machine that was passed over, NULL if none.
 */
bool closure_find(struct closure_run *run, const struct closure_object *from, const char *needed,
                  struct closure_object *ret_object, struct closure_dir *ret_dir,
                  const char **ret_wrong);

/* Adds the file `name` of a folder with the links that lead to it. */
void closure_add_library(struct closure_run *run, const struct closure_dir *dir, const char *name);

/* Adds one file or link, once. */
void closure_add_file(struct closure_run *run, const struct closure_file *file);

/* Problems, each with position and hint. */
void closure_report_missing(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const char *wrong);
void closure_report_outside(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const struct closure_dir *dir);
void closure_report_unsearched(struct closure_run *run, const struct closure_object *from,
                               const char *needed, const struct closure_dir *dir);

#endif
