/* See tar_pax.h. */
#include "builder/layer/tar/tar_pax.h"

#include <string.h>

#include "base/text.h"
#include "builder/layer/tree/xattr.h"

void tar_pax_reset(struct tar_pax *p)
{
	strbuf_reset(&p->records);
	*p = (struct tar_pax){.records = p->records,
	                      .real_size = -1,
	                      .pending_offset = -1,
	                      .all = {p->all.at, 0, p->all.cap},
	                      .xattrs = {p->xattrs.at, 0, p->xattrs.cap},
	                      .map = {p->map.at, 0, p->map.cap}};
}

void tar_pax_done(struct tar_pax *p)
{
	strbuf_done(&p->records);
	vec_done(&p->all);
	vec_done(&p->xattrs);
	vec_done(&p->map);
}

/* ---- numbers ---- */

static int bad_number(const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "tar: %s is not a number", what);
}

/* Two's complement, big-endian, after the marker bit (0x80 positive, 0xff negative). */
static int base256(const unsigned char *field, size_t len, const char *what, int64_t *ret_value,
                   struct err *err)
{
	bool negative = (field[0] & 0x40) != 0;
	int64_t value = negative ? -1 : 0;

	for (size_t i = 0; i < len; i++) {
		/* The marker bit itself is no part of the number. */
		int byte = i == 0 ? (field[0] & 0x7f) | (negative ? 0x80 : 0) : field[i];

		if (__builtin_mul_overflow(value, 256, &value))
			return bad_number(what, err);
		value |= byte;
	}
	*ret_value = value;
	return 0;
}

int tar_number(const unsigned char *field, size_t len, const char *what, int64_t *ret_value,
               struct err *err)
{
	int64_t value = 0;
	size_t i = 0;

	if ((field[0] & 0x80) != 0)
		return base256(field, len, what, ret_value, err);
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		value = value * 8 + (field[i] - '0'); /* 12 digits at most */
	if (i < len && field[i] != ' ' && field[i] != '\0')
		return bad_number(what, err);
	*ret_value = value;
	return 0;
}

/* A whole decimal number that is not negative. */
static int decimal(const char *text, const char *key, int64_t *ret_value, struct err *err)
{
	if (!text_int64(text, strlen(text), ret_value) || *ret_value < 0)
		return err_set(err, ERR_FORMAT, "tar: pax record %s is not a number", key);
	return 0;
}

/* "-12.5": whole seconds, towards the past. */
static int parse_seconds(const char *text, const char *key, int64_t *ret_value, struct err *err)
{
	size_t whole = strcspn(text, ".");
	const char *fraction = text[whole] == '.' ? text + whole + 1 : "";
	int64_t value;

	if (!text_int64(text, whole, &value) || strspn(fraction, "0123456789") != strlen(fraction))
		return err_set(err, ERR_FORMAT, "tar: pax record %s is not a time", key);
	if (text[0] == '-' && strspn(fraction, "0") != strlen(fraction) &&
	    __builtin_sub_overflow(value, 1, &value))
		return err_set(err, ERR_FORMAT, "tar: pax record %s is not a time", key);
	*ret_value = value;
	return 0;
}

/* ---- maps of sparse files ---- */

int tar_map_add(struct tar_pieces *map, int64_t offset, int64_t len, struct err *err)
{
	int64_t before = map->n > 0 ? map->at[map->n - 1].offset + map->at[map->n - 1].len : 0, end;

	if (map->n >= TAR_SPARSE_MAX)
		return err_set(err, ERR_LIMIT, "tar: a sparse file has over %d pieces",
		               TAR_SPARSE_MAX);
	if (offset < before || len < 0 || __builtin_add_overflow(offset, len, &end))
		return err_set(err, ERR_FORMAT, "tar: the map of a sparse file is out of order");
	vec_push(map, ((struct tar_piece){offset, len}));
	return 0;
}

int tar_map_check(const struct tar_pieces *map, int64_t real_size, int64_t *ret_stored,
                  struct err *err)
{
	int64_t stored = 0;

	if (real_size < 0)
		return err_set(err, ERR_FORMAT, "tar: a sparse file has no size");
	for (size_t i = 0; i < map->n; i++)
		stored +=
			map->at[i]
				.len; /* no overflow: pieces are in order and end below INT64_MAX */
	if (map->n > 0 && map->at[map->n - 1].offset + map->at[map->n - 1].len > real_size)
		return err_set(err, ERR_FORMAT,
		               "tar: the map of a sparse file is larger than the file");
	*ret_stored = stored;
	return 0;
}

/* Form 0.1: "offset,length,offset,length". */
static int parse_map(struct tar_pax *p, const char *text, struct err *err)
{
	int64_t pair[2];

	p->map.n = 0;
	for (size_t i = 0; *text != '\0'; i++) {
		size_t len = strcspn(text, ",");

		if (!text_int64(text, len, &pair[i % 2]) || pair[i % 2] < 0)
			return err_set(err, ERR_FORMAT, "tar: GNU.sparse.map is malformed");
		if (i % 2 == 1 && tar_map_add(&p->map, pair[0], pair[1], err) != 0)
			return -1;
		text += len;
		text += *text == ',';
	}
	return 0;
}

