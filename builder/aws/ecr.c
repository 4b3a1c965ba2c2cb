#include "builder/aws/ecr.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/mem.h"
#include "base/net/url.h"
#include "base/text.h"
#include "builder/aws/ecr_internal.h"

/* ---- calling ---- */

/* In ECR Public's names the registry's alias comes first; its API knows the rest. */
static const char *api_name(const struct ecr_host *host, const char *repository)
{
	const char *slash = host->is_public ? strchr(repository, '/') : NULL;

	return slash != NULL ? slash + 1 : repository;
}

cJSON *ecr_request(const struct ecr_host *host, const char *repository)
{
	cJSON *request = cJSON_CreateObject();

	json_add_string(request, "registryId", host->is_public ? NULL : host->account);
	if (repository != NULL)
		json_add_string(request, "repositoryName", api_name(host, repository));
	return request;
}

static int parse_reply(const struct http_response *resp, cJSON **ret_doc, struct err *err)
{
	struct err why = {0};

	if (resp->body.len > 0 &&
	    json_parse("reply", resp->body.ptr, resp->body.len, ret_doc, &why) == 0 &&
	    cJSON_IsObject(*ret_doc))
		return 0;
	json_done(ret_doc);
	*ret_doc = NULL;
	/* What looks like JSON may be half of a token. */
	const char *start = strbuf_str(&resp->body);
	bool shown = start[0] == '<' || (start[0] >= 'A' && start[0] <= 'Z');

	err_set(err, ERR_FORMAT, "the reply is not a JSON object%s%.40s%s",
	        shown ? ": it starts with '" : "", shown ? start : "", shown ? "'" : "");
	return err_hint(
		err, "this answer is not from AWS: a proxy or a captive portal may have sent it");
}

int ecr_call(struct aws_session *s, const struct ecr_host *host, const char *operation,
             cJSON *request, struct arena *a, cJSON **ret_doc, struct aws_failure *ret_failure,
             struct err *err)
{
	AUTO(json) cJSON *owned = request;
	AUTO(strbuf) struct strbuf body = STRBUF_INIT(1 << 20);
	AUTO(http_response) struct http_response resp = {0};
	struct aws_call call = {
		.service = host->is_public ? AWS_ECR_PUBLIC : AWS_ECR,
		.operation = operation,
		.region = host->region,
		.fips = host->fips,
		.headers = {{"Content-Type", "application/x-amz-json-1.1"},
	                    {"X-Amz-Target",
	                     arena_printf(a, "%s.%s",
	                                  host->is_public ? "SpencerFrontendService"
	                                                  : "AmazonEC2ContainerRegistry_V20150921",
	                                  operation)}},
		.n_headers = 2};

	json_print(owned, &body);
	call.body = strbuf_str(&body);
	if (aws_session_send(s, &call, a, &resp, ret_failure, err) != 0)
		return -1;
	int status = parse_reply(&resp, ret_doc, err);

	OPENSSL_cleanse(resp.body.ptr, resp.body.len);
	if (status != 0)
		return err_wrap(err, "%s %s in %s", host->is_public ? "ecr_public" : "ecr",
		                operation, host->region);
	return 0;
}

/* ---- tokens ---- */

void ecr_token_done(struct ecr_token *t)
{
	mem_free_secret(&t->username);
	mem_free_secret(&t->password);
	mem_free_secret(&t->account);
}

static int bad_token(const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "GetAuthorizationToken: %s", what);
}

/* base64 of "AWS:password"; no byte that a header may not have. */
static int decode(const char *text, struct ecr_token *t, struct err *err)
{
	size_t len = strlen(text);
	AUTO_FREE unsigned char *plain = mem_zalloc(len + 1);

	if (len == 0 || len % 4 != 0 || len > 64 << 10)
		return bad_token("the token is not base64", err);
	int n = EVP_DecodeBlock(plain, (const unsigned char *)text, (int)len);

	if (n < 0)
		return bad_token("the token is not base64", err);
	n -= text[len - 1] == '=';
	n -= text[len - 2] == '=';
	const char *colon = memchr(plain, ':', (size_t)n);
	bool clean = true;

	for (int i = 0; i < n; i++)
		clean = clean && plain[i] > ' ' && plain[i] < 0x7f;
	if (colon != NULL && clean) {
		t->username = mem_strndup((char *)plain, (size_t)(colon - (char *)plain));
		t->password =
			mem_strndup(colon + 1, (size_t)n - (size_t)(colon + 1 - (char *)plain));
	}
	OPENSSL_cleanse(plain, len);
	return colon != NULL && clean ? 0
	                              : bad_token("the token is not a name and a password", err);
}

