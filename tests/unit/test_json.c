/* Strict JSON: what is refused and where, numbers, order, sizes. */
#include "tests/harness.h"

#include "base/doc/json.h"

/* Parses len bytes, which must fail, and checks the code and a part of the message. */
static void refused(const char *text, size_t len, const char *part)
{
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	CHECK(json_parse("doc", text, len, &doc, &err) != 0);
	CHECK(doc == NULL);
	CHECK_INT(err.code, ERR_FORMAT);
	if (strstr(err.msg, part) == NULL) {
		CHECK(!"the message names the fault");
		printf("#   of: %s\n#   got: %s\n#   want: %s\n", text, err.msg, part);
	}
}

static void refuses_what_is_not_strict(void)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"", "doc: empty"},
		{"{", "not JSON"},
		{"{\"a\":1,}", "not JSON"},
		{"[1,\n 2,\n x]", ":3:2: "},
		{"{'a':1}", ":1:"},
		{"[1 2]", "not JSON"},
		{"tru", "not JSON"},
		{"\"open", "not JSON"},
		{"\"\\x\"", "not JSON"},
		{"\"\\ud800\"", "not JSON"},
		{"{\"a\":1,\"b\":2,\"a\":3}", "key 'a' appears twice"},
		{"[{\"x\":{\"k\":1,\"\\u006b\":2}}]", "key 'k' appears twice"},
		{"{} {}", ":1:4: text after the document"},
		{"1\n2", ":2:1: text after the document"},
		{"[1]]", "text after the document"},
		{"\"a\x01\"", ":3: a control byte"},
		{"\"a\nb\"", "a control byte"},
		{"{\x01\"a\":1}", "a control byte"},
		{"[1,\x0b"
	         "2]",
	         "a control byte"},
		{"\"\xff\"", "not UTF-8"},
		{"\"\xc0\xaf\"", "not UTF-8"},
		{"\"\xed\xa0\x80\"", "not UTF-8"},
		{"\"\\u0000\"", "a NUL character"},
		{"1e999", "out of range"},
		{"01", ":1: a malformed number"},
		{"[-01]", ":3: a malformed number"},
		{"00", "a malformed number"},
		{"[1.]", ":4: a malformed number"},
		{"1.", ":3: a malformed number"},
		{"-.5", ":2: a malformed number"},
		{"-", ":2: a malformed number"},
		{"1e", ":3: a malformed number"},
		{"[1e+]", ":5: a malformed number"},
		{"{\"a\":\n1.e3}", ":2:3: a malformed number"},
		{"+1", "not JSON"},
		{".5", "not JSON"},
		{"1-2", "text after the document"},
		{"NaN", "not JSON"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		refused(rows[i].text, strlen(rows[i].text), rows[i].part);
	refused("[1]\0", 4, ":4: a NUL byte");
	refused("\0", 1, ":1: a NUL byte");
	refused("\"a\0b\"", 5, ":3: a NUL byte");
	refused(NULL, 0, "empty");
}

static void an_escaped_backslash_is_no_nul(void)
{
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	static const char text[] = "\"\\\\u0000\"";

	CHECK_OK(json_parse("doc", text, strlen(text), &doc, &err), &err);
	CHECK_STR(doc->valuestring, "\\u0000");
}

static void nested(int depth, struct strbuf *sb)
{
	strbuf_reset(sb);
	for (int i = 0; i < depth; i++)
		strbuf_addc(sb, '[');
	for (int i = 0; i < depth; i++)
		strbuf_addc(sb, ']');
}

static void depth_is_capped(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	nested(JSON_DEPTH_MAX, &sb);
	CHECK_OK(json_parse("doc", sb.ptr, sb.len, &doc, &err), &err);
	nested(JSON_DEPTH_MAX + 1, &sb);
	refused(sb.ptr, sb.len, ":65: nested too deeply");
	nested(200000, &sb);
	refused(sb.ptr, sb.len, "nested too deeply");
}

/* Parses and prints compactly. */
static void round_trip(const char *text, const char *want)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	CHECK_OK(json_parse("doc", text, strlen(text), &doc, &err), &err);
	json_print(doc, &sb);
	CHECK_STR(strbuf_str(&sb), want);
}

