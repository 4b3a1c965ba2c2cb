/*
 * Sections: anchors in blocks; what stands around an anchor; files known by name; the stream.
 * A candidate is judged with SECRET_LOOK bytes on both sides, so that chunk borders do not matter.
 */
#include "builder/check/secret.h"

#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/text.h"

enum { BLOCK = 64, AWS_NEAR = 512, KEY_BODY_MIN = 40 };

/* ---- anchors ---- */

/* Bytes of a window around a candidate: `end` is the end of what has been read. */
struct window {
	const unsigned char *start, *end;
};

static bool is_alnum(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_base64(unsigned char c)
{
	return is_alnum(c) || c == '+' || c == '/' || c == '=';
}

/*
 * Whether one of the anchors begins in the block: "-----B", "A?IA" (AKIA, ASIA), "gh?_", "gi????_"
 * (github_pat) and "cc???_" or "cc???K", in any case, of "secret access key". Written without
 * branches over a fixed count, so that compilers make vector code of it; needs 8 readable bytes
 * after the block.
 */
static unsigned char block_has_anchor(const unsigned char *p)
{
	unsigned char any = 0;

	for (size_t i = 0; i < BLOCK; i++) {
		unsigned char pem = (p[i] == '-') & (p[i + 4] == '-') & (p[i + 5] == 'B');
		unsigned char aws = (p[i] == 'A') & (p[i + 2] == 'I') & (p[i + 3] == 'A');
		unsigned char token = (p[i] == 'g') & (p[i + 1] == 'h') & (p[i + 3] == '_');
		unsigned char pat = (p[i] == 'g') & (p[i + 1] == 'i') & (p[i + 6] == '_');
		unsigned char key = ((p[i] | 0x20) == 'c') & ((p[i + 1] | 0x20) == 'c') &
		                    ((p[i + 5] == '_') | (p[i + 5] == 'K'));

		any |= (unsigned char)(pem | aws | token | pat | key);
	}
	return any;
}

/* ---- candidates ---- */

static bool starts(const struct window *w, const unsigned char *p, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(w->end - p) >= n && memcmp(p, text, n) == 0;
}

/* Length of the run of characters of a class from p on, at most max + 1. */
static size_t run_length(const struct window *w, const unsigned char *p,
                         bool (*in_class)(unsigned char), size_t max)
{
	size_t n = 0;

	while (p + n < w->end && n <= max && in_class(p[n]))
		n++;
	return n;
}

/* A line end, also written as \n in JSON and in source code; 0 when there is none. */
static size_t line_end(const struct window *w, const unsigned char *p)
{
	if (starts(w, p, "\r\n"))
		return 2;
	if (starts(w, p, "\\n"))
		return 2;
	if (starts(w, p, "\\r\\n"))
		return 4;
	return p < w->end && *p == '\n';
}

/* Skips "Proc-Type: 4,ENCRYPTED" and the like; NULL when the line is not a header. */
static const unsigned char *skip_header(const struct window *w, const unsigned char *p)
{
	const unsigned char *q = p;

	while (q < w->end && (is_alnum(*q) || *q == '-'))
		q++;
	if (q == p || q >= w->end || *q != ':')
		return NULL;
	while (q < w->end && *q != '\0' && line_end(w, q) == 0)
		q++;
	return q;
}

/*
 * A PEM private key (RFC 7468): the boundary line and then a body. Programs and libraries hold the
 * bare boundary as a text to compare with; without a body it is no secret.
 */
static bool is_private_key(const struct window *w, const unsigned char *p)
{
	const unsigned char *q = p + strlen("-----BEGIN "), *limit = q + 64;
	size_t body = 0, gap;

	if (!starts(w, p, "-----BEGIN "))
		return false;
	while (q < w->end && q < limit && *q != '-' && *q != '\0' && *q != '\n')
		q++;
	if ((size_t)(q - p) < 22 || !starts(w, q, "-----") ||
	    memmem(p, (size_t)(q - p), "PRIVATE KEY", 11) == NULL)
		return false;
	q += 5;
	if (line_end(w, q) == 0)
		return false;
	while (q < w->end && body < KEY_BODY_MIN) {
		const unsigned char *header = body == 0 ? skip_header(w, q) : NULL;

		if (header != NULL)
			q = header;
		else if ((gap = line_end(w, q)) > 0)
			q += gap;
		else if (*q == ' ' || *q == '\t' || *q == '"' || *q == '\'' || *q == ',')
			q++; /* string literals over several lines */
		else if (is_base64(*q))
			q++, body++;
		else
			return false;
	}
	return body >= KEY_BODY_MIN;
}

/* 40 characters of base64 that are neither part of a longer run nor a hexadecimal digest. */
static bool is_aws_secret(const struct window *w, const unsigned char *p)
{
	bool upper = false, lower = false;

	if ((p > w->start && is_base64(p[-1]) && p[-1] != '=') ||
	    run_length(w, p, is_base64, 40) != 40)
		return false;
	for (size_t i = 0; i < 40; i++) {
		upper |= p[i] >= 'A' && p[i] <= 'Z';
		lower |= p[i] >= 'g' && p[i] <= 'z';
	}
	return upper && lower && memmem(p, 40, "EXAMPLE", 7) == NULL;
}

/* An access key id: AKIA or ASIA and 16 more; alone it is no secret, a secret key must be near. */
static bool is_aws_pair(const struct window *w, const unsigned char *p)
{
	const unsigned char *from = w->start, *to = w->end;

	if (!starts(w, p, "AKIA") && !starts(w, p, "ASIA"))
		return false;
	if ((p > w->start && is_alnum(p[-1])) || run_length(w, p, is_alnum, 20) != 20 ||
	    memmem(p, 20, "EXAMPLE", 7) != NULL)
		return false;
	for (size_t i = 4; i < 20; i++)
		if (p[i] >= 'a' && p[i] <= 'z')
			return false;
	if (p - from > AWS_NEAR)
		from = p - AWS_NEAR;
	if (to - p > AWS_NEAR)
		to = p + AWS_NEAR;
	for (const unsigned char *q = from; q < to; q++)
		if (is_aws_secret(w, q))
			return true;
	return false;
}

/*
 * "aws_secret_access_key = ...", also as SecretAccessKey in JSON. p is at the "ccess" of "access".
 */
static bool is_aws_assignment(const struct window *w, const unsigned char *p)
{
	static const char *const forms[] = {"secret_access_key", "SECRET_ACCESS_KEY",
	                                    "SecretAccessKey", "secretAccessKey"};
	const unsigned char *q = NULL;

	for (size_t i = 0; i < ARRAY_LEN(forms) && q == NULL; i++) {
		size_t before = forms[i][6] == '_' ? 8 : 7;

		if ((size_t)(p - w->start) >= before && starts(w, p - before, forms[i]))
			q = p - before + strlen(forms[i]);
	}
	if (q == NULL)
		return false;
	for (size_t i = 0; i < 8 && q < w->end && strchr(" \t\"'=:>\\", *q) != NULL && *q != '\0';
	     i++)
		q++;
	return is_aws_secret(w, q);
}

static bool is_word(unsigned char c)
{
	return is_alnum(c) || c == '_';
}

/* GitHub's tokens: gh[pousr]_ and 36 characters, github_pat_ and 82. */
static bool is_github(const struct window *w, const unsigned char *p)
{
	if (p > w->start && is_word(p[-1]))
		return false;
	if (starts(w, p, "github_pat_"))
		return run_length(w, p, is_word, 93) == 93;
	return p + 4 < w->end && memcmp(p, "gh", 2) == 0 && p[3] == '_' &&
	       strchr("pousr", p[2]) != NULL && p[2] != '\0' &&
	       run_length(w, p + 4, is_alnum, 36) == 36;
}

static void found(struct secret_scanner *s, enum secret_kind kind, int64_t offset)
{
	if (s->found[kind])
		return;
	s->found[kind] = true;
	s->offset[kind] = offset;
}

static void judge_candidate(struct secret_scanner *s, const struct window *w,
                            const unsigned char *p)
{
	int64_t at = s->start + (p - w->start);

	switch (*p) {
	case '-':
		if (!s->found[SECRET_PRIVATE_KEY] && is_private_key(w, p))
			found(s, SECRET_PRIVATE_KEY, at);
		break;
	case 'A':
		if (!s->found[SECRET_AWS] && is_aws_pair(w, p))
			found(s, SECRET_AWS, at);
		break;
	case 'g':
		if (!s->found[SECRET_GITHUB] && is_github(w, p))
			found(s, SECRET_GITHUB, at);
		break;
	case 'c':
	case 'C':
		if (!s->found[SECRET_AWS] && is_aws_assignment(w, p))
			found(s, SECRET_AWS, at);
		break;
	default:
		break;
	}
}

/* ---- files known by name ---- */

static enum secret_kind kind_of_name(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base != NULL ? base + 1 : path;
	if (strcmp(base, ".netrc") == 0 || strcmp(base, "_netrc") == 0)
		return SECRET_NETRC;
	if (strcmp(base, ".pgpass") == 0)
		return SECRET_PGPASS;
	if (strcmp(base, ".dockercfg") == 0 || text_has_suffix(path, ".docker/config.json") ||
	    text_has_suffix(path, "containers/auth.json"))
		return SECRET_DOCKER;
	return SECRET_KINDS;
}

static bool netrc_has_password(const char *text)
{
	/* "password" as a word of its own, with a word after it. */
	for (const char *p = strstr(text, "password"); p != NULL; p = strstr(p + 8, "password")) {
		const char *value = p + 8 + strspn(p + 8, " \t\r\n");

		if ((p == text || strchr(" \t\r\n", p[-1]) != NULL) && value > p + 8 &&
		    *value != '\0')
			return true;
	}
	return false;
}

/* host:port:database:user:password, one a line (PostgreSQL, "The Password File"). */
static bool pgpass_has_password(const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n"), colons = 0;
		bool password = false;

		for (size_t i = 0; i < len; i++) {
			if (text[i] == ':' && (i == 0 || text[i - 1] != '\\'))
				colons++;
			else if (colons == 4 && text[i] != '\r')
				password = true;
		}
		if (text[0] != '#' && colons == 4 && password)
			return true;
		text += len + (text[len] == '\n');
	}
	return false;
}

