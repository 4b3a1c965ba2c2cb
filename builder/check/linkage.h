/*
 * The dynamic loader's walk (ld.so(8); musl, ldso/dynlink.c) inside an image: which files a program
 * maps, found as the image's own loader finds them. What builder/layer/source/closure.c does on the
 * build machine, done again on what will really be on the node. Ownership: objects and folders
 * live as long as the linkage. Work is bounded: LINKAGE_STEPS_MAX look-ups for one platform, after
 * which nothing more is found.
 */
#ifndef SLIPWAY_BUILDER_CHECK_LINKAGE_H
#define SLIPWAY_BUILDER_CHECK_LINKAGE_H

#include "builder/check/rules.h"
#include "builder/layer/elf/elf_cache.h"

enum {
	LINKAGE_STEPS_MAX = 20 << 20, /* folders and tables looked into, and bytes of paths made */
	LINKAGE_OBJECTS_MAX = 4096,   /* of one program */
	LINK_PROVIDERS_MAX = 16
};

/* A folder where libraries are looked for, under the name that the loader uses. */
struct link_dir {
	const char *path;
	struct view_node *folder;
};

struct link_dirs {
	struct link_dir *at;
	size_t n;
};

/* What the loader comes to for a name. */
enum link_state {
	LINK_UNTRIED,
	LINK_FOUND,
	LINK_ABSENT, /* in no folder */
	LINK_BROKEN  /* a file that it takes and cannot load: it gives up there */
};

struct link_found {
	enum link_state state;
	struct view_node *node;
	const char *dir; /* as the loader names the folder */
};

/* A dynamic ELF file of the image, whoever loads it. */
struct link_object {
	struct view_node *node;
	const struct elf_info *elf;
	unsigned program; /* the last that loaded it */

	/* What was found for it last, and for whom: the same again costs nothing. */
	const char *origin;
	struct link_dirs path; /* its RPATH or RUNPATH */
	const char *found_origin;
	const struct view_node *found_by;
	struct link_found *found; /* by DT_NEEDED; NULL = nothing yet */

	uint64_t data; /* what loading it asks for (rule_data.h) */
	bool data_known;

	/* By the libraries it needs versions of: the object that had them all. */
	const struct link_object **versioned_by;

	/* The objects that define all its symbols; more than fit, or none yet: n_providers 0. */
	struct link_object *providers[LINK_PROVIDERS_MAX];
	size_t n_providers;
};

/* An object in a program. */
struct linked {
	struct link_object *object;
	const char *name;   /* as needed; the path for the first one */
	const char *origin; /* its folder in the image, as found */
	size_t loader;      /* the object that asked for it; SIZE_MAX for the first one */
	bool inherits;      /* an RPATH is in force, its own or that of one that asked for it */
};

struct link_name {
	const char *name;
	size_t object;
	unsigned program;
};

struct linkage {
	struct check_image *image;
	struct elf_cache cache;
	struct link_dirs builtin; /* folders of the loader */
	struct link_dirs library_path, musl_path;
	bool library_path_varies; /* with the program: it says $ORIGIN */
	bool has_musl_path;
	struct strlist preload; /* LD_PRELOAD and ld.so.preload */
	bool *preload_missing;  /* by preload: reported */

	struct link_object **table; /* hash table of objects by their content; owned */
	size_t n_table, n_objects;
	VEC(struct link_dir) folders; /* known names of folders; a hash table beside it */
	size_t *folder_table;
	size_t n_folder_table;
	struct link_name *names; /* of the program's objects; owned */
	size_t n_names_table, n_names;

	/* The program at work. */
	unsigned program;
	VEC(struct linked) objects; /* [0] is the program */
	const char *interpreter;
	struct view_node *loader; /* NULL: not in the image */
	bool is_musl;
	bool open; /* something is missing or comes from the node: nothing can be said of symbols */
	size_t steps;
	bool exhausted; /* of steps, or of objects */
};

/* What a program, or an object of it, needs and does not get. */
struct link_missing {
	const struct linked *from;
	const char *needed;
	struct link_found found; /* LINK_ABSENT or LINK_BROKEN */
};
typedef void linkage_missing(struct linkage *l, const struct link_missing *m, void *ctx);

void linkage_init(struct linkage *l, struct check_image *image);
void linkage_done(struct linkage *l);

/* Loads `root` and everything it needs; provided names are left out. Calls `missing` for every
 * name that is found nowhere. */
void linkage_load(struct linkage *l, struct view_node *root, linkage_missing *missing, void *ctx);

/* The object that a needed name was found as, NULL if none. */
const struct linked *linkage_find(const struct linkage *l, const char *needed);

/* Whether the loader takes this file as a library for the platform. */
bool linkage_fits(const struct check_image *image, const struct view_node *n);

/* Uses up n steps; false when there are none left, or a stop was asked for. */
bool linkage_spend(struct linkage *l, size_t n);

/* What looking a name up costs once. */
size_t linkage_name_cost(const char *name);

/* Reports what the program at work needs of symbols and does not get (rule_symbol.c). */
void linkage_check_symbols(struct linkage *l);

/* Reports what is to be preloaded and is not there, once (rule_preload.c). */
void linkage_check_preload(struct linkage *l);

/* ---- between linkage.c and linkage_search.c ---- */

/* Of a name or a path, for the tables. */
size_t linkage_hash(const char *text);

/* The object of a file. */
struct link_object *linkage_object(struct linkage *l, struct view_node *node);

/* The folders of a list separated by ':', those that exist. */
struct link_dirs linkage_dirs(struct linkage *l, const char *text, const char *origin);

/* Folders that need no expansion. */
struct link_dirs linkage_dirs_of(struct linkage *l, const struct strlist *paths);

/* What the loader finds for a name that `from` needs. */
struct link_found linkage_search(struct linkage *l, const struct linked *from, const char *name);

#endif
