/*
 * The two services that hand out a machine's own role over plain HTTP on link-local addresses: the
 * container endpoint (CodeBuild, ECS, EKS Pod Identity) and the EC2 instance metadata service. They
 * are never asked through a proxy, never followed elsewhere, and their replies are capped.
 */
#include <openssl/crypto.h>
#include <string.h>
#include <strings.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/net/reach.h"
#include "base/net/url.h"
#include "base/text.h"
#include "builder/aws/chain.h"

enum {
	METADATA_BYTES_MAX = 64 << 10,
	CONTAINER_TIMEOUT_MS = 2000,
	CONTAINER_TRIES = 3,
	CONTAINER_PAUSE_MS = 1000,
	IMDS_TIMEOUT_S = 1,
	TIMEOUT_S_MAX = 60,
	TRIES_MAX = 20
};

static void wipe_body(struct http_response *r)
{
	if (r->body.ptr != NULL)
		OPENSSL_cleanse(r->body.ptr, r->body.len);
}

/* ---- container ---- */

static bool is_allowed_http_host(const char *host)
{
	static const char *const hosts[] = {"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]",
	                                    "localhost", "[::1]"};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		if (strcmp(hosts[i], host) == 0)
			return true;
	return text_has_prefix(host, "127.") && reach_is_loopback(host);
}

