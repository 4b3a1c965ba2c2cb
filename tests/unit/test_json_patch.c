/* Changes to JSON documents: the examples of RFC 7386 and RFC 6902 in words of our own, and what
 * hostile ones come to. */
#include "base/doc/json_patch.h"
#include "tests/harness.h"

static cJSON *parse(const char *text)
{
	cJSON *doc = NULL;
	struct err err = {0};

	if (json_parse("test", text, strlen(text), &doc, &err) != 0)
		printf("# %s: %s\n", text, err.msg);
	return doc;
}

static void expect(const cJSON *doc, const char *want)
{
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(1 << 20);

	json_print(doc, &got);
	CHECK_STR(strbuf_str(&got), want);
}

static void merges(void)
{
	static const struct {
		const char *doc, *patch, *want;
	} rows[] = {
		{"{\"a\":1}", "{\"a\":2}", "{\"a\":2}"},
		{"{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}"},
		{"{\"a\":1,\"b\":2}", "{\"a\":null}", "{\"b\":2}"},
		{"{\"a\":1}", "{\"z\":null}", "{\"a\":1}"},
		{"{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}"},
		{"{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":null,\"d\":3}}",
	         "{\"a\":{\"c\":2,\"d\":3}}"},
		{"{\"a\":1}", "{\"a\":{\"b\":{\"c\":null,\"d\":1}}}", "{\"a\":{\"b\":{\"d\":1}}}"},
		{"{\"a\":{\"b\":1}}", "{\"a\":\"text\"}", "{\"a\":\"text\"}"},
		{"{\"first\":1,\"b\":2}", "{\"first\":3}", "{\"first\":3,\"b\":2}"},
		{"{}", "{\"a\":[{\"b\":null}]}", "{\"a\":[{\"b\":null}]}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(json) cJSON *doc = parse(rows[i].doc), *patch = parse(rows[i].patch);
		AUTO(json_change) struct json_change change = {0};
		struct err err = {0};

		CHECK_INT(json_merge(doc, patch, &change, &err), 0);
		expect(doc, rows[i].want);
	}
}

struct row {
	enum json_op op;
	const char *path, *from, *value;
	const char *want; /* the document, or what the message says after "! " */
};

static void operate(const char *text, const struct row *row)
{
	AUTO(json) cJSON *doc = parse(text), *value = row->value != NULL ? parse(row->value) : NULL;
	AUTO(json_change) struct json_change change = {0};
	struct json_operation operation = {row->op, row->path, row->from, value};
	struct err err = {0};

	if (json_operate(doc, &operation, &change, &err) == 0) {
		expect(doc, row->want);
		return;
	}
	CHECK(strncmp(row->want, "! ", 2) == 0);
	CHECK_STR(err.msg, row->want + 2);
	expect(doc, text);
}

static void operates(void)
{
	static const char doc[] = "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,20,30]}";
	static const struct row rows[] = {
		{JSON_OP_ADD, "/a/c", NULL, "[1]",
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3,\"c\":[1]},\"l\":[10,20,30]}"},
		{JSON_OP_ADD, "/a/b", NULL, "null",
	         "{\"a\":{\"b\":null,\"x/y\":2,\"m~n\":3},\"l\":[10,20,30]}"},
		{JSON_OP_ADD, "/l/0", NULL, "5",
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[5,10,20,30]}"},
		{JSON_OP_ADD, "/l/2", NULL, "25",
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,20,25,30]}"},
		{JSON_OP_ADD, "/l/-", NULL, "40",
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,20,30,40]}"},
		{JSON_OP_ADD, "/l/3", NULL, "40",
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,20,30,40]}"},
		{JSON_OP_ADD, "/l/4", NULL, "40", "! /l is a list of 3, and has no '4'"},
		{JSON_OP_ADD, "/l/01", NULL, "40", "! /l is a list of 3, and has no '01'"},
		{JSON_OP_ADD, "/a/b/c", NULL, "40", "! /a/b is a value without members"},
		{JSON_OP_ADD, "/x/y", NULL, "40", "! there is no 'x' in the object"},
		{JSON_OP_REMOVE, "/a/x~1y", NULL, NULL,
	         "{\"a\":{\"b\":1,\"m~n\":3},\"l\":[10,20,30]}"},
		{JSON_OP_REMOVE, "/a/m~0n", NULL, NULL,
	         "{\"a\":{\"b\":1,\"x/y\":2},\"l\":[10,20,30]}"},
		{JSON_OP_REMOVE, "/l/1", NULL, NULL,
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,30]}"},
		{JSON_OP_REMOVE, "/l/-", NULL, NULL, "! /l is a list of 3, and has no '-'"},
		{JSON_OP_REMOVE, "/a/z~1", NULL, NULL, "! there is no 'z/' in /a"},
		{JSON_OP_REPLACE, "/l/2", NULL, "{}",
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,20,{}]}"},
		{JSON_OP_REPLACE, "/q", NULL, "1", "! there is no 'q' in the object"},
		{JSON_OP_MOVE, "/b", "/a/b", NULL,
	         "{\"a\":{\"x/y\":2,\"m~n\":3},\"l\":[10,20,30],\"b\":1}"},
		{JSON_OP_MOVE, "/l/2", "/l/0", NULL,
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[20,30,10]}"},
		{JSON_OP_MOVE, "/a/b/c", "/a", NULL, "! /a cannot move into itself"},
		{JSON_OP_MOVE, "/no/c", "/l/1", NULL, "! there is no 'no' in the object"},
		{JSON_OP_COPY, "/l/-", "/a/b", NULL,
	         "{\"a\":{\"b\":1,\"x/y\":2,\"m~n\":3},\"l\":[10,20,30,1]}"},
		{JSON_OP_COPY, "/c", "/nothing", NULL, "! there is no 'nothing' in the object"},
		{JSON_OP_TEST, "/l", NULL, "[10,20,30]", doc},
		{JSON_OP_TEST, "/a/b", NULL, "2", "! /a/b is 1, and not 2"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		operate(doc, &rows[i]);
}

