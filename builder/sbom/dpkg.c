/* dpkg's database in a file system, and the fields of its packages. */
#include <string.h>

#include "base/text.h"
#include "builder/sbom/database.h"
#include "builder/sbom/deb822.h"

enum { TEXT_MAX = 1024 };

const char *sbom_text(struct arena *a, const char *value, size_t len)
{
	char *text;

	if (len == 0 || len > TEXT_MAX)
		return NULL;
	text = arena_strndup(a, value, len);
	text_make_printable(text);
	return text;
}

void dpkg_set_source(struct sbom_package *p, const char *value, size_t len, struct arena *a)
{
	const char *open = memchr(value, '(', len);
	size_t name = open != NULL ? (size_t)(open - value) : len;

	while (name > 0 && value[name - 1] == ' ')
		name--;
	p->source = sbom_text(a, value, name);
	if (open == NULL)
		return;
	const char *version = open + 1,
		   *close = memchr(version, ')', len - (size_t)(version - value));

	if (close != NULL)
		p->source_version = sbom_text(a, version, (size_t)(close - version));
}

/* The third word of Status (deb-status(5), dpkg(1)): the others have files in the system. */
static bool has_files(const struct deb822_field *status)
{
	static const char *const without[] = {"not-installed", "config-files"};

	for (size_t i = 0; i < ARRAY_LEN(without); i++) {
		size_t n = strlen(without[i]);

		if (status->value_len >= n &&
		    strncmp(status->value + status->value_len - n, without[i], n) == 0)
			return false;
	}
	return true;
}

static void take_field(struct sbom_package *p, bool *there, const struct deb822_field *f,
                       struct arena *a)
{
	static const struct {
		const char *key;
		size_t offset;
	} texts[] = {
		{"Package", offsetof(struct sbom_package, name)},
		{"Version", offsetof(struct sbom_package, version)},
		{"Architecture", offsetof(struct sbom_package, architecture)},
		{"Maintainer", offsetof(struct sbom_package, maintainer)},
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (deb822_is(f, texts[i].key))
			*(const char **)(void *)((char *)p + texts[i].offset) =
				sbom_text(a, f->value, f->value_len);
	if (deb822_is(f, "Source"))
		dpkg_set_source(p, f->value, f->value_len, a);
	if (deb822_is(f, "Status"))
		*there = has_files(f);
}

void dpkg_read_status(const struct database_reader *r, const char *text, size_t len)
{
	struct deb822 d = {text, text + len};
	struct sbom_package p = {.kind = PACKAGE_DEB, .database = r->path};
	enum deb822_event event;
	struct deb822_field f;
	bool there = true;

	do {
		event = deb822_next(&d, &f);
		if (event == DEB822_FIELD) {
			take_field(&p, &there, &f, r->inv->arena);
			continue;
		}
		if (p.name != NULL && p.version != NULL && there)
			*inventory_add(r->inv) = p;
		p = (struct sbom_package){.kind = PACKAGE_DEB, .database = r->path};
		there = true;
	} while (event != DEB822_END);
}

const char *dpkg_list_of(const char *path, struct arena *a, const char **ret_architecture)
{
	static const struct {
		const char *folder, *ending;
	} kinds[] = {
		{"var/lib/dpkg/info/", ".list"},
		{"var/lib/dpkg/status.d/", ".md5sums"},
	};

	*ret_architecture = NULL;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const char *name = path + strlen(kinds[i].folder);

		if (!text_has_prefix(path, kinds[i].folder) ||
		    !text_has_suffix(name, kinds[i].ending))
			continue;
		size_t len = strlen(name) - strlen(kinds[i].ending);
		const char *colon = memchr(name, ':', len);

		if (colon != NULL) {
			*ret_architecture =
				arena_strndup(a, colon + 1, len - (size_t)(colon + 1 - name));
			len = (size_t)(colon - name);
		}
		return arena_strndup(a, name, len);
	}
	return NULL;
}

/* An md5sums line is 32 hex digits, two blanks and the path. */
static size_t sum_length(const char *line, size_t len)
{
	enum { SUM = 32 };

	return len > SUM + 2 && strspn(line, "0123456789abcdef") == SUM && line[SUM] == ' '
	               ? SUM + 2
	               : 0;
}

void dpkg_read_list(const char *text, size_t len, void (*path)(void *ctx, const char *at, size_t n),
                    void *ctx)
{
	const char *end = text + len;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((line_end != NULL ? line_end : end) - text);
		size_t skip = sum_length(text, n);

		while (skip < n && text[skip] == '/')
			skip++;
		if (skip < n && !(n - skip == 1 && text[skip] == '.'))
			path(ctx, text + skip, n - skip);
		text += n + (line_end != NULL);
	}
}
