/*
 * The credential chain against botocore's answers and, where they are here, the cases of AWS's Rust SDK:
 * variables, files and recorded replies in, keys or a refusal out. That SDK differs from the AWS CLI here
 * and there; such cases are named below.
 */
#include "builder/aws/session.h"

#include <dirent.h>

#include "builder/aws/chain.h"
#include "tests/unit/aws_fake.h"

enum { REPLIES_MAX = 64 };

/* Cases in which the AWS CLI, which slipway follows, does otherwise. */
static const struct {
	const char *name, *why;
} other[] = {
	{"environment_variables_blank",
         "a key of one blank: the CLI takes it as a broken key, not as unset"},
	{"imds_default_chain_retries", "the CLI asks the metadata service once, not four times"},
	{"credential_process", "its command is a shell pipeline; the CLI runs it without a shell"},
	{"credential_process_account_id_fallback",
         "its command is a shell pipeline; the CLI runs it without a shell"},
	{"e2e_assume_role",
         "it tries the profile provider alone; in the CLI keys in the environment come first"},
	{"sso_token", "a bearer token for services that take one; no AWS keys come of it"},
};

static const char *why_other(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		if (strcmp(other[i].name, name) == 0)
			return other[i].why;
	return NULL;
}

/* The recorded conversation as a list of replies, in the order of the requests. */
static size_t read_traffic(const cJSON *doc, struct aws_reply *replies)
{
	const cJSON *event = NULL;
	int ids[REPLIES_MAX];
	size_t n = 0;

	cJSON_ArrayForEach (event, json_get(doc, "events")) {
		const cJSON *action = json_get(event, "action");
		const cJSON *request = json_get(json_get(action, "Request"), "request");
		const cJSON *response = json_get(json_get(action, "Response"), "response");
		const cJSON *data = json_get(action, "Data");
		int id = (int)json_get(event, "connection_id")->valuedouble;
		size_t at = 0;

		if (request != NULL) {
			ids[n] = id;
			replies[n++] = (struct aws_reply){.method = json_string(request, "method"),
			                                  .url = json_string(request, "uri")};
			continue;
		}
		while (at < n && ids[at] != id)
			at++;
		if (at == n)
			continue;
		if (json_get(response, "Ok") != NULL)
			replies[at].status =
				(int)json_get(json_get(response, "Ok"), "status")->valuedouble;
		if (data != NULL && strcmp(json_string(data, "direction"), "Response") == 0)
			replies[at].body = json_string(json_get(data, "data"), "Utf8");
	}
	return n;
}

static void compare(const cJSON *ok, const struct aws_credentials *c)
{
	const char *token = json_string(ok, "session_token"),
		   *account = json_string(ok, "account_id");
	const cJSON *expiry = json_get(ok, "expiry");

	CHECK_STR(c->access_key_id, json_string(ok, "access_key_id"));
	CHECK_STR(c->secret_access_key, json_string(ok, "secret_access_key"));
	CHECK_STR(c->session_token != NULL ? c->session_token : "none",
	          token != NULL ? token : "none");
	if (account != NULL)
		CHECK_STR(c->account_id != NULL ? c->account_id : "none", account);
	if (expiry != NULL)
		CHECK_INT(c->expires_ms / 1000, (int64_t)expiry->valuedouble);
}

static void run_case(const char *dir)
{
	AUTO(json) cJSON *test = read_json(dir, "test-case.json");
	AUTO(json) cJSON *env = read_json(dir, "env.json");
	AUTO(json) cJSON *traffic = read_json(dir, "http-traffic.json");
	AUTO(aws_credentials) struct aws_credentials c = {0};
	struct aws_settings settings = {0};
	struct aws_reply replies[REPLIES_MAX];
	char root[PATH_MAX];
	const cJSON *ok = json_get(json_get(test, "result"), "Ok");
	struct err err = {0};

	snprintf(root, sizeof(root), "%.3000s/fs", dir);
	struct aws_fake f = {.env = env,
	                     .root = root,
	                     .replies = replies,
	                     .n = read_traffic(traffic, replies),
	                     .now_ms = 1000000000000};

	aws_fake_init(&f);
	if (aws_settings_load(&f.outside, &(struct aws_settings_opts){0}, &settings, &err) != 0) {
		CHECK(ok == NULL);
		return;
	}
	struct aws_session *s = aws_session_new(&f.outside, &settings);
	int status = aws_session_credentials(s, NULL, false, &c, &err);

	CHECK((status == 0) == (ok != NULL));
	if (status == 0 && ok != NULL) {
		compare(ok, &c);
		CHECK_INT(f.next, f.n);
	}
	if (status != 0)
		CHECK(err.code != ERR_NONE && err.msg[0] != '\0');
	if (!test_state.ok)
		printf("# %s\n", err.msg);
	aws_session_free(s);
}

