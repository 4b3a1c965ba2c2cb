/*
 * Private keys as text: PEM (RFC 7468) as it is, with its line ends written as \n, in base64, in
 * UTF-16; PuTTY's files. Programs and libraries hold the bare boundary to compare with; without a
 * body it is no secret.
 */
#include <string.h>

#include "base/attr.h"
#include "builder/check/secret/patterns.h"

enum { BODY_MIN = 40, BOUNDARY_MAX = 64, DECODED_MAX = 256, ENCODED_MIN = 72, PLAIN_MAX = 128 };

enum key_state { KEY_NONE, KEY_PLAIN, KEY_LOCKED };
typedef enum key_state judge_form(const struct secret_window *w, const unsigned char *p);

static bool fits(enum key_state state, const struct secret_pattern *row)
{
	return state == (row->kind == SECRET_ENCRYPTED_KEY ? KEY_LOCKED : KEY_PLAIN);
}

/* Two rows ask about each boundary; it is judged for the first. */
static bool judge_once(const struct secret_window *w, const unsigned char *p,
                       const struct secret_pattern *row, judge_form *judge)
{
	struct window_memo none = {0}, *memo = w->memo != NULL ? w->memo : &none;

	if (memo->pem != p) {
		memo->pem = p;
		memo->pem_state = judge(w, p);
	}
	return fits((enum key_state)memo->pem_state, row);
}

/* A line end, also written as \n in JSON and in source code, once or twice; 0 if there is none. */
static size_t line_end(const struct secret_window *w, const unsigned char *p)
{
	static const char *const forms[] = {"\r\n", "\n", "\\n", "\\r\\n", "\\\\n", "\\\\r\\\\n"};

	if (p < w->end && *p != '\r' && *p != '\n' && *p != '\\')
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (window_starts(w, p, forms[i]))
			return strlen(forms[i]);
	return 0;
}

/* Skips "Proc-Type: 4,ENCRYPTED" and the like; NULL when the line is not a header. One that holds
 * a boundary is none: no look goes beyond the next one. */
static const unsigned char *skip_header(const struct secret_window *w, const unsigned char *p)
{
	const unsigned char *q = p + window_run(w, p, CLASS_ALNUM | CLASS_DASH, 64);

	if (q == p || q >= w->end || *q != ':')
		return NULL;
	while (q < w->end && *q != '\0' && line_end(w, q) == 0)
		if (*q++ == '-' && window_starts(w, q, "----"))
			return NULL;
	return q;
}

/* Behind the boundary line, NULL when it is not that of a private key. */
static const unsigned char *skip_boundary(const struct secret_window *w, const unsigned char *p)
{
	const unsigned char *q = p + strlen("-----BEGIN "), *limit = q + BOUNDARY_MAX;

	if (!window_starts(w, p, "-----BEGIN "))
		return NULL;
	while (q < w->end && q < limit && *q != '-' && *q != '\0' && *q != '\n')
		q++;
	if (!window_starts(w, q, "-----") || memmem(p, (size_t)(q - p), "PRIVATE KEY", 11) == NULL)
		return NULL;
	return q + strlen("-----");
}

/* What stands between the lines' ends of string literals and of indented blocks. */
static bool is_filler(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '"' || c == '\'' || c == ',' || c == '+' || c == '|';
}

/* How much of a body there is from p on; headers are noted in *locked. */
static size_t measure_body(const struct secret_window *w, const unsigned char *p, bool *locked)
{
	size_t body = 0, gap;

	while (p < w->end && body < BODY_MIN) {
		const unsigned char *header = body == 0 ? skip_header(w, p) : NULL;

		if (header != NULL) {
			*locked |= memmem(p, (size_t)(header - p), "ENCRYPTED", 9) != NULL;
			p = header;
		} else if ((gap = line_end(w, p)) > 0) {
			p += gap;
		} else if (secret_in_class(*p, CLASS_BASE64)) {
			p++, body++;
		} else if (is_filler(*p)) {
			p++;
		} else {
			break;
		}
	}
	return body;
}

