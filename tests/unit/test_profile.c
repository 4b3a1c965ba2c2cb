/* AWS configuration files against the cross-SDK parser suite. */
#include "builder/aws/profile.h"

#include <ctype.h>

#include "builder/aws/settings.h"
#include "tests/unit/aws_fake.h"

static bool contains_any_case(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; *text != '\0'; text++) {
		size_t i = 0;

		while (i < len && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
			i++;
		if (i == len)
			return true;
	}
	return len == 0;
}

static int parse(struct aws_files *files, const cJSON *input, struct err *err)
{
	const char *config = json_string(input, "configFile"), *credentials = json_string(input, "credentialsFile");

	if (config != NULL && aws_files_parse(files, AWS_CONFIG_FILE, "config", config, strlen(config), err) != 0)
		return -1;
	return credentials != NULL ? aws_files_parse(files, AWS_CREDENTIALS_FILE, "credentials", credentials,
	                                             strlen(credentials), err)
	                           : 0;
}

static size_t count_kind(const struct aws_files *files, enum aws_section_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < files->sections.n; i++)
		n += files->sections.at[i].kind == kind;
	return n;
}

/* Every section and value wanted is there, and nothing more. */
static void compare(const struct aws_files *files, enum aws_section_kind kind, const cJSON *want)
{
	const cJSON *section = NULL, *value = NULL;

	CHECK_INT(count_kind(files, kind), cJSON_GetArraySize(want));
	cJSON_ArrayForEach (section, want) {
		const struct aws_section *have = aws_files_find(files, kind, section->string);
		size_t n = 0;

		CHECK(have != NULL);
		if (have == NULL)
			return;
		cJSON_ArrayForEach (value, section) {
			const char *text = aws_section_get(have, value->string);

			CHECK_STR(text != NULL ? text : "(none)", value->valuestring);
		}
		for (size_t i = 0; i < have->config.n; i++)
			n += strmap_get(&have->credentials, have->config.at[i].key) == NULL;
		CHECK_INT(n + have->credentials.n, cJSON_GetArraySize(section));
	}
}

static void run_case(const cJSON *one)
{
	AUTO(aws_files) struct aws_files files = {0};
	const cJSON *output = json_get(one, "output");
	const char *want_error = json_string(output, "errorContaining");
	struct err err = {0};
	int status = parse(&files, json_get(one, "input"), &err);

	if (want_error != NULL) {
		CHECK(status != 0);
		CHECK(contains_any_case(err.msg, want_error));
	} else {
		CHECK_OK(status, &err);
		compare(&files, AWS_PROFILE, json_get(json_get(output, "config"), "profiles"));
		compare(&files, AWS_SSO_SESSION, json_get(json_get(output, "config"), "sso_sessions"));
	}
	if (!test_state.ok)
		printf("# %s: %s\n", json_string(one, "name"), err.msg);
}

static void vectors(void)
{
	char path[PATH_MAX];
	const char *dir = vectors_dir("profiles", path);

	if (dir == NULL)
		SKIP("the vectors are not here");
	AUTO(json) cJSON *doc = read_json(dir, "profile-parser-tests.json");
	const cJSON *tests = json_get(doc, "tests"), *one = NULL;

	CHECK_INT(cJSON_GetArraySize(tests), 65);
	cJSON_ArrayForEach (one, tests)
		if (test_state.ok)
			run_case(one);
}

static void locations(void)
{
	char path[PATH_MAX];
	const char *dir = vectors_dir("profiles", path);

	if (dir == NULL)
		SKIP("the vectors are not here");
	AUTO(json) cJSON *doc = read_json(dir, "file-location-tests.json");
	const cJSON *one = NULL;
	int n = 0;

	cJSON_ArrayForEach (one, json_get(doc, "tests")) {
		AUTO(aws_settings) struct aws_settings s = {0};
		AUTO(json) cJSON *files = cJSON_CreateObject();
		struct aws_fake f = {.env = json_get(one, "environment"), .files = files};
		struct err err = {0};

		if (strcmp(json_string(one, "platform"), "linux") != 0)
			continue;
		json_add_string(files, json_string(one, "configLocation"), "[profile other]\n");
		aws_fake_init(&f);
		CHECK_OK(aws_settings_load(&f.outside, &(struct aws_settings_opts){0}, &s, &err), &err);
		CHECK_STR(s.config_path, json_string(one, "configLocation"));
		CHECK_STR(s.credentials_path, json_string(one, "credentialsLocation"));
		n++;
	}
	CHECK(n >= 3);
}

