/*
 * AWS configuration files against botocore's answers, and against the cross-SDK parser suite where it is
 * here. The AWS CLI reads some files of that suite otherwise, and slipway follows the CLI
 * (tests/unit/test_aws_config.c): they are named below.
 */
#include "builder/aws/profile.h"

#include <ctype.h>

#include "base/text.h"
#include "builder/aws/settings.h"
#include "tests/unit/aws_fake.h"

static const struct {
	const char *name, *why;
} other[] = {
	{"Profile names support alphanumeric characters and - / . % @ _ : +",
         "the CLI takes any name"},
	{"Invalid profile names are ignored.", "the CLI takes any name"},
	{"Invalid property names are ignored.", "the CLI takes any key"},
	{"Property definitions must contain an equals sign.", "a colon is as good"},
	{"Pound sign comments are ignored.", "a comment has a line of its own"},
	{"Semicolon sign comments are ignored.", "a comment has a line of its own"},
	{"All comment types can be used together.", "a comment has a line of its own"},
	{"Comments can be empty.", "a comment has a line of its own"},
	{"Duplicate profiles in the same file merge properties.", "the CLI refuses the file"},
	{"Duplicate properties in a profile use the last one defined.", "the CLI refuses the file"},
	{"Duplicate properties in duplicate profiles use the last one defined.",
         "the CLI refuses the file"},
	{"Duplicate properties in duplicate profiles use the last one defined (case insensitive).",
         "the CLI refuses the file"},
	{"Continuations reset with profile definitions.",
         "refused for the section that comes twice"},
	{"Invalid continuation", "refused for the section that comes twice"},
	{"Default profile with profile prefix overrides default profile without prefix when "
         "profile prefix is first.",
         "in the CLI the later of the two counts"},
	{"Default profiles with mixed prefixes in the config file ignore the one without prefix "
         "when merging.",
         "the CLI refuses the file"},
	{"Default profiles with mixed prefixes merge with credentials", "the CLI refuses the file"},
	{"Sub-property definitions cannot have an empty name.", "the CLI takes it"},
	{"Credentials profiles with prefix are ignored.", "the CLI takes any name"},
	{"profile name with extra whitespace", "the CLI keeps the space"},
	{"profile name with extra whitespace in credentials", "the CLI keeps the space"},
};

static bool is_other(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		if (strcmp(other[i].name, name) == 0)
			return true;
	return false;
}

static bool contains_any_case(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; *text != '\0'; text++) {
		size_t i = 0;

		while (i < len &&
		       tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
			i++;
		if (i == len)
			return true;
	}
	return len == 0;
}

static int parse(struct aws_files *files, const cJSON *input, struct err *err)
{
	const char *config = json_string(input, "configFile"),
		   *credentials = json_string(input, "credentialsFile");

	if (config != NULL &&
	    aws_files_parse(files, AWS_CONFIG_FILE, "config", config, strlen(config), err) != 0)
		return -1;
	return credentials != NULL ? aws_files_parse(files, AWS_CREDENTIALS_FILE, "credentials",
	                                             credentials, strlen(credentials), err)
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
		for (enum aws_file_kind in = 0; in < AWS_FILE_KINDS; in++)
			for (size_t i = 0; have->in[in] != NULL && i < have->in[in]->values.n; i++)
				n += in == AWS_CREDENTIALS_FILE ||
				     aws_section_get_in(have, AWS_CREDENTIALS_FILE,
				                        have->in[in]->values.at[i].key) == NULL;
		CHECK_INT(n, cJSON_GetArraySize(section));
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
		compare(&files, AWS_SSO_SESSION,
		        json_get(json_get(output, "config"), "sso_sessions"));
	}
	if (!test_state.ok)
		printf("# %s: %s\n", json_string(one, "name"), err.msg);
}

