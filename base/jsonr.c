#include "base/jsonr.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct json_reading {
	const char *what, *text;
	size_t at, len;
	struct jsonr *doc;
	char *out; /* where the next decoded string goes */
	struct err *err;
};

static int syntax_error(struct json_reading *r, const char *problem)
{
	unsigned line, column;

	text_position(r->text, r->at < r->len ? r->at : r->len, &line, &column);
	return err_set(r->err, ERR_FORMAT, "%s: line %u, column %u: %s", r->what, line, column,
	               problem);
}

static void skip_space(struct json_reading *r)
{
	while (r->at < r->len && strchr(" \t\r\n", r->text[r->at]) != NULL &&
	       r->text[r->at] != '\0')
		r->at++;
}

static char peek(const struct json_reading *r)
{
	return r->at < r->len ? r->text[r->at] : '\0';
}

static size_t add_node(struct json_reading *r, enum jsonr_type type, const char *key)
{
	struct jsonr *d = r->doc;

	d->nodes = mem_vec_grow(d->nodes, d->n, &d->cap, sizeof(d->nodes[0]));
	d->nodes[d->n] =
		(struct jsonr_node){.type = type, .key = key, .next = d->n + 1, .at = r->at};
	return d->n++;
}

static int read_hex4(struct json_reading *r, unsigned *ret)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++, r->at++) {
		char c = peek(r);
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned)((c | 0x20) - 'a') + 10;
		else
			return syntax_error(r, "\\u needs four hexadecimal digits");
		value = value * 16 + digit;
	}
	*ret = value;
	return 0;
}

static void put_utf8(struct json_reading *r, unsigned c)
{
	if (c < 0x80) {
		*r->out++ = (char)c;
	} else if (c < 0x800) {
		*r->out++ = (char)(0xc0 | c >> 6);
		*r->out++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*r->out++ = (char)(0xe0 | c >> 12);
		*r->out++ = (char)(0x80 | (c >> 6 & 63));
		*r->out++ = (char)(0x80 | (c & 63));
	} else {
		*r->out++ = (char)(0xf0 | c >> 18);
		*r->out++ = (char)(0x80 | (c >> 12 & 63));
		*r->out++ = (char)(0x80 | (c >> 6 & 63));
		*r->out++ = (char)(0x80 | (c & 63));
	}
}

/* After the backslash. Four bytes of output never exceed the six or twelve of input. */
static int read_escape(struct json_reading *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *hit = peek(r) != '\0' ? strchr(from, peek(r)) : NULL;
	unsigned c = 0, low = 0;

	if (hit != NULL) {
		*r->out++ = to[hit - from];
		r->at++;
		return 0;
	}
	if (peek(r) != 'u')
		return syntax_error(r, "unknown escape");
	r->at++;
	if (read_hex4(r, &c) != 0)
		return -1;
	if (c >= 0xd800 && c < 0xdc00) {
		if (r->at + 2 > r->len || memcmp(r->text + r->at, "\\u", 2) != 0)
			return syntax_error(r, "lone surrogate");
		r->at += 2;
		if (read_hex4(r, &low) != 0)
			return -1;
		if (low < 0xdc00 || low > 0xdfff)
			return syntax_error(r, "lone surrogate");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c == 0 || (c >= 0xdc00 && c < 0xe000)) {
		return syntax_error(r, "NUL or lone surrogate");
	}
	put_utf8(r, c);
	return 0;
}

static int read_string(struct json_reading *r, const char **ret)
{
	const char *start = r->out;

	if (peek(r) != '"')
		return syntax_error(r, "expected a string");
	r->at++;
	while (peek(r) != '"') {
		const char *s = r->text + r->at;
		size_t n = r->at < r->len ? text_utf8_length(s, r->len - r->at) : 0;

		if (n == 0 || (unsigned char)s[0] < 0x20)
			return syntax_error(r, "unfinished string, control byte or invalid UTF-8");
		if (s[0] == '\\') {
			r->at++;
			if (read_escape(r) != 0)
				return -1;
			continue;
		}
		memcpy(r->out, s, n);
		r->out += n;
		r->at += n;
	}
	r->at++;
	*r->out++ = '\0';
	*ret = start;
	return 0;
}

static size_t skip_digits(struct json_reading *r)
{
	size_t n = 0;

	for (; peek(r) >= '0' && peek(r) <= '9'; r->at++)
		n++;
	return n;
}

static int read_number(struct json_reading *r, double *ret)
{
	size_t start = r->at, whole;
	char copy[64];

	r->at += peek(r) == '-';
	bool zero = peek(r) == '0';
	whole = skip_digits(r);
	if (whole == 0 || (zero && whole > 1))
		return syntax_error(r, "expected a value");
	if (peek(r) == '.') {
		r->at++;
		if (skip_digits(r) == 0)
			return syntax_error(r, "digits must follow the point");
	}
	if ((peek(r) | 0x20) == 'e') {
		r->at++;
		r->at += peek(r) == '+' || peek(r) == '-';
		if (skip_digits(r) == 0)
			return syntax_error(r, "digits must follow the exponent");
	}
	if (r->at - start >= sizeof(copy))
		return syntax_error(r, "number too long");
	memcpy(copy, r->text + start, r->at - start);
	copy[r->at - start] = '\0';
	*ret = strtod(copy, NULL);
	return isfinite(*ret) ? 0 : syntax_error(r, "number too large");
}

