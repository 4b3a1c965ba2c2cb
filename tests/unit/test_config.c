/* Image configurations: made from nothing and on a base, read back, refused. */
#include "tests/harness.h"

#include "builder/oci/config.h"

#define HEX64   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ZEROS64 "0000000000000000000000000000000000000000000000000000000000000000"

static const struct config_settings amd64 = {.platform = {"linux", "amd64", ""},
                                             .created = "1970-01-01T00:00:00Z"};

static void make(const char *base, const struct config_settings *s, size_t n_layers, struct strbuf *out,
                 struct err *err)
{
	const struct config_layer layers[] = {{.history = {.created_by = "one"}}, {.history = {.created_by = "two"}}};
	AUTO(json) cJSON *doc = NULL;

	if (base != NULL)
		CHECK_OK(json_parse("base", base, strlen(base), &doc, err), err);
	if (config_make(doc, s, layers, n_layers, out, err) != 0)
		CHECK(err->code != ERR_NONE);
}

static void from_scratch(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct config_settings s = amd64;
	struct err err = {0};

	s.has_entrypoint = true;
	s.entrypoint = (struct strlist){(const char *[]){"/bin/x"}, 1};
	s.ports = (struct strlist){(const char *[]){"80/tcp"}, 1};
	s.user = "1:1";
	strmap_set(&s.env, &a, "A", "1");
	strmap_set(&s.labels, &a, "l", "v");
	make(NULL, &s, 1, &out, &err);
	CHECK_STR(strbuf_str(&out),
	          "{\"created\":\"1970-01-01T00:00:00Z\",\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{"
	          "\"User\":\"1:1\",\"ExposedPorts\":{\"80/tcp\":{}},\"Env\":[\"A=1\"],\"Entrypoint\":[\"/bin/x\"],"
	          "\"Labels\":{\"l\":\"v\"}},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:" ZEROS64
	          "\"]},\"history\":[{\"created_by\":\"one\"}]}");
}

static const char base_text[] =
	"{\"architecture\":\"amd64\",\"os\":\"linux\",\"os.version\":\"7\",\"config\":{\"Healthcheck\":{\"Test\":[\"x\"]},"
	"\"Shell\":[\"/bin/sh\"],\"Env\":[\"PATH=/bin\",\"AA=9\",\"A=0\"],\"Cmd\":[\"sh\"],\"Labels\":{\"k\":\"1\"}},"
	"\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:" HEX64 "\",\"sha256:" HEX64 "\"]},"
	"\"history\":[{\"created_by\":\"base\"},{\"created_by\":\"env\",\"empty_layer\":true}]}";

static void on_a_base(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct config_settings s = amd64;
	struct image_config c = {0};
	struct err err = {0};

	strmap_set(&s.env, &a, "A", "1");
	strmap_set(&s.env, &a, "B", "2");
	make(base_text, &s, 2, &out, &err);
	CHECK_OK(config_parse(strbuf_str(&out), out.len, &a, &c, &err), &err);
	CHECK_INT(c.n_diff_ids, 4);
	CHECK_INT(c.n_nonempty_history, 4); /* one was missing in the base and is made up */
	CHECK_INT(c.n_history, 5);
	CHECK(c.n_history == 5 && c.history[1].empty_layer);
	CHECK_STR(c.n_history == 5 ? c.history[4].created_by : NULL, "two");
	CHECK_INT(c.cmd.n, 1);
	CHECK(strstr(strbuf_str(&out), "\"Env\":[\"PATH=/bin\",\"AA=9\",\"A=1\",\"B=2\"]") != NULL);
	CHECK(strstr(strbuf_str(&out), "\"Healthcheck\":{\"Test\":[\"x\"]}") != NULL);
	CHECK(strstr(strbuf_str(&out), "\"os.version\":\"7\"") != NULL);
}