static void vectors(void)
{
	static const int want[VECTOR_SETS] = {[OWN_VECTORS] = 24, [AWS_VECTORS] = 65};
	char path[PATH_MAX];

	for (enum vectors set = 0; set < VECTOR_SETS; set++) {
		const char *dir = vectors_dir(set, "profiles", path);
		size_t n_other = 0;

		if (dir == NULL)
			continue;
		AUTO(json) cJSON *doc = read_json(dir, "profile-parser-tests.json");
		const cJSON *tests = json_get(doc, "tests"), *one = NULL;

		CHECK_INT(cJSON_GetArraySize(tests), want[set]);
		cJSON_ArrayForEach (one, tests) {
			if (is_other(json_string(one, "name")))
				n_other++;
			else if (test_state.ok)
				run_case(one);
		}
		CHECK_INT(n_other, set == AWS_VECTORS ? ARRAY_LEN(other) : 0);
	}
}

static int check_locations(const cJSON *tests)
{
	const cJSON *one = NULL;
	int n = 0;

	cJSON_ArrayForEach (one, tests) {
		AUTO(aws_settings) struct aws_settings s = {0};
		AUTO(json) cJSON *files = cJSON_CreateObject();
		struct aws_fake f = {.env = json_get(one, "environment"), .files = files};
		struct err err = {0};

		if (strcmp(json_string(one, "platform"), "linux") != 0)
			continue;
		json_add_string(files, json_string(one, "configLocation"), "[profile other]\n");
		aws_fake_init(&f);
		CHECK_OK(aws_settings_load(&f.outside, &(struct aws_settings_opts){0}, &s, &err),
		         &err);
		CHECK_STR(s.config_path, json_string(one, "configLocation"));
		CHECK_STR(s.credentials_path, json_string(one, "credentialsLocation"));
		n++;
	}
	return n;
}

static void locations(void)
{
	char path[PATH_MAX];

	for (enum vectors set = 0; set < VECTOR_SETS; set++) {
		const char *dir = vectors_dir(set, "profiles", path);

		if (dir == NULL)
			continue;
		AUTO(json) cJSON *doc = read_json(dir, "file-location-tests.json");

		CHECK(check_locations(json_get(doc, "tests")) >= 3);
	}
}

static void quoted_names_and_nested_values(void)
{
	static const char text[] = "[profile \"my team\"]\nregion = eu-west-1\n\n"
				   "[services local]\necr =\n  endpoint_url = "
				   "http://localhost:4566\n  # a remark\n  other = x\n";
	AUTO(aws_files) struct aws_files files = {0};
	AUTO(arena) struct arena a = {0};
	struct err err = {0};

	CHECK_OK(aws_files_parse(&files, AWS_CONFIG_FILE, "config", text, strlen(text), &err),
	         &err);
	CHECK_STR(aws_section_get(aws_files_find(&files, AWS_PROFILE, "my team"), "region"),
	          "eu-west-1");
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
	CHECK(strstr(err.msg, "config:2:1: ") != NULL);
	CHECK(strstr(err.msg, "planted") == NULL);
}

/* What a person needs to find the line: file, line, column; and no value. */
static void places(void)
{
	static const struct {
		const char *config, *place, *has;
	} table[] = {
		{"[a]\nx = 1\n[b]\n[a]\n", "config:4:1: ", "is also in line 1"},
		{"[a]\nx = 1\n  \n X = 2\n x=3\n", NULL, NULL},
		{"[a]\nx = 1\ny = 2\nX = 3\n", "config:4:1: ", "is also at config:2:1"},
		{"[a]\ns3 =\n    no\n", "config:3:5: ", "sub-property"},
		{"\xef\xbb\xbf[a]\n", "config:1:1: ", "byte order mark"},
		{"[a]\nx = \xff\n", "config:2:1: ", "not UTF-8"},
		{"\n# a\n  = 1\n[a]", "config:3:3: ", "expected a profile definition"},
		{"[a]\n\t= 1\n", "config:2:2: ", "did not have a name"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(aws_files) struct aws_files files = {0};
		struct err err = {0};
		int status = aws_files_parse(&files, AWS_CONFIG_FILE, "config", table[i].config,
		                             strlen(table[i].config), &err);

		CHECK((status == 0) == (table[i].place == NULL));
		if (status != 0) {
			CHECK(text_has_prefix(err.msg, table[i].place));
			CHECK(strstr(err.msg, table[i].has) != NULL);
		}
	}
}

static void caps(void)
{
	AUTO(strbuf) struct strbuf keys = STRBUF_INIT(0), sections = STRBUF_INIT(0);
	const struct strbuf *texts[] = {&keys, &sections};

	strbuf_adds(&keys, "[a]\n");
	for (int i = 0; i <= INI_KEYS_MAX; i++)
		strbuf_addf(&keys, "k%d=\n", i);
	for (int i = 0; i <= INI_SECTIONS_MAX; i++)
		strbuf_addf(&sections, "[%d]\n", i);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO(aws_files) struct aws_files files = {0};
		struct err err = {0};

		CHECK(aws_files_parse(&files, AWS_CREDENTIALS_FILE, "credentials", texts[i]->ptr,
		                      texts[i]->len, &err) != 0);
		CHECK_INT(err.code, ERR_LIMIT);
	}
}

