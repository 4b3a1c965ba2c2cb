/* See tar.h. Sections: fields, names, extended records, the header. */
#include "builder/layer/tar/tar.h"

#include <inttypes.h>

#include "base/text.h"

/* One ustar header record (POSIX.1-2017, pax, "ustar Header Block"). */
struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type;
	char link[100], magic[6], version[2], uname[32], gname[32], dev_major[8], dev_minor[8];
	char prefix[155], pad[12];
};

_Static_assert(sizeof(struct ustar) == TAR_BLOCK, "a ustar header is one record");

enum {
	ID_MAX = 07777777,      /* seven octal digits */
	RECORD_DIGITS_MAX = 20, /* decimal digits of a record's length, generously */
	PAX_NAME_MAX = 80,      /* bytes of the entry's name kept in its pax header's name */
	RECORDS_CAP = 2 * TAR_PAX_BYTES_MAX,
	PAX_MODE = 0644
};
#define OCTAL11_MAX INT64_C(077777777777) /* eleven octal digits: 8 GiB - 1 */

size_t tar_padding(int64_t size)
{
	return (size_t)(-(uint64_t)size % TAR_BLOCK);
}

/* ---- fields ---- */

/* `width` - 1 octal digits and a NUL. */
static void put_octal(char *field, size_t width, uint64_t value)
{
	field[width - 1] = '\0';
	for (size_t i = width - 1; i-- > 0; value >>= 3)
		field[i] = (char)('0' + (value & 7));
}

static bool fits(int64_t value, int64_t max)
{
	return value >= 0 && value <= max;
}

/* A value that does not fit stands in the extended header; its field is zero. */
static void put_number(char *field, size_t width, int64_t value, int64_t max)
{
	put_octal(field, width, fits(value, max) ? (uint64_t)value : 0);
}

/* ---- names ---- */

static bool is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* The name as a reader without pax shall see it: cut, bytes beyond ASCII replaced. */
static void put_fallback(char *field, size_t width, const char *text, size_t len)
{
	for (size_t i = 0; i < len && i < width; i++) {
		field[i] = text[i];
		if ((unsigned char)text[i] >= 0x80)
			field[i] = '?';
	}
}

/*
 * Fills name and prefix; false when the path fits neither. The prefix is the shortest that lets the
 * rest fit, so that there is one way to write a path.
 */
static bool put_path(struct ustar *h, const char *path, size_t len)
{
	if (len <= sizeof(h->name)) {
		memcpy(h->name, path, len);
		return true;
	}
	for (size_t i = len - sizeof(h->name) - 1; i < len - 1 && i <= sizeof(h->prefix); i++) {
		if (path[i] != '/' || i == 0)
			continue;
		memcpy(h->prefix, path, i);
		memcpy(h->name, path + i + 1, len - i - 1);
		return true;
	}
	return false;
}

/* ---- extended records ---- */

/* "LEN KEY=VALUE\n", where LEN counts itself (POSIX.1-2017, pax, "pax Extended Header"). */
static void add_record(struct strbuf *sb, const char *key, const void *value, size_t len)
{
	char digits[RECORD_DIGITS_MAX + 2];
	size_t rest = strlen(key) + len + 3; /* blank, '=', newline */
	size_t total = rest + 1;
	size_t n;

	for (;;) {
		n = (size_t)snprintf(digits, sizeof(digits), "%zu", total);
		if (rest + n == total)
			break;
		total = rest + n;
	}
	strbuf_add(sb, digits, n);
	strbuf_addc(sb, ' ');
	strbuf_adds(sb, key);
	strbuf_addc(sb, '=');
	strbuf_add(sb, value, len);
	strbuf_addc(sb, '\n');
}

static void add_number(struct strbuf *sb, const char *key, int64_t value, int64_t max)
{
	char digits[RECORD_DIGITS_MAX + 2];
	int n;

	if (fits(value, max))
		return;
	n = snprintf(digits, sizeof(digits), "%" PRId64, value);
	add_record(sb, key, digits, (size_t)n);
}

static int add_xattrs(struct strbuf *sb, const struct entry *e, struct err *err)
{
	for (size_t i = 0; i < e->n_xattrs; i++) {
		const struct entry_xattr *x = &e->xattrs[i];
		AUTO(strbuf) struct strbuf key = STRBUF_INIT(TAR_PAX_BYTES_MAX);

		if (strchr(x->name, '=') != NULL)
			return err_set(
				err, ERR_FORMAT,
				"'%s': extended attribute '%s': a tar cannot hold a name with '='",
				e->path, x->name);
		strbuf_adds(&key, "SCHILY.xattr.");
		strbuf_adds(&key, x->name);
		add_record(sb, strbuf_str(&key), x->value, x->len);
	}
	return 0;
}

struct entry_names {
	const char *path; /* with '/' at the end of a folder */
	size_t path_len;
	bool pax_path, pax_link;
};