static void keeps_addresses(void)
{
	AUTO(json) cJSON *doc = parse("{\"a\":{\"b\":1},\"c\":[{\"d\":2}]}");
	AUTO(json) cJSON *patch = parse("{\"a\":{\"b\":7},\"c\":null}");
	AUTO(json_change) struct json_change change = {0};
	const cJSON *b = json_get(json_get(doc, "a"), "b");
	const cJSON *c = json_get(doc, "c");
	struct err err = {0};

	CHECK_INT(json_merge(doc, patch, &change, &err), 0);
	CHECK(json_get(json_get(doc, "a"), "b") == b);
	CHECK_INT(b->valueint, 7);
	CHECK_INT(change.put.n, 1);
	CHECK(change.put.at[0] == b);
	/* What is gone can still be compared with. */
	CHECK_INT(cJSON_GetArraySize(change.gone), 2);
	CHECK(cJSON_GetArrayItem(change.gone, 1) == c);
}

static void copies_of_copies_end(void)
{
	AUTO(json) cJSON *doc = parse("{\"a\":{\"x\":1}}");
	AUTO(json_change) struct json_change change = {0};
	struct err err = {0};
	int rc = 0;

	for (int i = 0; i < 64 && rc == 0; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/a/copy%d", i);
		rc = json_operate(doc, &(struct json_operation){JSON_OP_COPY, path, "/a", NULL},
		                  &change, &err);
	}
	CHECK(rc != 0);
	CHECK_INT(err.code, ERR_LIMIT);
}

static void checks_pointers(void)
{
	static const char *const good[] = {"/a", "/a/0", "/a~1b/~0", "/-", "//"};
	static const char *const bad[] = {"", "a", "/", "/a~", "/~2"};
	const char *hint;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		CHECK(json_pointer_check(good[i], &hint) == NULL);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(json_pointer_check(bad[i], &hint) != NULL);
}

int main(void)
{
	TEST("json patch: a merge replaces, adds and removes", merges);
	TEST("json patch: each operation does what it says, or nothing", operates);
	TEST("json patch: replaced values stay where they were", keeps_addresses);
	TEST("json patch: copies of copies come to an end", copies_of_copies_end);
	TEST("json patch: what is not a pointer is refused", checks_pointers);
	return test_done();
}
