#include "trainer/config/flat_yaml.h"

#include <string.h>

#include "base/slurp.h"
#include "base/text.h"

enum { VALUE_MAX = 1 << 16, CONFIG_BYTES_MAX = 16 << 20 };

enum value_lines { BLOCK_NONE, BLOCK_OPEN, BLOCK_LIST, BLOCK_MAP };

struct flat_reader {
	const char *what;
	const struct flat_yaml_sink *sink;
	unsigned line, key_line;
	enum value_lines block; /* what the lines after `key:` have been so far */
	struct strbuf key, value;
	unsigned entries; /* of a mapping */
};

static int refuse(const struct flat_reader *r, const char *why, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s: line %u: %s", r->what, r->line, why);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts blanks off both ends. */
static void trim(const char **p, size_t *n)
{
	while (*n > 0 && blank(**p))
		(*p)++, (*n)--;
	while (*n > 0 && blank((*p)[*n - 1]))
		(*n)--;
}

/* Cuts a comment off a plain text: a '#' at the start or after a blank. */
static size_t without_comment(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] == '#' && (i == 0 || blank(p[i - 1])))
			return i;
	return n;
}

/* Appends a quoted scalar that begins at p; the rest of the line may only be a comment. */
static int add_quoted(struct flat_reader *r, const char *p, size_t n, struct strbuf *out,
                      struct err *err)
{
	char quote = p[0];
	size_t i = 1;

	for (;; i++) {
		if (i >= n)
			return refuse(r, "a quoted string does not end on its line", err);
		if (p[i] == '\\' && quote == '"')
			return refuse(r, "this escape in a quoted string is not supported", err);
		if (p[i] != quote)
			strbuf_addc(out, p[i]);
		else if (quote == '\'' && i + 1 < n && p[i + 1] == '\'')
			strbuf_addc(out, p[i++]);
		else
			break;
	}
	p += i + 1;
	n -= i + 1;
	trim(&p, &n);
	if (n > 0 && without_comment(p, n) > 0)
		return refuse(r, "text after a closing quote", err);
	return 0;
}

static int add_scalar(struct flat_reader *r, const char *p, size_t n, struct strbuf *out,
                      struct err *err)
{
	trim(&p, &n);
	if (n > 0 && (*p == '"' || *p == '\''))
		return add_quoted(r, p, n, out, err);
	if (n > 0 && strchr("&*!|>%@`{}[],", *p) != NULL)
		return refuse(r, "only plain scalars, lists and mappings of scalars are supported",
		              err);
	n = without_comment(p, n);
	trim(&p, &n);
	for (size_t i = 0; i + 1 < n; i++)
		if (p[i] == ':' && blank(p[i + 1]))
			return refuse(r, "a mapping inside a value is not supported", err);
	strbuf_add(out, p, n);
	return 0;
}

/* [a, b, c] on one line; quoted items may not hold commas. */
static int add_flow_list(struct flat_reader *r, const char *p, size_t n, struct err *err)
{
	n = without_comment(p, n);
	trim(&p, &n);
	if (n < 2 || p[n - 1] != ']')
		return refuse(r, "a list does not end on its line", err);
	p++;
	n -= 2;
	while (n > 0) {
		const char *comma = memchr(p, ',', n);
		size_t len = comma != NULL ? (size_t)(comma - p) : n;

		if (r->value.len > 0)
			strbuf_addc(&r->value, ',');
		if (add_scalar(r, p, len, &r->value, err) != 0)
			return -1;
		len += comma != NULL;
		p += len;
		n -= len;
	}
	return 0;
}

/* Hands the finished key on. */
static int flush(struct flat_reader *r, struct err *err)
{
	if (r->key.len == 0)
		return 0;
	if (r->block == BLOCK_OPEN)
		strbuf_adds(&r->value, "null");
	if (r->block == BLOCK_MAP)
		strbuf_addf(&r->value, "%u", r->entries);
	r->block = BLOCK_NONE;
	if (r->value.overflow || r->key.overflow)
		return refuse(r, "the value is too long", err);
	if (r->sink->at_line != NULL)
		r->sink->at_line(r->sink->ctx, r->key_line);
	if (r->sink->value(r->sink->ctx, strbuf_str(&r->key), strbuf_str(&r->value), err) != 0)
		return err_wrap(err, "%s: line %u", r->what, r->key_line);
	strbuf_reset(&r->key);
	return 0;
}

/* The colon that ends a key: followed by a blank or the line's end. */
static const char *key_end(const char *p, size_t n)
{
	char quote = n > 0 && (*p == '"' || *p == '\'') ? *p : '\0';

	for (size_t i = quote != '\0'; i < n; i++) {
		if (quote != '\0') {
			quote = p[i] == quote ? '\0' : quote;
			continue;
		}
		if (p[i] == ':' && (i + 1 == n || blank(p[i + 1])))
			return p + i;
	}
	return NULL;
}

static int start_key(struct flat_reader *r, const char *p, size_t n, struct err *err)
{
	const char *colon = key_end(p, n);
	size_t rest;

	if (flush(r, err) != 0)
		return -1;
	if (colon == NULL)
		return refuse(r, "not of the form 'key: value'", err);
	strbuf_reset(&r->value);
	if (add_scalar(r, p, (size_t)(colon - p), &r->key, err) != 0)
		return -1;
	if (r->key.len == 0)
		return refuse(r, "an empty key", err);
	r->key_line = r->line;
	rest = n - (size_t)(colon + 1 - p);
	p = colon + 1;
	trim(&p, &rest);
	r->entries = 0;
	if (without_comment(p, rest) == 0) {
		r->block = BLOCK_OPEN;
		return 0;
	}
	if (*p == '[')
		return add_flow_list(r, p, rest, err);
	if (rest >= 2 && memcmp(p, "{}", 2) == 0) {
		r->block = BLOCK_MAP;
		return 0;
	}
	return add_scalar(r, p, rest, &r->value, err);
}