/* All records of an entry, in byte order of their keys. */
static int add_records(struct strbuf *sb, const struct entry *e, const struct entry_names *names,
                       struct err *err)
{
	bool utf8 = (!names->pax_path || text_is_utf8(names->path, names->path_len)) &&
	            (!names->pax_link || text_is_utf8(e->link, strlen(e->link)));

	if (add_xattrs(sb, e, err) != 0)
		return -1;
	add_number(sb, "gid", e->gid, ID_MAX);
	if (!utf8)
		add_record(sb, "hdrcharset", "BINARY", 6);
	if (names->pax_link)
		add_record(sb, "linkpath", e->link, strlen(e->link));
	add_number(sb, "mtime", e->mtime, OCTAL11_MAX);
	if (names->pax_path)
		add_record(sb, "path", names->path, names->path_len);
	if (e->type == ENTRY_FILE)
		add_number(sb, "size", e->size, OCTAL11_MAX);
	add_number(sb, "uid", e->uid, ID_MAX);
	if (sb->len > TAR_PAX_BYTES_MAX || sb->overflow)
		return err_set(err, ERR_LIMIT,
		               "'%s': names and extended attributes exceed %d bytes", e->path,
		               TAR_PAX_BYTES_MAX);
	return 0;
}

/* ---- the header ---- */

static char type_flag(enum entry_type type)
{
	switch (type) {
	case ENTRY_FILE:
		return '0';
	case ENTRY_HARDLINK:
		return '1';
	case ENTRY_SYMLINK:
		return '2';
	case ENTRY_DIR:
		return '5';
	}
	BUG("entry type %d", (int)type);
}

static void seal(struct ustar *h, struct strbuf *sb)
{
	const unsigned char *bytes = (const unsigned char *)h;
	unsigned sum = 0;

	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	put_octal(h->dev_major, sizeof(h->dev_major), 0);
	put_octal(h->dev_minor, sizeof(h->dev_minor), 0);
	memset(h->checksum, ' ', sizeof(h->checksum));
	for (size_t i = 0; i < sizeof(*h); i++)
		sum += bytes[i];
	put_octal(h->checksum, sizeof(h->checksum) - 1, sum); /* six digits, NUL, blank */
	strbuf_add(sb, h, sizeof(*h));
}

/* The record that announces the extended records, the records, and zeros up to a whole record. */
static void add_extended(struct strbuf *sb, const struct entry *e, const struct strbuf *records)
{
	static const char zeros[TAR_BLOCK] = {0};
	static const char folder[] = "PaxHeaders/";
	const char *slash = strrchr(e->path, '/');
	const char *name = slash != NULL ? slash + 1 : e->path;
	size_t len = strlen(name);
	struct ustar h = {.type = 'x'};

	memcpy(h.name, folder, sizeof(folder) - 1);
	put_fallback(h.name + sizeof(folder) - 1, PAX_NAME_MAX, name, len);
	put_octal(h.mode, sizeof(h.mode), PAX_MODE);
	put_octal(h.uid, sizeof(h.uid), 0);
	put_octal(h.gid, sizeof(h.gid), 0);
	put_octal(h.size, sizeof(h.size), records->len);
	put_octal(h.mtime, sizeof(h.mtime), 0);
	seal(&h, sb);
	strbuf_add(sb, records->ptr, records->len);
	strbuf_add(sb, zeros, tar_padding((int64_t)records->len));
}

/* Fills the name fields and says which of them need an extended record. */
static void put_names(struct ustar *h, const struct entry *e, struct entry_names *names)
{
	names->pax_path = !is_ascii(names->path) || !put_path(h, names->path, names->path_len);
	if (names->pax_path)
		put_fallback(h->name, sizeof(h->name), names->path, names->path_len);
	if (e->link == NULL)
		return;
	names->pax_link = !is_ascii(e->link) || strlen(e->link) > sizeof(h->link);
	put_fallback(h->link, sizeof(h->link), e->link, strlen(e->link));
}

int tar_header(const struct entry *e, struct strbuf *sb, struct err *err)
{
	AUTO(strbuf) struct strbuf path = {0};
	AUTO(strbuf) struct strbuf records = STRBUF_INIT(RECORDS_CAP);
	struct ustar h = {.type = type_flag(e->type)};
	struct entry_names names = {0};

	strbuf_adds(&path, e->path);
	if (e->type == ENTRY_DIR)
		strbuf_addc(&path, '/');
	names.path = strbuf_str(&path);
	names.path_len = path.len;
	put_names(&h, e, &names);
	put_octal(h.mode, sizeof(h.mode), e->mode & 07777);
	put_number(h.uid, sizeof(h.uid), e->uid, ID_MAX);
	put_number(h.gid, sizeof(h.gid), e->gid, ID_MAX);
	put_number(h.size, sizeof(h.size), e->type == ENTRY_FILE ? e->size : 0, OCTAL11_MAX);
	put_number(h.mtime, sizeof(h.mtime), e->mtime, OCTAL11_MAX);
	if (add_records(&records, e, &names, err) != 0)
		return -1;
	if (records.len > 0)
		add_extended(sb, e, &records);
	seal(&h, sb);
	return 0;
}
