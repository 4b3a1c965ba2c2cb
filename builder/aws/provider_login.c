/*
 * `aws login`: the keys that it left in its cache. Renewing them takes a proof of possession that
 * slipway does not make: when they have expired, `aws login` is to be run again.
 */
#include <openssl/crypto.h>
#include <string.h>

#include "base/crypto/digest.h"
#include "base/doc/json.h"
#include "builder/aws/chain.h"

enum { LOGIN_BYTES_MAX = 64 << 10 };

static const char *cache_path(const struct chain *c, const char *session)
{
	const char *dir = aws_env(c->outside, "AWS_LOGIN_CACHE_DIRECTORY");
	struct digest d = digest_of(session, strlen(session));
	char hex[DIGEST_HEX_MAX];

	return chain_path(c, arena_printf(c->arena, "%s/%s.json",
	                                  dir != NULL ? dir : "~/.aws/login/cache",
	                                  digest_hex(&d, hex)));
}

static int login_hint(const struct chain *c, struct err *err)
{
	err->hint[0] = '\0';
	return err_hint(err, "run `aws login%s%s`",
	                strcmp(c->profile, "default") != 0 ? " --profile " : "",
	                strcmp(c->profile, "default") != 0 ? c->profile : "");
}

int provide_login(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                  struct err *err)
{
	static const struct credentials_form form = {.id = "accessKeyId",
	                                             .secret = "secretAccessKey",
	                                             .token = "sessionToken",
	                                             .expires = "expiresAt",
	                                             .account = "accountId"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(json) cJSON *doc = NULL;
	const char *session = aws_section_get(c->section, "login_session");
	struct err why = {0};

	if (session == NULL) {
		*ret_why_not =
			arena_printf(c->arena, "profile '%s' has no login_session", c->profile);
		return 0;
	}
	if (c->outside->read_file(c->outside, cache_path(c, session), LOGIN_BYTES_MAX, &text,
	                          err) != 0)
		return login_hint(c, err);
	int status = json_parse("login cache", strbuf_str(&text), text.len, &doc, &why);

	if (text.ptr != NULL)
		OPENSSL_cleanse(text.ptr, text.len);
	if (status != 0)
		err_set(err, ERR_FORMAT, "the cache of `aws login` is not JSON");
	else
		status = credentials_read(json_get(doc, "accessToken"), &form,
		                          "the cache of `aws login`", aws_client_now_ms(c->client),
		                          ret, err);
	return status != 0 ? login_hint(c, err) : 0;
}