static int sparse_record(struct tar_pax *p, const char *key, const char *value, struct err *err)
{
	const char *name = key + strlen("GNU.sparse.");
	int64_t number;

	p->sparse = true;
	if (strcmp(name, "name") == 0) {
		p->sparse_name = value;
		return 0;
	}
	if (strcmp(name, "map") == 0)
		return parse_map(p, value, err);
	if (decimal(value, key, &number, err) != 0)
		return -1;
	if (strcmp(name, "size") == 0 || strcmp(name, "realsize") == 0)
		p->real_size = number;
	else if (strcmp(name, "offset") == 0)
		p->pending_offset = number;
	else if (strcmp(name, "numbytes") == 0 && p->pending_offset >= 0)
		return tar_map_add(&p->map, p->pending_offset, number, err);
	else if (strcmp(name, "major") == 0)
		p->map_in_content = number == 1;
	return 0;
}

/* ---- records ---- */

static int add_xattr(struct tar_pax *p, const char *name, const char *value, size_t len,
                     struct err *err)
{
	if (name[0] == '\0' || strlen(name) > XATTR_NAME_BYTES || len > XATTR_VALUE_BYTES ||
	    p->xattrs.n >= XATTR_COUNT_MAX)
		return err_set(err, ERR_LIMIT,
		               "tar: extended attributes beyond the kernel's limits");
	vec_push(&p->xattrs, ((struct entry_xattr){.name = name, .value = value, .len = len}));
	return 0;
}

/* An empty value takes the record back (POSIX: the ustar field applies again). */
static int number_record(struct tar_pax *p, const char *key, const char *value, struct err *err)
{
	struct {
		const char *key;
		int64_t *number;
		bool *has;
	} rows[] = {
		{"size", &p->size, &p->has_size},
		{"uid", &p->uid, &p->has_uid},
		{"gid", &p->gid, &p->has_gid},
		{"mtime", &p->mtime, &p->has_mtime},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(key, rows[i].key) != 0)
			continue;
		*rows[i].has = value[0] != '\0';
		if (value[0] == '\0')
			return 0;
		return rows[i].has == &p->has_mtime ? parse_seconds(value, key, rows[i].number, err)
		                                    : decimal(value, key, rows[i].number, err);
	}
	return 0; /* a record that says nothing of the bits */
}

static int take_record(struct tar_pax *p, const char *key, const char *value, size_t len,
                       struct err *err)
{
	static const char attribute[] = "SCHILY.xattr.";

	if (text_has_prefix(key, attribute))
		return add_xattr(p, key + strlen(attribute), value, len, err);
	if (memchr(value, '\0', len) != NULL)
		return err_set(err, ERR_FORMAT, "tar: pax record %.64s holds a zero byte", key);
	if (strcmp(key, "path") == 0)
		p->path = value[0] != '\0' ? value : NULL;
	else if (strcmp(key, "linkpath") == 0)
		p->link = value[0] != '\0' ? value : NULL;
	else if (text_has_prefix(key, "GNU.sparse."))
		return sparse_record(p, key, value, err);
	else
		return number_record(p, key, value, err);
	return 0;
}

/* By name; of equal names the one whose record comes first, so whose text lies lower. */
static int by_name(const void *a, const void *b)
{
	const struct entry_xattr *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	return names != 0 ? names : (x->name > y->name) - (x->name < y->name);
}

/* Sorted by name; of equal names the last record stays. */
static void sort_xattrs(struct tar_pax *p)
{
	size_t n = 0;

	if (p->xattrs.n > 1)
		qsort(p->xattrs.at, p->xattrs.n, sizeof(*p->xattrs.at), by_name);
	for (size_t i = 0; i < p->xattrs.n; i++) {
		if (n > 0 && strcmp(p->xattrs.at[n - 1].name, p->xattrs.at[i].name) == 0)
			n--;
		p->xattrs.at[n++] = p->xattrs.at[i];
	}
	p->xattrs.n = n;
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts the whole record (POSIX, pax Extended Header). */
int tar_pax_parse(struct tar_pax *p, struct err *err)
{
	char *at = p->records.ptr, *end = p->records.len > 0 ? at + p->records.len : at;

	while (at < end) {
		char *space = memchr(at, ' ', (size_t)(end - at));
		int64_t len;

		if (space == NULL || !text_int64(at, (size_t)(space - at), &len) ||
		    len > end - at || len <= space - at + 2 || at[len - 1] != '\n')
			return err_set(err, ERR_FORMAT, "tar: a pax header is malformed");
		char *key = space + 1, *last = at + len - 1;
		char *equals = memchr(key, '=', (size_t)(last - key));

		if (equals == NULL || equals == key ||
		    memchr(key, '\0', (size_t)(equals - key)) != NULL)
			return err_set(err, ERR_FORMAT, "tar: a pax record has no key");
		*equals = *last = '\0';
		vec_push(&p->all,
		         ((struct tar_pax_record){key, equals + 1, (size_t)(last - equals - 1)}));
		if (take_record(p, key, equals + 1, (size_t)(last - equals - 1), err) != 0)
			return -1;
		at += len;
	}
	sort_xattrs(p);
	return 0;
}
