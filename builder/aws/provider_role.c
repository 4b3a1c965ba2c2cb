/*
 * Providers that ask STS for a role: with keys from elsewhere, or with a web identity token.
 */
#include <openssl/crypto.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "builder/aws/chain.h"
#include "builder/aws/sts.h"

enum { TOKEN_FILE_MAX = 64 << 10 };

/* A number that is none is passed over, as the AWS CLI does. */
static int64_t session_seconds(const struct chain *c)
{
	const char *text = aws_section_get(c->section, "duration_seconds");
	int64_t seconds = 0;

	if (text == NULL)
		return 0;
	if (!text_int64(text, strlen(text), &seconds) || seconds < 1) {
		progress_note(c->outside->progress,
		              "profile '%s': duration_seconds is not a number and is ignored",
		              c->profile);
		return 0;
	}
	return seconds;
}

/* ---- web identity ---- */

static int read_token(struct chain *c, const char *path, struct strbuf *token, struct err *err)
{
	if (c->outside->read_file(c->outside, path, TOKEN_FILE_MAX, token, err) != 0) {
		err_wrap(err, "web identity token '%s'", path);
		return err_hint(err, "in a pod that is not root, securityContext.fsGroup makes the "
		                     "token readable");
	}
	if (token->len == 0)
		return err_set(err, ERR_FORMAT, "the web identity token '%s' is empty", path);
	if (strlen(token->ptr) != token->len)
		return err_set(err, ERR_FORMAT, "the web identity token '%s' has a NUL byte", path);
	return 0;
}

int provide_web_identity(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                         struct err *err)
{
	AUTO(strbuf) struct strbuf token = STRBUF_INIT(0);
	const char *path =
		chain_setting(c, "AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
	const struct sts_role role = {
		.arn = chain_setting(c, "AWS_ROLE_ARN", "role_arn"),
		.session_name = chain_setting(c, "AWS_ROLE_SESSION_NAME", "role_session_name")};

	if (path == NULL) {
		*ret_why_not = c->use_env ? "AWS_WEB_IDENTITY_TOKEN_FILE is not set"
		                          : "the profile has no web_identity_token_file";
		return 0;
	}
	if (role.arn == NULL) {
		err_set(err, ERR_DENIED, "a web identity token file is set, but no role");
		return err_hint(err, "set AWS_ROLE_ARN, or role_arn in the profile");
	}
	/* Read at each renewal: the kubelet replaces the token. */
	if (read_token(c, chain_path(c, path), &token, err) != 0)
		return -1;
	int status =
		sts_assume_role_with_web_identity(c->client, c->region, token.ptr, &role, ret, err);

	OPENSSL_cleanse(token.ptr, token.len);
	if (status != 0)
		return err_wrap(err, "role '%.200s'", role.arn);
	ret->provider = "web-identity";
	return 0;
}

/* ---- assume role ---- */

static bool has_keys(const struct aws_section *s)
{
	return aws_section_get(s, "aws_access_key_id") != NULL ||
	       aws_section_get(s, "aws_secret_access_key") != NULL;
}

static bool has_role(const struct aws_section *s)
{
	return aws_section_get(s, "role_arn") != NULL &&
	       aws_section_get(s, "web_identity_token_file") == NULL;
}

static bool was_visited(const struct chain *c, const char *profile)
{
	for (size_t i = 0; i < c->n_visited; i++)
		if (strcmp(c->visited[i], profile) == 0)
			return true;
	return false;
}

static int from_profile(struct chain *c, const char *source, struct aws_credentials *ret,
                        struct err *err)
{
	struct chain inner = *c;

	inner.section = aws_files_find(&c->settings->files, AWS_PROFILE, source);
	inner.profile = source;
	inner.use_env = false;
	inner.inner = true;
	if (inner.section == NULL)
		return err_set(err, ERR_NOT_FOUND,
		               "profile '%s' names source_profile '%s', which does not exist",
		               c->profile, source);
	if (was_visited(c, source) &&
	    (strcmp(source, c->profile) != 0 || !has_keys(inner.section))) {
		err_set(err, ERR_FORMAT,
		        "the source profiles form a cycle: '%s' refers back to '%s'", c->profile,
		        source);
		return err_hint(err, "one of them needs keys of its own, or credential_source");
	}
	if (aws_section_check(inner.section, err) != 0)
		return -1;
	if (has_keys(inner.section) || !has_role(inner.section))
		return chain_walk(&inner, NULL, ret, err);
	const char *why_not;

	return provide_assume_role(&inner, ret, &why_not, err);
}

static const struct {
	const char *name;
	provide_fn provide;
} sources[] = {{"Environment", provide_environment},
               {"Ec2InstanceMetadata", provide_imds},
               {"EcsContainer", provide_container}};

static int from_source(struct chain *c, const char *name, struct aws_credentials *ret,
                       struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		struct chain outer = *c;
		const char *why_not = "not there";

		if (strcmp(sources[i].name, name) != 0)
			continue;
		outer.use_env = true;
		if (sources[i].provide(&outer, ret, &why_not, err) != 0)
			return err_wrap(err, "credential_source %s", name);
		if (ret->access_key_id == NULL)
			return err_set(err, ERR_DENIED,
			               "credential_source %s has no credentials (%s)", name,
			               why_not);
		return 0;
	}
	err_set(err, ERR_FORMAT, "profile '%s': '%.60s' is not a credential source", c->profile,
	        name);
	return err_hint(err, "write Environment, Ec2InstanceMetadata or EcsContainer");
}

