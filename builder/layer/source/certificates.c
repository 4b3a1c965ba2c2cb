/* See certificates.h. In order: one certificate, the blocks of a text, the bundle. */
#include "builder/layer/source/certificates.h"

#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/text.h"

struct reading {
	struct certificates *certificates;
	const struct certificates_text *text;
	struct diags *diags;
	size_t n;               /* certificates found */
	size_t n_problems;      /* and told of */
	size_t counted;         /* bytes of the text whose lines were counted... */
	unsigned counted_lines; /* ...and how many ends of lines are among them */
};

/* A text of damage is not told of block by block. */
enum { PROBLEMS_MAX = 20 };

/* ---- one certificate ---- */

/* Offsets are asked for in ascending order. */
static unsigned line_of(struct reading *r, size_t offset)
{
	for (; r->counted < offset && r->counted < r->text->len; r->counted++)
		r->counted_lines += r->text->bytes[r->counted] == '\n';
	return r->counted_lines + 1;
}

static void problem(struct reading *r, size_t offset, const char *hint, const char *what)
{
	r->n_problems++;
	diags_error(r->diags, r->text->at, hint, "layer '%s': %s, line %u: %s", r->text->layer,
	            r->text->name, line_of(r, offset), what);
}

static void subject(X509 *x, char out[CERTIFICATE_NAME_MAX])
{
	out[0] = '\0';
	if (X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, out,
	                              CERTIFICATE_NAME_MAX) < 0)
		X509_NAME_oneline(X509_get_subject_name(x), out, CERTIFICATE_NAME_MAX);
}

static void warn(struct reading *r, X509 *x, size_t offset, const char *what, const char *hint)
{
	char name[CERTIFICATE_NAME_MAX];

	subject(x, name);
	struct diag *diag =
		diags_add(r->diags, DIAG_WARNING, r->text->at, "layer '%s': %s, line %u: '%s' %s",
	                  r->text->layer, r->text->name, line_of(r, offset), name, what);

	diag_hint(r->diags, diag, "%s", hint);
}

static void judge(struct reading *r, X509 *x, size_t offset)
{
	bool expired = X509_cmp_time(X509_get0_notAfter(x), NULL) < 0;
	struct certificates *c = r->certificates;

	if (!r->text->own) {
		if (expired && c->n_expired++ == 0)
			subject(x, c->expired);
		return;
	}
	if (expired)
		warn(r, x, offset, "has expired", "ask the authority for its new certificate");
	if (X509_check_ca(x) == 0)
		warn(r, x, offset, "is not a certificate authority",
		     "name the certificate of the authority that signed it: most programs trust "
		     "no other");
}

static void keep(struct reading *r, X509 *x, size_t offset)
{
	struct certificate c = {0};
	int len = i2d_X509(x, &c.der);

	if (len <= 0) {
		problem(r, offset, NULL, "the certificate cannot be written again");
		return;
	}
	c.len = (size_t)len;
	judge(r, x, offset);
	vec_push(&r->certificates->all, c);
	r->n++;
}

/* The bytes of one block, and nothing behind them but what a TRUSTED CERTIFICATE adds. */
static void take_der(struct reading *r, const unsigned char *der, long len, bool trusted,
                     size_t offset)
{
	const unsigned char *end = der;
	X509 *x = trusted ? d2i_X509_AUX(NULL, &end, len) : d2i_X509(NULL, &end, len);

	if (x == NULL || end != der + len)
		problem(r, offset, "fetch the file again", "the certificate is damaged");
	else if (r->certificates->all.n >= CERTIFICATES_MAX)
		problem(r, offset, NULL, "there are more than 20000 certificates");
	else
		keep(r, x, offset);
	X509_free(x);
}

/* ---- the blocks of a text ---- */

static void take_block(struct reading *r, const char *kind, const unsigned char *bytes, long len,
                       size_t offset)
{
	bool trusted = strcmp(kind, PEM_STRING_X509_TRUSTED) == 0;

	if (trusted || strcmp(kind, PEM_STRING_X509) == 0 || strcmp(kind, PEM_STRING_X509_OLD) == 0)
		take_der(r, bytes, len, trusted, offset);
	else if (strstr(kind, "PRIVATE KEY") != NULL)
		problem(r, offset, "name a file with the certificate alone",
		        "a private key stands among the certificates");
	else
		problem(r, offset, "take it out: only certificates belong here",
		        "a block is not a certificate");
}