static int full_uri(const char *uri, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct url url;

	if (url_parse(uri, &a, &url, err) != 0)
		return err_wrap(err, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
	if (strcmp(url.scheme, "https") == 0 || is_allowed_http_host(url.host))
		return 0;
	err_set(err, ERR_DENIED,
	        "AWS_CONTAINER_CREDENTIALS_FULL_URI names the host '%.100s', which is not allowed "
	        "over plain http",
	        url.host);
	return err_hint(err, "allowed are https, loopback addresses, 169.254.170.2, 169.254.170.23 "
	                     "and fd00:ec2::23");
}

/* NULL without error when neither variable is set. */
static int container_url(const struct chain *c, const char **ret_url, struct err *err)
{
	const char *relative = aws_env(c->outside, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full = aws_env(c->outside, "AWS_CONTAINER_CREDENTIALS_FULL_URI");

	*ret_url = relative != NULL ? arena_printf(c->arena, "http://169.254.170.2%s%s",
	                                           relative[0] == '/' ? "" : "/", relative)
	                            : full;
	return relative == NULL && full != NULL ? full_uri(full, err) : 0;
}

static int container_token(const struct chain *c, struct strbuf *token, struct err *err)
{
	const char *file = aws_env(c->outside, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *text = aws_env(c->outside, "AWS_CONTAINER_AUTHORIZATION_TOKEN");

	/* Read each time: the pod's token is replaced while the job runs. */
	if (file != NULL &&
	    c->outside->read_file(c->outside, file, METADATA_BYTES_MAX, token, err) != 0)
		return err_wrap(err, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	if (file == NULL && text != NULL)
		strbuf_adds(token, text);
	for (size_t i = 0; i < token->len; i++)
		if ((unsigned char)token->ptr[i] < ' ' || token->ptr[i] == 0x7f)
			return err_set(err, ERR_FORMAT,
			               "the container authorization token has a line break or "
			               "control byte in it");
	return 0;
}

static int ask_container(const struct chain *c, const char *url, const struct strbuf *token,
                         struct http_response *resp, struct err *err)
{
	const struct http_header headers[] = {{"Accept", "application/json"},
	                                      {"Authorization", strbuf_str(token)}};
	const struct http_request request = {.method = "GET",
	                                     .url = url,
	                                     .headers = headers,
	                                     .n_headers = token->len > 0 ? 2 : 1,
	                                     .direct = true,
	                                     .timeout_ms = CONTAINER_TIMEOUT_MS,
	                                     .response_max = METADATA_BYTES_MAX};

	for (int attempt = 1;; attempt++) {
		http_response_done(resp);
		int status = http_perform(c->outside->http, &request, resp, err);

		if (status == 0 && resp->status < 500 && resp->status != 429)
			return 0;
		if (attempt == CONTAINER_TRIES || (status != 0 && err->code != ERR_NETWORK))
			return status;
		c->outside->clock->sleep_ms(c->outside->clock, CONTAINER_PAUSE_MS);
	}
}

/* ---- both ---- */

static const struct credentials_form metadata_form = {.id = "AccessKeyId",
                                                      .secret = "SecretAccessKey",
                                                      .token = "Token",
                                                      .expires = "Expiration",
                                                      .account = "AccountId"};

static int read_keys(struct chain *c, const char *what, struct http_response *resp,
                     struct aws_credentials *ret, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct err why = {0};

	if (resp->body.len == 0 ||
	    json_parse("reply", resp->body.ptr, resp->body.len, &doc, &why) != 0)
		return err_set(err, ERR_FORMAT, "%s did not return JSON", what);
	return credentials_read(doc, &metadata_form, what, aws_client_now_ms(c->client), ret, err);
}

static int read_container(struct chain *c, const char *url, struct aws_credentials *ret,
                          struct err *err)
{
	AUTO(strbuf) struct strbuf token = STRBUF_INIT(METADATA_BYTES_MAX);
	AUTO(http_response) struct http_response resp = {0};
	int status = container_token(c, &token, err);

	if (status == 0)
		status = ask_container(c, url, &token, &resp, err);
	aws_failure_mask(&resp, token.ptr);
	if (token.ptr != NULL)
		OPENSSL_cleanse(token.ptr, token.len);
	if (status == 0 && resp.status != 200) {
		struct aws_failure failure;

		aws_failure_parse(&resp, c->arena, &failure);
		aws_failure_err(&failure, err);
		err->hint[0] = '\0';
		err->code = ERR_DENIED;
		status = -1;
	}
	if (status == 0)
		status = read_keys(c, "the container endpoint", &resp, ret, err);
	wipe_body(&resp);
	return status;
}

int provide_container(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                      struct err *err)
{
	const char *url;

	if (container_url(c, &url, err) != 0)
		return -1;
	if (url == NULL) {
		*ret_why_not = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set";
		return 0;
	}
	if (read_container(c, url, ret, err) == 0)
		return 0;
	err_wrap(err, "container endpoint");
	return err_hint(err, "pass the variable on when the build step runs in its own container; "
	                     "the endpoint must be reachable from there");
}

/* ---- EC2 instance metadata ---- */

#define IMDS_FOLDER "meta-data/iam/security-credentials/"

struct imds {
	const char *base; /* "http://169.254.169.254" */
	int timeout_ms, tries;
	char token[1024]; /* empty = version 1 */
};

static int64_t number_option(const struct chain *c, const char *variable, const char *key,
                             int64_t fallback, int64_t max)
{
	const char *text = chain_option(c, variable, key);
	int64_t value;

	if (text == NULL || !text_int64(text, strlen(text), &value) || value < 1)
		return fallback;
	return value < max ? value : max;
}

static int imds_base(const struct chain *c, const char **ret_base, struct err *err)
{
	const char *endpoint = chain_option(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT",
	                                    "ec2_metadata_service_endpoint");
	const char *mode = chain_option(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
	                                "ec2_metadata_service_endpoint_mode");
	AUTO(arena) struct arena a = {0};
	struct url url;

	*ret_base = "http://169.254.169.254";
	if (endpoint != NULL) {
		size_t len = strlen(endpoint);

		if (url_parse(endpoint, &a, &url, err) != 0)
			return err_wrap(err, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
		while (endpoint[len - 1] == '/')
			len--;
		*ret_base = arena_strndup(c->arena, endpoint, len);
	} else if (mode != NULL && strcasecmp(mode, "ipv6") == 0) {
		*ret_base = "http://[fd00:ec2::254]";
	} else if (mode != NULL && strcasecmp(mode, "ipv4") != 0) {
		err_set(err, ERR_USAGE,
		        "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: '%.40s' is not a valid endpoint "
		        "mode",
		        mode);
		return err_hint(err, "write IPv4 or IPv6");
	}
	return 0;
}

static int ask_imds(struct chain *c, const struct imds *m, const char *method, const char *path,
                    struct http_response *resp, struct err *err)
{
	const bool put = strcmp(method, "PUT") == 0;
	const struct http_header header = {put ? "x-aws-ec2-metadata-token-ttl-seconds"
	                                       : "x-aws-ec2-metadata-token",
	                                   put ? "21600" : m->token};
	const struct http_request request = {
		.method = method,
		.url = arena_printf(c->arena, "%s/latest/%s", m->base, path),
		.headers = &header,
		.n_headers = put || m->token[0] != '\0',
		.direct = true,
		.timeout_ms = m->timeout_ms,
		.response_max = METADATA_BYTES_MAX};

	for (int attempt = 1;; attempt++) {
		http_response_done(resp);
		*err = (struct err){0};
		int status = http_perform(c->outside->http, &request, resp, err);

		if ((status == 0 && resp->status < 500) || attempt >= m->tries ||
		    err->code == ERR_INTERRUPTED)
			return status;
	}
}

/*
 * What a failed request comes to: an interrupt ends the walk, anything else is a reason to go on.
 */
static int imds_silent(struct chain *c, const struct err *why, const char **ret_why_not,
                       struct err *err)
{
	if (why->code == ERR_INTERRUPTED) {
		*err = *why;
		return -1;
	}
	/* With a hop limit of 1 the reply never reaches a container. */
	*ret_why_not = arena_printf(c->arena,
	                            "%.300s (in a container on EC2 the instance's metadata hop "
	                            "limit must be 2)",
	                            why->msg);
	return 0;
}

static bool is_token(const struct http_response *resp, size_t max)
{
	return resp->status == 200 && resp->body.len > 0 && resp->body.len < max &&
	       strpbrk(resp->body.ptr, "\r\n") == NULL && strlen(resp->body.ptr) == resp->body.len;
}

/* Version 2's token. Without one version 1 is asked, where that is allowed: *ret_why_not stays
 * NULL. */
static int get_token(struct chain *c, struct imds *m, const char **ret_why_not, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	bool v1 = !aws_is_true(
		chain_option(c, "AWS_EC2_METADATA_V1_DISABLED", "ec2_metadata_v1_disabled"));
	struct err why = {0};
	int status = ask_imds(c, m, "PUT", "api/token", &resp, &why);
	bool refused =
		status == 0 && (resp.status == 403 || resp.status == 404 || resp.status == 405);

	if (status == 0 && is_token(&resp, sizeof(m->token)))
		snprintf(m->token, sizeof(m->token), "%s", resp.body.ptr);
	else if (status == 0 && !(refused && v1))
		*ret_why_not = arena_printf(
			c->arena, "the metadata service answered the token request with status %d",
			resp.status);
	wipe_body(&resp);
	if (status != 0 && (why.code == ERR_INTERRUPTED || !v1))
		return imds_silent(c, &why, ret_why_not, err);
	return 0;
}

/* The role's name: one line of sane bytes, since it becomes part of a URL. */
static const char *role_name(const struct chain *c, const struct http_response *resp)
{
	const char *text = strbuf_str(&resp->body);
	size_t len = strcspn(text, "\r\n");

	if (resp->status != 200 || len == 0 || len > 128 ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	                 "+=,.@_-") < len)
		return NULL;
	return arena_strndup(c->arena, text, len);
}

static int get_role(struct chain *c, struct imds *m, const char **ret_role,
                    const char **ret_why_not, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	struct err why = {0};

	if (ask_imds(c, m, "GET", IMDS_FOLDER, &resp, &why) != 0)
		return imds_silent(c, &why, ret_why_not, err);
	*ret_role = role_name(c, &resp);
	if (*ret_role == NULL)
		*ret_why_not = resp.status == 200 || resp.status == 404
		                       ? "the instance has no role"
		                       : arena_printf(c->arena,
		                                      "the metadata service answered the request "
		                                      "for the role with status %d",
		                                      resp.status);
	return 0;
}

static int get_keys(struct chain *c, struct imds *m, const char *role, struct aws_credentials *ret,
                    const char **ret_why_not, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	struct err why = {0};
	int status = ask_imds(c, m, "GET", arena_printf(c->arena, "%s%s", IMDS_FOLDER, role), &resp,
	                      &why);

	if (status != 0)
		return imds_silent(c, &why, ret_why_not, err);
	if (read_keys(c, "the metadata service", &resp, ret, &why) != 0)
		*ret_why_not = arena_printf(c->arena, "role '%s': %.200s", role, why.msg);
	wipe_body(&resp);
	return 0;
}

int provide_imds(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                 struct err *err)
{
	struct imds m = {0};
	const char *why_not = NULL;

	if (aws_is_true(aws_env(c->outside, "AWS_EC2_METADATA_DISABLED"))) {
		*ret_why_not = "AWS_EC2_METADATA_DISABLED is true";
		return 0;
	}
	if (imds_base(c, &m.base, err) != 0)
		return -1;
	m.timeout_ms = 1000 * (int)number_option(c, "AWS_METADATA_SERVICE_TIMEOUT",
	                                         "metadata_service_timeout", IMDS_TIMEOUT_S,
	                                         TIMEOUT_S_MAX);
	m.tries = (int)number_option(c, "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
	                             "metadata_service_num_attempts", 1, TRIES_MAX);
	const char *role = NULL;
	int status = get_token(c, &m, &why_not, err);

	if (status == 0 && why_not == NULL)
		status = get_role(c, &m, &role, &why_not, err);
	if (status == 0 && role != NULL)
		status = get_keys(c, &m, role, ret, &why_not, err);
	OPENSSL_cleanse(m.token, sizeof(m.token));
	if (why_not != NULL)
		*ret_why_not = why_not;
	return status;
}
