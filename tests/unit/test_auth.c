#include "builder/registry/auth.h"

#include "base/interrupt.h"
#include "tests/harness.h"
#include "tests/unit/fake_transport.h"

#define REALM "Bearer realm=\"https://auth.example/token\",service=\"r.example\""

/* A provider that hands out one password after the other. */
struct passwords {
	struct credential_provider provider;
	const char *const *list;
	unsigned n, asked, renewed;
	const char *identity, *token;
};

static int next_password(struct credential_provider *p, const char *host, bool renew,
                         struct credential *ret, struct err *err UNUSED)
{
	struct passwords *w = (struct passwords *)p;

	CHECK_STR(host, "r.example");
	w->renewed += renew;
	*ret = (struct credential){0};
	if (w->identity != NULL)
		ret->identity_token = mem_strdup(w->identity);
	if (w->token != NULL)
		ret->registry_token = mem_strdup(w->token);
	if (w->n > 0) {
		ret->username = mem_strdup("u");
		ret->secret = mem_strdup(w->list[w->asked < w->n ? w->asked : w->n - 1]);
	}
	w->asked++;
	return 0;
}

struct scene {
	struct fake fake;
	struct passwords passwords;
	struct auth *auth;
	struct err err;
	char *value;
	bool retry;
};

static void scene_start(struct scene *s, bool insecure, const struct fake_step *steps, size_t n)
{
	*s = (struct scene){.passwords.provider.get = next_password};
	fake_init(&s->fake, steps, n);
	s->auth = auth_new(&(struct auth_opts){.host = "r.example",
	                                       .origin = insecure ? "http://r.example" : "https://r.example",
	                                       .transport = &s->fake.transport,
	                                       .credentials = &s->passwords.provider,
	                                       .clock = &s->fake.clock});
}

static void scene_done(struct scene *s)
{
	auth_release(s->value);
	auth_free(s->auth);
	fake_done(&s->fake);
}

#define SCENE(insecure, ...)                                     \
	AUTO(scene) struct scene s;                              \
	static const struct fake_step steps[] = {__VA_ARGS__};   \
	scene_start(&s, insecure, steps, ARRAY_LEN(steps))

static int header(struct scene *s, const char *scopes)
{
	auth_release(s->value);
	s->value = NULL;
	return auth_header(s->auth, scopes, &s->value, &s->err);
}

static int challenged(struct scene *s, const char *challenge)
{
	return auth_challenged(s->auth, challenge, s->value, &s->retry, &s->err);
}

static const char *const one[] = {"p"};
static const char *const two[] = {"old", "new"};

static void basic_credentials(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, false, NULL, 0);
	s.passwords.list = one;
	s.passwords.n = 1;
	CHECK_OK(header(&s, "x"), &s.err);
	CHECK(s.value == NULL);
	CHECK_OK(challenged(&s, "Basic realm=\"x\""), &s.err);
	CHECK(s.retry);
	CHECK_OK(header(&s, "x"), &s.err);
	CHECK_STR(s.value, "Basic dTpw");
	/* The same password again is not worth another request. */
	CHECK_OK(challenged(&s, "Basic realm=\"x\""), &s.err);
	CHECK(!s.retry);
	CHECK_INT(s.passwords.renewed, 1);
}

static void basic_that_was_good(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, false, NULL, 0);
	s.passwords.list = one;
	s.passwords.n = 1;
	CHECK_OK(challenged(&s, "Basic realm=\"x\""), &s.err);
	CHECK_OK(header(&s, "x"), &s.err);
	auth_accepted(s.auth, s.value);
	CHECK_OK(challenged(&s, "Basic realm=\"x\""), &s.err);
	CHECK(s.retry);
	/* A 403 that asks for nothing. */
	CHECK_OK(challenged(&s, NULL), &s.err);
	CHECK(!s.retry);
}

static void basic_is_renewed(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, false, NULL, 0);
	s.passwords.list = two;
	s.passwords.n = 2;
	CHECK_OK(challenged(&s, "Basic realm=\"x\""), &s.err);
	CHECK_OK(header(&s, "x"), &s.err);
	CHECK_STR(s.value, "Basic dTpvbGQ=");
	CHECK_OK(challenged(&s, NULL), &s.err);
	CHECK(s.retry);
	/* Another thread that was refused with the old one gets the new one without asking. */
	CHECK_OK(challenged(&s, NULL), &s.err);
	CHECK(s.retry);
	CHECK_INT(s.passwords.renewed, 1);
	CHECK_OK(header(&s, "x"), &s.err);
	CHECK_STR(s.value, "Basic dTpuZXc=");
}

