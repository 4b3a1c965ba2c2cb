#include "builder/aws/sts.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/net/url.h"
#include "base/timestamp.h"
#include "builder/aws/xml.h"

enum { FORM_MAX = 64 << 10 };

static void form_start(struct strbuf *form, const char *action)
{
	strbuf_addf(form, "Action=%s&Version=2011-06-15", action);
}

static void form_add(struct strbuf *form, const char *key, const char *value)
{
	if (value == NULL)
		return;
	strbuf_addf(form, "&%s=", key);
	url_encode(form, value);
}

static void add_role(struct aws_client *c, struct strbuf *form, const struct sts_role *role,
                     struct arena *a)
{
	const char *name = role->session_name;

	if (name == NULL)
		name = arena_printf(a, "slipway-session-%lld",
		                    (long long)(aws_client_now_ms(c) / 1000));
	form_add(form, "RoleArn", role->arn);
	form_add(form, "RoleSessionName", name);
	form_add(form, "ExternalId", role->external_id);
	form_add(form, "SerialNumber", role->mfa_serial);
	form_add(form, "TokenCode", role->mfa_code);
	if (role->duration_s > 0)
		strbuf_addf(form, "&DurationSeconds=%lld", (long long)role->duration_s);
}

/* ---- replies, in XML or (if somebody between us prefers that) JSON ---- */

/* Members of ACTIONResult by path; JSON has the same names with ACTIONResponse around. */
static void flatten_json(const cJSON *item, const char *path, struct arena *a, struct strmap *map,
                         int depth)
{
	const cJSON *child = NULL;

	if (cJSON_IsString(item))
		strmap_set(map, a, path, item->valuestring);
	else if (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e15)
		strmap_set(map, a, path, arena_printf(a, "%lld", (long long)item->valuedouble));
	if (!cJSON_IsObject(item) || depth > 8)
		return;
	cJSON_ArrayForEach (child, item) {
		const char *below = depth == 0 ? ""
		                    : path[0] == '\0'
		                            ? child->string
		                            : arena_printf(a, "%s/%s", path, child->string);

		flatten_json(child, below, a, map, depth + 1);
	}
}

static int read_reply(const struct http_response *resp, struct arena *a, struct strmap *ret_map,
                      struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};
	const char *body = strbuf_str(&resp->body);

	if (body[strspn(body, " \t\r\n")] == '{' &&
	    json_parse("reply", body, resp->body.len, &doc, &ignored) == 0) {
		flatten_json(doc, "", a, ret_map, 0);
		return 0;
	}
	if (xml_flatten(body, resp->body.len, a, ret_map, err) != 0) {
		err_wrap(err, "STS's reply");
		return err_hint(err, "a proxy or a captive portal may have sent it");
	}
	return 0;
}

/* One action and what it is asked with. */
struct question {
	const char *action, *region;
	const struct aws_credentials *credentials; /* NULL = not signed */
	const struct strbuf *form;
	const char *secret; /* in the form, NULL = none */
};

static int call_sts(struct aws_client *c, const struct question *q, struct arena *a,
                    struct strmap *ret_map, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	const struct aws_call request = {
		.service = AWS_STS,
		.operation = q->action,
		.region = q->region,
		.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
		.n_headers = 1,
		.body = strbuf_str(q->form),
		.credentials = q->credentials,
		.secrets = {q->secret}};

	if (aws_client_send(c, &request, a, &resp, NULL, err) != 0)
		return -1;
	int status = read_reply(&resp, a, ret_map, err);

	if (resp.body.ptr != NULL)
		OPENSSL_cleanse(resp.body.ptr, resp.body.len);
	return status;
}

/* "arn:aws:sts::123456789012:assumed-role/..." -> the account; NULL if there is none. */
static const char *account_of(const char *arn, struct arena *a)
{
	for (int i = 0; arn != NULL && i < 4; i++) {
		arn = strchr(arn, ':');
		arn = arn != NULL ? arn + 1 : NULL;
	}
	if (arn == NULL || strcspn(arn, ":") == 0)
		return NULL;
	return arena_strndup(a, arn, strcspn(arn, ":"));
}