static void run_folder(const char *dir, int want)
{
	char sub[PATH_MAX];
	int n = 0;
	DIR *d = opendir(dir);
	struct dirent *entry;
	bool all = d != NULL;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		n++;
		if (why_other(entry->d_name) != NULL) {
			printf("# %s: not as the AWS CLI: %s\n", entry->d_name,
			       why_other(entry->d_name));
			continue;
		}
		snprintf(sub, sizeof(sub), "%.3000s/%s", dir, entry->d_name);
		test_state.ok = true;
		run_case(sub);
		if (!test_state.ok)
			printf("# in %s\n", entry->d_name);
		all = all && test_state.ok;
	}
	if (d != NULL)
		closedir(d);
	test_state.ok = all;
	CHECK_INT(n, want);
}

/* Both sets have such a folder, with so many cases. */
static void run_folders(const char *name, int own, int theirs)
{
	char path[PATH_MAX];

	run_folder(vectors_dir(OWN_VECTORS, name, path), own);
	if (test_state.ok && vectors_dir(AWS_VECTORS, name, path) != NULL)
		run_folder(path, theirs);
}

static void default_chain(void)
{
	run_folders("credchain/default-credential-provider-chain", 9, 29);
}

static void profile_provider(void)
{
	run_folders("credchain/profile-provider", 5, 18);
}

/* AWS's cases of a kind are one document; NULL when it is not here. */
static cJSON *their_document(const char *name)
{
	char path[PATH_MAX];
	const char *dir = vectors_dir(AWS_VECTORS, "credchain", path);

	return dir != NULL && test_state.ok ? read_json(dir, name) : NULL;
}

/* ---- profiles that assume roles ---- */

#define ROLE_REPLY                                                                                 \
	"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>NEXT</"                   \
	"AccessKeyId><SecretAccessKey>s"                                                           \
	"</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2030-01-01T00:00:00Z</"       \
	"Expiration>"                                                                              \
	"</Credentials></AssumeRoleResult></AssumeRoleResponse>"
#define WEB_REPLY                                                                                  \
	"<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><"       \
	"AccessKeyId>NEXT"                                                                         \
	"</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</"                      \
	"SessionToken><Expiration>2030-01-01"                                                      \
	"T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></"                \
	"AssumeRoleWithWebIdentityResponse>"

static void add_sections(struct strbuf *text, const char *word, const cJSON *sections)
{
	const cJSON *section = NULL, *value = NULL;

	cJSON_ArrayForEach (section, sections) {
		strbuf_addf(text, "[%s %s]\n", word, section->string);
		cJSON_ArrayForEach (value, section) {
			strbuf_addf(text, "%s = %s\n", value->string, value->valuestring);
		}
	}
}

/* The requests that a chain of profiles comes to. */
static size_t expect_chain(const cJSON *steps, struct aws_reply *replies)
{
	const cJSON *step = NULL;
	size_t n = 0;

	cJSON_ArrayForEach (step, steps) {
		if (json_get(step, "NamedSource") != NULL) {
			replies[n++] =
				(struct aws_reply){.method = "PUT", .status = 200, .body = "token"};
			replies[n++] =
				(struct aws_reply){.method = "GET", .status = 200, .body = "node"};
			replies[n++] = (struct aws_reply){
				.method = "GET",
				.status = 200,
				.body = "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\","
					"\"Token\":\"t\","
					"\"Expiration\":\"2030-01-01T00:00:00Z\"}"};
		} else if (json_get(step, "AssumeRole") != NULL) {
			const cJSON *role = json_get(step, "AssumeRole");
			const char *has = json_string(role, "external_id");

			has = has != NULL ? has : json_string(role, "role_session_name");
			has = has != NULL ? has : strrchr(json_string(role, "role_arn"), '/') + 1;
			replies[n++] = (struct aws_reply){.method = "POST",
			                                  .status = 200,
			                                  .body = ROLE_REPLY,
			                                  .body_has = has};
		} else if (json_get(step, "WebIdentityToken") != NULL) {
			replies[n++] = (struct aws_reply){.method = "POST",
			                                  .status = 200,
			                                  .body = WEB_REPLY,
			                                  .body_has = "WebIdentityToken=jwt"};
		}
	}
	return n;
}

