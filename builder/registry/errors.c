#include "builder/registry/errors.h"

#include <string.h>

#include "base/doc/json.h"
#include "builder/registry/retry.h"

static const struct {
	const char *code, *hint;
} hints[] = {
	{"NAME_UNKNOWN", "the repository does not exist; create it first, or check its name"},
	{"NAME_INVALID", "check the repository's name"},
	{"UNAUTHORIZED", "log in: `docker login`, or --username with --password-stdin"},
	{"DENIED", "these credentials may not do this; check the account's permissions"},
	{"TAG_INVALID",
         "the tag exists and the repository's tags are immutable; push under a new tag"},
	{"MANIFEST_UNKNOWN", "check the tag or digest"},
	{"MANIFEST_BLOB_UNKNOWN",
         "a blob that the manifest names is not in the repository; push again"},
	{"UNSUPPORTED", "the registry does not support this; it may be too old, or not a registry"},
	{"MANIFEST_INVALID", "the registry does not accept this kind of manifest"},
	{"TOOMANYREQUESTS", "the registry limits the rate of requests; try again later"},
	{"DIGEST_INVALID",
         "the bytes sent do not match their digest: the local image is damaged, build it again"},
	{"SIZE_INVALID",
         "the bytes sent do not match their size: the local image is damaged, build it again"},
};

static enum err_code code_of(int status)
{
	if (status == 401 || status == 403)
		return ERR_DENIED;
	if (status == 404)
		return ERR_NOT_FOUND;
	return retry_status(status) ? ERR_NETWORK : ERR_SERVER;
}

/* The parsed error document, NULL when the body is something else (HTML of a proxy, nothing). */
static cJSON *parse_body(const struct http_response *r)
{
	cJSON *doc = NULL;
	struct err ignored = {0};

	if (r->body.len == 0 || json_parse("error", r->body.ptr, r->body.len, &doc, &ignored) != 0)
		return NULL;
	return doc;
}

static void default_hint(int status, struct err *err)
{
	if (status == 401)
		err_hint(err, "log in: `docker login`, or --username with --password-stdin");
	else if (status == 403)
		err_hint(err, "these credentials may not do this; check the account's permissions");
	else if (status == 404)
		err_hint(err, "check the host, the repository's name and the tag");
	else if (status == 413)
		err_hint(err,
		         "the registry, or a proxy in front of it, limits the size of requests");
}

int registry_error(const struct http_response *response, struct err *err)
{
	AUTO(json) cJSON *doc = parse_body(response);
	const cJSON *first = cJSON_GetArrayItem(json_get(doc, "errors"), 0);
	const char *code = json_string(first, "code"), *message = json_string(first, "message");

	if (code != NULL)
		err_set(err, code_of(response->status), "the registry answered %d %.64s%s%.400s",
		        response->status, code, message != NULL && message[0] != '\0' ? ": " : "",
		        message != NULL ? message : "");
	else
		err_set(err, code_of(response->status), "the registry answered %d",
		        response->status);
	err->http_status = response->status;
	for (size_t i = 0; code != NULL && i < ARRAY_LEN(hints); i++)
		if (strcmp(hints[i].code, code) == 0)
			err_hint(err, "%s", hints[i].hint);
	default_hint(response->status, err);
	return -1;
}

bool registry_error_has(const struct http_response *response, const char *code)
{
	AUTO(json) cJSON *doc = parse_body(response);
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, json_get(doc, "errors")) {
		const char *have = json_string(item, "code");

		if (have != NULL && strcmp(have, code) == 0)
			return true;
	}
	return false;
}

bool registry_error_may_be_auth(const struct http_response *response)
{
	AUTO(json) cJSON *doc = parse_body(response);
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, json_get(doc, "errors")) {
		const char *code = json_string(item, "code");

		if (code != NULL && strcmp(code, "UNAUTHORIZED") != 0 &&
		    strcmp(code, "DENIED") != 0)
			return false;
	}
	return true;
}
