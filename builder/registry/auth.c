#include "builder/registry/auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "base/net/url.h"
#include "builder/registry/challenge.h"
#include "builder/registry/errors.h"
#include "builder/registry/target.h"

enum {
	TOKEN_REPLY_MAX = 64 << 10,
	TOKEN_LIFE_DEFAULT_S = 60,
	TOKENS_MAX = 64,
	RENEW_EVERY_MS = 60000
};

struct token {
	char *scopes;
	char *header;     /* "Bearer ..." */
	int64_t renew_ms; /* after this moment a new one is fetched */
};

struct auth {
	struct auth_opts opts;
	char *host, *origin;
	/* held while a token is fetched, so that one fetch serves all who wait */
	pthread_mutex_t lock;
	struct arena arena; /* of the challenge */
	struct challenge challenge;
	bool foreign;       /* the token server is another host than the registry */
	char *extra;        /* a scope that the registry asked for besides ours, NULL if none */
	int64_t renewed_ms; /* when the provider was last asked for new credentials, 0 = never */
	bool plain;         /* the host wants Basic and does not wait to be asked */
	bool basic_good;    /* `basic` was accepted once */
	char *basic;        /* "Basic ..." */
	int64_t basic_renew_ms; /* after this moment a new one is asked for; 0 = never */
	struct token tokens[TOKENS_MAX];
	size_t n_tokens;
};

struct auth *auth_new(const struct auth_opts *opts)
{
	struct auth *a = mem_zalloc(sizeof(*a));

	a->opts = *opts;
	a->host = mem_strdup(opts->host);
	a->origin = mem_strdup(opts->origin);
	a->plain = opts->credentials != NULL && opts->credentials->is_plain != NULL &&
	           opts->credentials->is_plain(opts->credentials, opts->host);
	if (a->plain)
		a->challenge.scheme = CHALLENGE_BASIC;
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void auth_release(char *value)
{
	if (value != NULL)
		OPENSSL_cleanse(value, strlen(value));
	free(value);
}

static void forget_tokens(struct auth *a)
{
	for (size_t i = 0; i < a->n_tokens; i++) {
		free(a->tokens[i].scopes);
		auth_release(a->tokens[i].header);
	}
	a->n_tokens = 0;
}

void auth_free(struct auth *a)
{
	if (a == NULL)
		return;
	forget_tokens(a);
	auth_release(a->basic);
	free(a->extra);
	arena_done(&a->arena);
	pthread_mutex_destroy(&a->lock);
	free(a->host);
	free(a->origin);
	free(a);
}

static char *basic_header(const struct credential *c)
{
	AUTO(strbuf) struct strbuf plain = STRBUF_INIT(64 << 10);
	char *header;

	strbuf_addf(&plain, "%s:%s", c->username, c->secret != NULL ? c->secret : "");
	header = mem_zalloc(sizeof("Basic ") + (plain.len + 2) / 3 * 4 + 1);
	snprintf(header, sizeof("Basic "), "Basic ");
	EVP_EncodeBlock((unsigned char *)header + strlen(header), (const unsigned char *)plain.ptr,
	                (int)plain.len);
	OPENSSL_cleanse(plain.ptr, plain.len);
	return header;
}

static int get_credential(struct auth *a, bool renew, struct credential *c, struct err *err)
{
	*c = (struct credential){0};
	if (a->opts.credentials == NULL)
		return 0;
	return a->opts.credentials->get(a->opts.credentials, a->host, renew, c, err);
}

/*
 * The token server gets the user's secret, so it must be https, and it must not be an address
 * inside the user's network that a hostile registry points at, unless it is the registry's own
 * host.
 */
static int check_realm(const struct auth *a, struct arena *arena, bool *ret_foreign,
                       struct err *err)
{
	struct url realm, own;