static void run_roles(const cJSON *one)
{
	AUTO(json) cJSON *files = cJSON_CreateObject();
	AUTO(json) cJSON *env = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(aws_credentials) struct aws_credentials c = {0};
	struct aws_settings settings = {0};
	struct aws_reply replies[REPLIES_MAX];
	const cJSON *input = json_get(one, "input"), *output = json_get(one, "output");
	const cJSON *steps = json_get(output, "ProfileChain");
	const char *docs = json_string(one, "docs");
	struct err err = {0};

	add_sections(&text, "profile", json_get(input, "profiles"));
	add_sections(&text, "sso-session", json_get(input, "sso_sessions"));
	json_add_string(files, "~/.aws/config", strbuf_str(&text));
	json_add_string(files, "/var/token.jwt", "jwt");
	json_add_string(env, "AWS_PROFILE", json_string(input, "selected_profile"));
	json_add_string(env, "AWS_REGION", "us-east-1");
	struct aws_fake f = {.env = env,
	                     .files = files,
	                     .replies = replies,
	                     .n = expect_chain(steps, replies),
	                     .now_ms = 1000000000000};

	aws_fake_init(&f);
	int status = aws_settings_load(&f.outside, &(struct aws_settings_opts){0}, &settings, &err);
	struct aws_session *s = aws_session_new(&f.outside, &settings);

	if (status == 0)
		status = aws_session_credentials(s, NULL, false, &c, &err);
	bool sso = json_get(cJSON_GetArrayItem(steps, 0), "Sso") != NULL;

	/* Of SSO the case has the settings only: that it is asked shows in what is missing. */
	if (sso)
		CHECK(strstr(err.msg, "SSO") != NULL);
	else
		CHECK((status == 0) == (steps != NULL));
	if (status == 0)
		CHECK_INT(f.next, f.n);
	if (!test_state.ok)
		printf("# %s: %s\n", docs, err.msg);
	aws_session_free(s);
}

static void role_chains(void)
{
	char path[PATH_MAX];

	run_folder(vectors_dir(OWN_VECTORS, "credchain/roles", path), 10);
	AUTO(json) cJSON *doc = their_document("assume-role-tests.json");
	const cJSON *one = NULL;

	CHECK_INT(cJSON_GetArraySize(doc), doc != NULL ? 28 : 0);
	cJSON_ArrayForEach (one, doc) {
		/* A bearer token for services that take one; the AWS CLI makes no keys of it. */
		if (strcmp(json_string(one, "docs"), "SSO token profile selected") == 0 ||
		    !test_state.ok)
			continue;
		run_roles(one);
	}
}

/* ---- the two metadata services ---- */

static struct aws_session *session_of(struct aws_fake *f, struct err *err)
{
	struct aws_settings settings = {0};

	f->now_ms = 1000000000000;
	aws_fake_init(f);
	if (aws_settings_load(&f->outside, &(struct aws_settings_opts){0}, &settings, err) != 0)
		return NULL;
	return aws_session_new(&f->outside, &settings);
}

static void container_addresses(void)
{
	char path[PATH_MAX];

	run_folder(vectors_dir(OWN_VECTORS, "credchain/container", path), 5);
	AUTO(json) cJSON *doc = their_document("ecs-tests.json");
	const cJSON *one = NULL;

	CHECK_INT(cJSON_GetArraySize(json_get(doc, "tests")), doc != NULL ? 11 : 0);
	cJSON_ArrayForEach (one, json_get(doc, "tests")) {
		AUTO(aws_credentials) struct aws_credentials c = {0};
		const char *want = json_string(json_get(one, "result"), "Ok");
		const struct aws_reply reply = {.status = 404};
		struct aws_fake f = {.env = json_get(one, "env"), .replies = &reply, .n = 1};
		struct err err = {0};
		struct aws_session *s = session_of(&f, &err);

		CHECK(aws_session_credentials(s, "us-east-1", false, &c, &err) != 0);
		if (want != NULL)
			CHECK_STR(f.last_url, want);
		else
			CHECK(strstr(f.last_url, "credentials") == NULL ||
			      strstr(f.last_url, "169.254.169.254") != NULL);
		aws_session_free(s);
	}
}

static void imds_addresses(void)
{
	char path[PATH_MAX];

	run_folder(vectors_dir(OWN_VECTORS, "credchain/node", path), 4);
	AUTO(json) cJSON *doc = their_document("imds-endpoint-tests.json");
	const cJSON *one = NULL;
	int n = 0;

	cJSON_ArrayForEach (one, json_get(doc, "tests")) {
		AUTO(aws_credentials) struct aws_credentials c = {0};
		const char *want = json_string(json_get(one, "result"), "Ok");
		struct aws_fake f = {.env = json_get(one, "env"), .files = json_get(one, "fs")};
		struct err err = {0};

		/* An endpoint in the program's own code has no counterpart here. */
		if (json_get(one, "endpoint_override") != NULL ||
		    json_get(one, "mode_override") != NULL)
			continue;
		struct aws_session *s = session_of(&f, &err);

		CHECK(aws_session_credentials(s, "us-east-1", false, &c, &err) != 0);
		CHECK_STR(f.first_url, want != NULL ? want : "");
		if (!test_state.ok)
			printf("# %s\n", json_string(one, "docs"));
		aws_session_free(s);
		n++;
	}
	CHECK(n >= (doc != NULL ? 10 : 0));
}

