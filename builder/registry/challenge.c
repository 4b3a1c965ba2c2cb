#include "builder/registry/challenge.h"

#include <string.h>
#include <strings.h>

/* RFC 9110 section 5.6.2: the characters of a token. */
#define TCHAR "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct challenge_reading {
	const char *at;
	struct arena *arena;
};

static void skip_chars(struct challenge_reading *r, const char *chars)
{
	r->at += strspn(r->at, chars);
}

/* How far the closing quote is, or the end of the text where there is none. */
static size_t quoted_length(const char *at)
{
	size_t n = 0;

	while (at[n] != '\0' && at[n] != '"')
		n += at[n] == '\\' && at[n + 1] != '\0' ? 2 : 1;
	return n;
}

/* "quoted \" string" at r->at, or a token. */
static const char *read_value(struct challenge_reading *r)
{
	if (*r->at != '"') {
		size_t len = strspn(r->at, TCHAR "/:=");
		const char *text = arena_strndup(r->arena, r->at, len);

		r->at += len;
		return text;
	}
	char *out = arena_alloc(r->arena, quoted_length(r->at + 1) + 1);
	size_t n = 0;

	for (r->at++; *r->at != '\0' && *r->at != '"'; r->at++) {
		if (*r->at == '\\' && r->at[1] != '\0')
			r->at++;
		out[n++] = *r->at;
	}
	if (*r->at == '"')
		r->at++;
	return out;
}

static void store_parameter(struct challenge *c, const char *name, size_t len, const char *value)
{
	const struct {
		const char *name;
		const char **slot;
	} rows[] = {{"realm", &c->realm},
	            {"service", &c->service},
	            {"scope", &c->scope},
	            {"error", &c->error}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == len && strncasecmp(rows[i].name, name, len) == 0 &&
		    *rows[i].slot == NULL)
			*rows[i].slot = value;
}

/* name = value pairs until something that is not one: the next challenge's scheme. */
static void read_parameters(struct challenge_reading *r, struct challenge *c)
{
	for (;;) {
		skip_chars(r, " \t,");
		size_t len = strspn(r->at, TCHAR);
		const char *name = r->at, *after = r->at + len;

		after += strspn(after, " \t");
		if (len == 0 || *after != '=')
			return;
		r->at = after + 1;
		skip_chars(r, " \t");
		store_parameter(c, name, len, read_value(r));
	}
}

static enum challenge_scheme scheme_of(const char *text, size_t len)
{
	if (len == 5 && strncasecmp(text, "Basic", 5) == 0)
		return CHALLENGE_BASIC;
	if (len == 6 && strncasecmp(text, "Bearer", 6) == 0)
		return CHALLENGE_BEARER;
	return CHALLENGE_NONE;
}

int challenge_parse(const char *value, struct arena *a, struct challenge *ret_challenge,
                    struct err *err)
{
	struct challenge_reading r = {value, a};

	for (;;) {
		struct challenge c = {0};

		skip_chars(&r, " \t,");
		size_t len = strspn(r.at, TCHAR);

		if (len == 0)
			break;
		c.scheme = scheme_of(r.at, len);
		r.at += len;
		if (c.scheme == CHALLENGE_NONE) {
			/* A foreign scheme's parameters, or its one opaque token ("Negotiate
			 * abc=="). */
			struct challenge ignored = {0};

			skip_chars(&r, " \t");
			if (strchr(r.at, '=') != NULL)
				read_parameters(&r, &ignored);
			if (*r.at != '\0' && *r.at != ',' && strncasecmp(r.at, "Basic", 5) != 0 &&
			    strncasecmp(r.at, "Bearer", 6) != 0)
				r.at += strcspn(r.at, ",");
			continue;
		}
		read_parameters(&r, &c);
		if (c.scheme == CHALLENGE_BEARER && c.realm == NULL)
			return err_set(err, ERR_FORMAT,
			               "the registry asks for a Bearer token but names no realm");
		*ret_challenge = c;
		return 0;
	}
	*ret_challenge = (struct challenge){0};
	return 0;
}
