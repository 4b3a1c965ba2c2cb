#include "builder/scan/json_split.h"

#include <string.h>

void json_split_init(struct json_split *s, struct source *in)
{
	s->in = in;
	s->at = s->n = 0;
	s->bytes = 0;
	s->ended = false;
}

int64_t json_split_offset(const struct json_split *s)
{
	return s->bytes + (int64_t)s->at;
}

/* More bytes behind those that are not taken yet, as long as the chunk has room. */
static int fill(struct json_split *s, struct err *err)
{
	size_t got = 0;

	if (s->at > 0) {
		memmove(s->chunk, s->chunk + s->at, s->n - s->at);
		s->bytes += (int64_t)s->at;
		s->n -= s->at;
		s->at = 0;
	}
	if (s->ended || s->n == sizeof(s->chunk))
		return 0;
	if (source_read(s->in, s->chunk + s->n, sizeof(s->chunk) - s->n, &got, err) != 0)
		return -1;
	s->ended = got == 0;
	s->n += got;
	return 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int json_split_peek(struct json_split *s, char *ret_c, struct err *err)
{
	for (;;) {
		while (s->at < s->n && is_space(s->chunk[s->at]))
			s->at++;
		if (s->at < s->n && s->chunk[s->at] == '\0')
			return err_set(err, ERR_FORMAT, "byte %lld is NUL",
			               (long long)json_split_offset(s) + 1);
		if (s->at < s->n || s->ended) {
			*ret_c = s->at < s->n ? s->chunk[s->at] : '\0';
			return 0;
		}
		if (fill(s, err) != 0)
			return -1;
	}
}

void json_split_skip(struct json_split *s)
{
	s->at += s->at < s->n;
}

struct nesting {
	size_t depth;
	bool in_string, escaped, bare; /* bare: a number or a word */
	bool done;
};

/* Looks at one byte; false: it is not of the value any more. */
static bool step(struct nesting *v, char c)
{
	if (v->in_string) {
		v->in_string = v->escaped || c != '"';
		v->escaped = !v->escaped && c == '\\';
		v->done = !v->in_string && v->depth == 0;
		return true;
	}
	if (v->bare && v->depth == 0 && (is_space(c) || strchr(",:]}", c) != NULL)) {
		v->done = true;
		return false;
	}
	v->in_string = c == '"';
	v->depth += c == '{' || c == '[';
	if (c == '}' || c == ']') {
		v->depth -= v->depth > 0;
		v->done = v->depth == 0;
	}
	v->bare = v->depth == 0 && !v->in_string && !v->done;
	return true;
}

int json_split_value(struct json_split *s, struct strbuf *sb, struct err *err)
{
	struct nesting v = {0};
	char c = '\0';

	if (json_split_peek(s, &c, err) != 0)
		return -1;
	while (!v.done) {
		size_t start = s->at;

		while (s->at < s->n && !v.done)
			s->at += step(&v, s->chunk[s->at]);
		strbuf_add(sb, s->chunk + start, s->at - start);
		if (sb->overflow)
			return err_set(err, ERR_LIMIT, "one value has more than %zu bytes",
			               sb->max);
		if (!v.done && s->ended) {
			if (v.bare && v.depth == 0 && sb->len > 0)
				return 0;
			return err_set(err, ERR_FORMAT,
			               "the text ends within a value, behind byte %lld",
			               (long long)json_split_offset(s));
		}
		if (!v.done && fill(s, err) != 0)
			return -1;
	}
	return 0;
}

/* Behind blanks; the end of what is there when there are no others. */
static const char *behind_space(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

static const char *behind_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

int json_split_is_nested(struct json_split *s, bool *ret_nested, struct err *err)
{
	char c = '\0';

	if (json_split_peek(s, &c, err) != 0)
		return -1;
	do {
		if (fill(s, err) != 0)
			return -1;
	} while (!s->ended && s->n < sizeof(s->chunk) / 2);
	const char *end = s->chunk + s->n, *at = behind_space(s->chunk, end);

	*ret_nested = false;
	if (at == end || *at != '{')
		return 0;
	at = behind_space(at + 1, end);
	if (at == end || *at != '"')
		return 0;
	at = behind_space(behind_string(at, end), end);
	if (at == end || *at != ':')
		return 0;
	at = behind_space(at + 1, end);
	*ret_nested = at < end && *at == '{';
	return 0;
}