static void healthcheck_replaces_the_base(void)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct config_settings s = amd64;
	struct err err = {0};

	s.healthcheck = (struct healthcheck){.set = true,
	                                     .test = {(const char *[]){"CMD", "/bin/ok"}, 2},
	                                     .interval = 90000000000,
	                                     .start_interval = 1000000,
	                                     .retries = 2};
	make(base_text, &s, 0, &out, &err);
	CHECK(strstr(strbuf_str(&out), "\"Healthcheck\":{\"Test\":[\"CMD\",\"/bin/ok\"],\"Interval\":90000000000,"
	                               "\"StartInterval\":1000000,\"Retries\":2}") != NULL);
}

static void entrypoint_clears_cmd(void)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct config_settings s = amd64;
	struct err err = {0};

	s.has_entrypoint = true;
	s.entrypoint = (struct strlist){(const char *[]){"/e"}, 1};
	make(base_text, &s, 0, &out, &err);
	CHECK(strstr(strbuf_str(&out), "\"Cmd\"") == NULL);
	s.has_cmd = true;
	s.cmd = (struct strlist){(const char *[]){"c"}, 1};
	strbuf_reset(&out);
	make(base_text, &s, 0, &out, &err);
	CHECK(strstr(strbuf_str(&out), "\"Cmd\":[\"c\"]") != NULL);
}

static void refuses_bases(void)
{
	static const char *const cases[] = {
		"[]",
		"{}",
		"{\"os\":\"linux\"}",
		"{\"os\":\"linux\",\"architecture\":\"arm64\"}",
		"{\"os\":\"windows\",\"architecture\":\"amd64\"}",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
		struct err err = {0};

		make(cases[i], &amd64, 0, &out, &err);
		CHECK_INT(err.code, ERR_FORMAT);
		CHECK_INT(out.len, 0);
	}
}

/* Members of the wrong type in a base are replaced or kept, never followed. */
static void survives_odd_bases(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(1 << 20);
	struct config_settings s = amd64;
	struct image_config c = {0};
	struct err err = {0};

	strmap_set(&s.env, &a, "A", "1");
	strmap_set(&s.labels, &a, "A", "1");
	make("{\"os\":\"linux\",\"architecture\":\"amd64\",\"config\":{\"Env\":{\"A\":1},\"Labels\":null},"
	     "\"rootfs\":[],\"history\":{}}", &s, 1, &out, &err);
	CHECK_OK(config_parse(strbuf_str(&out), out.len, &a, &c, &err), &err);
	CHECK_INT(c.n_diff_ids, 1);
	CHECK_INT(c.n_nonempty_history, 1);
}

static void parse_refuses(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "empty"},
		{"{\"rootfs\":{\"diff_ids\":[]}}", "os"},
		{"{\"os\":\"linux\",\"rootfs\":{\"diff_ids\":[]}}", "architecture"},
		{"{\"os\":\"linux\",\"architecture\":\"amd64\"}", "diff_ids"},
		{"{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[1]}}", "diff_ids"},
		{"{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[\"x\"]}}", "diff_ids[0]"},
		{"{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[]},\"history\":1}", "history"},
		{"{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[]},\"config\":{\"Cmd\":\"x\"}}", "Cmd"},
		{"{\"os\":\"linux\",\"architecture\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}", "architecture"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		struct image_config c;
		struct err err = {0};

		CHECK(config_parse(cases[i].text, strlen(cases[i].text), &a, &c, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
		if (strstr(err.msg, cases[i].says) == NULL)
			test_check_str(__FILE__, __LINE__, err.msg, cases[i].says);
	}
}

int main(void)
{
	TEST("config: a configuration from nothing has exactly these bytes", from_scratch);
	TEST("config: a base keeps what we do not know, its order and its history", on_a_base);
	TEST("config: a health check replaces the base's as a whole", healthcheck_replaces_the_base);
	TEST("config: a new entrypoint clears the base's cmd unless one is set", entrypoint_clears_cmd);
	TEST("config: a base without or with another platform is refused", refuses_bases);
	TEST("config: members of the wrong type in a base do no harm", survives_odd_bases);
	TEST("config: malformed configurations are refused by the member's name", parse_refuses);
	return test_done();
}
