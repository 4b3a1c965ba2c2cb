#include "builder/trust/bundle.h"

#include <string.h>

#include "base/doc/json.h"
#include "builder/trust/base64.h"

/* The form of versions before 0.3 put the version into a parameter. */
static const char *const media_types[] = {MEDIA_BUNDLE,
                                          "application/vnd.dev.sigstore.bundle+json;version=0.3"};

static bool is_bundle_type(const char *type)
{
	for (size_t i = 0; type != NULL && i < ARRAY_LEN(media_types); i++)
		if (strcmp(type, media_types[i]) == 0)
			return true;
	return false;
}

void dsse_pae(const char *payload_type, const char *payload, size_t len, struct strbuf *sb)
{
	strbuf_addf(sb, "DSSEv1 %zu %s %zu ", strlen(payload_type), payload_type, len);
	strbuf_add(sb, payload, len);
}

static int decode(const cJSON *obj, const char *key, struct arena *a, const char **ret_bytes,
                  size_t *ret_len, struct err *err)
{
	AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(BUNDLE_BYTES_MAX);
	const char *text = json_string(obj, key);

	if (text == NULL || text[0] == '\0' || !base64_decode(text, &bytes))
		return err_set(err, ERR_FORMAT, "%s is missing or is not base64", key);
	*ret_bytes = arena_memdup(a, strbuf_str(&bytes), bytes.len + 1);
	*ret_len = bytes.len;
	return 0;
}

static int parse_envelope(const cJSON *envelope, struct arena *a, struct bundle *b, struct err *err)
{
	const cJSON *signatures = json_get(envelope, "signatures");
	const char *type = json_string(envelope, "payloadType");

	if (type == NULL)
		return err_set(err, ERR_FORMAT, "the envelope has no payloadType");
	/* One that signs once more may vouch for less: nobody needs several in one envelope. */
	if (!cJSON_IsArray(signatures) || cJSON_GetArraySize(signatures) != 1)
		return err_set(err, ERR_FORMAT, "the envelope has %d signatures instead of one",
		               cJSON_IsArray(signatures) ? cJSON_GetArraySize(signatures) : 0);
	b->payload_type = arena_strdup(a, type);
	return decode(envelope, "payload", a, &b->payload, &b->payload_len, err) != 0 ||
	                       decode(signatures->child, "sig", a, &b->signature, &b->signature_len,
	                              err) != 0
	               ? -1
	               : 0;
}

/* What stands for the signer: exactly a public key, which the verifier has. */
static int parse_material(const cJSON *material, struct arena *a, struct bundle *b, struct err *err)
{
	const cJSON *key = json_get(material, "publicKey");

	if (json_get(material, "certificate") != NULL ||
	    json_get(material, "x509CertificateChain") != NULL)
		return err_set(err, ERR_UNSUPPORTED, "it is signed by a certificate, not by a key");
	if (!cJSON_IsObject(key))
		return err_set(err, ERR_FORMAT, "verificationMaterial has no publicKey");
	b->hint = arena_strdup(a, json_string(key, "hint"));
	return 0;
}

static int parse(const cJSON *doc, struct arena *a, struct bundle *b, struct err *err)
{
	const cJSON *envelope = json_get(doc, "dsseEnvelope");
	const char *type = json_string(doc, "mediaType");

	if (!is_bundle_type(type))
		return err_set(err, ERR_FORMAT, "its mediaType is '%.80s'",
		               type != NULL ? type : "");
	if (json_get(doc, "messageSignature") != NULL)
		return err_set(err, ERR_UNSUPPORTED,
		               "it has a messageSignature, which names no image");
	if (!cJSON_IsObject(envelope))
		return err_set(err, ERR_FORMAT, "it has no dsseEnvelope");
	return parse_material(json_get(doc, "verificationMaterial"), a, b, err) != 0
	               ? -1
	               : parse_envelope(envelope, a, b, err);
}

/* Before a parser makes a tree of it: no two values stand without one of these between them, and
 * base64 has none. */
static bool is_small(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return n <= BUNDLE_VALUES_MAX;
}

int bundle_parse(const char *text, size_t len, struct arena *a, struct bundle *ret_bundle,
                 struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct bundle b = {0};

	if (len > BUNDLE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "a bundle of %zu bytes, at most %d", len,
		               BUNDLE_BYTES_MAX);
	if (!is_small(text, len))
		return err_set(err, ERR_LIMIT, "a bundle of more than %d values",
		               BUNDLE_VALUES_MAX);
	if (json_parse("bundle", text, len, &doc, err) != 0)
		return -1;
	if (parse(doc, a, &b, err) != 0)
		return err_wrap(err, "bundle");
	*ret_bundle = b;
	return 0;
}

static void add_base64(cJSON *obj, const char *key, const char *bytes, size_t len)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(2 * BUNDLE_BYTES_MAX);

	base64_encode(bytes, len, &text);
	json_add_string(obj, key, strbuf_str(&text));
}

void bundle_print(const struct bundle *bundle, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *key, *envelope, *signature = cJSON_CreateObject();

	json_add_string(doc, "mediaType", MEDIA_BUNDLE);
	key = json_add_object(json_add_object(doc, "verificationMaterial"), "publicKey");
	json_add_string(key, "hint", bundle->hint);
	envelope = json_add_object(doc, "dsseEnvelope");
	add_base64(envelope, "payload", bundle->payload, bundle->payload_len);
	json_add_string(envelope, "payloadType", bundle->payload_type);
	add_base64(signature, "sig", bundle->signature, bundle->signature_len);
	json_push(json_add_array(envelope, "signatures"), signature);
	json_print(doc, sb);
}