static void numbers_stay_whole(void)
{
	static const char *const same[] = {
		"0", "-1", "9007199254740992", "1000000000000000", "[0.5,-2.25]", "1234567890123"};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		round_trip(same[i], same[i]);
	round_trip("1e15", "1000000000000000");
	round_trip("[-0,0.0,1E+2,20e-1,-0.5]", "[0,0,100,2,-0.5]");
	round_trip("{\"01\":\"1. -.5\"}", "{\"01\":\"1. -.5\"}"); /* in texts anything goes */
	round_trip("9.007199254740992e15", "9007199254740992");
	round_trip("1e300", "1.0000000000000001e+300");
}

static void order_and_texts_survive(void)
{
	round_trip("{ \"z\" : 1, \"a\" : [ true, false, null ],\n \"m\": {} , \"B\":[]}\n",
	           "{\"z\":1,\"a\":[true,false,null],\"m\":{},\"B\":[]}");
	round_trip("\"\\u00e9\\t\\\"\\\\\\/\\u001f\\ud83d\\ude00\"",
	           "\"\xc3\xa9\\t\\\"\\\\/\\u001f\xf0\x9f\x98\x80\"");
	round_trip("{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}");
}

static void pretty_form(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *list;

	json_add_string(doc, "s", "x");
	json_add_string(doc, "none", NULL);
	json_add_int(doc, "n", 5);
	list = json_add_array(doc, "l");
	json_push_string(list, "y");
	json_push(list, cJSON_CreateNull());
	json_add_bool(json_add_object(doc, "o"), "b", true);
	json_add_object(doc, "e");
	json_print_pretty(doc, &sb);
	CHECK_STR(strbuf_str(&sb),
	          "{\n  \"s\": \"x\",\n  \"n\": 5,\n  \"l\": [\n    \"y\",\n    null\n  ],\n"
	          "  \"o\": {\n    \"b\": true\n  },\n  \"e\": {}\n}\n");
}

static void sizes(void)
{
	static const struct {
		const char *value;
		int64_t want; /* -1 = refused */
	} rows[] = {
		{"0", 0},
		{"1", 1},
		{"1e15", 1000000000000000},
		{"9007199254740992", 9007199254740992},
		{"-1", -1},
		{"1.5", -1},
		{"9007199254740994", -1},
		{"1e300", -1},
		{"\"1\"", -1},
		{"null", -1},
		{"true", -1},
		{"[1]", -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(json) cJSON *doc = NULL;
		struct err err = {0};
		char text[64];
		int64_t value = -1;

		snprintf(text, sizeof(text), "{\"n\":%s}", rows[i].value);
		CHECK_OK(json_parse("doc", text, strlen(text), &doc, &err), &err);
		CHECK_INT(json_size(doc, "n", &value, &err) == 0, rows[i].want >= 0);
		CHECK_INT(value, rows[i].want);
		CHECK(json_size(doc, "N", &value, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
	}
}

static void members_by_exact_key(void)
{
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	static const char text[] = "{\"Key\":\"v\",\"n\":1}";

	CHECK_OK(json_parse("doc", text, strlen(text), &doc, &err), &err);
	CHECK_STR(json_string(doc, "Key"), "v");
	CHECK(json_string(doc, "key") == NULL);
	CHECK(json_string(doc, "n") == NULL);
	CHECK(json_get(json_get(doc, "n"), "x") == NULL);
	CHECK(json_get(NULL, "x") == NULL);
}

static void entries_are_inserted_at_any_place(void)
{
	static const int numbers[] = {10, 11, 12, 8, 9};
	AUTO(json) cJSON *array = cJSON_CreateArray();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		cJSON *at = array->child;

		while (at != NULL && at->valueint < numbers[i])
			at = at->next;
		json_insert(array, at, cJSON_CreateNumber(numbers[i]));
	}
	json_print(array, &text);
	CHECK_STR(strbuf_str(&text), "[8,9,10,11,12]");
}

int main(void)
{
	TEST("json: what is not strict JSON is refused with its place", refuses_what_is_not_strict);
	TEST("json: an escaped backslash before u0000 is no NUL", an_escaped_backslash_is_no_nul);
	TEST("json: depth is capped", depth_is_capped);
	TEST("json: numbers up to 2^53 print as integers", numbers_stay_whole);
	TEST("json: a round trip keeps order and texts", order_and_texts_survive);
	TEST("json: the indented form", pretty_form);
	TEST("json: json_size takes whole numbers up to 2^53 only", sizes);
	TEST("json: entries are inserted at any place", entries_are_inserted_at_any_place);
	TEST("json: members are found by exact key", members_by_exact_key);
	return test_done();
}