static void quoted_names_and_nested_values(void)
{
	static const char text[] = "[profile \"my team\"]\nregion = eu-west-1\n\n"
				   "[services local]\necr =\n  endpoint_url = http://localhost:4566\n  # a remark\n  other = x\n";
	AUTO(aws_files) struct aws_files files = {0};
	AUTO(arena) struct arena a = {0};
	struct err err = {0};

	CHECK_OK(aws_files_parse(&files, AWS_CONFIG_FILE, "config", text, strlen(text), &err), &err);
	CHECK_STR(aws_section_get(aws_files_find(&files, AWS_PROFILE, "my team"), "region"), "eu-west-1");
	const struct aws_section *services = aws_files_find(&files, AWS_SERVICES_SECTION, "local");

	CHECK_STR(aws_section_nested(services, "ecr", "endpoint_url", &a), "http://localhost:4566");
	CHECK(aws_section_nested(services, "ecr", "none", &a) == NULL);
	CHECK(aws_section_nested(services, "sts", "endpoint_url", &a) == NULL);
}

static void says_where_and_not_what(void)
{
	static const char text[] = "[profile x]\naws_secret_access_key planted\n";
	AUTO(aws_files) struct aws_files files = {0};
	struct err err = {0};

	CHECK(aws_files_parse(&files, AWS_CONFIG_FILE, "config", text, strlen(text), &err) != 0);
	CHECK(strstr(err.msg, "config:2: ") != NULL);
	CHECK(strstr(err.msg, "planted") == NULL);
}

static void settings_precedence(void)
{
	static const char config[] = "[default]\nregion = r-file\nmax_attempts = 7\n[profile a]\nregion = r-a\n";
	static const struct {
		const char *env, *profile, *want_region, *want_profile;
		unsigned attempts;
	} table[] = {
		{"{}", NULL, "r-file", "default", 7},
		{"{\"AWS_DEFAULT_REGION\":\"r-2\"}", NULL, "r-2", "default", 7},
		{"{\"AWS_DEFAULT_REGION\":\"r-2\",\"AWS_REGION\":\"r-1\"}", NULL, "r-1", "default", 7},
		{"{\"AWS_PROFILE\":\"a\",\"AWS_DEFAULT_PROFILE\":\"default\"}", NULL, "r-a", "a", 3},
		{"{\"AWS_DEFAULT_PROFILE\":\"a\"}", NULL, "r-a", "a", 3},
		{"{\"AWS_PROFILE\":\"default\",\"AWS_MAX_ATTEMPTS\":\"2\"}", "a", "r-a", "a", 2},
		{"{\"AWS_PROFILE\":\"a\",\"AWS_RETRY_MODE\":\"legacy\"}", NULL, "r-a", "a", 5},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(json) cJSON *env = cJSON_Parse(table[i].env);
		AUTO(json) cJSON *files = cJSON_CreateObject();
		AUTO(aws_settings) struct aws_settings s = {0};
		struct aws_fake f = {.env = env, .files = files};
		struct err err = {0};

		json_add_string(files, "~/.aws/config", config);
		aws_fake_init(&f);
		const struct aws_settings_opts opts = {.profile = table[i].profile};

		CHECK_OK(aws_settings_load(&f.outside, &opts, &s, &err), &err);
		CHECK_STR(s.region, table[i].want_region);
		CHECK_STR(s.profile, table[i].want_profile);
		CHECK_INT(s.max_attempts, table[i].attempts);
	}
}

static void wrong_settings(void)
{
	static const char *const envs[] = {"{\"AWS_PROFILE\":\"none\"}", "{\"AWS_RETRY_MODE\":\"often\"}",
	                                   "{\"AWS_MAX_ATTEMPTS\":\"0\"}", "{\"AWS_MAX_ATTEMPTS\":\"many\"}"};

	for (size_t i = 0; i < ARRAY_LEN(envs); i++) {
		AUTO(json) cJSON *env = cJSON_Parse(envs[i]);
		struct aws_settings s = {0};
		struct aws_fake f = {.env = env};
		struct err err = {0};

		aws_fake_init(&f);
		CHECK(aws_settings_load(&f.outside, &(struct aws_settings_opts){0}, &s, &err) != 0);
	}
}

int main(void)
{
	TEST("profile: all 65 files of the cross-SDK parser suite", vectors);
	TEST("profile: files are found where the cross-SDK suite says", locations);
	TEST("profile: names in quotes and nested values are read", quoted_names_and_nested_values);
	TEST("profile: an error names the line and quotes no value", says_where_and_not_what);
	TEST("settings: profile, region and attempts have the AWS CLI's precedence", settings_precedence);
	TEST("settings: what cannot be is refused", wrong_settings);
	return test_done();
}