/* A comment behind a value is the value's; where that cannot be meant, it is said before anything is sent. */
static void comments_behind_values(void)
{
	static const struct {
		const char *config, *place;
	} table[] = {
		{"[default]\nuse_fips_endpoint = true # yes\n",
	         "~/.aws/config:2:1: use_fips_endpoint"},
		{"[default]\n  role_arn = arn:x ; y\n", "~/.aws/config:2:3: role_arn"},
		{"[default]\nregion = eu_west_1\n", "~/.aws/config:2:1: 'eu_west_1'"},
		{"[default]\nservices = local\n",
	         "~/.aws/config:2:1: there is no section [services local]"},
		{"[default]\ncredential_process = tool # x\n", NULL},
		{"[profile x]\nuse_fips_endpoint = true # yes\n", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(json) cJSON *files = cJSON_CreateObject();
		AUTO(aws_settings) struct aws_settings s = {0};
		struct aws_fake f = {.files = files};
		struct err err = {0};

		json_add_string(files, "~/.aws/config", table[i].config);
		aws_fake_init(&f);
		int status =
			aws_settings_load(&f.outside, &(struct aws_settings_opts){0}, &s, &err);

		CHECK((status == 0) == (table[i].place == NULL));
		if (status != 0) {
			CHECK(text_has_prefix(err.msg, table[i].place));
			CHECK(err.hint[0] != '\0');
		}
	}
}

static void settings_precedence(void)
{
	static const char config[] =
		"[default]\nregion = r-file\nmax_attempts = 7\n[profile a]\nregion = r-a\n";
	static const struct {
		const char *env, *profile, *want_region, *want_profile;
		unsigned attempts;
	} table[] = {
		{"{}", NULL, "r-file", "default", 7},
		{"{\"AWS_DEFAULT_REGION\":\"r-2\"}", NULL, "r-2", "default", 7},
		{"{\"AWS_DEFAULT_REGION\":\"r-2\",\"AWS_REGION\":\"r-1\"}", NULL, "r-1", "default",
	         7},
		{"{\"AWS_PROFILE\":\"a\",\"AWS_DEFAULT_PROFILE\":\"default\"}", NULL, "r-a", "a",
	         3},
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
	static const char *const envs[] = {
		"{\"AWS_PROFILE\":\"none\"}", "{\"AWS_RETRY_MODE\":\"often\"}",
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
	TEST("profile: files are read as botocore reads them", vectors);
	TEST("profile: files are found where botocore looks for them", locations);
	TEST("profile: names in quotes and nested values are read", quoted_names_and_nested_values);
	TEST("profile: an error names the line and quotes no value", says_where_and_not_what);
	TEST("profile: an error names file, line and column", places);
	TEST("profile: too many sections or keys are refused", caps);
	TEST("settings: a comment behind a value is refused with its place",
	     comments_behind_values);
	TEST("settings: profile, region and attempts have the AWS CLI's precedence",
	     settings_precedence);
	TEST("settings: what cannot be is refused", wrong_settings);
	return test_done();
}
