#include "builder/aws/failure.h"

#include <string.h>

#include "base/doc/json.h"
#include "base/text.h"
#include "builder/aws/xml.h"

/* ---- reading ---- */

static const char *first_of(const cJSON *doc, const char *const keys[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = json_string(doc, keys[i]);

		if (value != NULL)
			return value;
	}
	return NULL;
}

/* "com.amazonaws.ecr#RepositoryNotFoundException:http://..." -> the middle. */
static const char *bare_code(const char *code, struct arena *a)
{
	const char *hash = strrchr(code, '#');

	code = hash != NULL ? hash + 1 : code;
	return arena_strndup(a, code, strcspn(code, ":"));
}

static bool parse_json(const struct http_response *resp, struct arena *a, struct aws_failure *f)
{
	static const char *const codes[] = {"__type", "code", "Code", "error"};
	static const char *const messages[] = {"message", "Message", "error_description"};
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};

	if (json_parse("reply", resp->body.ptr, resp->body.len, &doc, &ignored) != 0)
		return false;
	const char *code = first_of(doc, codes, ARRAY_LEN(codes));
	const char *message = first_of(doc, messages, ARRAY_LEN(messages));

	if (code == NULL && message == NULL)
		return false;
	f->code = bare_code(code != NULL ? code : "", a);
	f->message = arena_strdup(a, message != NULL ? message : "");
	return true;
}

static bool parse_xml(const struct http_response *resp, struct arena *a, struct aws_failure *f)
{
	static const char *const forms[][2] = {{"Error/Code", "Error/Message"},
	                                       {"Errors/Error/Code", "Errors/Error/Message"},
	                                       {"Code", "Message"}};
	struct strmap map = {0};
	struct err ignored = {0};

	if (xml_flatten(resp->body.ptr, resp->body.len, a, &map, &ignored) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const char *code = strmap_get(&map, forms[i][0]);
		const char *message = strmap_get(&map, forms[i][1]);
		const char *id = strmap_get(&map, "RequestId");

		if (code == NULL)
			continue;
		f->code = code;
		f->message = message != NULL ? message : "";
		f->request_id = id != NULL ? id : f->request_id;
		return true;
	}
	return false;
}

/* A proxy's page: its first words, without the markup. */
static const char *first_words(const char *body, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4096);
	bool tag = false;

	for (; *body != '\0' && sb.len < 160; body++) {
		tag = *body == '<' || (tag && *body != '>');
		if (tag || *body == '>')
			continue;
		bool space = strchr(" \t\r\n", *body) != NULL;

		if (!space)
			strbuf_addc(&sb, *body);
		else if (sb.len > 0 && sb.ptr[sb.len - 1] != ' ')
			strbuf_addc(&sb, ' ');
	}
	return arena_strdup(a, strbuf_str(&sb));
}

void aws_failure_mask(struct http_response *resp, const char *secret)
{
	size_t len = secret != NULL ? strlen(secret) : 0;
	char *at = resp->body.ptr;

	while (len >= 8 && at != NULL && (at = strstr(at, secret)) != NULL) {
		memset(at, '*', len);
		at += len;
	}
}

void aws_failure_parse(const struct http_response *resp, struct arena *a,
                       struct aws_failure *ret_failure)
{
	const char *type = http_header_get(&resp->headers, "x-amzn-errortype");
	const char *id = http_header_get(&resp->headers, "x-amzn-RequestId");
	struct aws_failure f = {.status = resp->status,
	                        .code = bare_code(type != NULL ? type : "", a),
	                        .message = "",
	                        .request_id = arena_strdup(a, id != NULL ? id : "")};

	if (resp->body.len == 0 || (!parse_json(resp, a, &f) && !parse_xml(resp, a, &f)))
		f.message = first_words(strbuf_str(&resp->body), a);
	if (f.code[0] == '\0' && type != NULL)
		f.code = bare_code(type, a);
	*ret_failure = f;
}