static int read_value(struct json_reading *r, const char *key, int depth);

static bool key_is_new(const struct json_reading *r, size_t obj, const char *key)
{
	const struct jsonr_node *m = r->doc->nodes + obj + 1;

	for (size_t i = 0; i < r->doc->nodes[obj].n; i++, m = r->doc->nodes + m->next)
		if (strcmp(m->key, key) == 0)
			return false;
	return true;
}

static int read_member(struct json_reading *r, size_t parent, int depth)
{
	const char *key = NULL;

	skip_space(r);
	if (r->doc->nodes[parent].type == JSONR_OBJECT) {
		if (read_string(r, &key) != 0 || key == NULL)
			return -1;
		/* Quadratic, so only for objects of a size that people write; larger ones
		 * (a safetensors header) are checked by their reader, sorted. */
		if (r->doc->nodes[parent].n < 1024 && !key_is_new(r, parent, key))
			return syntax_error(r, "duplicate key");
		skip_space(r);
		if (peek(r) != ':')
			return syntax_error(r, "expected ':'");
		r->at++;
	}
	if (read_value(r, key, depth + 1) != 0)
		return -1;
	r->doc->nodes[parent].n++;
	skip_space(r);
	return 0;
}

static int read_container(struct json_reading *r, const char *key, int depth)
{
	bool object = peek(r) == '{';
	char end = object ? '}' : ']';
	size_t self = add_node(r, object ? JSONR_OBJECT : JSONR_ARRAY, key);

	if (depth >= JSONR_DEPTH_MAX)
		return syntax_error(r, "too many levels");
	r->at++;
	skip_space(r);
	while (peek(r) != end) {
		if (r->doc->nodes[self].n > 0) {
			if (peek(r) != ',')
				return syntax_error(r, object ? "expected ',' or '}'"
				                              : "expected ',' or ']'");
			r->at++;
		}
		if (read_member(r, self, depth) != 0)
			return -1;
	}
	r->at++;
	r->doc->nodes[self].next = r->doc->n;
	return 0;
}

static int read_value(struct json_reading *r, const char *key, int depth)
{
	static const struct {
		const char *word;
		enum jsonr_type type;
		double number;
	} words[] = {{"null", JSONR_NULL, 0}, {"true", JSONR_BOOL, 1}, {"false", JSONR_BOOL, 0}};
	size_t self;

	skip_space(r);
	if (peek(r) == '{' || peek(r) == '[')
		return read_container(r, key, depth);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i].word);

		if (r->len - r->at < n || memcmp(r->text + r->at, words[i].word, n) != 0)
			continue;
		self = add_node(r, words[i].type, key);
		r->doc->nodes[self].number = words[i].number;
		r->at += n;
		return 0;
	}
	self = add_node(r, peek(r) == '"' ? JSONR_STRING : JSONR_NUMBER, key);
	if (peek(r) == '"') {
		const char *string;

		if (read_string(r, &string) != 0)
			return -1;
		r->doc->nodes[self].string = string;
		return 0;
	}
	return read_number(r, &r->doc->nodes[self].number);
}

int jsonr_parse(const char *what, const char *text, size_t len, struct jsonr *ret, struct err *err)
{
	struct jsonr doc = {.strings = mem_zalloc(len + 1)};
	struct json_reading r = {.what = what,
	                         .text = text,
	                         .len = len,
	                         .doc = &doc,
	                         .out = doc.strings,
	                         .err = err};
	int rc = read_value(&r, NULL, 0);

	skip_space(&r);
	if (rc == 0 && r.at != len)
		rc = syntax_error(&r, "bytes after the value");
	if (rc != 0) {
		jsonr_done(&doc);
		return -1;
	}
	*ret = doc;
	return 0;
}

void jsonr_done(struct jsonr *doc)
{
	free(doc->nodes);
	free(doc->strings);
	*doc = (struct jsonr){0};
}

const struct jsonr_node *jsonr_first(const struct jsonr *doc, const struct jsonr_node *parent)
{
	return parent->n > 0 ? doc->nodes + (parent - doc->nodes) + 1 : NULL;
}

const struct jsonr_node *jsonr_next(const struct jsonr *doc, const struct jsonr_node *member)
{
	return doc->nodes + member->next;
}

const struct jsonr_node *jsonr_get(const struct jsonr *doc, const struct jsonr_node *obj,
                                   const char *key)
{
	const struct jsonr_node *m;

	if (obj == NULL || obj->type != JSONR_OBJECT)
		return NULL;
	m = jsonr_first(doc, obj);
	for (size_t i = 0; i < obj->n; i++, m = jsonr_next(doc, m))
		if (strcmp(m->key, key) == 0)
			return m;
	return NULL;
}

bool jsonr_whole(const struct jsonr_node *node, uint64_t *ret_value)
{
	if (node == NULL || node->type != JSONR_NUMBER || node->number < 0 ||
	    node->number > 9007199254740992.0 || floor(node->number) != node->number)
		return false;
	*ret_value = (uint64_t)node->number;
	return true;
}