static bool docker_has_credentials(const char *text, size_t len)
{
	static const char *const members[] = {"auth", "password", "identitytoken", "registrytoken"};
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	const cJSON *auths, *item;

	if (json_parse("docker configuration", text, len, &doc, &err) != 0)
		return false;
	/* .dockercfg has the registries at its top. */
	auths = json_get(doc, "auths") != NULL ? json_get(doc, "auths") : doc;
	if (!cJSON_IsObject(auths))
		return false;
	cJSON_ArrayForEach (item, auths) {
		for (size_t i = 0; i < ARRAY_LEN(members); i++) {
			const char *value = json_string(item, members[i]);

			if (value != NULL && value[0] != '\0')
				return true;
		}
	}
	return false;
}

static bool named_has_secret(const struct secret_scanner *s)
{
	const char *text = strbuf_str(&s->text);

	switch (s->named) {
	case SECRET_NETRC:
		return netrc_has_password(text);
	case SECRET_PGPASS:
		return pgpass_has_password(text);
	case SECRET_DOCKER:
		return docker_has_credentials(text, s->text.len);
	default:
		return false;
	}
}

/* ---- the stream ---- */

void secret_init(struct secret_scanner *s)
{
	/* 64 + 8 bytes beyond, so that the last block may be read whole. */
	*s = (struct secret_scanner){
		.buf = mem_calloc(1, 3 * SECRET_LOOK + SECRET_CHUNK + BLOCK + 8),
		.text = STRBUF_INIT(SECRET_FILE_MAX),
		.named = SECRET_KINDS,
	};
}