	if (url_parse(a->challenge.realm, arena, &realm, err) != 0 ||
	    url_parse(a->origin, arena, &own, err) != 0)
		return err_wrap(err, "token server");
	return target_check("the registry names as its token server", &own, &realm, ret_foreign,
	                    err);
}

/* One `scope` parameter each. */
static void add_scopes(struct strbuf *sb, const char *scopes)
{
	while (*scopes != '\0') {
		size_t len = strcspn(scopes, " ");
		AUTO_FREE char *one = mem_strndup(scopes, len);

		strbuf_adds(sb, "&scope=");
		url_encode(sb, one);
		scopes += len + strspn(scopes + len, " ");
	}
}

static void get_url(const struct auth *a, const char *scopes, struct strbuf *sb)
{
	strbuf_adds(sb, a->challenge.realm);
	strbuf_adds(sb, strchr(a->challenge.realm, '?') != NULL ? "&" : "?");
	strbuf_adds(sb, "client_id=slipway");
	if (a->challenge.service != NULL) {
		strbuf_adds(sb, "&service=");
		url_encode(sb, a->challenge.service);
	}
	add_scopes(sb, scopes);
}

static int ask_get(struct auth *a, const char *scopes, const struct credential *c,
                   struct http_response *r, struct err *err)
{
	AUTO(strbuf) struct strbuf url = STRBUF_INIT(HTTP_URL_MAX);
	char *basic = c->username != NULL ? basic_header(c) : NULL;
	const struct http_header header = {"Authorization", basic};

	get_url(a, scopes, &url);
	const struct http_request request = {.method = "GET",
	                                     .url = strbuf_str(&url),
	                                     .headers = &header,
	                                     .n_headers = basic != NULL,
	                                     .foreign = a->foreign,
	                                     .response_max = TOKEN_REPLY_MAX};
	int status = http_perform(a->opts.transport, &request, r, err);

	auth_release(basic);
	return status;
}

/* An identity token is an OAuth2 refresh token: POST form. */
static int ask_post(struct auth *a, const char *scopes, const struct credential *c,
                    struct http_response *r, struct err *err)
{
	AUTO(strbuf) struct strbuf form = STRBUF_INIT(64 << 10);
	const struct http_header header = {"Content-Type", "application/x-www-form-urlencoded"};

	strbuf_adds(&form, "grant_type=refresh_token&client_id=slipway&service=");
	url_encode(&form, a->challenge.service != NULL ? a->challenge.service : "");
	strbuf_adds(&form, "&scope=");
	url_encode(&form, scopes);
	strbuf_adds(&form, "&refresh_token=");
	url_encode(&form, c->identity_token);
	const struct http_request request = {
		.method = "POST",
		.url = a->challenge.realm,
		.headers = &header,
		.n_headers = 1,
		.body = {.kind = HTTP_BODY_MEMORY, .bytes = form.ptr, .size = (int64_t)form.len},
		.foreign = a->foreign,
		.response_max = TOKEN_REPLY_MAX};
	int status = http_perform(a->opts.transport, &request, r, err);

	OPENSSL_cleanse(form.ptr, form.len);
	return status;
}

static int ask_server(struct auth *a, const char *scopes, const struct credential *c,
                      struct http_response *r, struct err *err)
{
	if (c->identity_token != NULL) {
		if (ask_post(a, scopes, c, r, err) != 0)
			return -1;
		/* Some token servers do not know the POST form. */
		if (r->status != 404 && r->status != 405)
			return 0;
		http_response_done(r);
	}
	return ask_get(a, scopes, c, r, err);
}

static int read_token(struct auth *a, const char *scopes, const struct http_response *r,
                      struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};
	int64_t life = TOKEN_LIFE_DEFAULT_S;

	if (r->body.len == 0 || json_parse("token", r->body.ptr, r->body.len, &doc, &ignored) != 0)
		return err_set(err, ERR_FORMAT, "the token server's reply is not JSON");
	const char *token = json_string(doc, "token");

