#include "builder/aws/chain.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/timestamp.h"

/* The AWS CLI's order. The files of boto 2 and AWS_CREDENTIAL_FILE, which it still reads between
 * the last two profile providers and the container, are left out: nobody has written them for ten
 * years. */
static const struct {
	const char *name;
	provide_fn provide;
	bool outer_only; /* not for source profiles */
	bool of_profile; /* the profile alone configures it: one phrase speaks for all of these */
} providers[] = {
	{"environment", provide_environment, true, false},
	{"assume-role", provide_assume_role, true, true},
	{"web-identity", provide_web_identity, false, false},
	{"sso", provide_sso, false, true},
	{"credentials-file", provide_credentials_file, false, true},
	{"login", provide_login, false, true},
	{"process", provide_process, false, true},
	{"config-file", provide_config_file, false, true},
	{"container", provide_container, true, false},
	{"imds", provide_imds, true, false},
};

static void add_trace(struct aws_trace *t, const char *provider, const char *why_not)
{
	if (t == NULL || t->n == AWS_TRACE_MAX)
		return;
	t->at[t->n].provider = provider;
	t->at[t->n++].why_not = arena_strdup(&t->arena, why_not);
}

static int nothing_found(const struct chain *c, const struct strbuf *reasons, struct err *err)
{
	if (c->inner)
		return err_set(err, ERR_DENIED, "the profile '%s' has no credentials", c->profile);
	err_set(err, ERR_DENIED,
	        "no AWS credentials were found (%s; profile '%s': no keys, role, SSO, login or "
	        "process in %s or %s)",
	        strbuf_str(reasons), c->profile, c->settings->config_path,
	        c->settings->credentials_path);
	return err_hint(err,
	                "run `aws sso login` or `aws configure`, set AWS_PROFILE, or give the job "
	                "a role; `slipway doctor` shows each place that was tried");
}

int chain_walk(struct chain *c, struct aws_trace *trace, struct aws_credentials *ret,
               struct err *err)
{
	AUTO(strbuf) struct strbuf reasons = STRBUF_INIT(4096);

	for (size_t i = 0; i < ARRAY_LEN(providers); i++) {
		const char *why_not = "not configured";

		if (c->inner && providers[i].outer_only)
			continue;
		*ret = (struct aws_credentials){0};
		if (providers[i].provide(c, ret, &why_not, err) != 0) {
			add_trace(trace, providers[i].name, err->msg);
			return err_wrap(err, "AWS credentials from %s", providers[i].name);
		}
		if (ret->access_key_id != NULL) {
			ret->provider = providers[i].name;
			add_trace(trace, providers[i].name, NULL);
			return 0;
		}
		add_trace(trace, providers[i].name, why_not);
		if (!providers[i].of_profile)
			strbuf_addf(&reasons, "%s%s: %s", reasons.len > 0 ? "; " : "",
			            providers[i].name, why_not);
	}
	if (trace != NULL)
		trace->nothing = true;
	return nothing_found(c, &reasons, err);
}

const char *chain_setting(const struct chain *c, const char *variable, const char *key)
{
	const char *value = c->use_env ? aws_env(c->outside, variable) : NULL;

	if (value == NULL)
		value = aws_section_get(c->section, key);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *chain_option(const struct chain *c, const char *variable, const char *key)
{
	const char *value = aws_env(c->outside, variable);

	if (value == NULL)
		value = aws_section_get(c->section, key);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *chain_path(const struct chain *c, const char *path)
{
	return aws_expand_path(c->outside, path, c->arena);
}

/* ---- keys ---- */

/* Keys travel in headers: a line break in one would be a header of its own. */
static bool is_clean(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

static int check_key(const char *what, const char *text, struct err *err)
{
	if (text == NULL || text[0] == '\0')
		return err_set(err, ERR_FORMAT, "%s is missing", what);
	if (!is_clean(text)) {
		err_set(err, ERR_FORMAT, "%s contains white space or control bytes", what);
		return err_hint(err, "was it cut or wrapped when it was copied?");
	}
	return 0;
}

int credentials_from_text(const char *id, const char *secret, const char *token,
                          const char *provider, struct aws_credentials *ret, struct err *err)
{
	if (check_key("the access key id", id, err) != 0 ||
	    check_key("the secret access key", secret, err) != 0 ||
	    (token != NULL && check_key("the session token", token, err) != 0))
		return -1;
	*ret = (struct aws_credentials){.access_key_id = mem_strdup(id),
	                                .secret_access_key = mem_strdup(secret),
	                                .session_token = token != NULL ? mem_strdup(token) : NULL,
	                                .provider = provider};
	return 0;
}

static int read_expiry(const cJSON *doc, const struct credentials_form *form, const char *what,
                       int64_t *ret_ms, struct err *err)
{
	const char *text = json_string(doc, form->expires);

	*ret_ms = 0;
	if (form->expires_in_ms)
		return json_size(doc, form->expires, ret_ms, err);
	if (text != NULL && !timestamp_iso8601(text, ret_ms))
		return err_set(err, ERR_FORMAT, "%s has a malformed %s", what, form->expires);
	return 0;
}

int credentials_read(const cJSON *doc, const struct credentials_form *form, const char *what,
                     int64_t now_ms, struct aws_credentials *ret, struct err *err)
{
	const char *token = json_string(doc, form->token), *account;
	int64_t expires;

	if (read_expiry(doc, form, what, &expires, err) != 0)
		return -1;
	if (expires != 0 && expires <= now_ms) {
		char moment[TIMESTAMP_MAX];

		return err_set(err, ERR_DENIED, "%s returned credentials that expired at %s", what,
		               timestamp_extended(expires, moment));
	}
	if (credentials_from_text(json_string(doc, form->id), json_string(doc, form->secret),
	                          token != NULL && token[0] != '\0' ? token : NULL, NULL, ret,
	                          err) != 0)
		return err_wrap(err, "%s", what);
	account = form->account != NULL ? json_string(doc, form->account) : NULL;
	ret->account_id = account != NULL ? mem_strdup(account) : NULL;
	ret->expires_ms = expires;
	return 0;
}
