/*
 * The AWS configuration files against the AWS CLI: tests/golden/aws-config/cases.json holds files and
 * what the CLI makes of them (tests/servers/aws-judge asked it; the version is in `measured`). Where
 * slipway refuses what the CLI takes, the case says why in `differs`.
 */
#include <openssl/evp.h>

#include "base/net/url.h"
#include "builder/aws/session.h"
#include "tests/unit/aws_fake.h"

/* What slipway asked of others, in the judge's form. */
struct aws_asked {
	cJSON *argv, *roles;
	char token[256]; /* the SSO token file that was read */
	char portal[512];
};

struct aws_case {
	struct aws_fake fake;
	struct aws_asked asked;
};

static int note_program(const struct aws_outside *o, const char *const argv[], int timeout_ms,
                        struct proc_result *r, struct err *err)
{
	struct aws_case *c = o->ctx;
	cJSON *words = cJSON_CreateArray();

	(void)timeout_ms;
	if (argv[0][0] == '\0') {
		cJSON_Delete(words);
		return err_set(err, ERR_NOT_FOUND, "there is no program");
	}
	for (size_t i = 0; argv[i] != NULL; i++)
		cJSON_AddItemToArray(words, cJSON_CreateString(argv[i]));
	cJSON_AddItemToArray(c->asked.argv, words);
	strbuf_adds(&r->out,
	            "{\"Version\":1,\"AccessKeyId\":\"PROCESS\",\"SecretAccessKey\":\"s\"}");
	return 0;
}

/* There is a token for whoever is asked for. */
static int note_file(const struct aws_outside *o, const char *path, size_t max, struct strbuf *sb,
                     struct err *err)
{
	struct aws_case *c = o->ctx;

	if (strstr(path, "/sso/cache/") == NULL)
		return aws_fake_read(o, path, max, sb, err);
	snprintf(c->asked.token, sizeof(c->asked.token), "%s", strrchr(path, '/') + 1);
	strbuf_adds(sb, "{\"accessToken\":\"t\",\"expiresAt\":\"2099-01-01T00:00:00Z\"}");
	return 0;
}

/* NAME=VALUE of a form, decoded; "" when it is not there. */
static void form_value(const char *body, const char *name, char *out, size_t cap)
{
	char key[64];
	size_t n = 0;

	snprintf(key, sizeof(key), "&%s=", name);
	const char *at = strstr(body, key);

	for (at = at != NULL ? at + strlen(key) : ""; *at != '\0' && *at != '&' && n + 1 < cap;
	     at++) {
		unsigned byte = 0;

		if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1) {
			out[n++] = (char)byte;
			at += 2;
		} else {
			out[n++] = *at;
		}
	}
	out[n] = '\0';
}

static void note_role(struct aws_case *c)
{
	static const char *const names[] = {"RoleArn", "ExternalId", "RoleSessionName",
	                                    "DurationSeconds", "SerialNumber"};
	cJSON *role = cJSON_CreateObject();
	const char *id = strstr(c->fake.last_auth, "Credential=");
	char value[256];

	id = id != NULL ? id + strlen("Credential=") : "";
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(id, "/"), id);
	json_add_string(role, "by", value);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		form_value(c->fake.last_body, names[i], value, sizeof(value));
		/* The name that a program gives itself is none of the files'. */
		if (value[0] != '\0' && strncmp(value, "slipway", 7) != 0)
			json_add_string(role, names[i], value);
	}
	cJSON_AddItemToArray(c->asked.roles, role);
}

static int note_request(struct http_transport *t, const struct http_request *req,
                        struct http_response *resp, struct err *err)
{
	struct aws_case *c =
		(struct aws_case *)((char *)t - offsetof(struct aws_case, fake.transport));
	bool portal = strstr(req->url, "portal.sso.") != NULL;
	static const char keys[] = "{\"roleCredentials\":{\"accessKeyId\":\"SSO\","
	                           "\"secretAccessKey\":\"s\",\"sessionToken\":\"t\","
				   "\"expiration\":4070908800000}}";
	static const char role[] =
		"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ROLE</AccessKeyId>"
		"<SecretAccessKey>s</SecretAccessKey><SessionToken>t</"
	        "SessionToken><Expiration>2099-01-01T00:00:00Z"
		"</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>";
	const struct aws_reply reply = {.status = 200, .body = portal ? keys : role};

	if (!portal && strstr(req->url, "sts.") == NULL)
		return err_set(err, ERR_NETWORK, "no such host");
	c->fake.replies = &reply;
	c->fake.n = 1;
	c->fake.next = 0;
	int status = aws_fake_perform(t, req, resp, err);

	if (portal)
		snprintf(c->asked.portal, sizeof(c->asked.portal), "%s", req->url);
	else
		note_role(c);
	return status;
}

