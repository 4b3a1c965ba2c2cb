/* The JSON writer of the trainer. */
#include "tests/harness.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/doc/json.h"
#include "base/jsonw.h"

static void write_sample(struct jsonw *w)
{
	jsonw_begin_object(w);
	jsonw_key(w, "n");
	jsonw_int(w, -5);
	jsonw_key(w, "list");
	jsonw_begin_array(w);
	jsonw_bool(w, true);
	jsonw_null(w);
	jsonw_string(w, "x");
	jsonw_string(w, NULL);
	jsonw_begin_array(w);
	jsonw_end_array(w);
	jsonw_end_array(w);
	jsonw_key(w, "o");
	jsonw_begin_object(w);
	jsonw_end_object(w);
	jsonw_end_object(w);
}

static void compact_and_pretty(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1000);
	struct jsonw w;

	jsonw_init(&w, &sb, false);
	write_sample(&w);
	CHECK_STR(strbuf_str(&sb), "{\"n\":-5,\"list\":[true,null,\"x\",null,[]],\"o\":{}}");
	strbuf_reset(&sb);
	jsonw_init(&w, &sb, true);
	write_sample(&w);
	CHECK_STR(strbuf_str(&sb),
	          "{\n  \"n\": -5,\n  \"list\": [\n    true,\n    null,\n    \"x\",\n    null,\n"
	          "    []\n  ],\n  \"o\": {}\n}\n");
}

static void quoting(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "\"\""},
		{"a\"b\\c/", "\"a\\\"b\\\\c/\""},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
		{"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xff", "\"?\""},
		{"\xc3", "\"?\""},
		{"\xc3(", "\"?(\""},
		{"\xe2\x82", "\"??\""},
		{"\xed\xa0\x80", "\"???\""},
		{"\xc0\x80", "\"??\""},
		{"\xf4\x90\x80\x80", "\"????\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1000);
		AUTO(json) cJSON *doc = NULL;
		struct err err = {0};

		jsonw_quote(&sb, rows[i].text);
		CHECK_STR(strbuf_str(&sb), rows[i].want);
		CHECK_OK(json_parse("doc", sb.ptr, sb.len, &doc, &err), &err);
	}
}

static void numbers(void)
{
	static const double values[] = {0, 1.5, -2.25, 1e300, 0.1};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1000);
	struct jsonw w;

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		strbuf_reset(&sb);
		jsonw_init(&w, &sb, false);
		jsonw_double(&w, values[i]);
		CHECK(!(strtod(strbuf_str(&sb), NULL) < values[i]) &&
		      !(strtod(strbuf_str(&sb), NULL) > values[i]));
	}
	strbuf_reset(&sb);
	jsonw_init(&w, &sb, false);
	jsonw_begin_array(&w);
	jsonw_double(&w, (double)NAN);
	jsonw_double(&w, (double)INFINITY);
	jsonw_int(&w, INT64_MAX);
	jsonw_int(&w, INT64_MIN);
	jsonw_end_array(&w);
	CHECK_STR(strbuf_str(&sb), "[null,null,9223372036854775807,-9223372036854775808]");
}

static void value_without_a_key(struct jsonw *w)
{
	jsonw_begin_object(w);
	jsonw_int(w, 1);
}

static void key_in_an_array(struct jsonw *w)
{
	jsonw_begin_array(w);
	jsonw_key(w, "k");
}

static void key_after_a_key(struct jsonw *w)
{
	jsonw_begin_object(w);
	jsonw_key(w, "k");
	jsonw_key(w, "l");
}

static void key_without_an_object(struct jsonw *w)
{
	jsonw_key(w, "k");
}

static void end_of_the_other_kind(struct jsonw *w)
{
	jsonw_begin_object(w);
	jsonw_end_array(w);
}

static void end_after_a_key(struct jsonw *w)
{
	jsonw_begin_object(w);
	jsonw_key(w, "k");
	jsonw_end_object(w);
}

static void end_without_a_begin(struct jsonw *w)
{
	jsonw_end_array(w);
}

static void too_deep(struct jsonw *w)
{
	for (int i = 0; i <= JSONW_DEPTH_MAX; i++)
		jsonw_begin_array(w);
}

/* Does it in a child of ours, quietly; true when that child aborted. */
static bool aborts(void (*misuse)(struct jsonw *w))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit none = {0, 0};
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1000);
		struct jsonw w;

		if (setrlimit(RLIMIT_CORE, &none) != 0 || freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		jsonw_init(&w, &sb, false);
		misuse(&w);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void misuse_aborts(void)
{
	static void (*const rows[])(struct jsonw *w) = {
		value_without_a_key,   key_in_an_array, key_after_a_key,     key_without_an_object,
		end_of_the_other_kind, end_after_a_key, end_without_a_begin, too_deep,
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!aborts(rows[i])) {
			CHECK(!"aborts");
			printf("#   row %zu\n", i);
		}
	CHECK(!aborts(write_sample));
}

int main(void)
{
	TEST("jsonw: compact and indented", compact_and_pretty);
	TEST("jsonw: quoting gives valid JSON whatever the bytes", quoting);
	TEST("jsonw: numbers", numbers);
	TEST("jsonw: misuse aborts", misuse_aborts);
	return test_done();
}