/* "https://123456789012.dkr.ecr...": of the caller's own account, whatever was asked for. */
static char *account_of(const char *endpoint)
{
	AUTO(arena) struct arena a = {0};
	struct ecr_host host;
	struct url url;
	struct err ignored = {0};

	if (endpoint == NULL || url_parse(endpoint, &a, &url, &ignored) != 0 ||
	    !ecr_host_parse(url.host, &a, &host) || host.account == NULL)
		return NULL;
	return mem_strdup(host.account);
}

static int read_token(const cJSON *doc, const struct ecr_host *host, int64_t now_ms,
                      struct ecr_token *t, struct err *err)
{
	const cJSON *data = json_get(doc, "authorizationData");

	if (!host->is_public)
		data = cJSON_GetArrayItem(data, 0);
	const char *text = json_string(data, "authorizationToken");
	const cJSON *expires = json_get(data, "expiresAt");

	if (text == NULL)
		return bad_token("the reply has no authorizationToken", err);
	int status = decode(text, t, err);

	OPENSSL_cleanse((char *)text, strlen(text));
	if (status != 0)
		return -1;
	t->account = account_of(json_string(data, "proxyEndpoint"));
	/* Some servers give a moment long past; the token lives all the same. */
	t->expires_ms = now_ms + 12 * 3600000LL;
	if (cJSON_IsNumber(expires) && expires->valuedouble * 1000 > (double)now_ms &&
	    expires->valuedouble * 1000 < (double)t->expires_ms)
		t->expires_ms = (int64_t)(expires->valuedouble * 1000);
	return 0;
}

int ecr_get_token(struct aws_session *s, const struct ecr_host *host, struct ecr_token *ret_token,
                  struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(json) cJSON *doc = NULL;
	struct ecr_token t = {0};

	if (ecr_call(s, host, "GetAuthorizationToken", cJSON_CreateObject(), &a, &doc, NULL, err) !=
	    0)
		return -1;
	if (read_token(doc, host, aws_client_now_ms(aws_session_client(s)), &t, err) != 0) {
		ecr_token_done(&t);
		return -1;
	}
	*ret_token = t;
	return 0;
}

/* ---- repositories ---- */

static bool matches_any(const struct strlist *patterns, const char *tag)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (text_glob(patterns->at[i], tag))
			return true;
	return false;
}

bool ecr_tag_is_immutable(const struct ecr_repository *r, const char *tag)
{
	bool excluded = matches_any(&r->exclusions, tag);

	if (strcmp(r->mutability, "IMMUTABLE") == 0)
		return true;
	if (strcmp(r->mutability, "IMMUTABLE_WITH_EXCLUSION") == 0)
		return !excluded;
	return strcmp(r->mutability, "MUTABLE_WITH_EXCLUSION") == 0 && excluded;
}

static void read_exclusions(const cJSON *repository, struct arena *a, struct strlist *list)
{
	const cJSON *filters = json_get(repository, "imageTagMutabilityExclusionFilters");
	const cJSON *filter = NULL;
	int n = cJSON_GetArraySize(filters);

	list->at = arena_calloc(a, (size_t)n + 1, sizeof(*list->at));
	cJSON_ArrayForEach (filter, filters) {
		const char *text = json_string(filter, "filter");

		if (text != NULL)
			list->at[list->n++] = arena_strdup(a, text);
	}
}

int ecr_describe_repository(struct aws_session *s, const struct ecr_host *host, const char *name,
                            struct arena *a, struct ecr_repository *ret_repository, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	cJSON *request = ecr_request(host, NULL);

	json_push_string(json_add_array(request, "repositoryNames"), api_name(host, name));
	if (ecr_call(s, host, "DescribeRepositories", request, a, &doc, NULL, err) != 0)
		return -1;
	const cJSON *first = cJSON_GetArrayItem(json_get(doc, "repositories"), 0);
	const char *uri = json_string(first, "repositoryUri");
	const char *mutability = json_string(first, "imageTagMutability");
	struct ecr_repository r = {
		.uri = arena_strdup(a, uri != NULL ? uri : ""),
		.mutability = arena_strdup(a, mutability != NULL ? mutability : "MUTABLE")};

	if (first == NULL)
		return err_set(err, ERR_NOT_FOUND, "DescribeRepositories names no repository");
	read_exclusions(first, a, &r.exclusions);
	*ret_repository = r;
	return 0;
}

