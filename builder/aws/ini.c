#include "builder/aws/ini.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/text.h"

struct ini_slice {
	const char *at;
	size_t len;
};

struct ini_reader {
	struct ini *ini;
	const char *file;
	unsigned line;
	size_t indent;               /* of the header or property that was read last */
	struct ini_section *section; /* NULL before the first header */
	const char *key;             /* whose value is being read, NULL if none */
	const char *place;           /* of the key */
	struct strbuf value;         /* so far; not wiped by strbuf itself */
};

static void wipe_values(const struct ini_section *s)
{
	for (size_t i = 0; i < s->values.n; i++)
		OPENSSL_cleanse((char *)s->values.at[i].value, strlen(s->values.at[i].value));
}

void ini_done(struct ini *ini)
{
	for (size_t i = 0; i < ini->sections.n; i++)
		wipe_values(&ini->sections.at[i]);
	wipe_values(&ini->defaults);
	vec_done(&ini->sections);
	arena_done(&ini->arena);
	*ini = (struct ini){0};
}

/* ---- white space ---- */

/* Bytes of the white space character at the start, 0 if there is none: Python's str.isspace(). */
static size_t white_length(struct ini_slice s)
{
	static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
	                                   "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
	                                   "\xe2\x81\x9f", "\xe3\x80\x80"};

	if (s.len == 0)
		return 0;
	unsigned char c = (unsigned char)s.at[0];

	if (c < 0x80)
		return (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= ' ');
	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (s.len >= strlen(wide[i]) && memcmp(s.at, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	/* U+2000 to U+200A */
	bool thin = s.len >= 3 && memcmp(s.at, "\xe2\x80", 2) == 0 &&
	            (unsigned char)s.at[2] >= 0x80 && (unsigned char)s.at[2] <= 0x8a;

	return thin ? 3 : 0;
}

static struct ini_slice trim_end(struct ini_slice s)
{
	for (size_t n = 1; n <= 3 && n <= s.len; n++)
		if (white_length((struct ini_slice){s.at + s.len - n, n}) == n) {
			s.len -= n;
			n = 0;
		}
	return s;
}

/* *ret_indent (may be NULL) is how many characters of white space were before. */
static struct ini_slice trim(struct ini_slice s, size_t *ret_indent)
{
	size_t n, indent = 0;

	for (; (n = white_length(s)) > 0; indent++)
		s = (struct ini_slice){s.at + n, s.len - n};
	if (ret_indent != NULL)
		*ret_indent = indent;
	return trim_end(s);
}

/* ---- lines ---- */

static int line_error(const struct ini_reader *r, size_t column, const char *message,
                      struct err *err)
{
	err_set(err, ERR_FORMAT, "%s:%u:%zu: %s", r->file, r->line, column, message);
	return err_hint(err, "correct that line: the AWS CLI refuses such a file too");
}

/* The property that was being read is complete. */
static void finish_value(struct ini_reader *r)
{
	if (r->key == NULL)
		return;
	const struct ini_slice all = {strbuf_str(&r->value), r->value.len};
	const struct ini_slice kept = trim_end(all);

	if (kept.len < all.len)
		r->value.ptr[kept.len] = '\0';
	strmap_set(&r->section->values, &r->ini->arena, r->key, kept.len > 0 ? kept.at : "");
	strmap_set(&r->section->places, &r->ini->arena, r->key, r->place);
	if (r->value.ptr != NULL)
		OPENSSL_cleanse(r->value.ptr, r->value.len);
	strbuf_reset(&r->value);
	r->key = NULL;
}

static int start_section(struct ini_reader *r, const char *name, struct err *err)
{
	struct ini *ini = r->ini;

	if (strcmp(name, "DEFAULT") == 0) {
		r->section = &ini->defaults;
		return 0;
	}
	for (size_t i = 0; i < ini->sections.n; i++)
		if (strcmp(ini->sections.at[i].name, name) == 0) {
			err_set(err, ERR_FORMAT, "%s:%u:1: the section [%.100s] is also in line %u",
			        r->file, r->line, name, ini->sections.at[i].line);
			return err_hint(err, "make one section of the two: the AWS CLI refuses "
			                     "such a file too");
		}
	if (ini->sections.n == INI_SECTIONS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d sections", r->file,
		               (int)INI_SECTIONS_MAX);
	vec_push(&ini->sections, ((struct ini_section){.name = name, .line = r->line}));
	r->section = &ini->sections.at[ini->sections.n - 1];
	return 0;
}

/* The name reaches to the last ']' of the line; behind it may stand anything. */
static bool is_header(struct ini_slice s, struct ini_slice *ret_name)
{
	size_t end = s.len;

	while (end > 0 && s.at[end - 1] != ']')
		end--;
	if (s.at[0] != '[' || end < 3)
		return false;
	*ret_name = (struct ini_slice){s.at + 1, end - 2};
	return true;
}

static size_t key_length(struct ini_slice s)
{
	size_t n = 0;

	while (n < s.len && s.at[n] != '=' && s.at[n] != ':')
		n++;
	return n;
}

static int start_property(struct ini_reader *r, struct ini_slice s, size_t column, struct err *err)
{
	size_t end = key_length(s);

	if (end == s.len)
		return line_error(r, column,
		                  column > 1 ? "expected a property definition, found continuation"
		                             : "expected an '=' sign defining a property",
		                  err);
	const struct ini_slice key = trim_end((struct ini_slice){s.at, end});
	const struct ini_slice value =
		trim((struct ini_slice){s.at + end + 1, s.len - end - 1}, NULL);

	if (key.len == 0)
		return line_error(r, column, "property did not have a name", err);
	const char *name = arena_lower(&r->ini->arena, key.at, key.len);
	const char *other = strmap_get(&r->section->places, name);

	if (other != NULL) {
		err_set(err, ERR_FORMAT, "%s:%u:%zu: the key '%.60s' is also at %s", r->file,
		        r->line, column, name, other);
		return err_hint(err, "keep one of the two: the AWS CLI refuses such a file too");
	}
	if (r->section->values.n == INI_KEYS_MAX)
		return err_set(err, ERR_LIMIT, "%s:%u: more than %d keys in one section", r->file,
		               r->line, (int)INI_KEYS_MAX);
	r->key = name;
	r->place = arena_printf(&r->ini->arena, "%s:%u:%zu", r->file, r->line, column);
	strbuf_add(&r->value, value.at, value.len);
	return 0;
}

/* The value began on a line of its own: it is a block, in which empty lines mean nothing. */
static bool in_block(const struct ini_reader *r)
{
	return r->value.len == 0 || r->value.ptr[0] == '\n';
}

/* One more line of the value; of a nested block each is a property. */
static int continue_value(struct ini_reader *r, struct ini_slice s, size_t column, struct err *err)
{
	if (in_block(r) && memchr(s.at, '=', s.len) == NULL)
		return line_error(r, column, "expected an '=' sign defining a sub-property", err);
	strbuf_addc(&r->value, '\n');
	strbuf_add(&r->value, s.at, s.len);
	return 0;
}

static int read_line(struct ini_reader *r, struct ini_slice line, struct err *err)
{
	size_t indent;
	struct ini_slice s = trim(line, &indent), name;

	if (s.len == 0) {
		if (r->key != NULL && !in_block(r))
			strbuf_addc(&r->value, '\n');
		return 0;
	}
	size_t column = (size_t)(s.at - line.at) + 1;

	if (s.at[0] == '#' || s.at[0] == ';')
		return 0;
	if (r->key != NULL && indent > r->indent)
		return continue_value(r, s, column, err);
	finish_value(r);
	r->indent = indent;
	if (is_header(s, &name))
		return start_section(r, arena_strndup(&r->ini->arena, name.at, name.len), err);
	if (s.at[0] == '[' && key_length(s) == s.len)
		return line_error(r, column, "profile definition must end with ']'", err);
	if (r->section == NULL)
		return line_error(r, column, "expected a profile definition", err);
	return start_property(r, s, column, err);
}

/* A line ends with a line feed, a carriage return or both. */
static size_t line_length(const char *text, size_t len, size_t *ret_with_end)
{
	size_t n = 0;

	while (n < len && text[n] != '\n' && text[n] != '\r')
		n++;
	*ret_with_end = n + (n < len) + (n + 1 < len && text[n] == '\r' && text[n + 1] == '\n');
	return n;
}

static int check_bytes(const struct ini_reader *r, const char *text, size_t len, struct err *err)
{
	if (memchr(text, '\0', len) != NULL)
		return line_error(r, 1, "a NUL byte", err);
	if (!text_is_utf8(text, len)) {
		line_error(r, 1, "the line is not UTF-8", err);
		return err_hint(err, "save the file in UTF-8");
	}
	if (r->line == 1 && len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		line_error(r, 1, "the file begins with a byte order mark", err);
		return err_hint(err, "save it as UTF-8 without one: the AWS CLI refuses it too");
	}
	return 0;
}

static int read_lines(struct ini_reader *r, const char *text, size_t len, struct err *err)
{
	while (len > 0) {
		size_t whole, n = line_length(text, len, &whole);

		r->line++;
		if (check_bytes(r, text, n, err) != 0 ||
		    read_line(r, (struct ini_slice){text, n}, err) != 0)
			return -1;
		text += whole;
		len -= whole;
	}
	finish_value(r);
	return 0;
}

int ini_parse(struct ini *ini, const char *file, const char *text, size_t len, struct err *err)
{
	struct ini_reader r = {.ini = ini, .value = STRBUF_INIT(INI_BYTES_MAX)};

	if (len > INI_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%s is larger than %d bytes", file,
		               (int)INI_BYTES_MAX);
	r.file = arena_strdup(&ini->arena, file);
	int status = read_lines(&r, text, len, err);

	if (r.value.ptr != NULL)
		OPENSSL_cleanse(r.value.ptr, r.value.cap);
	strbuf_done(&r.value);
	return status;
}

/* ---- lookup ---- */

const char *ini_get(const struct ini *ini, const struct ini_section *section, const char *key)
{
	const char *value = strmap_get(&section->values, key);

	return value != NULL ? value : strmap_get(&ini->defaults.values, key);
}

const char *ini_place(const struct ini *ini, const struct ini_section *section, const char *key)
{
	const char *place = strmap_get(&section->places, key);

	return place != NULL ? place : strmap_get(&ini->defaults.places, key);
}

const char *ini_nested(const char *block, const char *key, struct arena *a)
{
	const char *found = NULL;

	if (block[0] != '\n')
		return NULL;
	while (*block != '\0') {
		size_t len = strcspn(block, "\n");
		const char *equals = memchr(block, '=', len);

		if (equals != NULL) {
			struct ini_slice k =
				trim((struct ini_slice){block, (size_t)(equals - block)}, NULL);
			struct ini_slice v = trim(
				(struct ini_slice){equals + 1, len - (size_t)(equals + 1 - block)},
				NULL);

			if (strlen(key) == k.len && memcmp(k.at, key, k.len) == 0)
				found = arena_strndup(a, v.at, v.len);
		}
		block += len + (block[len] == '\n');
	}
	return found;
}