static void prepare(struct aws_case *c, const cJSON *one, cJSON *files)
{
	static const struct {
		const char *name, *path;
	} rows[] = {{"config", "~/.aws/config"}, {"credentials", "~/.aws/credentials"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (json_string(one, rows[i].name) != NULL)
			json_add_string(files, rows[i].path, json_string(one, rows[i].name));
	c->fake.files = files;
	c->fake.env = json_get(one, "env");
	c->fake.now_ms = 1000000000000;
	c->asked.argv = cJSON_CreateArray();
	c->asked.roles = cJSON_CreateArray();
	aws_fake_init(&c->fake);
	c->fake.transport.perform = note_request;
	c->fake.outside.run = note_program;
	c->fake.outside.read_file = note_file;
	c->fake.outside.ctx = c;
}

static size_t count_keys(const struct aws_section *s)
{
	size_t n = 0;

	for (enum aws_file_kind kind = 0; s != NULL && kind < AWS_FILE_KINDS; kind++) {
		const struct strmap *own = s->in[kind] != NULL ? &s->in[kind]->values : NULL;
		const struct strmap *all =
			s->in[kind] != NULL ? &s->ini[kind]->defaults.values : NULL;

		for (size_t i = 0; own != NULL && i < own->n; i++)
			n += kind == AWS_CREDENTIALS_FILE ||
			     aws_section_get_in(s, AWS_CREDENTIALS_FILE, own->at[i].key) == NULL;
		for (size_t i = 0; all != NULL && i < all->n; i++)
			n += strmap_get(own, all->at[i].key) == NULL &&
			     (kind == AWS_CREDENTIALS_FILE ||
			      aws_section_get_in(s, AWS_CREDENTIALS_FILE, all->at[i].key) == NULL);
	}
	return n;
}

/* The profile's values: each that the CLI has, and not one more. */
static void compare_values(const struct aws_section *s, const cJSON *want)
{
	AUTO(arena) struct arena a = {0};
	const cJSON *value = NULL, *inner = NULL;

	CHECK_INT(count_keys(s), cJSON_GetArraySize(want));
	cJSON_ArrayForEach (value, want) {
		const char *have = aws_section_get(s, value->string);

		if (cJSON_IsString(value))
			CHECK_STR(have != NULL ? have : "(none)", value->valuestring);
		cJSON_ArrayForEach (inner, value) {
			have = aws_section_nested(s, value->string, inner->string, &a);
			CHECK_STR(have != NULL ? have : "(none)", inner->valuestring);
		}
	}
}

static void compare_asked(const struct aws_case *c, const cJSON *answer)
{
	static const char *const lists[] = {"argv", "roles"};
	const cJSON *have[] = {c->asked.argv, c->asked.roles}, *sso = json_get(answer, "sso");
	char token[256], portal[512];

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const cJSON *want = json_get(answer, lists[i]);

		if (want == NULL)
			CHECK_INT(cJSON_GetArraySize(have[i]), 0);
		else
			CHECK(cJSON_Compare(have[i], want, true));
	}
	if (sso == NULL) {
		CHECK_STR(c->asked.token, "");
		return;
	}
	snprintf(token, sizeof(token), "%s.json", json_string(sso, "token"));
	snprintf(portal, sizeof(portal),
	         "https://portal.sso.%s.amazonaws.com/federation/"
	         "credentials?account_id=%s&role_name=%s",
	         json_string(sso, "region"), json_string(sso, "account"), json_string(sso, "role"));
	CHECK_STR(c->asked.token, token);
	CHECK_STR(c->asked.portal, portal);
}

static void compare_keys(const struct aws_credentials *keys, const cJSON *want)
{
	const char *token = json_string(want, "token");

	CHECK_STR(keys->provider, json_string(want, "provider"));
	if (json_string(want, "id") == NULL)
		return;
	CHECK_STR(keys->access_key_id, json_string(want, "id"));
	CHECK_STR(keys->secret_access_key, json_string(want, "secret"));
	CHECK_STR(keys->session_token != NULL ? keys->session_token : "(none)",
	          token != NULL ? token : "(none)");
}

/* Region, values and keys as the CLI has them; false when slipway refuses the files. */
static bool follow(struct aws_case *c, const cJSON *one, struct err *err)
{
	const cJSON *answer = json_get(one, "answer"), *want = json_get(answer, "keys");
	const char *region = json_string(answer, "region");
	const struct aws_settings_opts opts = {.profile = json_string(one, "profile")};
	struct aws_settings settings = {0};
	AUTO(aws_credentials) struct aws_credentials keys = {0};

	if (aws_settings_load(&c->fake.outside, &opts, &settings, err) != 0)
		return false;
	if (answer != NULL && json_get(one, "differs") == NULL) {
		compare_values(settings.section, json_get(answer, "values"));
		CHECK_STR(settings.region != NULL ? settings.region : "(none)",
		          region != NULL ? region : "(none)");
	}
	struct aws_session *s = aws_session_new(&c->fake.outside, &settings);
	bool found = aws_session_credentials(s, "us-east-1", false, &keys, err) == 0;
	bool nothing = !found && aws_session_has_nothing(s);

	if (found && cJSON_IsObject(want))
		compare_keys(&keys, want);
	if (answer != NULL && json_get(one, "differs") == NULL)
		CHECK(found == (bool)cJSON_IsObject(want));
	aws_session_free(s);
	return found || nothing;
}

static void run_case(const cJSON *one)
{
	AUTO(json) cJSON *files = cJSON_CreateObject();
	const cJSON *answer = json_get(one, "answer");
	struct aws_case c = {.asked.token = ""};
	struct err err = {0};

	prepare(&c, one, files);
	bool followed = follow(&c, one, &err);

	CHECK(followed == (answer != NULL && json_get(one, "differs") == NULL));
	if (followed && answer != NULL)
		compare_asked(&c, answer);
	if (!followed)
		CHECK(err.msg[0] != '\0');
	if (!test_state.ok)
		printf("# %s: %s\n", json_string(one, "name"), err.msg);
	cJSON_Delete(c.asked.argv);
	cJSON_Delete(c.asked.roles);
}

static void as_the_cli(void)
{
	AUTO(json) cJSON *doc = read_json("tests", "golden/aws-config/cases.json");
	const cJSON *one = NULL;
	bool all = true;

	CHECK(cJSON_GetArraySize(json_get(doc, "cases")) >= 130);
	cJSON_ArrayForEach (one, json_get(doc, "cases")) {
		test_state.ok = true;
		run_case(one);
		all = all && test_state.ok;
	}
	test_state.ok = all;
}

int main(void)
{
	TEST("aws config: 130 files are read as the AWS CLI reads them, or refused", as_the_cli);
	return test_done();
}
