/*
 * IAM Identity Center (SSO): the token that `aws sso login` left, renewed where it can be, buys the
 * role's keys at the portal.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/net/url.h"
#include "base/timestamp.h"
#include "builder/aws/chain.h"

enum { TOKEN_BYTES_MAX = 64 << 10, RENEW_AHEAD_MS = 15 * 60000 };

struct sso {
	const char *session; /* name of the sso-session, NULL = legacy form */
	const char *start_url, *region, *account, *role;
	const char *path; /* of the token file */
};

static int missing(const struct chain *c, const char *key, struct err *err)
{
	err_set(err, ERR_FORMAT, "profile '%s' is set up for SSO, but %s is missing", c->profile,
	        key);
	return err_hint(err, "`aws configure sso --profile %s` writes all of it", c->profile);
}

/* File name of the token: SHA-1 of the session's name, or of the start URL. */
static const char *token_path(const struct chain *c, const char *text)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	AUTO(strbuf) struct strbuf hex = STRBUF_INIT(256);

	if (EVP_Digest(text, strlen(text), hash, &len, EVP_sha1(), NULL) != 1)
		mem_exhausted("OpenSSL");
	for (unsigned int i = 0; i < len; i++)
		strbuf_addf(&hex, "%02x", hash[i]);
	return chain_path(c, arena_printf(c->arena, "~/.aws/sso/cache/%s.json", strbuf_str(&hex)));
}

static int read_settings(struct chain *c, struct sso *sso, struct err *err)
{
	const struct aws_section *from = c->section;

	sso->session = aws_section_get(c->section, "sso_session");
	sso->account = aws_section_get(c->section, "sso_account_id");
	sso->role = aws_section_get(c->section, "sso_role_name");
	if (sso->session != NULL) {
		from = aws_files_find(&c->settings->files, AWS_SSO_SESSION, sso->session);
		if (from == NULL)
			return err_set(err, ERR_NOT_FOUND,
			               "profile '%s' names sso_session '%s', which is not in %s",
			               c->profile, sso->session, c->settings->config_path);
	}
	sso->start_url = aws_section_get(from, "sso_start_url");
	sso->region = aws_section_get(from, "sso_region");
	const char *doubled = aws_section_get(c->section, "sso_region");

	if (sso->session != NULL && doubled != NULL &&
	    (sso->region == NULL || strcmp(doubled, sso->region) != 0))
		return err_set(err, ERR_FORMAT,
		               "profile '%s': sso_region belongs in the sso-session section",
		               c->profile);
	if (sso->account == NULL || sso->role == NULL)
		return missing(c, sso->account == NULL ? "sso_account_id" : "sso_role_name", err);
	if (sso->start_url == NULL || sso->region == NULL)
		return missing(c, sso->region == NULL ? "sso_region" : "sso_start_url", err);
	sso->path = token_path(c, sso->session != NULL ? sso->session : sso->start_url);
	return 0;
}

static int login_hint(const struct chain *c, struct err *err)
{
	err->hint[0] = '\0';
	return err_hint(err, "run `aws sso login%s%s`",
	                strcmp(c->profile, "default") != 0 ? " --profile " : "",
	                strcmp(c->profile, "default") != 0 ? c->profile : "");
}

static int read_token(const struct chain *c, const struct sso *sso, cJSON **ret_token,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct err why = {0};

	if (c->outside->read_file(c->outside, sso->path, TOKEN_BYTES_MAX, &text, &why) != 0) {
		*err = why;
		if (why.code == ERR_NOT_FOUND)
			err_set(err, ERR_DENIED, "nobody has logged in to SSO for profile '%s'",
			        c->profile);
		return login_hint(c, err);
	}
	int status = json_parse(sso->path, strbuf_str(&text), text.len, ret_token, &why);

	if (text.ptr != NULL)
		OPENSSL_cleanse(text.ptr, text.len);
	if (status != 0) {
		/* The parser's words could quote the token. */
		err_set(err, ERR_FORMAT, "the SSO token file '%s' is not JSON", sso->path);
		return login_hint(c, err);
	}
	return 0;
}

/* ---- renewal (sso-oidc CreateToken) ---- */

static bool can_renew(const struct sso *sso, const cJSON *token, int64_t now)
{
	const char *until = json_string(token, "registrationExpiresAt");
	int64_t registered = 0;

	return sso->session != NULL && json_string(token, "refreshToken") != NULL &&
	       json_string(token, "clientId") != NULL &&
	       json_string(token, "clientSecret") != NULL &&
	       (until == NULL || (timestamp_iso8601(until, &registered) && registered > now));
}

static void set_string(cJSON *doc, const char *key, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(doc, key);
	json_add_string(doc, key, value);
}

/* What the server gave goes into the document and back into the cache, for the AWS CLI too. */
static void keep_token(const struct chain *c, const struct sso *sso, cJSON *token,
                       const cJSON *reply, int64_t life_s)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(TOKEN_BYTES_MAX);
	char moment[TIMESTAMP_MAX];
	struct err why = {0};

	timestamp_extended(aws_client_now_ms(c->client) + life_s * 1000, moment);
	set_string(token, "accessToken", json_string(reply, "accessToken"));
	set_string(token, "expiresAt", moment);
	if (json_string(reply, "refreshToken") != NULL)
		set_string(token, "refreshToken", json_string(reply, "refreshToken"));
	json_print(token, &text);
	if (c->outside->write_file(c->outside, sso->path, text.ptr, text.len, &why) != 0)
		progress_note(c->outside->progress, "the renewed SSO token could not be saved: %s",
		              why.msg);
	OPENSSL_cleanse(text.ptr, text.len);
}