cJSON *ecr_create_request(const struct ecr_host *host, const char *name,
                          const struct ecr_settings *settings)
{
	/* With the account: ECR refuses when it is not the caller's own, instead of creating a
	 * repository of that name where nobody wanted one. */
	cJSON *request = ecr_request(host, name);

	if (settings->tags.n > 0) {
		cJSON *tags = json_add_array(request, "tags");

		for (size_t i = 0; i < settings->tags.n; i++) {
			cJSON *tag = cJSON_CreateObject();

			json_add_string(tag, "Key", settings->tags.at[i].key);
			json_add_string(tag, "Value", settings->tags.at[i].value);
			json_push(tags, tag);
		}
	}
	if (host->is_public)
		return request;
	json_add_string(request, "imageTagMutability", settings->mutability);
	if (settings->exclusions.n > 0) {
		cJSON *filters = json_add_array(request, "imageTagMutabilityExclusionFilters");

		for (size_t i = 0; i < settings->exclusions.n; i++) {
			cJSON *filter = cJSON_CreateObject();

			json_add_string(filter, "filterType", "WILDCARD");
			json_add_string(filter, "filter", settings->exclusions.at[i]);
			json_push(filters, filter);
		}
	}
	if (settings->scan_on_push)
		json_add_bool(json_add_object(request, "imageScanningConfiguration"), "scanOnPush",
		              true);
	if (settings->encryption != NULL) {
		cJSON *encryption = json_add_object(request, "encryptionConfiguration");

		json_add_string(encryption, "encryptionType", settings->encryption);
		json_add_string(encryption, "kmsKey", settings->kms_key);
	}
	return request;
}

static void add_rule(cJSON *rules, const char *description, const char *status, const char *type,
                     int64_t number)
{
	cJSON *rule = cJSON_CreateObject();

	json_push(rules, rule);
	json_add_int(rule, "rulePriority", cJSON_GetArraySize(rules));
	json_add_string(rule, "description", description);
	cJSON *selection = json_add_object(rule, "selection");

	json_add_string(selection, "tagStatus", status);
	json_add_string(selection, "countType", type);
	if (strcmp(type, "sinceImagePushed") == 0)
		json_add_string(selection, "countUnit", "days");
	json_add_int(selection, "countNumber", number);
	json_add_string(json_add_object(rule, "action"), "type", "expire");
}

cJSON *ecr_lifecycle_policy(const struct ecr_settings *settings)
{
	if (settings->expire_untagged_days == 0 && settings->keep_images == 0)
		return NULL;
	cJSON *policy = cJSON_CreateObject(), *rules = json_add_array(policy, "rules");

	if (settings->expire_untagged_days > 0)
		add_rule(rules, "untagged images go", "untagged", "sinceImagePushed",
		         settings->expire_untagged_days);
	/* ECR wants the rule for any tag status last. */
	if (settings->keep_images > 0)
		add_rule(rules, "the newest images stay", "any", "imageCountMoreThan",
		         settings->keep_images);
	return policy;
}

static int put_lifecycle(struct aws_session *s, const struct ecr_host *host, const char *name,
                         const struct ecr_settings *settings, struct arena *a, struct err *err)
{
	AUTO(json) cJSON *policy = ecr_lifecycle_policy(settings);
	AUTO(json) cJSON *doc = NULL;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(30720);

	if (policy == NULL || host->is_public)
		return 0;
	json_print(policy, &text);
	cJSON *request = ecr_request(host, name);

	json_add_string(request, "lifecyclePolicyText", strbuf_str(&text));
	return ecr_call(s, host, "PutLifecyclePolicy", request, a, &doc, NULL, err);
}

int ecr_create_repository(struct aws_session *s, const struct ecr_host *host, const char *name,
                          const struct ecr_settings *settings, bool *ret_created, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(json) cJSON *doc = NULL;
	struct aws_failure failure;
	struct err why = {0};

	*ret_created = true;
	if (ecr_call(s, host, "CreateRepository", ecr_create_request(host, name, settings), &a,
	             &doc, &failure, &why) != 0) {
		if (!aws_failure_is(&failure, "RepositoryAlreadyExists")) {
			*err = why;
			return err_wrap(err, "create repository '%s'", name);
		}
		*ret_created = false;
		return 0;
	}
	if (put_lifecycle(s, host, name, settings, &a, err) == 0)
		return 0;
	/* A second push will find the repository and leave it as it is. */
	return err_wrap(err, "repository '%s' is created, but without its lifecycle policy", name);
}
