/*
 * Certificates read from PEM or DER, each parsed by OpenSSL, and written as one bundle: in the
 * order of their bytes, equal ones once, nothing but certificates in it. Pure: texts in, text out;
 * the clock is only asked which certificates have expired, and that shows in diagnostics alone.
 * Ownership: `struct certificates` owns its bytes, certificates_done frees them.
 * Thread rule: one thread.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_CERTIFICATES_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_CERTIFICATES_H

#include "base/diag.h"
#include "base/mem.h"

enum { CERTIFICATES_MAX = 20000, CERTIFICATES_FILE_MAX = 32 << 20 };

struct certificate {
	unsigned char *der;
	size_t len;
};

enum { CERTIFICATE_NAME_MAX = 256 };

struct certificates {
	VEC(struct certificate) all;
	size_t n_expired;                   /* of those nobody chose one by one */
	char expired[CERTIFICATE_NAME_MAX]; /* the first of them */
};

/* A text of certificates, for messages. */
struct certificates_text {
	const char *name; /* "'ca.pem'", "this machine: '/etc/...'" */
	struct srcpos at;
	const char *layer;
	const char *bytes;
	size_t len;
	/* Somebody chose these: one that has expired or cannot sign others is worth a warning. */
	bool own;
};

/*
 * Adds what is in a text: PEM blocks (CERTIFICATE, X509 CERTIFICATE, TRUSTED CERTIFICATE; text
 * between them is passed over) or one certificate in DER. Problems in d: damage, with its line; a
 * private key; no certificate at all. Expired certificates are kept, and counted or warned of.
 */
void certificates_add(struct certificates *c, const struct certificates_text *text,
                      struct diags *d);

/* The bundle, in PEM. Sorts. */
void certificates_pem(struct certificates *c, struct strbuf *out);

void certificates_done(struct certificates *c);

#endif
