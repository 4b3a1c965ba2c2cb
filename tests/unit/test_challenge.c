#include "builder/registry/challenge.h"
#include "tests/harness.h"

static const struct {
	const char *value;
	enum challenge_scheme scheme;
	const char *realm, *service, *scope, *error;
} rows[] = {
	{"Basic realm=\"x\"", CHALLENGE_BASIC, "x", NULL, NULL, NULL},
	{"basic", CHALLENGE_BASIC, NULL, NULL, NULL, NULL},
	{"Bearer realm=\"https://auth.docker.io/token\",service=\"registry.docker.io\","
	 "scope=\"repository:library/debian:pull,push\"",
	 CHALLENGE_BEARER, "https://auth.docker.io/token", "registry.docker.io",
	 "repository:library/debian:pull,push", NULL},
	{"bearer Realm = \"https://a/\" , Error=insufficient_scope", CHALLENGE_BEARER, "https://a/", NULL, NULL,
	 "insufficient_scope"},
	{"Negotiate, Bearer realm=\"https://a/\"", CHALLENGE_BEARER, "https://a/", NULL, NULL, NULL},
	{"Negotiate abc==, Basic realm=x", CHALLENGE_BASIC, "x", NULL, NULL, NULL},
	{"Digest realm=\"d\", nonce=\"n,m\", Basic realm=\"b\"", CHALLENGE_BASIC, "b", NULL, NULL, NULL},
	{"Basic realm=\"b\", Bearer realm=\"https://a/\"", CHALLENGE_BASIC, "b", NULL, NULL, NULL},
	{"Bearer realm=\"https://a/?x=\\\"q\\\"\",scope=\"a, b\"", CHALLENGE_BEARER, "https://a/?x=\"q\"", NULL,
	 "a, b", NULL},
	{"Bearer realm=\"https://a/\",realm=\"https://b/\"", CHALLENGE_BEARER, "https://a/", NULL, NULL, NULL},
	{"Bearer realm=\"https://unterminated/", CHALLENGE_BEARER, "https://unterminated/", NULL, NULL, NULL},
	{"", CHALLENGE_NONE, NULL, NULL, NULL, NULL},
	{",, ,", CHALLENGE_NONE, NULL, NULL, NULL, NULL},
	{"\"\"", CHALLENGE_NONE, NULL, NULL, NULL, NULL},
	{"Negotiate", CHALLENGE_NONE, NULL, NULL, NULL, NULL},
};

static void same(const char *got, const char *want)
{
	if (got != NULL || want != NULL)
		CHECK_STR(got, want);
}

static void parses(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct challenge c;
		struct err err = {0};

		CHECK_OK(challenge_parse(rows[i].value, &a, &c, &err), &err);
		if (c.scheme != rows[i].scheme)
			printf("# row %zu\n", i);
		CHECK_INT(c.scheme, rows[i].scheme);
		same(c.realm, rows[i].realm);
		same(c.service, rows[i].service);
		same(c.scope, rows[i].scope);
		same(c.error, rows[i].error);
	}
}

static void needs_a_realm(void)
{
	AUTO(arena) struct arena a = {0};
	struct challenge c;
	struct err err = {0};

	CHECK(challenge_parse("Bearer service=\"x\"", &a, &c, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
}

int main(void)
{
	TEST("challenge: the first Basic or Bearer of several is read", parses);
	TEST("challenge: Bearer without a realm is refused", needs_a_realm);
	return test_done();
}
