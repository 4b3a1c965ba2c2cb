/*
 * Any text as a key, to verify and to sign with, and as the content of cosign's encrypted form. A key that opens signs
 * what it verifies, and its public part is a key again.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/trust/key_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outside {
	struct trust_key_outside outside;
	const char *text;
};

static char *take(const struct trust_key_outside *o, const char *name)
{
	return mem_strdup(strcmp(name, "KEY") == 0 ? ((const struct outside *)(const void *)o)->text
	                                           : "pw");
}

static struct trust_key *open_text(const char *text, bool to_sign, struct err *err)
{
	const struct outside o = {.outside = {.take_variable = take}, .text = text};
	struct trust_key *key = NULL;

	if (trust_key_open(&(struct trust_key_opts){.ref = "env://KEY",
	                                            .to_sign = to_sign,
	                                            .outside = &o.outside},
	                   &key, err) != 0)
		return NULL;
	return key;
}

static void check_public(const struct trust_key *key)
{
	AUTO_TRUST_KEY struct trust_key *public = NULL;
	AUTO(strbuf) struct strbuf pem = STRBUF_INIT(64 << 10);
	struct err err = {0};

	trust_key_public_pem(key, &pem);
	public = open_text(strbuf_str(&pem), false, &err);
	if (public == NULL ||
	    strcmp(trust_key_fingerprint(public), trust_key_fingerprint(key)) != 0)
		BUG("the public key is another: %s", err.msg);
}

static void check_text(const char *text)
{
	AUTO_TRUST_KEY struct trust_key *key = NULL, *private = NULL;
	AUTO(strbuf) struct strbuf signature = STRBUF_INIT(4096);
	struct err err = {0};

	key = open_text(text, false, &err);
	if (key == NULL)
		return;
	check_public(key);
	private = open_text(text, true, &err);
	if (private != NULL && trust_key_sign(private, "x", 1, &signature, &err) == 0 &&
	    !trust_key_verify(key, "x", 1, signature.ptr, signature.len))
		BUG("signs what it does not verify");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_strndup((const char *)data, size);
	EVP_PKEY *pkey = NULL;
	struct err err = {0};

	check_text(text);
	if (key_from_cosign(size > 0 ? (const char *)data : "", size, "pw", &pkey, &err) == 0)
		EVP_PKEY_free(pkey);
	return 0;
}