/* ---- judging ---- */

bool aws_failure_is(const struct aws_failure *f, const char *code)
{
	size_t len = strlen(code);

	return strncmp(f->code, code, len) == 0 &&
	       (f->code[len] == '\0' || strcmp(f->code + len, "Exception") == 0);
}

static bool is_any(const struct aws_failure *f, const char *const codes[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (aws_failure_is(f, codes[i]))
			return true;
	return false;
}

bool aws_failure_is_skew(const struct aws_failure *f)
{
	static const char *const codes[] = {"RequestTimeTooSkewed", "RequestExpired",
	                                    "RequestInTheFuture",   "AuthFailure",
	                                    "InvalidSignature",     "SignatureDoesNotMatch"};

	return is_any(f, codes, ARRAY_LEN(codes));
}

bool aws_failure_is_expired(const struct aws_failure *f)
{
	static const char *const codes[] = {"ExpiredToken", "TokenRefreshRequired"};

	return is_any(f, codes, ARRAY_LEN(codes));
}

const char *aws_failure_word(const char *text, const char *mark, struct arena *a)
{
	const char *at = strstr(text, mark);

	if (at == NULL)
		return "";
	at += strlen(mark);
	return arena_strndup(a, at, strcspn(at, " \t\r\n,;"));
}

bool aws_failure_is_denied(const struct aws_failure *f, struct arena *a, const char **ret_action,
                           const char **ret_principal, const char **ret_resource)
{
	static const char *const codes[] = {"AccessDenied", "UnauthorizedOperation",
	                                    "NotAuthorized"};
	bool denied = is_any(f, codes, ARRAY_LEN(codes)) ||
	              strstr(f->message, "is not authorized to perform") != NULL;

	*ret_action = denied ? aws_failure_word(f->message, "authorized to perform: ", a) : "";
	*ret_principal = denied ? aws_failure_word(f->message, "User: ", a) : "";
	*ret_resource = denied ? aws_failure_word(f->message, "on resource: ", a) : "";
	return denied;
}

/* AWS's "standard" retry mode of 2026. ECR's LimitExceededException is a quota, and no patience
 * raises it: it is not in the list. */
enum aws_retry_kind aws_failure_retry(const struct aws_failure *f)
{
	static const char *const throttled[] = {"Throttling",
	                                        "Throttled",
	                                        "RequestThrottled",
	                                        "TooManyRequests",
	                                        "ProvisionedThroughputExceeded",
	                                        "RequestLimitExceeded",
	                                        "BandwidthLimitExceeded",
	                                        "SlowDown",
	                                        "PriorRequestNotComplete",
	                                        "EC2Throttled",
	                                        "TransactionInProgress"};
	static const char *const transient[] = {"RequestTimeout", "IDPCommunicationError"};

	if (is_any(f, throttled, ARRAY_LEN(throttled)) || f->status == 429)
		return AWS_RETRY_THROTTLED;
	if (is_any(f, transient, ARRAY_LEN(transient)) || f->status == 500 || f->status == 502 ||
	    f->status == 503 || f->status == 504)
		return AWS_RETRY_TRANSIENT;
	return AWS_RETRY_NEVER;
}

/* ---- saying ---- */

static const struct {
	const char *code;
	enum err_code err;
	const char *hint;
} known[] = {
	{"UnrecognizedClient", ERR_DENIED,
         "AWS does not know these keys: were they deleted, or do they belong to another "
         "partition?"},
	{"InvalidClientTokenId", ERR_DENIED,
         "AWS does not know these keys: were they deleted, or is the session token missing?"},
	{"InvalidSignature", ERR_DENIED,
         "the secret access key does not belong to the access key id, or was cut when copied"},
	{"SignatureDoesNotMatch", ERR_DENIED,
         "the secret access key does not belong to the access key id, or was cut when copied"},
	{"ExpiredToken", ERR_DENIED,
         "the session has expired: log in again, or renew the session token"},
	{"InvalidIdentityToken", ERR_DENIED,
         "check the role's trust policy, the identity provider in the account, and the token's "
         "audience"},
	{"IncompleteSignature", ERR_DENIED, "a proxy may have changed the request"},
	{"MissingAuthenticationToken", ERR_DENIED, "a proxy may have removed headers"},
	{"OptInRequired", ERR_DENIED, "the account has not enabled this region or service"},
	{"RepositoryNotFound", ERR_NOT_FOUND,
         "create it: `slipway push --create-repository`, or `aws ecr create-repository`"},
	{"ScanNotFound", ERR_NOT_FOUND,
         "the image was not scanned: enable scan on push, or start a scan"},
	{"ImageNotFound", ERR_NOT_FOUND, "check the tag or digest"},
	{"RepositoryAlreadyExists", ERR_CONFLICT, NULL},
	{"LimitExceeded", ERR_SERVER,
         "an ECR quota of the account is used up: Service Quotas shows and raises it"},
	{"TooManyTags", ERR_SERVER, "a repository has at most 50 tags"},
	{"InvalidParameter", ERR_SERVER, NULL},
	{"Kms", ERR_SERVER, "check the KMS key's ARN, region and key policy"},
};

static const char *advice_for(const struct aws_failure *f, enum err_code *ret_code)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (aws_failure_is(f, known[i].code)) {
			*ret_code = known[i].err;
			return known[i].hint;
		}
	*ret_code = aws_failure_retry(f) != AWS_RETRY_NEVER ? ERR_NETWORK
	            : f->status == 401 || f->status == 403  ? ERR_DENIED
	            : f->status == 404                      ? ERR_NOT_FOUND
	                                                    : ERR_SERVER;
	if (f->code[0] == '\0')
		return "this answer is not from AWS: a proxy or a captive portal may have sent it";
	return NULL;
}