void secret_done(struct secret_scanner *s)
{
	free(s->buf);
	strbuf_done(&s->text);
	s->buf = NULL;
}

void secret_begin(struct secret_scanner *s, const char *path)
{
	s->len = s->done = 0;
	s->start = 0;
	s->named = kind_of_name(path);
	strbuf_reset(&s->text);
	s->text.overflow = false;
	memset(s->found, 0, sizeof(s->found));
}

/* Looks at candidates from `done` up to `limit`. */
static void scan_up_to(struct secret_scanner *s, size_t limit)
{
	const struct window w = {s->buf, s->buf + s->len};

	memset(s->buf + s->len, 0, BLOCK + 8);
	for (size_t i = s->done; i < limit; i += BLOCK) {
		size_t end = i + BLOCK < limit ? i + BLOCK : limit;

		if (!block_has_anchor(s->buf + i))
			continue;
		for (size_t k = i; k < end; k++)
			judge_candidate(s, &w, s->buf + k);
	}
	s->done = limit;
}

static void feed_piece(struct secret_scanner *s, const unsigned char *bytes, size_t len)
{
	if (s->done > SECRET_LOOK) {
		size_t drop = s->done - SECRET_LOOK;

		memmove(s->buf, s->buf + drop, s->len - drop);
		s->len -= drop;
		s->done -= drop;
		s->start += (int64_t)drop;
	}
	memcpy(s->buf + s->len, bytes, len);
	s->len += len;
	if (s->len > s->done + SECRET_LOOK)
		scan_up_to(s, s->len - SECRET_LOOK);
}

void secret_feed(struct secret_scanner *s, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	if (s->named != SECRET_KINDS)
		strbuf_add(&s->text, bytes, len);
	while (len > 0) {
		size_t n = len < SECRET_CHUNK ? len : SECRET_CHUNK;

		feed_piece(s, p, n);
		p += n;
		len -= n;
	}
}

void secret_end(struct secret_scanner *s)
{
	scan_up_to(s, s->len);
	if (s->named != SECRET_KINDS && named_has_secret(s))
		found(s, s->named, 0);
}

const char *secret_text(enum secret_kind kind)
{
	static const char *const texts[SECRET_KINDS] = {
		[SECRET_AWS] = "an AWS secret access key",
		[SECRET_PRIVATE_KEY] = "a private key",
		[SECRET_GITHUB] = "a GitHub token",
		[SECRET_NETRC] = "a .netrc file with a password",
		[SECRET_PGPASS] = "a .pgpass file with a password",
		[SECRET_DOCKER] = "registry credentials of Docker or Podman",
	};

	return texts[kind];
}