	if (token == NULL)
		token = json_string(doc, "access_token");
	if (token == NULL || token[0] == '\0')
		return err_set(err, ERR_FORMAT, "the token server's reply has no token");
	for (const char *c = token; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return err_set(err, ERR_FORMAT,
			               "the token server's token has a control byte");
	if (json_size(doc, "expires_in", &life, &ignored) != 0 || life < TOKEN_LIFE_DEFAULT_S)
		life = TOKEN_LIFE_DEFAULT_S;
	struct token *t = &a->tokens[a->n_tokens++];

	t->scopes = mem_strdup(scopes);
	t->header = mem_zalloc(strlen(token) + 8);
	snprintf(t->header, strlen(token) + 8, "Bearer %s", token);
	t->renew_ms = a->opts.clock->now_ms(a->opts.clock) + (life < 86400 ? life : 86400) * 750;
	OPENSSL_cleanse((char *)token, strlen(token));
	return 0;
}

static int fetch_token(struct auth *a, const char *scopes, struct err *err)
{
	AUTO(credential) struct credential c = {0};
	AUTO(http_response) struct http_response r = {0};
	AUTO(arena) struct arena arena = {0};

	if (check_realm(a, &arena, &a->foreign, err) != 0 || get_credential(a, false, &c, err) != 0)
		return -1;
	if (a->n_tokens == TOKENS_MAX)
		forget_tokens(a);
	if (c.registry_token != NULL) {
		struct token *t = &a->tokens[a->n_tokens++];

		*t = (struct token){.scopes = mem_strdup(scopes), .renew_ms = INT64_MAX};
		t->header = mem_zalloc(strlen(c.registry_token) + 8);
		snprintf(t->header, strlen(c.registry_token) + 8, "Bearer %s", c.registry_token);
		return 0;
	}
	if (ask_server(a, scopes, &c, &r, err) != 0)
		return err_wrap(err, "token server");
	if (r.status != 200) {
		registry_error(&r, err);
		return err_wrap(err, "token server%s",
		                c.username == NULL && c.identity_token == NULL
		                        ? " (no credentials found)"
		                        : "");
	}
	int status = read_token(a, scopes, &r, err);

	if (r.body.ptr != NULL)
		OPENSSL_cleanse(r.body.ptr, r.body.len);
	return status;
}

static struct token *find_token(struct auth *a, const char *scopes)
{
	int64_t now = a->opts.clock->now_ms(a->opts.clock);