static int renew_token(struct chain *c, const struct sso *sso, cJSON *token, struct err *err)
{
	AUTO(json) cJSON *form = cJSON_CreateObject();
	AUTO(json) cJSON *reply = NULL;
	AUTO(strbuf) struct strbuf body = STRBUF_INIT(TOKEN_BYTES_MAX);
	AUTO(http_response) struct http_response resp = {0};
	int64_t life = 0;

	json_add_string(form, "clientId", json_string(token, "clientId"));
	json_add_string(form, "clientSecret", json_string(token, "clientSecret"));
	json_add_string(form, "grantType", "refresh_token");
	json_add_string(form, "refreshToken", json_string(token, "refreshToken"));
	json_print(form, &body);
	const struct aws_call call = {.service = AWS_SSO_OIDC,
	                              .operation = "CreateToken",
	                              .region = sso->region,
	                              .target = "/token",
	                              .headers = {{"Content-Type", "application/json"}},
	                              .n_headers = 1,
	                              .body = body.ptr,
	                              .secrets = {json_string(token, "refreshToken"),
	                                          json_string(token, "clientSecret")}};
	int status = aws_client_send(c->client, &call, c->arena, &resp, NULL, err);

	OPENSSL_cleanse(body.ptr, body.len);
	if (status == 0 && (resp.body.len == 0 ||
	                    json_parse("reply", resp.body.ptr, resp.body.len, &reply, err) != 0 ||
	                    json_string(reply, "accessToken") == NULL ||
	                    json_size(reply, "expiresIn", &life, err) != 0 || life > 86400 * 366))
		status = err_set(err, ERR_FORMAT, "the SSO server's reply has no token");
	if (status == 0)
		keep_token(c, sso, token, reply, life);
	if (resp.body.ptr != NULL)
		OPENSSL_cleanse(resp.body.ptr, resp.body.len);
	return status;
}

/* A token that lasts: the kept one, or a renewed one. */
static int ready_token(struct chain *c, const struct sso *sso, cJSON *token, struct err *err)
{
	const char *text = json_string(token, "expiresAt");
	int64_t now = aws_client_now_ms(c->client), expires = 0;
	struct err why = {0};

	if (json_string(token, "accessToken") == NULL || text == NULL ||
	    !timestamp_iso8601(text, &expires)) {
		err_set(err, ERR_FORMAT, "the SSO token file '%s' holds no token", sso->path);
		return login_hint(c, err);
	}
	if (expires - now > RENEW_AHEAD_MS)
		return 0;
	if (can_renew(sso, token, now) && renew_token(c, sso, token, &why) == 0)
		return 0;
	if (expires > now)
		return 0;
	err_set(err, ERR_DENIED, "the SSO session of profile '%s' ended at %s%s%s", c->profile,
	        text, why.msg[0] != '\0' ? ", and could not be renewed: " : "", why.msg);
	return login_hint(c, err);
}

/* ---- the role's keys (portal GetRoleCredentials) ---- */

static const char *portal_target(const struct sso *sso, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(HTTP_URL_MAX);

	strbuf_adds(&sb, "/federation/credentials?account_id=");
	url_encode(&sb, sso->account);
	strbuf_adds(&sb, "&role_name=");
	url_encode(&sb, sso->role);
	return arena_strdup(a, strbuf_str(&sb));
}

static int buy_keys(struct chain *c, const struct sso *sso, const char *token,
                    struct aws_credentials *ret, struct err *err)
{
	static const struct credentials_form form = {.id = "accessKeyId",
	                                             .secret = "secretAccessKey",
	                                             .token = "sessionToken",
	                                             .expires = "expiration",
	                                             .expires_in_ms = true};
	AUTO(http_response) struct http_response resp = {0};
	AUTO(json) cJSON *reply = NULL;
	struct aws_failure failure;
	const struct aws_call call = {.service = AWS_SSO,
	                              .operation = "GetRoleCredentials",
	                              .region = sso->region,
	                              .method = "GET",
	                              .target = portal_target(sso, c->arena),
	                              .headers = {{"x-amz-sso_bearer_token", token}},
	                              .n_headers = 1,
	                              .secrets = {token}};

	if (aws_client_send(c->client, &call, c->arena, &resp, &failure, err) != 0)
		return failure.status == 401 ? login_hint(c, err) : -1;
	if (resp.body.len == 0 ||
	    json_parse("reply", resp.body.ptr, resp.body.len, &reply, err) != 0)
		return err_set(err, ERR_FORMAT, "the SSO portal's reply is not JSON");
	int status = credentials_read(json_get(reply, "roleCredentials"), &form, "the SSO portal",
	                              aws_client_now_ms(c->client), ret, err);

	OPENSSL_cleanse(resp.body.ptr, resp.body.len);
	if (status == 0)
		ret->account_id = mem_strdup(sso->account);
	return status;
}

/* Whatever happens next: the token does not stay in memory. */
static void wipe_secrets(cJSON *token)
{
	static const char *const keys[] = {"accessToken", "refreshToken", "clientSecret"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *value = json_string(token, keys[i]);

		if (value != NULL)
			OPENSSL_cleanse((char *)value, strlen(value));
	}
}

int provide_sso(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                struct err *err)
{
	AUTO(json) cJSON *token = NULL;
	struct sso sso = {0};

	if (aws_section_get(c->section, "sso_role_name") == NULL &&
	    aws_section_get(c->section, "sso_account_id") == NULL) {
		*ret_why_not =
			arena_printf(c->arena, "profile '%s' has no sso_account_id", c->profile);
		return 0;
	}
	if (read_settings(c, &sso, err) != 0 || read_token(c, &sso, &token, err) != 0)
		return -1;
	int status = ready_token(c, &sso, token, err);

	if (status == 0)
		status = buy_keys(c, &sso, json_string(token, "accessToken"), ret, err);
	wipe_secrets(token);
	return status;
}
