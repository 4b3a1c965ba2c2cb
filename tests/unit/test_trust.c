#include "builder/trust/bundle.h"

#include <fcntl.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/aws/kms.h"
#include "builder/trust/base64.h"
#include "builder/trust/key.h"
#include "builder/trust/simple.h"
#include "builder/trust/statement.h"
#include "tests/harness.h"

/* A key pair of cosign 3.1.1 with the password "pw", and a bundle that it signed with it. */
static const char cosign_key[] =
	"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n"
#include "tests/unit/cosign_key.inc"
	"-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n";
static const char cosign_public[] =
#include "tests/unit/cosign_public.inc"
	;
static const char cosign_bundle[] =
#include "tests/unit/cosign_bundle.inc"
	;

#define FINGERPRINT "cHdN2tnf9hFZitO5GTY3EMMrS8Aa5snTe+FsiFkCn+w="
#define SIGNED "sha256:c02b37ee7d18cda68cd15ce2d752c25ac44d071a0a12ef07aa080354478dbccf"

/* ---- keys ---- */

struct variables {
	struct trust_key_outside outside;
	const char *key, *password;
};

static char *take(const struct trust_key_outside *o, const char *name)
{
	const struct variables *v = (const struct variables *)o;
	const char *value = strcmp(name, "KEY") == 0 ? v->key
			    : strcmp(name, TRUST_PASSWORD_VARIABLE) == 0 ? v->password : NULL;

	return value != NULL ? mem_strdup(value) : NULL;
}

static struct trust_key *open_key(const char *text, const char *password, bool to_sign, struct err *err)
{
	const struct variables v = {.outside = {.take_variable = take}, .key = text, .password = password};
	struct trust_key *key = NULL;

	if (trust_key_open(&(struct trust_key_opts){.ref = "env://KEY", .to_sign = to_sign, .outside = &v.outside},
	                   &key, err) != 0)
		return NULL;
	return key;
}

static void opens_cosigns_key(void)
{
	AUTO_TRUST_KEY struct trust_key *key = NULL, *public = NULL;
	AUTO(strbuf) struct strbuf signature = STRBUF_INIT(4096), pem = STRBUF_INIT(4096);
	struct err err = {0};

	key = open_key(cosign_key, "pw", true, &err);
	CHECK_STR(err.msg, "");
	public = open_key(cosign_public, NULL, false, &err);
	CHECK_STR(err.msg, "");
	if (key == NULL || public == NULL)
		return;
	CHECK_STR(trust_key_fingerprint(key), FINGERPRINT);
	CHECK_STR(trust_key_fingerprint(public), FINGERPRINT);
	CHECK_STR(trust_key_kind(key), "ECDSA P-256");
	trust_key_public_pem(key, &pem);
	CHECK_STR(strbuf_str(&pem), cosign_public);
	CHECK_OK(trust_key_sign(key, "hello", 5, &signature, &err), &err);
	CHECK(trust_key_verify(public, "hello", 5, signature.ptr, signature.len));
	CHECK(!trust_key_verify(public, "hellp", 5, signature.ptr, signature.len));
	CHECK(!trust_key_verify(public, "hello", 5, signature.ptr, signature.len - 1));
	CHECK(!trust_key_verify(public, "hello", 5, signature.ptr, 0));
	/* Bytes behind the signature are not part of it. */
	strbuf_addc(&signature, 'x');
	CHECK(!trust_key_verify(public, "hello", 5, signature.ptr, signature.len));
}

static void refuses(const char *text, const char *password, bool to_sign, enum err_code code, const char *words)
{
	AUTO_TRUST_KEY struct trust_key *key = NULL;
	struct err err = {0};

	key = open_key(text, password, to_sign, &err);
	CHECK(key == NULL);
	CHECK_INT(err.code, code);
	if (strstr(err.msg, words) == NULL)
		CHECK_STR(err.msg, words);
	CHECK(password == NULL || password[0] == '\0' || strstr(err.msg, password) == NULL);
}

static void refuses_bad_keys(void)
{
	refuses(cosign_key, "wrong", true, ERR_DENIED, "the password is not the key's");
	refuses(cosign_key, "", true, ERR_DENIED, "the password is not the key's");
	refuses(cosign_key, NULL, true, ERR_DENIED, "there is no password");
	refuses(cosign_public, NULL, true, ERR_USAGE, "a public key, which signs nothing");
	refuses("", NULL, false, ERR_FORMAT, "no key in PEM form");
	refuses("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", NULL, false, ERR_FORMAT, "malformed");
	refuses(NULL, NULL, false, ERR_NOT_FOUND, "is not set");
}

