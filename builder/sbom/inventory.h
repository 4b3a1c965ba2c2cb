/*
 * What is in the image of one platform: its operating system, its packages, its ELF files, and on
 * request every file. Plain data in an arena, made from the final file system of some layers
 * (inventory_read), of the building machine's knowledge (machine.h), or of what the cache
 * remembers (inventory_json.h), and joined by inventory_stack. Prints nothing: see document.h.
 *
 *   struct inventory inv = {.arena = &arena};
 *   if (inventory_read(&inv, &view, &opts, &err) != 0) ...
 *   inventory_sort(&inv);
 *
 * Ownership: strings, packages and objects live in the arena, the lists are freed by
 * inventory_done. Thread rule: one inventory belongs to one thread.
 */
#ifndef SLIPWAY_BUILDER_SBOM_INVENTORY_H
#define SLIPWAY_BUILDER_SBOM_INVENTORY_H

#include "base/crypto/digest.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "builder/check/view.h"

enum package_kind { PACKAGE_DEB, PACKAGE_APK, PACKAGE_PYPI, PACKAGE_RPM };

/* os-release(5). */
struct sbom_distro {
	const char *id, *version_id, *codename, *name; /* NULL: not said */
};

/* One package. Texts are printable; NULL: not said. */
struct sbom_package {
	enum package_kind kind;
	const char *name, *version;
	const char *architecture; /* in the distribution's words; NULL for PACKAGE_PYPI */
	/* what it was built from; NULL: a source of its own name, of its own version */
	const char *source, *source_version;
	const char *maintainer;
	const char *database; /* path in the image of what lists it; NULL: its files tell it */
	const struct sbom_distro *distro; /* that made it; NULL: the image's */
	size_t number;                    /* in the list, once it is sorted */
	const char *from; /* how its files tell it: "this machine's dpkg", "app.deb" */
};

/* One ELF file. */
struct sbom_object {
	const char *path; /* with leading '/' */
	uint16_t machine;
	unsigned bits;
	bool executable;
	const char *soname;                 /* NULL if none */
	struct strlist needed;              /* DT_NEEDED in order */
	const char *build_id;               /* hex, NULL if none */
	const struct sbom_package *package; /* NULL: of none that is known */
};

struct sbom_file {
	const char *path; /* with leading '/' */
	int64_t size;
	struct digest digest;               /* SHA-256 of its content */
	size_t layer;                       /* of the image, from 0 */
	const char *source;                 /* where it came from; NULL: not known */
	const struct sbom_package *package; /* NULL: of none that is known */
};

struct inventory {
	struct arena *arena;
	struct sbom_distro distro;
	VEC(struct sbom_package *) packages;
	VEC(struct sbom_object *) objects;
	VEC(struct sbom_file *) files;
	VEC(const char *) gaps; /* why it may not be whole: sentences */
};

void inventory_done(struct inventory *inv);

/* What a caller knows of a file beside what the view has. */
struct file_origin {
	const struct sbom_package *package; /* NULL: of none */
	const char *source;                 /* NULL: not known */
};
typedef struct file_origin sbom_origin(void *ctx, const struct view_node *n);

struct inventory_opts {
	bool files;          /* list every file; the scans have their digests (SCAN_DIGESTS) */
	size_t first_layer;  /* of the image, for the view's layer 0 */
	sbom_origin *origin; /* may be NULL */
	void *ctx;
};

/* The texts that inventory_read wants of a scan (struct layer_scan, keep). */
scan_keep inventory_keeps;

/*
 * Adds what a file system holds whose scans ran with SCAN_ELF and inventory_keeps. A database that
 * cannot be read is a gap, no error. ERR_LIMIT for too many packages, ERR_INTERRUPTED.
 */
int inventory_read(struct inventory *inv, const struct view *v, const struct inventory_opts *opts,
                   struct err *err) MUST_USE;

/* True when a path of the upper layers hides one of the lower. */
typedef bool sbom_hidden(void *ctx, const char *path);

/*
 * Adds what `lower` has and the layers above do not hide: of a database that is replaced all
 * packages go. What is added is shared with `lower`, whose arena outlives inv.
 */
void inventory_stack(struct inventory *inv, const struct inventory *lower, sbom_hidden *hidden,
                     void *ctx);

/*
 * Order for documents: packages by kind, name, version, architecture, each once; objects and files
 * by path. Packages that were one before are one pointer afterwards.
 */
void inventory_sort(struct inventory *inv);

/* The next package of the inventory, zeroed. */
struct sbom_package *inventory_add(struct inventory *inv);

/* "the RPM database is not read" */
void inventory_gap(struct inventory *inv, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
