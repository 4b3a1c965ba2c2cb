/*
 * Any bytes as a bundle that a registry lists, and as a payload of simple signing. A signature counts only for what the
 * key has signed: the one statement of the seed. What is accepted as a bundle is printed, and the print is read alike.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"
#include "builder/trust/bundle.h"
#include "builder/trust/signatures.h"
#include "builder/trust/simple.h"
#include "builder/trust/statement.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char public_key[] =
#include "tests/unit/cosign_public.inc"
	;

/* What that key has signed. */
#define SIGNED                                                                                     \
	"{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"digest\":{\"sha256\":\""     \
	"c02b37ee7d18cda68cd15ce2d752c25ac44d071a0a12ef07aa080354478dbccf\"},\"annotations\":{}}],"  \
	"\"predicateType\":\"https://sigstore.dev/cosign/sign/v1\",\"predicate\":{}}"
#define SUBJECT "sha256:c02b37ee7d18cda68cd15ce2d752c25ac44d071a0a12ef07aa080354478dbccf"

static char *take(const struct trust_key_outside *o, const char *name)
{
	(void)o, (void)name;
	return mem_strdup(public_key);
}

static struct trust_key *open_key(void)
{
	const struct trust_key_outside outside = {.take_variable = take};
	struct trust_key *key = NULL;
	struct err err = {0};

	if (trust_key_open(&(struct trust_key_opts){.ref = "env://KEY", .outside = &outside}, &key,
	                   &err) != 0)
		BUG("%s", err.msg);
	return key;
}

/* The one referrer of the image is the store's root. */
static int list_root(struct store *s, const struct digest *subject, const char *type,
                     struct arena *a, struct referrers *ret, struct err *err)
{
	struct memory_store *m = (struct memory_store *)(void *)s;

	(void)subject, (void)type, (void)err;
	*ret = (struct referrers){arena_memdup(a, &m->root, sizeof(m->root)), 1};
	return 0;
}

static void check_list(struct part bundle, const struct trust_key *key)
{
	AUTO(arena) struct arena a = {0};
	AUTO(artifact_form) struct artifact_form form = {0};
	struct memory_store m = {.store = {memory_resolve, memory_open, memory_close, list_root}};
	struct descriptor subject = {.media_type = MEDIA_MANIFEST, .size = 1};
	const struct signature_wish wish = {.key = key, .forms = SIGNATURE_BUNDLE};
	struct signatures all;
	struct err err = {0};

	if (digest_parse(SUBJECT, &subject.digest, &err) != 0)
		BUG("%s", err.msg);
	artifact_form(&(struct artifact){.subject = &subject,
	                                 .type = MEDIA_BUNDLE,
	                                 .media_type = MEDIA_BUNDLE,
	                                 .bytes = bundle.text,
	                                 .len = bundle.len},
	              &a, &form);
	memory_put(&m, MEDIA_BUNDLE, bundle);
	m.root = memory_put(&m, MEDIA_MANIFEST, (struct part){form.text.ptr, form.text.len});
	m.root.artifact_type = MEDIA_BUNDLE;
	if (signatures_verify(&m.store, &subject.digest, &wish, &a, &all, &err) != 0)
		BUG("%s", err.msg);
	if (all.n != 1 || (all.n_good == 0 && all.at[0].why_not[0] == '\0'))
		BUG("%zu signatures, and no reason", all.n);
	if (all.n_good > 0 && strcmp(all.at[0].statement, SIGNED) != 0)
		BUG("counts: '%s'", all.at[0].statement);
}

static void check_bundle(struct part text)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf one = STRBUF_INIT(4 << 20), two = STRBUF_INIT(4 << 20);
	AUTO(strbuf) struct strbuf predicate = STRBUF_INIT(4 << 20);
	struct bundle b;
	struct trust_statement s;
	struct err err = {0};

	if (bundle_parse(text.text, text.len, &a, &b, &err) != 0)
		return;
	bundle_print(&b, &one);
	if (bundle_parse(one.ptr, one.len, &a, &b, &err) != 0)
		BUG("'%s': %s", strbuf_str(&one), err.msg);
	bundle_print(&b, &two);
	if (strcmp(strbuf_str(&one), strbuf_str(&two)) != 0)
		BUG("printed '%s', then '%s'", strbuf_str(&one), strbuf_str(&two));
	if (statement_parse(b.payload, b.payload_len, &a, &s, &err) == 0 && s.n_subjects == 0 &&
	    statement_about(&s, &(struct digest){{0}}) != NULL)
		BUG("a subject out of nothing");
	if (statement_predicate(b.payload, b.payload_len, &predicate, &err) == 0 &&
	    (predicate.len == 0 || predicate.ptr[predicate.len - 1] != '\n'))
		BUG("a predicate without a line");
}

static void check_simple(struct part text)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf one = STRBUF_INIT(4 << 20);
	struct simple_payload p, again;
	struct err err = {0};

	if (simple_parse(text.text, text.len, &a, &p, &err) != 0)
		return;
	simple_print(&p, &one);
	if (simple_parse(one.ptr, one.len, &a, &again, &err) != 0 ||
	    !digest_equal(&p.digest, &again.digest))
		BUG("'%s': %s", strbuf_str(&one), err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_TRUST_KEY struct trust_key *key = open_key();
	const struct part text = {size > 0 ? (const char *)data : "", size};

	check_bundle(text);
	check_simple(text);
	check_list(text, key);
	return 0;
}