/* The box of a key with another cost, in the form that cosign writes. */
static void refuses_other_costs(void)
{
	static const struct {
		const char *json, *words;
	} boxes[] = {
		{"{\"kdf\":{\"name\":\"scrypt\",\"params\":{\"N\":1073741824,\"r\":8,\"p\":1},\"salt\":\"\"},"
	         "\"cipher\":{\"name\":\"nacl/secretbox\",\"nonce\":\"\"},\"ciphertext\":\"\"}",
	         "which no cosign writes"},
		{"{\"kdf\":{\"name\":\"scrypt\",\"params\":{\"N\":65536,\"r\":8,\"p\":1},\"salt\":\"AAAA\"},"
	         "\"cipher\":{\"name\":\"nacl/secretbox\",\"nonce\":\"\"},\"ciphertext\":\"\"}",
	         "malformed: salt"},
		{"{\"kdf\":{\"name\":\"argon2\"},\"cipher\":{\"name\":\"nacl/secretbox\"}}", "something else than scrypt"},
		{"[]", "something else than scrypt"},
		{"{\"kdf\":{},\"kdf\":{}}", "appears twice"},
	};

	for (size_t i = 0; i < ARRAY_LEN(boxes); i++) {
		AUTO(strbuf) struct strbuf pem = STRBUF_INIT(4096), text = STRBUF_INIT(4096);

		base64_encode(boxes[i].json, strlen(boxes[i].json), &text);
		strbuf_adds(&pem, "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n");
		for (size_t k = 0; k < text.len; k += 64)
			strbuf_addf(&pem, "%.64s\n", text.ptr + k);
		strbuf_adds(&pem, "-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n");
		refuses(strbuf_str(&pem), "pw", true,
		        i == 1 || i == 4 ? ERR_FORMAT : ERR_UNSUPPORTED, boxes[i].words);
	}
}

/* ---- documents ---- */

static void reads_cosigns_bundle(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf pae = STRBUF_INIT(1 << 20), again = STRBUF_INIT(1 << 20);
	AUTO_TRUST_KEY struct trust_key *key = NULL;
	struct bundle b;
	struct trust_statement s;
	struct digest d;
	struct err err = {0};

	key = open_key(cosign_public, NULL, false, &err);
	CHECK_OK(bundle_parse(cosign_bundle, strlen(cosign_bundle), &a, &b, &err), &err);
	CHECK_STR(b.hint, FINGERPRINT);
	dsse_pae(b.payload_type, b.payload, b.payload_len, &pae);
	CHECK(trust_key_verify(key, pae.ptr, pae.len, b.signature, b.signature_len));
	CHECK_OK(statement_parse(b.payload, b.payload_len, &a, &s, &err), &err);
	CHECK_STR(s.predicate_type, PREDICATE_SIGN);
	CHECK_OK(digest_parse(SIGNED, &d, &err), &err);
	CHECK(statement_about(&s, &d) != NULL);
	/* Ours has the same members in the same order. */
	bundle_print(&b, &again);
	CHECK_STR(strbuf_str(&again), cosign_bundle);
	strbuf_reset(&again);
	statement_print_sign(&d, &(struct strmap){0}, &again);
	CHECK_STR(strbuf_str(&again), b.payload);
}

static void a_document_is_a_predicate(void)
{
	static const char document[] = "{\"SPDXID\":\"SPDXRef-DOCUMENT\",\"packages\":[{\"name\":\"a \\u0022b\\u0022\",\"n\":1.5}]}\n";
	static const char printed[] = "{\"SPDXID\":\"SPDXRef-DOCUMENT\",\"packages\":[{\"name\":\"a \\\"b\\\"\",\"n\":1.5}]}\n";
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096), again = STRBUF_INIT(4096);
	struct trust_statement s;
	struct digest d;
	struct err err = {0};

	CHECK_OK(digest_parse(SIGNED, &d, &err), &err);
	statement_print(&d, "https://spdx.dev/Document", document, strlen(document), &text);
	CHECK_OK(statement_parse(text.ptr, text.len, &a, &s, &err), &err);
	CHECK_STR(s.predicate_type, "https://spdx.dev/Document");
	CHECK(statement_about(&s, &d) != NULL);
	CHECK_OK(statement_predicate(text.ptr, text.len, &again, &err), &err);
	CHECK_STR(strbuf_str(&again), printed);
	CHECK_INT(statement_predicate("{\"_type\":\"x\"}", 13, &again, &err), -1);
	CHECK_STR(err.msg, "statement: it has no predicate");
}

/* A tree of it would take a hundred times its size. */
static void refuses_bundles_of_many_values(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct bundle b;
	struct err err = {0};

	strbuf_add(&text, cosign_bundle, strlen(cosign_bundle) - 1);
	strbuf_adds(&text, ",\"x\":[");
	for (size_t i = 0; i < BUNDLE_VALUES_MAX; i++)
		strbuf_adds(&text, "0,");
	strbuf_adds(&text, "0]}");
	CHECK_INT(bundle_parse(text.ptr, text.len, &a, &b, &err), -1);
	CHECK_STR(err.msg, "a bundle of more than 16384 values");
}

