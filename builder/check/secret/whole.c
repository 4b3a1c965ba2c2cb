#include "builder/check/secret/whole.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

enum { TAG_INTEGER = 0x02, TAG_OCTETS = 0x04, TAG_OID = 0x06, TAG_SEQUENCE = 0x30 };

void secret_whole_begin(struct secret_whole *f, const char *path)
{
	*f = (struct secret_whole){.keytab_name = text_has_suffix(path, ".keytab")};
}

void secret_whole_feed(struct secret_whole *f, const void *bytes, size_t len)
{
	size_t room = SECRET_HEAD_BYTES - f->n, n = len < room ? len : room;

	memcpy(f->head + f->n, bytes, n);
	f->n += n;
	f->size += (int64_t)len;
}

/* ---- DER (X.690): as much of it as tells keys from certificates ---- */

struct der {
	const unsigned char *at, *end;
};

/* Takes tag and length; *ret_len may lie beyond the head. False when it is not DER. */
static bool take_header(struct der *d, unsigned char tag, int64_t *ret_len)
{
	size_t n;
	int64_t len;

	if (d->end - d->at < 2 || d->at[0] != tag)
		return false;
	len = d->at[1];
	d->at += 2;
	if (len >= 0x80) {
		n = (size_t)len & 0x7f;
		if (n == 0 || n > 4 || (size_t)(d->end - d->at) < n)
			return false;
		len = 0;
		for (size_t i = 0; i < n; i++)
			len = len << 8 | *d->at++;
	}
	*ret_len = len;
	return true;
}

static bool skip_value(struct der *d, int64_t len)
{
	if (len > d->end - d->at)
		return false;
	d->at += len;
	return true;
}

static bool take_version(struct der *d, unsigned version)
{
	int64_t len;

	if (!take_header(d, TAG_INTEGER, &len) || len != 1 || d->at >= d->end || *d->at != version)
		return false;
	d->at++;
	return true;
}

static bool next_is(const struct der *d, unsigned char tag)
{
	return d->at < d->end && *d->at == tag;
}

static bool oid_starts(const struct der *d, const unsigned char *oid, size_t len)
{
	struct der in = *d;
	int64_t n;

	return take_header(&in, TAG_OID, &n) && (size_t)(in.end - in.at) >= len &&
	       memcmp(in.at, oid, len) == 0;
}

/* PKCS#1 and DSA: version 0, then numbers; RFC 5958: version, algorithm, the key as octets. */
static bool is_plain_key(struct der d)
{
	struct der ec = d;
	int64_t len;

	/* SEC1 (RFC 5915): version 1 and the key, of 28 to 66 bytes. */
	if (take_version(&ec, 1) && take_header(&ec, TAG_OCTETS, &len))
		return len >= 28 && len <= 66;
	if (!take_version(&d, 0)) {
		if (!take_version(&d, 1))
			return false;
		return next_is(&d, TAG_SEQUENCE) && take_header(&d, TAG_SEQUENCE, &len) &&
		       next_is(&d, TAG_OID) && skip_value(&d, len) && next_is(&d, TAG_OCTETS);
	}
	if (next_is(&d, TAG_SEQUENCE))
		return take_header(&d, TAG_SEQUENCE, &len) && next_is(&d, TAG_OID) &&
		       skip_value(&d, len) && next_is(&d, TAG_OCTETS);
	return take_header(&d, TAG_INTEGER, &len) && len >= 64;
}

/* EncryptedPrivateKeyInfo (RFC 5958): a password-based scheme of PKCS#5 or PKCS#12. */
static bool is_locked_key(struct der d)
{
	static const unsigned char pkcs5[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05};
	static const unsigned char pbe[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01};
	int64_t len;

	return take_header(&d, TAG_SEQUENCE, &len) &&
	       (oid_starts(&d, pkcs5, sizeof(pkcs5)) || oid_starts(&d, pbe, sizeof(pbe)));
}

/* The outer sequence, which must be the file from end to end. */
static bool open_sequence(const struct secret_whole *f, struct der *d)
{
	int64_t len;

	*d = (struct der){f->head, f->head + f->n};
	return take_header(d, TAG_SEQUENCE, &len) && (d->at - f->head) + len == f->size;
}

bool secret_whole_is_pkcs12(const struct secret_whole *f)
{
	static const unsigned char data[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01};
	/* BER with lengths left open is allowed here, and written by some. */
	const unsigned char *end = f->head + f->n;
	struct der d = {f->head + 2, end};
	int64_t len;

	if (f->n < 24 || f->head[0] != TAG_SEQUENCE)
		return false;
	if (f->head[1] != 0x80 && !open_sequence(f, &d))
		return false;
	if (!take_version(&d, 3))
		return false;
	if (end - d.at >= 2 && d.at[0] == TAG_SEQUENCE && d.at[1] == 0x80)
		d.at += 2;
	else if (!take_header(&d, TAG_SEQUENCE, &len))
		return false;
	return oid_starts(&d, data, sizeof(data));
}

/* ---- other stores ---- */

/* JKS and JCEKS: magic, version, count, then the first entry's kind, 1 = a private key. */
static bool is_java_store(const struct secret_whole *f)
{
	static const unsigned char jks[] = {0xfe, 0xed, 0xfe, 0xed};
	static const unsigned char jceks[] = {0xce, 0xce, 0xce, 0xce};
	static const unsigned char key_entry[] = {0, 0, 0, 1};

	return f->n >= 16 && (memcmp(f->head, jks, 4) == 0 || memcmp(f->head, jceks, 4) == 0) &&
	       memcmp(f->head + 12, key_entry, 4) == 0;
}

/* MIT Kerberos, "Keytab file format": 0x05, version 1 or 2, an entry of some length. */
static bool is_keytab(const struct secret_whole *f)
{
	return f->keytab_name && f->n >= 16 && f->head[0] == 0x05 &&
	       (f->head[1] == 1 || f->head[1] == 2);
}

bool secret_whole_judge(const struct secret_whole *f, enum secret_kind *ret_kind)
{
	struct der d;

	if (is_java_store(f))
		*ret_kind = SECRET_JAVA_KEYS;
	else if (is_keytab(f))
		*ret_kind = SECRET_KEYTAB;
	else if (open_sequence(f, &d) && is_plain_key(d))
		*ret_kind = SECRET_PRIVATE_KEY;
	else if (open_sequence(f, &d) && is_locked_key(d))
		*ret_kind = SECRET_ENCRYPTED_KEY;
	else
		return false;
	return true;
}