static void nobody_is_logged_in(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, false, NULL, 0);
	CHECK_OK(challenged(&s, "Basic realm=\"x\""), &s.err);
	CHECK(header(&s, "x") != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK(strstr(s.err.hint, "docker login r.example") != NULL);
}

static void bearer_tokens(void)
{
	SCENE(false,
	      {"GET https://auth.example/token?client_id=slipway&service=r.example"
	       "&scope=repository%3Aa%3Apull%2Cpush&scope=repository%3Ab%3Apull\nAuthorization: Basic dTpw",
	       200, .body = "{\"token\":\"t1\",\"expires_in\":100}"},
	      {"GET https://auth.example/token?client_id=slipway&service=r.example&scope=repository%3Aa%3Apull"
	       "\nAuthorization: Basic dTpw",
	       200, .body = "{\"access_token\":\"t2\",\"expires_in\":300}"},
	      {"GET https://auth.example/token?client_id=slipway&service=r.example"
	       "&scope=repository%3Aa%3Apull%2Cpush&scope=repository%3Ab%3Apull\nAuthorization: Basic dTpw",
	       200, .body = "{\"token\":\"t3\"}"});

	s.passwords.list = one;
	s.passwords.n = 1;
	CHECK_OK(challenged(&s, REALM), &s.err);
	for (int i = 0; i < 3; i++) {
		CHECK_OK(header(&s, "repository:a:pull,push repository:b:pull"), &s.err);
		CHECK_STR(s.value, "Bearer t1");
	}
	CHECK_OK(header(&s, "repository:a:pull"), &s.err);
	CHECK_STR(s.value, "Bearer t2");
	/* Three quarters of 100 s are over for the first, not of 300 s. */
	s.fake.now += 76000;
	CHECK_OK(header(&s, "repository:a:pull,push repository:b:pull"), &s.err);
	CHECK_STR(s.value, "Bearer t3");
	CHECK_OK(header(&s, "repository:a:pull"), &s.err);
	CHECK_STR(s.value, "Bearer t2");
}

static void refused_tokens(void)
{
	SCENE(false,
	      {"GET https://auth.example/token?client_id=slipway&service=r.example&scope=repository%3Aa%3Apull",
	       200, .body = "{\"token\":\"t1\"}"},
	      {"GET https://auth.example/token?client_id=slipway&service=r.example"
	       "&scope=repository%3Aa%3Ametadata_read&scope=repository%3Aa%3Apull",
	       200, .body = "{\"token\":\"t2\"}"});

	CHECK_OK(challenged(&s, REALM ",scope=\"repository:a:pull\""), &s.err);
	CHECK_OK(header(&s, "repository:a:pull"), &s.err);
	CHECK_STR(s.value, "Bearer t1");
	CHECK_OK(challenged(&s, REALM ",scope=\"repository:a:metadata_read\",error=\"insufficient_scope\""), &s.err);
	CHECK(s.retry);
	CHECK_OK(header(&s, "repository:a:pull"), &s.err);
	CHECK_STR(s.value, "Bearer t2");
}

static void identity_tokens(void)
{
	SCENE(false,
	      {"POST https://auth.example/token\nContent-Type: application/x-www-form-urlencoded\n\n"
	       "grant_type=refresh_token&client_id=slipway&service=r.example"
	       "&scope=repository%3Aa%3Apull%20repository%3Ab%3Apull&refresh_token=id%2F1",
	       200, .body = "{\"access_token\":\"t1\"}"},
	      {"POST https://auth.example/token\nContent-Type: application/x-www-form-urlencoded\n\n"
	       "grant_type=refresh_token&client_id=slipway&service=r.example"
	       "&scope=other&refresh_token=id%2F1",
	       .status = 404},
	      {"GET https://auth.example/token?client_id=slipway&service=r.example&scope=other", 200,
	       .body = "{\"token\":\"t2\"}"});

	s.passwords.identity = "id/1";
	CHECK_OK(challenged(&s, REALM), &s.err);
	CHECK_OK(header(&s, "repository:a:pull repository:b:pull"), &s.err);
	CHECK_STR(s.value, "Bearer t1");
	CHECK_OK(header(&s, "other"), &s.err);
	CHECK_STR(s.value, "Bearer t2");
}