static size_t next_block(const struct certificates_text *text, size_t from)
{
	const char *begin = memmem(text->bytes + from, text->len - from, "-----BEGIN ", 11);

	return begin != NULL ? (size_t)(begin - text->bytes) : text->len;
}

/* False at the end, and after damage: where the next block starts is not known then. */
static bool read_block(struct reading *r, BIO *in)
{
	char *kind = NULL, *header = NULL;
	unsigned char *bytes = NULL;
	size_t offset = next_block(r->text, r->text->len - BIO_ctrl_pending(in));
	long len = 0;

	ERR_clear_error();
	if (PEM_read_bio(in, &kind, &header, &bytes, &len) != 1) {
		if (offset < r->text->len)
			problem(r, offset, "fetch the file again", "the PEM block is damaged");
		ERR_clear_error();
		return false;
	}
	take_block(r, kind, bytes, len, offset);
	OPENSSL_free(kind);
	OPENSSL_free(header);
	OPENSSL_clear_free(bytes, (size_t)len);
	return r->n_problems < PROBLEMS_MAX && r->certificates->all.n < CERTIFICATES_MAX;
}

static void read_pem(struct reading *r)
{
	BIO *in = BIO_new_mem_buf(r->text->bytes, (int)r->text->len);

	while (in != NULL && read_block(r, in))
		;
	BIO_free(in);
}

void certificates_add(struct certificates *c, const struct certificates_text *text, struct diags *d)
{
	struct reading r = {.certificates = c, .text = text, .diags = d};
	size_t before = d->n_errors;

	if (text->len > CERTIFICATES_FILE_MAX) {
		diags_error(d, text->at, NULL, "layer '%s': %s is larger than 32 MiB", text->layer,
		            text->name);
		return;
	}
	/* DER starts with a SEQUENCE (X.690, 8.9). */
	if (text->len > 0 && text->bytes[0] == 0x30 && next_block(text, 0) == text->len)
		take_der(&r, (const unsigned char *)text->bytes, (long)text->len, false, 0);
	else
		read_pem(&r);
	ERR_clear_error();
	if (r.n == 0 && d->n_errors == before)
		diags_error(d, text->at,
		            "name a file of certificates in PEM: it has lines "
		            "-----BEGIN CERTIFICATE-----",
		            "layer '%s': %s holds no certificate", text->layer, text->name);
}

/* ---- the bundle ---- */

static int compare(const void *a, const void *b)
{
	const struct certificate *x = a, *y = b;
	int bytes = memcmp(x->der, y->der, x->len < y->len ? x->len : y->len);

	return bytes != 0 ? bytes : (x->len > y->len) - (x->len < y->len);
}

/* RFC 7468: lines of 64 characters. */
static void write_pem(const struct certificate *c, struct strbuf *out)
{
	char line[65];

	strbuf_adds(out, "-----BEGIN CERTIFICATE-----\n");
	for (size_t i = 0; i < c->len; i += 48) {
		size_t n = c->len - i < 48 ? c->len - i : 48;

		EVP_EncodeBlock((unsigned char *)line, c->der + i, (int)n);
		strbuf_addf(out, "%s\n", line);
	}
	strbuf_adds(out, "-----END CERTIFICATE-----\n");
}

void certificates_pem(struct certificates *c, struct strbuf *out)
{
	if (c->all.n > 0)
		qsort(c->all.at, c->all.n, sizeof(*c->all.at), compare);
	for (size_t i = 0; i < c->all.n; i++)
		if (i == 0 || compare(&c->all.at[i - 1], &c->all.at[i]) != 0)
			write_pem(&c->all.at[i], out);
}

void certificates_done(struct certificates *c)
{
	for (size_t i = 0; i < c->all.n; i++)
		OPENSSL_free(c->all.at[i].der);
	vec_done(&c->all);
}