/* `name: text`, for those who want more than the number of entries. */
static int tell_entry(struct flat_reader *r, const char *p, size_t n, const char *colon,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(VALUE_MAX);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(VALUE_MAX);
	size_t name_len = (size_t)(colon - p);

	if (r->sink->entry == NULL)
		return 0;
	if (add_scalar(r, p, name_len, &name, err) != 0 ||
	    add_scalar(r, colon + 1, n - name_len - 1, &text, err) != 0)
		return -1;
	if (r->sink->entry(r->sink->ctx, strbuf_str(&r->key), strbuf_str(&name), strbuf_str(&text),
	                   err) != 0)
		return err_wrap(err, "%s: line %u", r->what, r->line);
	return 0;
}

/* A line inside a block: an item of a list or an entry of a mapping. */
static int block_line(struct flat_reader *r, const char *p, size_t n, struct err *err)
{
	bool item = *p == '-' && (n == 1 || blank(p[1]));
	enum value_lines kind = item ? BLOCK_LIST : BLOCK_MAP;

	if (r->block == BLOCK_NONE || (r->block != BLOCK_OPEN && r->block != kind))
		return refuse(r, "indented further than its key allows", err);
	r->block = kind;
	if (!item) {
		const char *colon = key_end(p, n);

		if (colon == NULL)
			return refuse(r, "not of the form 'key: value'", err);
		r->entries++;
		return tell_entry(r, p, n, colon, err);
	}
	if (r->value.len > 0)
		strbuf_addc(&r->value, ',');
	return add_scalar(r, p + 1, n - 1, &r->value, err);
}

static int read_line(struct flat_reader *r, const char *p, size_t n, struct err *err)
{
	size_t indent = 0;

	if (n > 0 && p[n - 1] == '\r')
		n--;
	while (indent < n && p[indent] == ' ')
		indent++;
	if (indent < n && p[indent] == '\t')
		return refuse(r, "a tab in the indentation", err);
	if (without_comment(p + indent, n - indent) == 0)
		return 0;
	if (indent == 0 && n >= 3 && memcmp(p, "---", 3) == 0) {
		if (r->key.len > 0)
			return refuse(r, "a second document", err);
		return 0;
	}
	if (indent > 0 || (*p == '-' && (n == 1 || blank(p[1]))))
		return block_line(r, p + indent, n - indent, err);
	return start_key(r, p, n, err);
}

int flat_yaml_read(const char *what, const char *text, size_t len,
                   const struct flat_yaml_sink *sink, struct err *err)
{
	struct flat_reader r = {
		.what = what, .sink = sink, .key = {.max = 256}, .value = {.max = VALUE_MAX}};
	int rc = 0;

	if (!text_is_utf8(text, len) || memchr(text, '\0', len) != NULL)
		return err_set(err, ERR_FORMAT, "%s is not UTF-8 text", what);
	while (rc == 0 && len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end != NULL ? (size_t)(end - text) : len;

		r.line++;
		rc = read_line(&r, text, n, err);
		n += end != NULL;
		text += n;
		len -= n;
	}
	if (rc == 0)
		rc = flush(&r, err);
	strbuf_done(&r.key);
	strbuf_done(&r.value);
	return rc;
}

struct config_sink {
	struct model_config *config;
	struct label_counts labels;
	struct strbuf *remarks;
};

static int set_key(void *ctx, const char *key, const char *text, struct err *err)
{
	struct config_sink *s = ctx;
	int64_t entries;

	if (strcmp(key, "id2label") == 0) {
		s->labels.named = text_int64(text, strlen(text), &entries) ? (size_t)entries : 0;
		return 0;
	}
	switch (model_config_set(s->config, key, text, err)) {
	case CONFIG_KEY_BAD:
		return -1;
	case CONFIG_KEY_UNUSED:
		strbuf_addf(s->remarks, "%s is not used by this model\n", key);
		break;
	case CONFIG_KEY_UNKNOWN:
		strbuf_addf(s->remarks, "%s is not a key of PerceiverConfig\n", key);
		break;
	case CONFIG_KEY_SET:
		if (strcmp(key, "num_labels") == 0)
			s->labels.given = s->config->num_labels;
		break;
	}
	return 0;
}

int model_config_file(const char *path, struct model_config *config, struct strbuf *remarks,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct model_config c = *config;
	struct config_sink s = {.config = &c, .remarks = remarks};
	struct flat_yaml_sink sink = {.value = set_key, .ctx = &s};

	if (slurp_file(path, CONFIG_BYTES_MAX, &text, err) != 0)
		return -1;
	if (strbuf_str(&text)[0] == '{') {
		if (model_config_load(&c, path, remarks, err) != 0)
			return -1;
	} else if (flat_yaml_read(path, strbuf_str(&text), text.len, &sink, err) != 0 ||
	           model_config_labels(&c, &s.labels, err) != 0 ||
	           model_config_check(&c, err) != 0) {
		return -1;
	}
	*config = c;
	return 0;
}
