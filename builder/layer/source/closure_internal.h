/*
 * What the parts of the dependency closure share: the search over all programs (closure.c), one
 * program and its interpreter (closure_program.c), globs and plug-ins (closure_plugins.c), the
 * search for one library (closure_find.c), what the base brings (closure_base.c), problems
 * (closure_report.c) and the list of files (closure_files.c). Nobody else includes this.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_CLOSURE_INTERNAL_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_CLOSURE_INTERNAL_H

#include "base/mem.h"
#include "builder/layer/elf/elf.h"
#include "builder/layer/elf/elf_search.h"
#include "builder/layer/source/closure.h"
#include "builder/layer/source/sysroot.h"

/* Objects of one program; names that all of them need. */
enum { CLOSURE_OBJECTS_MAX = 4096, CLOSURE_NEEDED_MAX = 100000 };

/* A file that the loader maps: the program or a library. */
struct closure_object {
	const char *label;       /* path for messages */
	const char *name;        /* as it was needed; the label for a program */
	const char *dir;         /* its folder in the sysroot; NULL when the program lies outside */
	const char *image_dir;   /* its folder in the image; NULL when not known */
	const char *outside_dir; /* folder of a program outside the sysroot, on this machine */
	const struct closure_object *loader; /* who needed it first; NULL for the program */
	struct elf_info elf;
	/* packed, but not what its name finds: a glibc-hwcaps variant, a plug-in */
	bool nameless;
	bool of_base; /* lies in the base and is not packed */
};

/* Why a folder is searched. */
enum closure_reason { CLOSURE_BY_PATH, CLOSURE_BY_DEFAULT, CLOSURE_BY_CONF, CLOSURE_OUTSIDE };

struct closure_dir {
	const char *path;  /* folder in the sysroot; on this machine for CLOSURE_OUTSIDE */
	const char *image; /* folder in the image; NULL for CLOSURE_OUTSIDE */
	enum closure_reason reason;
};

/* What the base has for one program: its loader, and where that looks. */
struct closure_ground {
	bool loader;            /* it has the interpreter */
	struct strlist builtin; /* folders that loader searches by default */
	bool cache;             /* ldconfig made a cache */
	struct strlist conf;    /* of these folders and the system's own */
};

struct closure_match {
	const char *path;
	struct srcpos at;
};

struct closure_matches {
	struct closure_match *at;
	size_t n;
};

struct closure_run {
	const struct closure_request *req;
	struct arena *arena;
	struct diags *diags;
	struct sysroot sysroot;
	VEC(struct closure_file) files;
	struct err failure;    /* of the base, at the first question that it did not answer */
	struct strlist warned; /* libraries that a warning named */
	const struct layer_closure *item; /* at work */
	/* The program at work: */
	struct srcpos at;
	size_t n_needed;                      /* names, of objects looked at so far */
	VEC(struct closure_object *) objects; /* in the loader's order */
	const char *interpreter;
	/* folders its loader searches by default, in the image; empty = not known */
	struct strlist builtin;
	struct closure_ground ground;
};

/* Remembers why the base could not be read; the search ends soon. */
void closure_fail(struct closure_run *run, const struct err *err);

void closure_push_object(struct closure_run *run, const struct closure_object *o);

/* The programs of the item at work and its plug-ins, by name; none is a problem. */
int closure_programs(struct closure_run *run, struct closure_matches *ret_programs,
                     struct err *err) MUST_USE;
int closure_plugins(struct closure_run *run, struct closure_matches *ret_plugins,
                    struct err *err) MUST_USE;

/* Opens a program and says what is wrong with it. */
bool closure_read_program(struct closure_run *run, struct closure_object *o);

/* Packs the interpreter, or takes it from where it already is; fills run->builtin. */
void closure_add_interpreter(struct closure_run *run, const struct closure_object *program);

/* Packs one plug-in (a path in the sysroot) as an object of the program at work. */
void closure_add_plugin(struct closure_run *run, const char *path);

/* False after a problem: the file, a `what`, is of another machine. */
bool closure_check_machine(struct closure_run *run, const char *what, const char *name,
                           const struct elf_info *elf);

/* Fills run->ground for the program's interpreter; empty without a base. */
void closure_read_ground(struct closure_run *run, const char *interpreter);

/* Looks for `needed` as the base's loader would; fills *ret_object (without loader and name). */
bool closure_find_in_base(struct closure_run *run, const struct closure_object *from,
                          const char *needed, struct closure_object *ret_object);

/* Compares the versions of what was packed with those of the base. */
void closure_check_ground(struct closure_run *run);

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

/* Adds one file or link, once, where the base's links lead. */
void closure_add_file(struct closure_run *run, const struct closure_file *file);

/* The node's CPU decides which variant of a library is loaded: all are packed beside it. */
void closure_add_variants(struct closure_run *run, const struct closure_object *base,
                          const struct closure_dir *dir);

/* Problems, each with position and hint. */
void closure_report_missing(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const char *wrong);
void closure_report_outside(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const struct closure_dir *dir);
void closure_report_unsearched(struct closure_run *run, const struct closure_object *from,
                               const char *needed, const struct closure_dir *dir);
void closure_report_no_loader(struct closure_run *run, const struct closure_object *program);
void closure_report_no_base(struct closure_run *run);

/* An object needs a version that the base's library does not define. */
void closure_report_too_new(struct closure_run *run, const struct closure_object *from,
                            const struct closure_object *library, const char *version);

/* A library that is packed is older than the base's at the same place. */
void closure_report_older(struct closure_run *run, const char *name, const char *version);

/* The base has its C library elsewhere, at `path`. */
void closure_report_two(struct closure_run *run, const struct closure_object *packed,
                        const char *path, bool certain);

#endif