const char *aws_failure_purpose(const char *action)
{
	static const struct {
		const char *part, *purpose;
	} table[] = {{"Scan", "scan"},
	             {":CreateRepository", "create"},
	             {":PutLifecyclePolicy", "create"},
	             {":TagResource", "create"},
	             {":GetDownloadUrlForLayer", "pull"},
	             {"kms:Sign", "sign"},
	             {"kms:GetPublicKey", "sign"}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strstr(action, table[i].part) != NULL)
			return table[i].purpose;
	return "push";
}

static void denied_hint(const char *action, const char *principal, struct err *err)
{
	if (strncmp(action, "sts:", 4) == 0)
		err_hint(
			err,
			"the role's trust policy must name %.300s, and that must be allowed %.100s",
			principal[0] != '\0' ? principal : "this principal", action);
	else if (action[0] == '\0')
		err_hint(err, "`slipway iam push` prints the policy that a push needs");
	else
		err_hint(err, "allow %.100s to %.300s; `slipway iam %s` prints the whole policy",
		         action, principal[0] != '\0' ? principal : "this principal",
		         aws_failure_purpose(action));
}

int aws_failure_err(const struct aws_failure *f, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *action, *principal, *resource;
	bool denied = aws_failure_is_denied(f, &a, &action, &principal, &resource);
	enum err_code code;
	const char *hint = advice_for(f, &code);

	if (f->code[0] != '\0')
		err_set(err, denied ? ERR_DENIED : code, "%.80s%s%.600s", f->code,
		        f->message[0] != '\0' ? ": " : "", f->message);
	else
		err_set(err, code, "status %d%s%.160s%s", f->status,
		        f->message[0] != '\0' ? " (\"" : "", f->message,
		        f->message[0] != '\0' ? "\")" : "");
	err->http_status = f->status;
	if (denied)
		denied_hint(action, principal, err);
	else if (hint != NULL)
		err_hint(err, "%s", hint);
	return -1;
}
