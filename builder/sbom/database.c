/*
 * Sections: Alpine, Python, rpm's log, the table, os-release.
 */
#include "builder/sbom/database.h"

#include <string.h>

#include "base/text.h"
#include "builder/sbom/deb822.h"
#include "builder/sbom/rpm.h"

/* ---- Alpine: a paragraph a package, keys of one letter (apk-tools, apk_package(5)) ---- */

struct apk_reader {
	const struct database_reader *to;
	struct sbom_package *package; /* NULL until its first field */
	const char *folder;           /* F:, of the files (R:) behind it */
	size_t folder_len;
};

static void apk_file(const struct apk_reader *r, const struct deb822_field *f)
{
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(8192);

	strbuf_add(&path, r->folder, r->folder_len);
	if (r->folder_len > 0)
		strbuf_addc(&path, '/');
	strbuf_add(&path, f->value, f->value_len);
	if (!path.overflow)
		r->to->owns(r->to->ctx, r->package, strbuf_str(&path), path.len);
}

static void apk_field(struct apk_reader *r, const struct deb822_field *f)
{
	struct arena *a = r->to->inv->arena;

	if (r->package == NULL) {
		r->package = inventory_add(r->to->inv);
		*r->package = (struct sbom_package){.kind = PACKAGE_APK, .database = r->to->path};
		r->folder = "";
		r->folder_len = 0;
	}
	switch (f->key_len == 1 ? f->key[0] : '\0') {
	case 'P':
		r->package->name = sbom_text(a, f->value, f->value_len);
		break;
	case 'V':
		r->package->version = sbom_text(a, f->value, f->value_len);
		break;
	case 'A':
		r->package->architecture = sbom_text(a, f->value, f->value_len);
		break;
	case 'o':
		r->package->source = sbom_text(a, f->value, f->value_len);
		break;
	case 'm':
		r->package->maintainer = sbom_text(a, f->value, f->value_len);
		break;
	case 'F':
		r->folder = f->value;
		r->folder_len = f->value_len;
		break;
	case 'R':
		apk_file(r, f);
		break;
	default:
		break;
	}
}

/* A paragraph without name or version names nothing. */
static void apk_end(struct apk_reader *r)
{
	if (r->package != NULL && (r->package->name == NULL || r->package->version == NULL))
		r->to->inv->packages.n--;
	r->package = NULL;
}

static void read_apk(const struct database_reader *to, const char *text, size_t len)
{
	struct deb822 d = {text, text + len};
	struct apk_reader r = {.to = to};
	enum deb822_event event;
	struct deb822_field f;

	do {
		event = deb822_next(&d, &f);
		if (event == DEB822_FIELD)
			apk_field(&r, &f);
		else
			apk_end(&r);
	} while (event != DEB822_END);
}

/* ---- Python: the head of METADATA (PyPA, "Core metadata specifications") ---- */

static void read_python(const struct database_reader *r, const char *text, size_t len)
{
	struct deb822 d = {text, text + len};
	struct sbom_package p = {.kind = PACKAGE_PYPI, .database = r->path};
	struct deb822_field f;

	/* What follows the first empty line is the description. */
	while (deb822_next(&d, &f) == DEB822_FIELD) {
		if (p.name == NULL && deb822_is(&f, "Name"))
			p.name = sbom_text(r->inv->arena, f.value, f.value_len);
		if (p.version == NULL && deb822_is(&f, "Version"))
			p.version = sbom_text(r->inv->arena, f.value, f.value_len);
	}
	if (p.name != NULL && p.version != NULL)
		*inventory_add(r->inv) = p;
}

/* ---- what rpm leaves beside its database ---- */

static void read_rpm_log(const struct database_reader *r, const char *text, size_t len)
{
	(void)text;
	if (len > 0)
		inventory_gap(r->inv, "%s: packages that rpm wrote last are in its log", r->path);
}

/* ---- the table ---- */

static bool is_dpkg(const char *path)
{
	static const char folder[] = "var/lib/dpkg/status.d/";

	return strcmp(path, "var/lib/dpkg/status") == 0 ||
	       (text_has_prefix(path, folder) && strchr(path + strlen(folder), '/') == NULL &&
	        !text_has_suffix(path, ".md5sums"));
}

static bool is_apk(const char *path)
{
	return strcmp(path, "lib/apk/db/installed") == 0 ||
	       strcmp(path, "usr/lib/apk/db/installed") == 0;
}

static bool is_python(const char *path)
{
	return text_has_suffix(path, ".dist-info/METADATA") ||
	       text_has_suffix(path, ".egg-info/PKG-INFO");
}

static bool is_of_rpm(const char *path, const char *name)
{
	static const char *const folders[] = {"var/lib/rpm/", "usr/lib/sysimage/rpm/",
	                                      "usr/share/rpm/"};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (text_has_prefix(path, folders[i]) &&
		    strcmp(path + strlen(folders[i]), name) == 0)
			return true;
	return false;
}

static bool is_rpm_sqlite(const char *path)
{
	return is_of_rpm(path, "rpmdb.sqlite");
}

/* What rpm wrote last and has not yet put into the database. */
static bool is_rpm_log(const char *path)
{
	return is_of_rpm(path, "rpmdb.sqlite-wal");
}

static bool is_rpm_berkeley(const char *path)
{
	return is_of_rpm(path, "Packages");
}

static bool is_rpm_ndb(const char *path)
{
	return is_of_rpm(path, "Packages.db");
}

static const struct database databases[] = {
	{.is = is_dpkg, .read = dpkg_read_status},
	{.is = is_apk, .read = read_apk},
	{.is = is_python, .read = read_python, .of_files = true},
	{.is = is_rpm_sqlite, .read = rpm_read_sqlite},
	{.is = is_rpm_log, .read = read_rpm_log},
	{.is = is_rpm_berkeley, .gap = "packages of an RPM database in Berkeley DB are not listed"},
	{.is = is_rpm_ndb, .gap = "packages of an RPM database in ndb are not listed"},
};

const struct database *database_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(databases); i++)
		if (databases[i].is(path))
			return &databases[i];
	return NULL;
}

/* ---- os-release(5): shell assignments, the value maybe in quotes ---- */

static const char *unquoted(struct arena *a, const char *value, size_t len)
{
	if (len >= 2 && (value[0] == '"' || value[0] == '\'') && value[len - 1] == value[0]) {
		value++;
		len -= 2;
	}
	return sbom_text(a, value, len);
}

void distro_read(struct sbom_distro *d, const char *text, size_t len, struct arena *a)
{
	static const struct {
		const char *key;
		size_t offset;
	} keys[] = {
		{"ID=", offsetof(struct sbom_distro, id)},
		{"VERSION_ID=", offsetof(struct sbom_distro, version_id)},
		{"VERSION_CODENAME=", offsetof(struct sbom_distro, codename)},
		{"PRETTY_NAME=", offsetof(struct sbom_distro, name)},
	};
	const char *end = text + len;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop != NULL ? stop : end) - text);

		for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
			size_t key = strlen(keys[i].key);

			if (n > key && strncmp(text, keys[i].key, key) == 0)
				*(const char **)(void *)((char *)d + keys[i].offset) =
					unquoted(a, text + key, n - key);
		}
		text += n + (stop != NULL);
	}
}
