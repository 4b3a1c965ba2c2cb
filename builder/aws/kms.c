#include "builder/aws/kms.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/text.h"

enum { KMS_TEXT_MAX = 64 << 10 };

#define KMS_SCHEME "awskms://"

/* ---- references ---- */

static bool is_key_text(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                          ":/_-");

	return len > 0 && len <= 2048 && text[len] == '\0';
}

/* arn:PARTITION:kms:REGION:ACCOUNT:key/ID or :alias/NAME */
static int read_arn(struct kms_ref *ref, struct arena *a, struct err *err)
{
	enum { ARN, PARTITION, SERVICE, REGION, ACCOUNT, RESOURCE, FIELDS };
	char *fields[FIELDS] = {0}, *at = arena_strdup(a, ref->key);

	for (int i = 0; i < FIELDS && at != NULL; i++) {
		char *colon = i < RESOURCE ? strchr(at, ':') : NULL;

		fields[i] = at;
		if (colon != NULL)
			*colon = '\0';
		at = colon != NULL ? colon + 1 : NULL;
	}
	if (fields[RESOURCE] == NULL || strcmp(fields[SERVICE], "kms") != 0 ||
	    !aws_region_valid(fields[REGION]))
		return err_set(err, ERR_USAGE, "'%.200s' is not the ARN of a key", ref->key);
	ref->region = fields[REGION];
	ref->account = fields[ACCOUNT];
	return 0;
}

/* Plain HTTP goes to this machine and nowhere else. */
static const char *endpoint_of(const char *host, size_t len, struct arena *a)
{
	const char *text = arena_strndup(a, host, len);
	bool here = text_has_prefix(text, "localhost:") || text_has_prefix(text, "127.0.0.1:");

	return len == 0 ? NULL : arena_printf(a, "%s://%s", here ? "http" : "https", text);
}

/* "awskms://alias/x" has lost its third slash: a host has a dot or a port. */
static bool is_host(const char *host, const char *slash)
{
	size_t len = strcspn(host, ".:/");

	return host == slash || host + len < slash;
}

int kms_ref_parse(const char *text, struct arena *a, struct kms_ref *ret_ref, struct err *err)
{
	const char *host = text + strlen(KMS_SCHEME);
	const char *slash = text_has_prefix(text, KMS_SCHEME) ? strchr(host, '/') : NULL;
	struct kms_ref ref = {0};

	if (slash == NULL || !is_host(host, slash) || !is_key_text(slash + 1)) {
		err_set(err, ERR_USAGE, "it names no key of KMS");
		return err_hint(err, "write " KMS_SCHEME "/alias/NAME, " KMS_SCHEME
		                     "/KEY-ID or " KMS_SCHEME "/ARN, with three slashes");
	}
	ref.key = arena_strdup(a, slash + 1);
	ref.endpoint = endpoint_of(host, (size_t)(slash - host), a);
	if (text_has_prefix(ref.key, "arn:") && read_arn(&ref, a, err) != 0)
		return -1;
	*ret_ref = ref;
	return 0;
}

/* ---- calls ---- */

static void add_base64(cJSON *obj, const char *key, const void *bytes, size_t len)
{
	unsigned char text[(KMS_RAW_MAX + 2) / 3 * 4 + 1];

	if (len > KMS_RAW_MAX)
		BUG("a message of %zu bytes", len);
	EVP_EncodeBlock(text, bytes, (int)len);
	json_add_string(obj, key, (const char *)text);
}

/* A member of a reply that has bytes. */
static int take_base64(const cJSON *doc, const char *key, struct strbuf *sb, struct err *err)
{
	const char *text = json_string(doc, key);
	size_t len = text != NULL ? strlen(text) : 0;
	AUTO_FREE unsigned char *bytes = mem_zalloc(len + 1);
	int n = len > 0 && len % 4 == 0 && len <= KMS_TEXT_MAX
	                ? EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)len)
	                : -1;

	if (n < 0)
		return err_set(err, ERR_FORMAT, "the reply has no %s", key);
	n -= text[len - 1] == '=';
	n -= text[len - 2] == '=';
	strbuf_add(sb, bytes, (size_t)n);
	return 0;
}

static int explain(const struct aws_failure *f, struct err *err)
{
	if (aws_failure_is(f, "NotFound"))
		return err_hint(err, "the key is looked for in the region of the AWS settings: "
		                     "check AWS_REGION, or name the key by its ARN");
	if (aws_failure_is(f, "InvalidKeyUsage"))
		return err_hint(err, "a key for signing is made with --key-spec ECC_NIST_P256 "
		                     "--key-usage SIGN_VERIFY");
	return -1;
}

/* Sends `request` (taken over) as OPERATION; *ret_doc (AUTO(json)) is the reply. */
static int kms_call(struct aws_session *s, const struct kms_ref *ref, const char *operation,
                    cJSON *request, cJSON **ret_doc, struct err *err)
{
	AUTO(json) cJSON *owned = request;
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf body = STRBUF_INIT(KMS_TEXT_MAX);
	AUTO(http_response) struct http_response resp = {0};
	struct aws_failure failure;
	struct aws_call call = {
		.service = AWS_KMS,
		.operation = operation,
		.region = ref->region,
		.endpoint = ref->endpoint,
		.headers = {{"Content-Type", "application/x-amz-json-1.1"},
	                    {"X-Amz-Target", arena_printf(&a, "TrentService.%s", operation)}},
		.n_headers = 2};

	json_print(owned, &body);
	call.body = strbuf_str(&body);
	if (aws_session_send(s, &call, &a, &resp, &failure, err) != 0)
		return explain(&failure, err);
	return json_parse("reply of KMS", strbuf_str(&resp.body), resp.body.len, ret_doc, err);
}

static cJSON *request_for(const struct kms_ref *ref)
{
	cJSON *request = cJSON_CreateObject();

	json_add_string(request, "KeyId", ref->key);
	return request;
}

int kms_public_key(struct aws_session *s, const struct kms_ref *ref, struct strbuf *der,
                   struct err *err)
{
	AUTO(json) cJSON *doc = NULL;

	if (kms_call(s, ref, "GetPublicKey", request_for(ref), &doc, err) != 0)
		return -1;
	const char *usage = json_string(doc, "KeyUsage");

	if (usage != NULL && strcmp(usage, "SIGN_VERIFY") != 0) {
		err_set(err, ERR_UNSUPPORTED, "the key is for %.40s, not for signing", usage);
		return err_hint(err, "a key for signing is made with --key-spec ECC_NIST_P256 "
		                     "--key-usage SIGN_VERIFY");
	}
	return take_base64(doc, "PublicKey", der, err);
}

int kms_sign(struct aws_session *s, const struct kms_ref *ref, const char *algorithm,
             const struct kms_message *message, struct strbuf *signature, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	cJSON *request = request_for(ref);

	add_base64(request, "Message", message->bytes, message->len);
	json_add_string(request, "MessageType", message->hashed ? "DIGEST" : "RAW");
	json_add_string(request, "SigningAlgorithm", algorithm);
	return kms_call(s, ref, "Sign", request, &doc, err) != 0 ||
	                       take_base64(doc, "Signature", signature, err) != 0
	               ? -1
	               : 0;
}
