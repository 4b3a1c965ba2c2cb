#include "builder/aws/sigv4.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <strings.h>

#include "base/crypto/digest.h"
#include "base/mem.h"
#include "base/timestamp.h"

/* ---- the canonical URI and query ---- */

static bool is_unreserved(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("-_.~", c) != NULL);
}

static bool is_hex(char c)
{
	return c != '\0' && strchr("0123456789ABCDEFabcdef", c) != NULL;
}

/* Everything but unreserved bytes and those in `keep` becomes %XX. */
static void percent_encode(struct strbuf *sb, const char *text, size_t len, const char *keep)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (is_unreserved(c) || (c != '\0' && strchr(keep, c) != NULL))
			strbuf_addc(sb, (char)c);
		else
			strbuf_addf(sb, "%%%02X", c);
	}
}

/* Appends path without empty, "." and ".." segments (RFC 3986 section 5.2.4). */
static void normalize(struct strbuf *sb, const char *path)
{
	bool slash = false;

	while (*path != '\0') {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");

		if (len == 0)
			break;
		slash = path[len] == '/';
		if (len == 2 && strncmp(path, "..", 2) == 0) {
			while (sb->len > 0 && sb->ptr[--sb->len] != '/')
				;
			slash = true;
		} else if (len == 1 && path[0] == '.') {
			slash = true;
		} else {
			strbuf_addc(sb, '/');
			strbuf_add(sb, path, len);
		}
		path += len;
	}
	if (sb->len == 0 || slash)
		strbuf_addc(sb, '/');
	sb->ptr[sb->len] = '\0';
}

static void add_path(struct strbuf *sb, const struct sigv4_request *r)
{
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(HTTP_URL_MAX);

	if (r->raw_path)
		strbuf_adds(&path, r->path);
	else
		normalize(&path, r->path);
	percent_encode(sb, strbuf_str(&path), path.len, "/");
}

struct query_parameter {
	const char *key, *value;
};

static int by_key_and_value(const void *a, const void *b)
{
	const struct query_parameter *p = a, *q = b;
	int order = strcmp(p->key, q->key);

	return order != 0 ? order : strcmp(p->value, q->value);
}

/* As sent, with what should have been encoded and was not (raw UTF-8) encoded. */
static const char *encoded_once(const char *text, size_t len, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(3 * HTTP_URL_MAX);

	for (size_t i = 0; i < len; i++)
		if (text[i] == '%' && i + 2 < len && is_hex(text[i + 1]) && is_hex(text[i + 2]))
			strbuf_addc(&sb, '%');
		else
			percent_encode(&sb, text + i, 1, "");
	return arena_strdup(a, strbuf_str(&sb));
}

static void add_query(struct strbuf *sb, const char *query, struct arena *a)
{
	VEC(struct query_parameter) pairs = {0};

	while (query != NULL && *query != '\0') {
		size_t len = strcspn(query, "&"), key = strcspn(query, "=&");
		size_t value = key < len ? key + 1 : len;

		if (len > 0)
			vec_push(&pairs, ((struct query_parameter){
						 encoded_once(query, key, a),
						 encoded_once(query + value, len - value, a)}));
		query += len + (query[len] == '&');
	}
	if (pairs.n > 1)
		qsort(pairs.at, pairs.n, sizeof(*pairs.at), by_key_and_value);
	for (size_t i = 0; i < pairs.n; i++)
		strbuf_addf(sb, "%s%s=%s", i > 0 ? "&" : "", pairs.at[i].key, pairs.at[i].value);
	vec_done(&pairs);
}

/* ---- the canonical headers ---- */