	for (size_t i = 0; i < a->n_tokens; i++)
		if (strcmp(a->tokens[i].scopes, scopes) == 0) {
			if (a->tokens[i].renew_ms > now)
				return &a->tokens[i];
			free(a->tokens[i].scopes);
			auth_release(a->tokens[i].header);
			a->tokens[i] = a->tokens[--a->n_tokens];
			return NULL;
		}
	return NULL;
}

/* True when the space separated list has this very scope. */
static bool has_scope(const char *scopes, const char *scope)
{
	size_t len = strlen(scope);

	for (const char *at = strstr(scopes, scope); at != NULL; at = strstr(at + 1, scope))
		if ((at == scopes || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

static int bearer(struct auth *a, const char *scopes, char **ret_value, struct err *err)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(HTTP_URL_MAX);

	if (a->extra != NULL && !has_scope(scopes, a->extra)) {
		strbuf_addf(&all, "%s %s", a->extra, scopes);
		scopes = strbuf_str(&all);
	}
	struct token *t = find_token(a, scopes);

	if (t == NULL && fetch_token(a, scopes, err) != 0)
		return -1;
	if (t == NULL)
		t = &a->tokens[a->n_tokens - 1];
	*ret_value = mem_strdup(t->header);
	return 0;
}

static int basic(struct auth *a, char **ret_value, struct err *err)
{
	AUTO(credential) struct credential c = {0};
	bool old =
		a->basic_renew_ms != 0 && a->opts.clock->now_ms(a->opts.clock) >= a->basic_renew_ms;

	if (a->basic == NULL || old) {
		if (get_credential(a, false, &c, err) != 0)
			return -1;
		if (c.username == NULL) {
			err_set(err, ERR_DENIED, "no credentials for '%s' were found", a->host);
			return err_hint(
				err,
				"log in: `docker login %s`, or --username with --password-stdin",
				a->host);
		}
		auth_release(a->basic);
		a->basic = basic_header(&c);
		a->basic_renew_ms = c.renew_ms;
	}
	*ret_value = mem_strdup(a->basic);
	return 0;
}

int auth_header(struct auth *a, const char *scopes, char **ret_value, struct err *err)
{
	int status = 0;

	*ret_value = NULL;
	pthread_mutex_lock(&a->lock);
	if (a->challenge.scheme == CHALLENGE_BEARER)
		status = bearer(a, scopes, ret_value, err);
	else if (a->challenge.scheme == CHALLENGE_BASIC)
		status = basic(a, ret_value, err);
	pthread_mutex_unlock(&a->lock);
	return status;
}

/* Forgets a token that was refused, unless another thread replaced it meanwhile. */
static void forget(struct auth *a, const char *used)
{
	for (size_t i = 0; i < a->n_tokens; i++)
		if (strcmp(a->tokens[i].header, used) == 0) {
			free(a->tokens[i].scopes);
			auth_release(a->tokens[i].header);
			a->tokens[i--] = a->tokens[--a->n_tokens];
		}
}

/*
 * A password was refused: the provider may have a newer one (ECR's last twelve hours). The same one
 * again is worth another request (`again`) only if it has been good before and is asked for, and
 * the provider is not asked for every refused request of a push.
 */
static int renew_basic(struct auth *a, const char *used, bool again, bool *ret_retry,
                       struct err *err)
{
	AUTO(credential) struct credential c = {0};
	int64_t now = a->opts.clock->now_ms(a->opts.clock);

	*ret_retry = again || (a->basic != NULL && strcmp(a->basic, used) != 0);
	if ((a->basic != NULL && strcmp(a->basic, used) != 0) ||
	    (a->renewed_ms != 0 && now - a->renewed_ms < RENEW_EVERY_MS))
		return 0;
	a->renewed_ms = now;
	if (get_credential(a, true, &c, err) != 0)
		return -1;
	char *basic = c.username != NULL ? basic_header(&c) : NULL;

	bool other = basic != NULL && strcmp(basic, used) != 0;

	auth_release(other ? a->basic : basic);
	if (other) {
		a->basic = basic;
		a->basic_renew_ms = c.renew_ms;
	}
	*ret_retry = other || again;
	return 0;
}

static int learn(struct auth *a, const char *text, bool used_token, struct err *err)
{
	struct arena arena = {0};
	struct challenge c;

	if (challenge_parse(text, &arena, &c, err) != 0) {
		arena_done(&arena);
		return -1;
	}
	if (c.scheme == CHALLENGE_NONE) {
		arena_done(&arena);
		return 0;
	}
	/* A token of ours did not do: what the registry asks for goes first. */
	if (used_token && c.scope != NULL && c.scope[0] != '\0') {
		free(a->extra);
		a->extra = mem_strdup(c.scope);
	}
	arena_done(&a->arena);
	a->arena = arena;
	a->challenge = c;
	return 0;
}

bool auth_is_plain(const struct auth *a)
{
	return a->plain;
}

void auth_accepted(struct auth *a, const char *used)
{
	pthread_mutex_lock(&a->lock);
	if (a->basic != NULL && strcmp(a->basic, used) == 0)
		a->basic_good = true;
	pthread_mutex_unlock(&a->lock);
}

int auth_challenged(struct auth *a, const char *challenge, const char *used, bool *ret_retry,
                    struct err *err)
{
	bool basic = used != NULL && strncmp(used, "Basic ", 6) == 0;
	int status = 0;

	pthread_mutex_lock(&a->lock);
	if (used != NULL && !basic)
		forget(a, used);
	if (challenge != NULL)
		status = learn(a, challenge, used != NULL && !basic, err);
	*ret_retry = a->challenge.scheme != CHALLENGE_NONE;
	if (status == 0 && basic && a->challenge.scheme == CHALLENGE_BASIC)
		status = renew_basic(a, used, a->basic_good && challenge != NULL, ret_retry, err);
	pthread_mutex_unlock(&a->lock);
	return status;
}
