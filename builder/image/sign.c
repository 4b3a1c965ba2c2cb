#include "builder/image/sign.h"

#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/oci/mediatype.h"
#include "builder/trust/base64.h"
#include "builder/trust/bundle.h"
#include "builder/trust/simple.h"
#include "builder/trust/statement.h"

/* ---- bundles ---- */

/* What readers of a list see without opening the bundle (cosign's annotations). */
static void annotate(struct artifact *artifact, const char *predicate_type, struct arena *a)
{
	strmap_set(&artifact->annotations, a, ANNOTATION_BUNDLE_CONTENT, "dsse-envelope");
	strmap_set(&artifact->annotations, a, ANNOTATION_BUNDLE_PREDICATE, predicate_type);
}

int image_attach_statement(const struct attach_place *place, const struct descriptor *subject,
                           struct trust_key *key, const char *payload, size_t len,
                           const char *predicate_type, struct arena *a, struct err *err)
{
	AUTO(strbuf) struct strbuf pae = STRBUF_INIT(2 * BUNDLE_BYTES_MAX);
	AUTO(strbuf) struct strbuf signature = STRBUF_INIT(4096);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(2 * BUNDLE_BYTES_MAX);

	dsse_pae(PAYLOAD_IN_TOTO, payload, len, &pae);
	if (trust_key_sign(key, pae.ptr, pae.len, &signature, err) != 0)
		return -1;
	bundle_print(&(struct bundle){.hint = trust_key_fingerprint(key),
	                              .payload_type = PAYLOAD_IN_TOTO,
	                              .payload = payload,
	                              .payload_len = len,
	                              .signature = signature.ptr,
	                              .signature_len = signature.len},
	             &text);
	if (text.len > BUNDLE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "the bundle has %zu bytes, at most %d are read",
		               text.len, BUNDLE_BYTES_MAX);
	struct artifact artifact = {.subject = subject,
	                            .type = MEDIA_BUNDLE,
	                            .media_type = MEDIA_BUNDLE,
	                            .bytes = text.ptr,
	                            .len = text.len};

	annotate(&artifact, predicate_type, a);
	return attach_artifact(place, &artifact, NULL, err);
}

static int write_bundle(const struct sign_opts *o, const struct descriptor *subject,
                        struct arena *a, struct err *err)
{
	AUTO(strbuf) struct strbuf statement = STRBUF_INIT(BUNDLE_BYTES_MAX);

	statement_print_sign(&subject->digest, &o->annotations, &statement);
	return image_attach_statement(o->place, subject, o->key, statement.ptr, statement.len,
	                              PREDICATE_SIGN, a, err);
}

/* ---- simple signing ---- */

enum { TAG_TRIES = 12 };

/* The layers that the tag has already, fewer than SIGNATURES_MAX. ERR_FORMAT when it names
 * something else than signatures. */
static int read_layers(const struct sign_opts *o, const char *tag, struct arena *a,
                       struct descriptor *layers, size_t *ret_n, struct err *err)
{
	struct descriptor desc;
	struct manifest m = {0};
	struct err why = {0};

	if (store_resolve(o->store, tag, a, &desc, &why) != 0) {
		if (why.code != ERR_NOT_FOUND) {
			*err = why;
			return -1;
		}
	} else if (artifact_open(o->store, &desc, a, &m, err) != 0) {
		return -1;
	}
	for (size_t i = 0; i < m.n_layers; i++)
		if (strcmp(m.layers[i].media_type, MEDIA_SIMPLE) != 0 ||
		    strmap_get(&m.layers[i].annotations, ANNOTATION_SIMPLE_SIGNATURE) == NULL)
			return err_set(err, ERR_FORMAT, "it names something else than signatures");
	if (m.n_layers >= SIGNATURES_MAX)
		return err_set(err, ERR_LIMIT, "it has %zu signatures already", m.n_layers);
	if (m.n_layers > 0)
		memcpy(layers, m.layers, m.n_layers * sizeof(*layers));
	*ret_n = m.n_layers;
	return 0;
}

static struct descriptor describe(const char *type, const struct strbuf *text)
{
	return (struct descriptor){.media_type = type,
	                           .digest = digest_of(text->ptr, text->len),
	                           .size = (int64_t)text->len};
}

/* The payload as a layer whose annotation has its signature. */
static int make_layer(const struct sign_opts *o, const struct descriptor *subject, struct arena *a,
                      struct descriptor *ret_layer, struct err *err)
{
	AUTO(strbuf) struct strbuf payload = STRBUF_INIT(SIMPLE_BYTES_MAX);
	AUTO(strbuf) struct strbuf signature = STRBUF_INIT(4096);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(8192);

	simple_print(&(struct simple_payload){.reference = o->reference,
	                                      .digest = subject->digest,
	                                      .annotations = o->annotations},
	             &payload);
	if (payload.overflow)
		return err_set(err, ERR_LIMIT, "the annotations are too long");
	if (trust_key_sign(o->key, payload.ptr, payload.len, &signature, err) != 0)
		return -1;
	*ret_layer = describe(MEDIA_SIMPLE, &payload);
	base64_encode(signature.ptr, signature.len, &text);
	strmap_set(&ret_layer->annotations, a, ANNOTATION_SIMPLE_SIGNATURE, strbuf_str(&text));
	return attach_blob(o->place, ret_layer, payload.ptr, err);
}

static int put_layers(const struct sign_opts *o, const struct digest *subject,
                      struct descriptor *layers, size_t n, struct arena *a, struct err *err)
{
	AUTO(strbuf) struct strbuf config = STRBUF_INIT(1 << 20);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct digest *digests = arena_calloc(a, n, sizeof(*digests));
	char tag[SIMPLE_TAG_MAX];
	struct manifest m = {.media_type = MEDIA_MANIFEST, .layers = layers, .n_layers = n};