static char *owned(const char *text)
{
	return text != NULL ? mem_strdup(text) : NULL;
}

static int read_credentials(const struct strmap *map, const char *action, struct arena *a,
                            struct aws_credentials *ret, struct err *err)
{
	const char *result = arena_printf(a, "%sResult", action);
	const char *base = arena_printf(a, "%s/Credentials", result);
	const char *id = strmap_get(map, arena_printf(a, "%s/AccessKeyId", base));
	const char *secret = strmap_get(map, arena_printf(a, "%s/SecretAccessKey", base));
	const char *token = strmap_get(map, arena_printf(a, "%s/SessionToken", base));
	const char *expires = strmap_get(map, arena_printf(a, "%s/Expiration", base));
	const char *arn = strmap_get(map, arena_printf(a, "%s/AssumedRoleUser/Arn", result));
	int64_t expires_ms = 0, seconds = 0;

	if (id == NULL || secret == NULL || token == NULL)
		return err_set(err, ERR_FORMAT, "STS's reply to %s has no credentials", action);
	if (expires != NULL && !timestamp_iso8601(expires, &expires_ms)) {
		char *end;

		seconds = strtoll(expires, &end, 10);
		if (*end != '\0' || seconds <= 0 || seconds > 253402300799)
			return err_set(err, ERR_FORMAT, "STS's reply has a malformed Expiration");
		expires_ms = seconds * 1000;
	}
	*ret = (struct aws_credentials){.access_key_id = mem_strdup(id),
	                                .secret_access_key = mem_strdup(secret),
	                                .session_token = mem_strdup(token),
	                                .account_id = owned(account_of(arn, a)),
	                                .expires_ms = expires_ms};
	return 0;
}

/* The reply's strings hold keys: they are wiped, as far as they were copied here. */
static void wipe_map(struct strmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		OPENSSL_cleanse((char *)map->at[i].value, strlen(map->at[i].value));
}

static int get_credentials(struct aws_client *c, const struct question *q,
                           struct aws_credentials *ret, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct strmap map = {0};
	int status = call_sts(c, q, &a, &map, err);

	OPENSSL_cleanse(q->form->ptr, q->form->len);
	if (status == 0)
		status = read_credentials(&map, q->action, &a, ret, err);
	wipe_map(&map);
	return status;
}

int sts_assume_role(struct aws_client *c, const char *region, const struct aws_credentials *base,
                    const struct sts_role *role, struct aws_credentials *ret_credentials,
                    struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf form = STRBUF_INIT(FORM_MAX);

	form_start(&form, "AssumeRole");
	add_role(c, &form, role, &a);
	const struct question q = {"AssumeRole", region, base, &form, role->mfa_code};

	return get_credentials(c, &q, ret_credentials, err);
}

int sts_assume_role_with_web_identity(struct aws_client *c, const char *region, const char *token,
                                      const struct sts_role *role,
                                      struct aws_credentials *ret_credentials, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf form = STRBUF_INIT(FORM_MAX);

	form_start(&form, "AssumeRoleWithWebIdentity");
	add_role(c, &form, role, &a);
	form_add(&form, "WebIdentityToken", token);
	const struct question q = {"AssumeRoleWithWebIdentity", region, NULL, &form, token};

	return get_credentials(c, &q, ret_credentials, err);
}

int sts_get_caller_identity(struct aws_client *c, const char *region,
                            const struct aws_credentials *credentials, struct arena *a,
                            struct sts_identity *ret_identity, struct err *err)
{
	AUTO(strbuf) struct strbuf form = STRBUF_INIT(FORM_MAX);
	struct strmap map = {0};

	form_start(&form, "GetCallerIdentity");
	const struct question q = {"GetCallerIdentity", region, credentials, &form, NULL};

	if (call_sts(c, &q, a, &map, err) != 0)
		return -1;
	ret_identity->account = strmap_get(&map, "GetCallerIdentityResult/Account");
	ret_identity->arn = strmap_get(&map, "GetCallerIdentityResult/Arn");
	if (ret_identity->account == NULL || ret_identity->arn == NULL)
		return err_set(err, ERR_FORMAT, "STS's reply names no account");
	return 0;
}