/* "openssh-key-v1", then the cipher's name: "none" where there is no password. */
static bool openssh_is_locked(const struct secret_window *w, const unsigned char *p)
{
	static const char magic[] = "b3BlbnNzaC1rZXktdjEAAAAA", none[] = "BG5vbmU";

	while (p < w->end && !secret_in_class(*p, CLASS_ALNUM))
		p++;
	if (window_starts(w, p, "n"))
		p++; /* of a \n that was written out */
	return window_starts(w, p, magic) && !window_starts(w, p + sizeof(magic) - 1, none);
}

static enum key_state judge_pem(const struct secret_window *w, const unsigned char *p)
{
	const unsigned char *q = skip_boundary(w, p);
	bool locked;

	/* One line: blanks in place of the line ends. */
	if (q == NULL || (line_end(w, q) == 0 && !window_starts(w, q, " ")))
		return KEY_NONE;
	locked = memmem(p, (size_t)(q - p), "ENCRYPTED", 9) != NULL;
	if (measure_body(w, q, &locked) < BODY_MIN)
		return KEY_NONE;
	return locked || openssh_is_locked(w, q) ? KEY_LOCKED : KEY_PLAIN;
}

bool secret_judge_pem(const struct secret_window *w, const unsigned char *p,
                      const struct secret_pattern *row)
{
	return judge_once(w, p, row, judge_pem);
}

static int base64_value(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes at most `max` bytes, up to the first that is neither base64 nor a line end; returns how
 * many. */
static size_t decode(const struct secret_window *w, const unsigned char *p,
                     unsigned char out[DECODED_MAX], size_t max)
{
	unsigned bits = 0, value = 0;
	size_t n = 0;

	for (; p < w->end && n < max; p++) {
		int digit = base64_value(*p);

		if (digit < 0 && (*p == '\n' || *p == '\r' || *p == ' '))
			continue;
		if (digit < 0)
			break;
		value = (value << 6 | (unsigned)digit) & 0xffffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (unsigned char)(value >> bits);
		}
	}
	return n;
}

/* Only one with headers needs more than a few bytes. */
static enum key_state judge_base64(const struct secret_window *w, const unsigned char *p)
{
	unsigned char text[DECODED_MAX];
	struct secret_window inner = {text, text, NULL};

	if (window_run(w, p, CLASS_BASE64, ENCODED_MIN) < ENCODED_MIN)
		return KEY_NONE;
	inner.end = text + decode(w, p, text, PLAIN_MAX);
	if (memchr(text, ':', (size_t)(inner.end - text)) != NULL)
		inner.end = text + decode(w, p, text, DECODED_MAX);
	return judge_pem(&inner, text);
}

/* Base64 of a PEM file always begins the same way: as in Kubernetes' secrets and kubeconfig. */
bool secret_judge_pem_base64(const struct secret_window *w, const unsigned char *p,
                             const struct secret_pattern *row)
{
	return judge_once(w, p, row, judge_base64);
}

/* Either byte order: p is at "B\0E\0G\0I\0N", five dashes stand before it. */
bool secret_judge_pem_utf16(const struct secret_window *w, const unsigned char *p,
                            const struct secret_pattern *row)
{
	static const unsigned char dashes[] = "-\0-\0-\0-\0-";
	unsigned char text[DECODED_MAX];
	size_t n = 0;

	if (p - w->start < 10 || memcmp(p - 10, dashes, 9) != 0)
		return false;
	for (const unsigned char *q = p - 10; q < w->end && n < DECODED_MAX; q += 2)
		text[n++] = *q;
	const struct secret_window inner = {text, text + n, NULL};

	return fits(judge_pem(&inner, text), row);
}

/* PuTTY's own form (PuTTY manual, "PPK file format"). */
bool secret_judge_ppk(const struct secret_window *w, const unsigned char *p,
                      const struct secret_pattern *row)
{
	const unsigned char *q = p + row->anchor_len, *limit = q + 80;
	bool none;

	if (window_run(w, q, CLASS_DIGIT, 1) != 1 || !window_starts(w, q + 1, ": "))
		return false;
	while (q < w->end && q < limit && *q != '\n')
		q++;
	if (!window_starts(w, q, "\nEncryption: "))
		return false;
	none = window_starts(w, q + strlen("\nEncryption: "), "none");
	return fits(none ? KEY_PLAIN : KEY_LOCKED, row);
}