	for (size_t i = 0; i < n; i++)
		digests[i] = layers[i].digest;
	simple_print_config(digests, n, &config);
	m.config = describe(MEDIA_CONFIG, &config);
	manifest_print(&m, &text);
	struct descriptor desc = describe(MEDIA_MANIFEST, &text);

	return attach_blob(o->place, &m.config, config.ptr, err) != 0
	               ? -1
	               : attach_tagged(o->place, subject, simple_tag(subject, tag), &desc, text.ptr,
	                               err);
}

static bool has_layer(const struct descriptor *layers, size_t n, const struct descriptor *layer)
{
	for (size_t i = 0; i < n; i++)
		if (digest_equal(&layers[i].digest, &layer->digest) &&
		    strcmp(strmap_get(&layers[i].annotations, ANNOTATION_SIMPLE_SIGNATURE),
		           strmap_get(&layer->annotations, ANNOTATION_SIMPLE_SIGNATURE)) == 0)
			return true;
	return false;
}

/* A layout is this machine's, where changes take no time. */
static void settle(const struct sign_opts *o, int64_t took_ms)
{
	struct clock *clock = clock_system();

	if (o->place->registry != NULL)
		clock->sleep_ms(clock, registry_settle_ms(took_ms));
}

/* Adds the layer to what the tag has, until it is seen there twice: another signer may have put its
 * own upon an older list. */
static int add_layer(const struct sign_opts *o, const char *tag, const struct digest *subject,
                     const struct descriptor *layer, struct arena *a, struct err *err)
{
	struct clock *clock = clock_system();
	struct descriptor *layers = arena_calloc(a, SIGNATURES_MAX, sizeof(*layers));
	int64_t took = 0;

	for (int tries = 0, seen = 0; tries < TAG_TRIES; tries++) {
		int64_t began = clock->now_ms(clock);
		size_t n = 0;

		if (read_layers(o, tag, a, layers, &n, err) != 0)
			return -1;
		if (has_layer(layers, n, layer)) {
			if (++seen == 2)
				return 0;
			settle(o, took);
			continue;
		}
		seen = 0;
		layers[n] = *layer;
		if (put_layers(o, subject, layers, n + 1, a, err) != 0)
			return -1;
		took = clock->now_ms(clock) - began;
	}
	err_set(err, ERR_CONFLICT, "others change it at the same time");
	return err_hint(err, "run the same command again");
}

static int write_tag(const struct sign_opts *o, const struct descriptor *subject, struct arena *a,
                     struct err *err)
{
	char tag[SIMPLE_TAG_MAX];
	struct descriptor layer;

	simple_tag(&subject->digest, tag);
	if (make_layer(o, subject, a, &layer, err) != 0 ||
	    add_layer(o, tag, &subject->digest, &layer, a, err) != 0)
		return err_wrap(err, "tag '%s'", tag);
	return 0;
}

/* ---- each form, each manifest ---- */

static const struct {
	enum signature_forms form;
	int (*write)(const struct sign_opts *o, const struct descriptor *subject, struct arena *a,
	             struct err *err);
} writers[] = {{SIGNATURE_BUNDLE, write_bundle}, {SIGNATURE_TAG, write_tag}};

static bool is_same(const struct sign_opts *o, const struct signature *s)
{
	return s->good && s->annotations.n == o->annotations.n &&
	       (s->form != SIGNATURE_TAG || strcmp(s->reference, o->reference) == 0);
}

/* Whether such a signature is there: then there is nothing to do. */
static int is_there(const struct sign_opts *o, const struct descriptor *subject,
                    enum signature_forms form, struct arena *a, bool *ret_there, struct err *err)
{
	const struct signature_wish wish = {
		.key = o->key, .annotations = o->annotations, .forms = form};
	struct signatures all;

	*ret_there = false;
	if (signatures_verify(o->store, &subject->digest, &wish, a, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		*ret_there = *ret_there || is_same(o, &all.at[i]);
	return 0;
}

static int sign_one(const struct sign_opts *o, const struct descriptor *subject, struct arena *a,
                    struct sign_result *result, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
		bool there = false;

		if ((o->forms & writers[i].form) == 0)
			continue;
		if (interrupt_check(err) != 0 ||
		    is_there(o, subject, writers[i].form, a, &there, err) != 0 ||
		    (!there && writers[i].write(o, subject, a, err) != 0))
			return err_wrap(err, "sign %s", digest_text(&subject->digest, digest));
		result->n_there += there;
		result->n_signed += !there;
	}
	return 0;
}

/* What an index names and a machine may run, an index within it included. */
static bool is_signed(const struct descriptor *d)
{
	return descriptor_is_image(d) || media_is_index(d->media_type);
}

int image_sign(const struct sign_opts *opts, struct arena *a, struct sign_result *ret_result,
               struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	const struct descriptor *root = opts->root;
	struct sign_result result = {0};
	struct index index = {0};

	if (media_is_index(root->media_type) &&
	    (store_read(opts->store, root, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	     index_parse(text.ptr, text.len, root->media_type, a, &index, err) != 0))
		return -1;
	for (size_t i = 0; i < index.n_manifests; i++)
		if (is_signed(&index.manifests[i]) &&
		    sign_one(opts, &index.manifests[i], a, &result, err) != 0)
			return -1;
	if (sign_one(opts, root, a, &result, err) != 0)
		return -1;
	*ret_result = result;
	return 0;
}
