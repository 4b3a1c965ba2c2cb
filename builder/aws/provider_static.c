/*
 * Providers that only read: the environment and the two configuration files.
 */
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "builder/aws/chain.h"

static int environment_expiry(struct chain *c, struct aws_credentials *ret, struct err *err)
{
	const char *text = aws_env(c->outside, "AWS_CREDENTIAL_EXPIRATION");

	if (text == NULL)
		return 0;
	if (!timestamp_iso8601(text, &ret->expires_ms))
		return err_set(err, ERR_FORMAT, "AWS_CREDENTIAL_EXPIRATION is not a time");
	if (ret->expires_ms > aws_client_now_ms(c->client))
		return 0;
	err_set(err, ERR_DENIED, "the keys expired at %s (AWS_CREDENTIAL_EXPIRATION)", text);
	return err_hint(err, "renew AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
	                     "AWS_SESSION_TOKEN");
}

int provide_environment(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                        struct err *err)
{
	const char *id = aws_env(c->outside, "AWS_ACCESS_KEY_ID");
	const char *secret = aws_env(c->outside, "AWS_SECRET_ACCESS_KEY");
	const char *token = aws_env(c->outside, "AWS_SECURITY_TOKEN"), *account;

	if (!c->use_env) {
		*ret_why_not = "--profile is given";
		return 0;
	}
	if (id == NULL) {
		*ret_why_not = "AWS_ACCESS_KEY_ID is not set";
		return 0;
	}
	if (secret == NULL) {
		err_set(err, ERR_DENIED, "AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not");
		return err_hint(err, "set both, or neither");
	}
	if (token == NULL)
		token = aws_env(c->outside, "AWS_SESSION_TOKEN");
	if (credentials_from_text(id, secret, token, "environment", ret, err) != 0 ||
	    environment_expiry(c, ret, err) != 0) {
		aws_credentials_done(ret);
		return -1;
	}
	account = aws_env(c->outside, "AWS_ACCOUNT_ID");
	ret->account_id = account != NULL ? mem_strdup(account) : NULL;
	return 0;
}

/* The keys of one file; both must stand in the same one. */
static int keys_of(struct chain *c, enum aws_file_kind kind, const char *provider, const char *file,
                   struct aws_credentials *ret, struct err *err)
{
	const char *id = aws_section_get_in(c->section, kind, "aws_access_key_id");
	const char *secret = aws_section_get_in(c->section, kind, "aws_secret_access_key");
	const char *token = aws_section_get_in(c->section, kind, "aws_security_token"), *account;

	if (token == NULL)
		token = aws_section_get_in(c->section, kind, "aws_session_token");
	if (secret == NULL || secret[0] == '\0') {
		err_set(err, ERR_DENIED,
		        "profile '%s' in '%s' has aws_access_key_id but no aws_secret_access_key",
		        c->profile, file);
		return err_hint(err, "`aws configure --profile %s` writes both", c->profile);
	}
	if (credentials_from_text(id, secret, token != NULL && token[0] != '\0' ? token : NULL,
	                          provider, ret, err) != 0)
		return err_wrap(err, "profile '%s' in '%s'", c->profile, file);
	account = aws_section_get(c->section, "aws_account_id");
	ret->account_id = account != NULL ? mem_strdup(account) : NULL;
	return 0;
}

static bool has_id(const struct chain *c, enum aws_file_kind kind)
{
	return aws_section_get_in(c->section, kind, "aws_access_key_id") != NULL;
}

int provide_credentials_file(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                             struct err *err)
{
	const char *file = c->settings->credentials_path;

	if (!has_id(c, AWS_CREDENTIALS_FILE)) {
		*ret_why_not =
			arena_printf(c->arena, "no keys for profile '%s' in %s", c->profile, file);
		return 0;
	}
	if (c->settings->group_readable)
		progress_note(c->outside->progress,
		              "other users can read '%s': protect the keys with `chmod 600`", file);
	return keys_of(c, AWS_CREDENTIALS_FILE, "credentials-file", file, ret, err);
}

int provide_config_file(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                        struct err *err)
{
	const char *file = c->settings->config_path;

	if (!has_id(c, AWS_CONFIG_FILE)) {
		*ret_why_not =
			arena_printf(c->arena, "no keys for profile '%s' in %s", c->profile, file);
		return 0;
	}
	return keys_of(c, AWS_CONFIG_FILE, "config-file", file, ret, err);
}