/* What hops on the way rewrite (botocore keeps the same list). */
static bool is_unsigned(const char *name)
{
	static const char *const names[] = {"authorization",
	                                    "connection",
	                                    "expect",
	                                    "keep-alive",
	                                    "proxy-authenticate",
	                                    "proxy-authorization",
	                                    "te",
	                                    "trailer",
	                                    "transfer-encoding",
	                                    "upgrade",
	                                    "user-agent",
	                                    "x-amzn-trace-id"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}

struct signed_header {
	const char *name; /* lower case */
	const char *value;
	size_t order;
};

static int by_name(const void *a, const void *b)
{
	const struct signed_header *p = a, *q = b;
	int order = strcmp(p->name, q->name);

	return order != 0 ? order : (p->order > q->order) - (p->order < q->order);
}

/* Trimmed, runs of white space as one space. */
static void add_value(struct strbuf *sb, const char *value)
{
	static const char white[] = " \t\r\n";

	value += strspn(value, white);
	while (*value != '\0') {
		size_t len = strcspn(value, white);

		strbuf_add(sb, value, len);
		value += len;
		value += strspn(value, white);
		if (*value != '\0')
			strbuf_addc(sb, ' ');
	}
}

/* The header lines into sb, their names into names. */
static void add_headers(struct strbuf *sb, struct strbuf *names, const struct sigv4_request *r,
                        struct arena *a)
{
	struct signed_header *list = arena_calloc(a, r->n_headers + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < r->n_headers; i++)
		if (!is_unsigned(r->headers[i].name))
			list[n++] = (struct signed_header){
				arena_lower(a, r->headers[i].name, strlen(r->headers[i].name)),
				r->headers[i].value, i};
	qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0; i < n; i++) {
		bool more = i > 0 && strcmp(list[i].name, list[i - 1].name) == 0;
		bool last = i + 1 == n || strcmp(list[i].name, list[i + 1].name) != 0;

		if (!more) {
			strbuf_addf(sb, "%s:", list[i].name);
			strbuf_addf(names, "%s%s", names->len > 0 ? ";" : "", list[i].name);
		} else {
			strbuf_addc(sb, ',');
		}
		add_value(sb, list[i].value);
		if (last)
			strbuf_addc(sb, '\n');
	}
}

/* ---- the signature ---- */

enum { MAC_BYTES = 32 };

static void mac(const void *key, size_t key_len, const char *text, unsigned char out[MAC_BYTES])
{
	unsigned int len = MAC_BYTES;

	if (HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, strlen(text), out,
	         &len) == NULL)
		mem_exhausted("OpenSSL");
}

static void derive(const struct sigv4_key *key, const char *day, const struct sigv4_scope *scope,
                   unsigned char out[MAC_BYTES])
{
	AUTO(strbuf) struct strbuf seed = STRBUF_INIT(8 << 10);
	const char *const steps[] = {day, scope->region, scope->service, "aws4_request"};

	strbuf_addf(&seed, "AWS4%s", key->secret_access_key);
	mac(seed.ptr, seed.len, steps[0], out);
	OPENSSL_cleanse(seed.ptr, seed.len);
	for (size_t i = 1; i < ARRAY_LEN(steps); i++) {
		unsigned char next[MAC_BYTES];

		mac(out, MAC_BYTES, steps[i], next);
		memcpy(out, next, MAC_BYTES);
		OPENSSL_cleanse(next, sizeof(next));
	}
}

static const char *canonical(const struct sigv4_request *r, struct arena *a, struct strbuf *names)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	char hash[DIGEST_HEX_MAX];
	struct digest body = digest_of(r->body != NULL ? r->body : "", r->body_len);

	strbuf_addf(&sb, "%s\n", r->method);
	add_path(&sb, r);
	strbuf_addc(&sb, '\n');
	add_query(&sb, r->query, a);
	strbuf_addc(&sb, '\n');
	add_headers(&sb, names, r, a);
	strbuf_addf(&sb, "\n%s\n%s", strbuf_str(names), digest_hex(&body, hash));
	return arena_strdup(a, strbuf_str(&sb));
}

void sigv4_sign(const struct sigv4_request *request, const struct sigv4_key *key,
                const struct sigv4_scope *scope, struct arena *a,
                struct sigv4_signature *ret_signature)
{
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(64 << 10);
	char moment[TIMESTAMP_MAX], hash[DIGEST_HEX_MAX], signature[2 * MAC_BYTES + 1];
	unsigned char bytes[MAC_BYTES];

	timestamp_basic(scope->now_ms, moment);
	const char *day = arena_strndup(a, moment, 8);
	const char *range =
		arena_printf(a, "%s/%s/%s/aws4_request", day, scope->region, scope->service);
	const char *text = canonical(request, a, &names);
	struct digest d = digest_of(text, strlen(text));
	const char *to_sign = arena_printf(a, "AWS4-HMAC-SHA256\n%s\n%s\n%s", moment, range,
	                                   digest_hex(&d, hash));

	derive(key, day, scope, bytes);
	unsigned char final[MAC_BYTES];

	mac(bytes, MAC_BYTES, to_sign, final);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	for (size_t i = 0; i < MAC_BYTES; i++)
		snprintf(signature + 2 * i, 3, "%02x", final[i]);
	*ret_signature = (struct sigv4_signature){
		.canonical_request = text,
		.string_to_sign = to_sign,
		.authorization = arena_printf(
			a, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
			key->access_key_id, range, strbuf_str(&names), signature)};
}
