#include "builder/check/secret/values.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"

enum { DISTINCT_MIN = 8, HEX_DISTINCT_MIN = 6, WORD_MAX = 32, WORDS_MAX = 16 };

static bool contains(const char *text, size_t len, const char *part)
{
	size_t n = strlen(part);

	/* Of the few that begin alike the rest is compared. */
	for (size_t i = 0; i + n <= len; i++)
		if (((text[i] ^ part[0]) & ~0x20) == 0 && strncasecmp(text + i, part, n) == 0)
			return true;
	return false;
}

static bool is_one_of(const char *text, size_t len, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && strncasecmp(text, list[i], len) == 0)
			return true;
	return false;
}

static unsigned count_distinct(const char *text, size_t len)
{
	bool seen[256] = {false};
	unsigned n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		n += !seen[c];
		seen[c] = true;
	}
	return n;
}

static bool is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr("0123456789abcdefABCDEF", text[i]) == NULL || text[i] == '\0')
			return false;
	return true;
}

static bool is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((text[i] < '0' || text[i] > '9') && text[i] != '.')
			return false;
	return true;
}

bool secret_is_dummy(const char *token, size_t len)
{
	static const char *const runs[] = {"xxxx", "****",    "....",   "____",       "----",
	                                   "0000", "example", "sample", "abcdefgh",   "12345678",
	                                   "your", "dummy",   "fake",   "placeholder"};
	unsigned least = is_hex(token, len) ? HEX_DISTINCT_MIN : DISTINCT_MIN;

	if (count_distinct(token, len) < least)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		if (contains(token, len, runs[i]))
			return true;
	return false;
}

bool secret_is_placeholder(const char *value, size_t len)
{
	static const char *const words[] = {
		"true",      "false",     "yes",       "no",     "on",       "off",      "none",
		"null",      "nil",       "undefined", "empty",  "unset",    "default",  "changeme",
		"change-me", "change_me", "replaceme", "secret", "password", "passwd",   "pass",
		"token",     "test",      "todo",      "tbd",    "fixme",    "redacted", "optional",
		"required",  "user",      "username",  "string", "key",      "value"};
	static const char *const marks[] = {"${",      "{{",          "$(",       "%(",
	                                    "<%",      "changeme",    "replace_", "replace-",
	                                    "example", "placeholder", "redacted", "your_",
	                                    "your-",   "xxxx",        "****"};

	if (len == 0 || value[0] == '$' || value[0] == '<' || value[0] == '[' || value[0] == '%' ||
	    value[0] == '{' || (len > 1 && count_distinct(value, len) == 1))
		return true;
	if (is_one_of(value, len, words, ARRAY_LEN(words)))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (contains(value, len, marks[i]))
			return true;
	return len < 6 && is_number(value, len);
}

/* RFC 3986, 3.2: user and password end at the '@', of which there is one; the last, if more. */
static bool authority_has_password(const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len);
	const char *colon = at != NULL ? memchr(text, ':', (size_t)(at - text)) : NULL;

	return colon != NULL && !secret_is_placeholder(colon + 1, (size_t)(at - colon - 1));
}

static size_t authority_length(const char *text, const char *end)
{
	const char *p = text;

	while (p<end && * p> ' ' && strchr("/?#\"'<>`\\", *p) == NULL)
		p++;
	return (size_t)(p - text);
}

bool secret_has_url_password(const char *text, size_t len)
{
	const char *end = text + len, *p = text;

	while ((p = memmem(p, (size_t)(end - p), "://", 3)) != NULL) {
		size_t n = authority_length(p += 3, end);

		if (authority_has_password(p, n))
			return true;
		p += n;
	}
	return false;
}

bool secret_is_reference(const char *value, size_t len)
{
	if (value[0] == '/' && strchr("+=", value[len - 1]) == NULL)
		return true;
	if (len > 4 && (strncmp(value, "arn:", 4) == 0 || strncmp(value, "env:", 4) == 0))
		return true;
	if (len > 5 && (strncmp(value, "file:", 5) == 0 || strncmp(value, "./", 2) == 0 ||
	                strncmp(value, "../", 3) == 0 || value[0] == '~'))
		return true;
	return memmem(value, len, "://", 3) != NULL && !secret_has_url_password(value, len);
}

/* ---- names ---- */

