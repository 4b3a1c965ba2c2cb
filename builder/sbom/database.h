/*
 * The databases of packages that lie in a file system, a row each: which paths are one, and how its
 * text becomes packages. Another one (deb, apk, Python's metadata) tells which files a package has.
 */
#ifndef SLIPWAY_BUILDER_SBOM_DATABASE_H
#define SLIPWAY_BUILDER_SBOM_DATABASE_H

#include "builder/sbom/inventory.h"

enum { DATABASE_PACKAGES_MAX = 200000 };

/* Who is told of each path (without leading '/') that a package of this text has. */
typedef void database_owns(void *ctx, const struct sbom_package *package, const char *path,
                           size_t len);

struct database_reader {
	struct inventory *inv;
	const char *path; /* of the database, with leading '/' */
	database_owns *owns;
	void *ctx;
};

/* How a kind of database is found and read. */
struct database {
	bool (*is)(const char *path); /* without leading '/' */
	void (*read)(const struct database_reader *r, const char *text, size_t len);
	bool of_files;   /* its packages are other packages' content: owned ones do not count */
	const char *gap; /* it cannot be read, and this is why; NULL: it can */
};

/* The row of a path without leading '/', or NULL. */
const struct database *database_find(const char *path);

/*
 * The packages of dpkg's database (/var/lib/dpkg/status, and each file of status.d) whose files
 * are there: neither removed ones nor those of which only the configuration is left.
 */
void dpkg_read_status(const struct database_reader *r, const char *text, size_t len);

/*
 * The name of the package whose list of paths this is: var/lib/dpkg/info/NAME[:ARCH].list, or
 * status.d/NAME.md5sums. NULL when it is none.
 */
const char *dpkg_list_of(const char *path, struct arena *a, const char **ret_architecture);

/* Each path of such a list; those of .md5sums stand behind a sum. */
void dpkg_read_list(const char *text, size_t len, void (*path)(void *ctx, const char *at, size_t n),
                    void *ctx);

/* Fills the fields of os-release(5), in the arena. */
void distro_read(struct sbom_distro *d, const char *text, size_t len, struct arena *a);

/* A value of outside as one that may be printed, in the arena; NULL when it is empty or has more
 * than 1 KiB. */
const char *sbom_text(struct arena *a, const char *value, size_t len);

/* "NAME (VERSION)" or "NAME", as the field Source has it, into the package. */
void dpkg_set_source(struct sbom_package *p, const char *value, size_t len, struct arena *a);

#endif