static int base_credentials(struct chain *c, struct aws_credentials *ret, struct err *err)
{
	const char *source = aws_section_get(c->section, "source_profile");
	const char *named = aws_section_get(c->section, "credential_source");

	if ((source != NULL) == (named != NULL)) {
		err_set(err, ERR_FORMAT, "profile '%s' has role_arn and %s", c->profile,
		        source != NULL ? "both source_profile and credential_source"
		                       : "neither source_profile nor credential_source");
		return err_hint(err, "set exactly one of the two: it names the credentials that "
		                     "assume the role");
	}
	if (c->n_visited == CHAIN_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "more than %d source profiles in a row",
		               (int)CHAIN_DEPTH_MAX);
	c->visited[c->n_visited++] = c->profile;
	return source != NULL ? from_profile(c, source, ret, err) : from_source(c, named, ret, err);
}

static int ask_mfa(struct chain *c, const char *serial, char **ret_code, struct err *err)
{
	AUTO(arena) struct arena a = {0};

	if (c->outside->prompt != NULL)
		return c->outside->prompt(c->outside,
		                          arena_printf(&a, "MFA code for %.200s: ", serial),
		                          ret_code, err);
	err_set(err, ERR_DENIED, "cannot ask for the MFA code of profile '%s': no terminal",
	        c->profile);
	return err_hint(err, "use a profile without mfa_serial here, or pass the credentials of a "
	                     "session: `aws configure export-credentials --format env`");
}

static int assume(struct chain *c, const struct aws_credentials *base, struct aws_credentials *ret,
                  struct err *err)
{
	const char *serial = aws_section_get(c->section, "mfa_serial");
	char *code = NULL;
	const struct sts_role role = {.arn = aws_section_get(c->section, "role_arn"),
	                              .session_name =
	                                      aws_section_get(c->section, "role_session_name"),
	                              .external_id = aws_section_get(c->section, "external_id"),
	                              .duration_s = session_seconds(c)};
	struct sts_role with_code = role;

	if (serial != NULL && ask_mfa(c, serial, &code, err) != 0)
		return -1;
	with_code.mfa_serial = serial;
	with_code.mfa_code = code;
	int status = sts_assume_role(c->client, c->region, base, &with_code, ret, err);

	if (code != NULL)
		OPENSSL_cleanse(code, strlen(code));
	free(code);
	if (status != 0)
		return err_wrap(err, "role '%.200s' of profile '%s'", role.arn, c->profile);
	ret->provider = "assume-role";
	return 0;
}

int provide_assume_role(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                        struct err *err)
{
	AUTO(aws_credentials) struct aws_credentials base = {0};

	if (!has_role(c->section)) {
		*ret_why_not = arena_printf(c->arena, "profile '%s' has no role_arn", c->profile);
		return 0;
	}
	if (base_credentials(c, &base, err) != 0)
		return -1;
	return assume(c, &base, ret, err);
}