static void imds_versions(void)
{
	static const struct {
		const char *v1_disabled;
		int token_status;
		bool found;
	} table[] = {{NULL, 404, true},    {NULL, 403, true},  {NULL, 405, true},
	             {"true", 404, false}, {NULL, 400, false}, {NULL, 500, false},
	             {NULL, 0, true},      {"true", 0, false}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(aws_credentials) struct aws_credentials c = {0};
		AUTO(json) cJSON *env = cJSON_CreateObject();
		const struct aws_reply replies[] = {
			{.method = "PUT", .status = table[i].token_status},
			{.method = "GET", .status = 200, .body = "node\n"},
			{.method = "GET",
		         .status = 200,
		         .body = "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Token\":"
		                 "\"t\"}"}};
		struct aws_fake f = {.env = env, .replies = replies, .n = 3};
		struct err err = {0};

		json_add_string(env, "AWS_EC2_METADATA_V1_DISABLED", table[i].v1_disabled);
		struct aws_session *s = session_of(&f, &err);

		CHECK((aws_session_credentials(s, "us-east-1", false, &c, &err) == 0) ==
		      table[i].found);
		aws_session_free(s);
	}
}

/* ---- the session ---- */

static void renewed_before_they_end(void)
{
	/* Expire an hour, and two hours, after the fake's beginning. */
	static const struct aws_reply replies[] = {
		{.status = 200,
	         .body = "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Token\":\"t\","
	                 "\"Expiration\":\"2001-09-09T02:46:40Z\"}"},
		{.status = 500},
		{.status = 500},
		{.status = 500},
		{.status = 200,
	         .body = "{\"AccessKeyId\":\"B\",\"SecretAccessKey\":\"s\",\"Token\":\"t\","
	                 "\"Expiration\":\"2001-09-09T03:46:40Z\"}"}};
	AUTO(json) cJSON *env = cJSON_Parse("{\"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI\":\"/x\"}");
	struct aws_fake f = {.env = env, .replies = replies, .n = ARRAY_LEN(replies)};
	struct err err = {0};
	struct aws_session *s = session_of(&f, &err);
	static const struct {
		int64_t minutes;
		const char *id;
		size_t requests;
	} table[] = {{0, "A", 1}, {44, "A", 1}, {46, "A", 4}, {51, "B", 5}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(aws_credentials) struct aws_credentials c = {0};

		f.now_ms = 1000000000000 + table[i].minutes * 60000;
		CHECK_OK(aws_session_credentials(s, NULL, false, &c, &err), &err);
		CHECK_STR(c.access_key_id != NULL ? c.access_key_id : "none", table[i].id);
		CHECK_INT(f.next, table[i].requests);
	}
	aws_session_free(s);
}

static void keys_with_line_breaks(void)
{
	AUTO(aws_credentials) struct aws_credentials c = {0};
	AUTO(json)
	cJSON *env = cJSON_Parse(
		"{\"AWS_ACCESS_KEY_ID\":\"A\",\"AWS_SECRET_ACCESS_KEY\":\"planted\\nX-Evil: 1\"}");
	struct aws_fake f = {.env = env};
	struct err err = {0};
	struct aws_session *s = session_of(&f, &err);

	CHECK(aws_session_credentials(s, NULL, false, &c, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK(strstr(err.msg, "planted") == NULL);
	aws_session_free(s);
}

int main(void)
{
	TEST("credchain: the default chain asks what botocore asks and finds what it finds",
	     default_chain);
	TEST("credchain: profiles give the keys that they give botocore", profile_provider);
	TEST("credchain: source profiles, credential sources and circles are botocore's",
	     role_chains);
	TEST("credchain: the container endpoint is asked where botocore asks it",
	     container_addresses);
	TEST("credchain: the metadata service is asked where botocore asks it", imds_addresses);
	TEST("credchain: the metadata service's first version is used where that is allowed",
	     imds_versions);
	TEST("session: keys are renewed before they end, and the old ones used while that fails",
	     renewed_before_they_end);
	TEST("session: a key with a line break is refused and not shown", keys_with_line_breaks);
	return test_done();
}