static void registry_tokens(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s, false, NULL, 0);
	s.passwords.token = "ready";
	CHECK_OK(challenged(&s, REALM), &s.err);
	/* More scopes than are kept at a time. */
	for (int i = 0; i < 200; i++) {
		char scope[32];

		snprintf(scope, sizeof(scope), "repository:a%d:pull", i);
		CHECK_OK(header(&s, scope), &s.err);
		CHECK_STR(s.value, "Bearer ready");
	}
}

static void bad_realms(void)
{
	static const struct {
		const char *realm;
		bool insecure;
	} rows[] = {
		{"http://auth.example/token", false}, {"http://auth.example/token", true},
		{"https://127.0.0.1/token", false},   {"https://169.254.169.254/token", true},
		{"https://[::1]/token", false},       {"https://localhost/token", false},
		{"http://r.example/token", false},    {"ftp://r.example/", false},
		{"https://u:hush@r.example/", false}, {"/token", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(scene) struct scene s;
		char challenge[128];

		scene_start(&s, rows[i].insecure, NULL, 0);
		s.passwords.list = one;
		s.passwords.n = 1;
		snprintf(challenge, sizeof(challenge), "Bearer realm=\"%s\"", rows[i].realm);
		CHECK_OK(challenged(&s, challenge), &s.err);
		CHECK(header(&s, "x") != 0);
		CHECK_INT(s.passwords.asked, 0);
		CHECK(strstr(s.err.msg, "hush") == NULL);
	}
}

static void realm_of_an_insecure_host(void)
{
	SCENE(true, {"GET http://r.example:5001/token?a=b&client_id=slipway&scope=x\nAuthorization: Basic dTpw", 200,
	             .body = "{\"token\":\"t1\"}"});

	s.passwords.list = one;
	s.passwords.n = 1;
	CHECK_OK(challenged(&s, "Bearer realm=\"http://r.example:5001/token?a=b\""), &s.err);
	CHECK_OK(header(&s, "x"), &s.err);
	CHECK_STR(s.value, "Bearer t1");
}

static void bad_replies(void)
{
	static const struct {
		int status;
		const char *body;
		enum err_code code;
	} rows[] = {
		{200, NULL, ERR_FORMAT},
		{200, "<html>", ERR_FORMAT},
		{200, "{}", ERR_FORMAT},
		{200, "{\"token\":\"\"}", ERR_FORMAT},
		{200, "{\"token\":7}", ERR_FORMAT},
		{200, "{\"token\":\"a\\r\\nHost: evil\"}", ERR_FORMAT},
		{401, "{\"errors\":[{\"code\":\"UNAUTHORIZED\"}]}", ERR_DENIED},
		{403, NULL, ERR_DENIED},
		{503, NULL, ERR_NETWORK},
		{0, NULL, ERR_NETWORK},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(scene) struct scene s;
		const struct fake_step step = {
			"GET https://auth.example/token?client_id=slipway&service=r.example&scope=x"
			"\nAuthorization: Basic dTpzM2NyM3Q=",
			rows[i].status, .body = rows[i].body};
		static const char *const secret[] = {"s3cr3t"};

		scene_start(&s, false, &step, 1);
		s.passwords.list = secret;
		s.passwords.n = 1;
		CHECK_OK(challenged(&s, REALM), &s.err);
		CHECK(header(&s, "x") != 0);
		CHECK_INT(s.err.code, rows[i].code);
		CHECK(strstr(s.err.msg, "s3cr3t") == NULL && strstr(s.err.msg, "dTpz") == NULL);
	}
}

int main(void)
{
	TEST("auth: Basic credentials go out once asked for", basic_credentials);
	TEST("auth: a password that was good is tried again after a 401", basic_that_was_good);
	TEST("auth: a refused password is renewed once", basic_is_renewed);
	TEST("auth: without credentials the way to log in is named", nobody_is_logged_in);
	TEST("auth: tokens are kept per scope set until three quarters of their life", bearer_tokens);
	TEST("auth: a refused token is fetched again with the scope that was asked for", refused_tokens);
	TEST("auth: an identity token is posted, with GET where the server knows no POST", identity_tokens);
	TEST("auth: a registry token is used as it is", registry_tokens);
	TEST("auth: a realm without TLS or at a private address gets no credentials", bad_realms);
	TEST("auth: an insecure host's own token server may be http", realm_of_an_insecure_host);
	TEST("auth: bad replies of a token server are errors without secrets", bad_replies);
	return test_done();
}