static void encodes_as_dsse_says(void)
{
	AUTO(strbuf) struct strbuf pae = STRBUF_INIT(4096);

	/* The example of protocol.md. */
	dsse_pae("http://example.com/HelloWorld", "hello world", 11, &pae);
	CHECK_STR(strbuf_str(&pae), "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

static void base64_is_strict(void)
{
	static const char *const good[] = {"", "AA==", "AAA=", "AAAA", "+/+/", "aGVsbG8="};
	static const char *const bad[] = {"A", "AA", "AAA", "AB==", "AAB=", "====", "A===", "AA=A", "AAAA\n", "-_-_", "AA==AAAA", " AAA"};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(64), text = STRBUF_INIT(64);

		CHECK(base64_decode(good[i], &bytes));
		base64_encode(bytes.ptr, bytes.len, &text);
		CHECK_STR(strbuf_str(&text), good[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(64);

		if (base64_decode(bad[i], &bytes))
			CHECK_STR(bad[i], "refused");
	}
}

static void simple_payload_round(void)
{
	static const char text[] =
		"{\"critical\":{\"identity\":{\"docker-reference\":\"r.example/app\"},\"image\":{\"docker-manifest-digest\":\"" SIGNED
		"\"},\"type\":\"cosign container image signature\"},\"optional\":null}";
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(4096);
	struct simple_payload p;
	struct err err = {0};

	CHECK_OK(simple_parse(text, strlen(text), &a, &p, &err), &err);
	CHECK_STR(p.reference, "r.example/app");
	simple_print(&p, &out);
	CHECK_STR(strbuf_str(&out), text);
}

static void kms_references(void)
{
	static const struct {
		const char *text, *key, *endpoint, *region;
	} rows[] = {
		{"awskms:///alias/release", "alias/release", NULL, NULL},
		{"awskms:///1234abcd-12ab-34cd-56ef-1234567890ab", "1234abcd-12ab-34cd-56ef-1234567890ab", NULL, NULL},
		{"awskms:///arn:aws:kms:eu-west-1:111122223333:key/mrk-1", "arn:aws:kms:eu-west-1:111122223333:key/mrk-1", NULL,
	         "eu-west-1"},
		{"awskms://kms.example.com/alias/x", "alias/x", "https://kms.example.com", NULL},
		{"awskms://localhost:4566/alias/x", "alias/x", "http://localhost:4566", NULL},
		{"awskms://alias/x", NULL, NULL, NULL},
		{"awskms:///", NULL, NULL, NULL},
		{"awskms://", NULL, NULL, NULL},
		{"awskms:///alias/a b", NULL, NULL, NULL},
		{"awskms:///arn:aws:s3:::bucket", NULL, NULL, NULL},
		{"awskms:///arn:aws:kms:x", NULL, NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct kms_ref ref = {0};
		struct err err = {0};
		int result = kms_ref_parse(rows[i].text, &a, &ref, &err);

		CHECK_INT(result, rows[i].key != NULL ? 0 : -1);
		if (result != 0 || rows[i].key == NULL)
			continue;
		CHECK_STR(ref.key, rows[i].key);
		CHECK((ref.endpoint == NULL) == (rows[i].endpoint == NULL));
		if (ref.endpoint != NULL && rows[i].endpoint != NULL)
			CHECK_STR(ref.endpoint, rows[i].endpoint);
		if (rows[i].region != NULL)
			CHECK_STR(ref.region, rows[i].region);
	}
}

int main(void)
{
	TEST("trust: cosign's encrypted key opens with its password, and signs as its public key verifies", opens_cosigns_key);
	TEST("trust: wrong passwords, public keys that should sign and texts without a key are refused", refuses_bad_keys);
	TEST("trust: an encrypted key that asks for other costs than cosign's is refused at once", refuses_other_costs);
	TEST("trust: a bundle of cosign's is read, verified, and written alike", reads_cosigns_bundle);
	TEST("trust: a document stands in a statement as its predicate, and comes back", a_document_is_a_predicate);
	TEST("trust: a bundle of more values than any has is refused before it is parsed", refuses_bundles_of_many_values);
	TEST("trust: what is signed is encoded as DSSE's own example", encodes_as_dsse_says);
	TEST("trust: base64 has one text for the same bytes", base64_is_strict);
	TEST("trust: a payload of simple signing is read and written alike", simple_payload_round);
	TEST("trust: references of keys in KMS are read, and those that lost a slash refused", kms_references);
	return test_done();
}