struct name_words {
	char at[WORDS_MAX][WORD_MAX];
	size_t n;
};

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_word_char(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* "DB_PASSWORD", "db.password", "dbPassword": "DB", "PASSWORD". The last words when too many. */
static void split_words(const char *name, size_t len, struct name_words *w)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		bool hump = i > 0 && is_upper(c) && name[i - 1] >= 'a' && name[i - 1] <= 'z';

		if ((hump || !is_word_char(c)) && used > 0) {
			used = 0;
			w->n++;
		}
		if (!is_word_char(c))
			continue;
		if (w->n == WORDS_MAX) {
			memmove(w->at[0], w->at[1], sizeof(w->at) - sizeof(w->at[0]));
			memset(w->at[WORDS_MAX - 1], 0, WORD_MAX);
			w->n--;
		}
		if (used < WORD_MAX - 1)
			w->at[w->n][used++] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
	}
	w->n += used > 0;
}

static bool word_in(const char *word, const char *const *list, size_t n)
{
	return is_one_of(word, strlen(word), list, n);
}

/* Words that may follow the promise: "TOKEN_PROD", "PASSWORD_2". */
static size_t without_tail(const struct name_words *w)
{
	static const char *const tails[] = {"PROD", "PRODUCTION", "DEV",     "STAGING", "TEST",
	                                    "LIVE", "VALUE",      "BASE64",  "B64",     "OLD",
	                                    "NEW",  "PRIMARY",    "CURRENT", "DEFAULT", "STRING",
	                                    "1",    "2",          "3"};
	size_t n = w->n;

	while (n > 1 && word_in(w->at[n - 1], tails, ARRAY_LEN(tails)))
		n--;
	return n;
}

enum promise { PROMISE_NOTHING, PROMISE_SECRET, PROMISE_KEY };

static enum promise promise_of(const struct name_words *w)
{
	static const char *const secrets[] = {
		"PASSWORD",  "PASSWD",    "PASSPHRASE", "PASSWORDS",   "TOKEN",
		"SECRET",    "SECRETS",   "APIKEY",     "CREDENTIALS", "CREDENTIAL",
		"SECRETKEY", "ACCESSKEY", "AUTHTOKEN",  "PRIVATEKEY"};
	static const char *const short_forms[] = {"PASS", "PWD", "PAT"};
	static const char *const keys_of[] = {"API",     "SECRET", "PRIVATE", "ENCRYPTION",
	                                      "SIGNING", "AUTH",   "MASTER",  "LICENSE"};
	static const char *const public_words[] = {"PUBLIC", "PUB",         "GPG",
	                                           "PGP",    "FINGERPRINT", "KEYSERVER"};
	size_t n = without_tail(w);
	const char *last = n > 0 ? w->at[n - 1] : "";

	for (size_t i = 0; i < w->n; i++)
		if (word_in(w->at[i], public_words, ARRAY_LEN(public_words)))
			return PROMISE_NOTHING;
	if (word_in(last, secrets, ARRAY_LEN(secrets)))
		return PROMISE_SECRET;
	if (n > 1 && word_in(last, short_forms, ARRAY_LEN(short_forms)))
		return PROMISE_SECRET;
	if (n > 1 && strcmp(last, "KEY") == 0)
		return word_in(w->at[n - 2], keys_of, ARRAY_LEN(keys_of)) ? PROMISE_SECRET
		                                                          : PROMISE_KEY;
	return PROMISE_NOTHING;
}

/* Letters and digits mixed as no name or identifier written by hand does. */
static bool looks_random(const char *value, size_t len)
{
	bool upper = false, lower = false, digit = false;

	if (len < 16 || memchr(value, ' ', len) != NULL || secret_is_dummy(value, len))
		return false;
	for (size_t i = 0; i < len; i++) {
		upper |= is_upper(value[i]);
		lower |= value[i] >= 'a' && value[i] <= 'z';
		digit |= value[i] >= '0' && value[i] <= '9';
	}
	return digit && (upper || lower) && (is_hex(value, len) || (upper && lower) || len >= 24);
}

bool secret_assignment_leaks(const char *name, size_t name_len, const char *value, size_t len)
{
	struct name_words w = {0};
	enum promise promise;

	if (secret_is_placeholder(value, len) || secret_is_reference(value, len))
		return false;
	split_words(name, name_len, &w);
	promise = promise_of(&w);
	return promise == PROMISE_SECRET || (promise == PROMISE_KEY && looks_random(value, len));
}
