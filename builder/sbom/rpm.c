/* Sections: a package, its files, SQLite. */
#include "builder/sbom/rpm.h"

#include <sqlite3.h>
#include <string.h>

#include "builder/sbom/rpm_header.h"

enum {
	PATHS_MAX = 1000000, /* of one package */
	PATH_MAX_BYTES = 4096,
	OPERATIONS_AT_ONCE = 10000, /* of SQLite's machine, between two calls of its handler */
	CALLS_MAX = 10000
};

/* ---- a package ---- */

/* rpm's own form of a version, EPOCH:VERSION-RELEASE; an epoch of 0 is none. */
static const char *version_of(const struct rpm_header *h, struct arena *a)
{
	const char *version = rpm_string(h, RPM_VERSION), *release = rpm_string(h, RPM_RELEASE);
	uint32_t epoch = 0;
	const char *text;

	if (version == NULL || release == NULL)
		return NULL;
	(void)rpm_number(h, RPM_EPOCH, 0, &epoch);
	text = epoch != 0 ? arena_printf(a, "%u:%s-%s", epoch, version, release)
	                  : arena_printf(a, "%s-%s", version, release);
	return sbom_text(a, text, strlen(text));
}

static const char *text_of(const struct rpm_header *h, enum rpm_tag tag, struct arena *a)
{
	const char *text = rpm_string(h, tag);

	return text != NULL ? sbom_text(a, text, strlen(text)) : NULL;
}

/* ---- its files: folders by number, with names ---- */

static size_t read_folders(const struct rpm_header *h, const char **at)
{
	struct rpm_strings folders = rpm_strings(h, RPM_DIRNAMES);
	size_t n = 0;

	while (n < PATHS_MAX && (at[n] = rpm_next(&folders)) != NULL)
		n++;
	return n;
}

static void tell_files(const struct database_reader *r, const struct sbom_package *p,
                       const struct rpm_header *h)
{
	struct rpm_strings names = rpm_strings(h, RPM_BASENAMES);
	struct rpm_strings folders = rpm_strings(h, RPM_DIRNAMES);
	/* No more folders than bytes of the store: each has its NUL. */
	size_t most = folders.left < h->store_len ? folders.left : h->store_len;
	AUTO_FREE const char **at =
		mem_calloc((most < PATHS_MAX ? most : PATHS_MAX) + 1, sizeof(*at));
	size_t n = most > 0 ? read_folders(h, at) : 0;
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
	const char *name;

	for (size_t i = 0; i < PATHS_MAX && (name = rpm_next(&names)) != NULL; i++) {
		uint32_t folder;

		if (!rpm_number(h, RPM_DIRINDEXES, i, &folder) || folder >= n)
			continue;
		strbuf_reset(&path);
		path.overflow = false;
		strbuf_adds(&path, at[folder]);
		strbuf_adds(&path, name);
		size_t slashes = strspn(strbuf_str(&path), "/");

		if (!path.overflow && slashes > 0 && path.len > slashes)
			r->owns(r->ctx, p, path.ptr + slashes, path.len - slashes);
	}
}

bool rpm_read_header(const struct database_reader *r, const void *bytes, size_t len)
{
	struct arena *a = r->inv->arena;
	struct rpm_header h;

	if (!rpm_header_open(&h, bytes, len))
		return false;
	struct sbom_package p = {.kind = PACKAGE_RPM,
	                         .name = text_of(&h, RPM_NAME, a),
	                         .version = version_of(&h, a),
	                         .architecture = text_of(&h, RPM_ARCH, a),
	                         .source = text_of(&h, RPM_SOURCERPM, a),
	                         .maintainer = text_of(&h, RPM_VENDOR, a),
	                         .database = r->path};

	if (p.name == NULL || p.version == NULL)
		return false;
	/* rpm keeps the keys that it trusts as packages. */
	if (strcmp(p.name, "gpg-pubkey") == 0)
		return true;
	struct sbom_package *added = inventory_add(r->inv);

	*added = p;
	tell_files(r, added, &h);
	return true;
}

/* ---- SQLite ---- */

static void sqlite_done(sqlite3 **db)
{
	(void)sqlite3_close(*db);
}

static void statement_done(sqlite3_stmt **s)
{
	(void)sqlite3_finalize(*s);
}

/* Only what the one query needs: a schema of another's making runs nothing. */
static int allow(void *ctx, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)ctx;
	(void)b;
	(void)c;
	(void)d;
	if (action == SQLITE_SELECT)
		return SQLITE_OK;
	return action == SQLITE_READ && a != NULL && strcmp(a, "Packages") == 0 ? SQLITE_OK
	                                                                        : SQLITE_DENY;
}

static int count_down(void *ctx)
{
	return --*(int *)ctx <= 0;
}

/* The two bytes that ask for a write-ahead log (file format, section 1.3.3), which is not here. */
static void without_log(char *copy, size_t len)
{
	enum { WRITE_VERSION = 18, READ_VERSION = 19, ROLLBACK = 1 };

	if (len > READ_VERSION)
		copy[WRITE_VERSION] = copy[READ_VERSION] = ROLLBACK;
}

/* SQLite frees the copy in any case. */
static bool open_copy(sqlite3 **db, const char *text, size_t len)
{
	unsigned char *copy;

	if (sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return false;
	copy = sqlite3_malloc64(len + 1);
	if (copy == NULL)
		mem_exhausted("SQLite");
	memcpy(copy, text, len);
	without_log((char *)copy, len);
	(void)sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	(void)sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	(void)sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, RPM_STORE_MAX);
	return sqlite3_deserialize(*db, "main", copy, (sqlite3_int64)len, (sqlite3_int64)len,
	                           SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) ==
	       SQLITE_OK;
}

/* Every row; NULL, or why not. */
static const char *read_rows(const struct database_reader *r, sqlite3 *db)
{
	__attribute__((cleanup(statement_done))) sqlite3_stmt *s = NULL;
	size_t bad = 0;
	int status, calls = CALLS_MAX;

	sqlite3_progress_handler(db, OPERATIONS_AT_ONCE, count_down, &calls);
	(void)sqlite3_set_authorizer(db, allow, NULL);
	if (sqlite3_prepare_v2(db, "SELECT blob FROM Packages ORDER BY hnum", -1, &s, NULL) !=
	    SQLITE_OK)
		return "it is not rpm's database of packages";
	while ((status = sqlite3_step(s)) == SQLITE_ROW &&
	       r->inv->packages.n <= DATABASE_PACKAGES_MAX) {
		const void *blob = sqlite3_column_blob(s, 0);
		int n = sqlite3_column_bytes(s, 0);

		bad += blob == NULL || !rpm_read_header(r, blob, (size_t)n);
	}
	if (status != SQLITE_DONE && status != SQLITE_ROW)
		return "rpm's database cannot be read to its end";
	return bad > 0 ? "some packages of rpm's database cannot be read" : NULL;
}

void rpm_read_sqlite(const struct database_reader *r, const char *text, size_t len)
{
	__attribute__((cleanup(sqlite_done))) sqlite3 *db = NULL;
	const char *why =
		open_copy(&db, text, len) ? read_rows(r, db) : "it is not a database of SQLite";

	if (why != NULL)
		inventory_gap(r->inv, "%s: %s", r->path, why);
}
