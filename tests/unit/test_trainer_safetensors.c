/* The safetensors reader and writer, and the JSON reader below it. */
#include "trainer/checkpoint/safetensors.h"

#include <math.h>
#include <string.h>

#include "base/jsonr.h"
#include "tests/harness.h"

static int parse(const char *text, struct jsonr *doc, struct err *err)
{
	return jsonr_parse("test", text, strlen(text), doc, err);
}

static void json_values(void)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct err err = {0};
	const struct jsonr_node *list;
	uint64_t whole;

	CHECK_OK(
		parse(" {\"a\": [1, 2.5, -3e2], \"b\\u00e9\\ud83d\\ude00\": \"x\\ny\", \"c\": null,"
	              "\"d\": {\"e\": true}} ",
	              &doc, &err),
		&err);
	list = jsonr_get(&doc, doc.nodes, "a");
	CHECK_INT(list->n, 3);
	CHECK(jsonr_whole(jsonr_first(&doc, list), &whole) && whole == 1);
	CHECK(!jsonr_whole(jsonr_next(&doc, jsonr_first(&doc, list)), &whole));
	CHECK_STR(jsonr_get(&doc, doc.nodes, "b\xc3\xa9\xf0\x9f\x98\x80")->string, "x\ny");
	CHECK(jsonr_get(&doc, doc.nodes, "c")->type == JSONR_NULL);
	CHECK(jsonr_get(&doc, jsonr_get(&doc, doc.nodes, "d"), "e")->number == 1);
	CHECK(jsonr_get(&doc, doc.nodes, "f") == NULL);
}

static void json_refusals(void)
{
	static const char *const bad[] = {"",
	                                  "{",
	                                  "[1,]",
	                                  "{\"a\":1,}",
	                                  "01",
	                                  "1.",
	                                  "+1",
	                                  "nul",
	                                  "\"\\x\"",
	                                  "\"\x01\"",
	                                  "\"\xff\"",
	                                  "\"\xc0\x80\"",
	                                  "\"\xed\xa0\x80\"",
	                                  "\"\\ud800\"",
	                                  "\"\\u0000\"",
	                                  "{\"a\":1,\"a\":2}",
	                                  "[1] 2",
	                                  "1e999",
	                                  "{a:1}",
	                                  "[1 2]",
	                                  "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]"
	                                  "]]]]]]]]]]]]]]]]]]]]]]]]]"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct jsonr doc = {0};
		struct err err = {0};

		if (parse(bad[i], &doc, &err) == 0) {
			printf("# taken: %s\n", bad[i]);
			CHECK(false);
			jsonr_done(&doc);
		}
		CHECK(err.code == ERR_FORMAT);
	}
}

/* A file of this header and n data bytes, opened. */
static int open_header(const char *header, size_t n, struct st_file *f, struct err *err)
{
	static unsigned char bytes[4096];
	size_t len = strlen(header);

	memset(bytes, 0, sizeof(bytes));
	bytes[0] = (unsigned char)len;
	bytes[1] = (unsigned char)(len >> 8);
	memcpy(bytes + 8, header, len);
	return st_open_memory("test", bytes, 8 + len + n, f, err);
}

static void reads_types(void)
{
	AUTO(st_file) struct st_file f = {0};
	struct err err = {0};
	unsigned char bytes[] = "\x80\0\0\0\0\0\0\0"
				"{\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
				"\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[6,8]}}"
				"             \x00\x3c\x01\x00\x00\xfc\x80\x3f";
	float h[3], b;

	bytes[0] = (unsigned char)(sizeof(bytes) - 1 - 8 - 8);
	CHECK_OK(st_open_memory("test", bytes, sizeof(bytes) - 1, &f, &err), &err);
	CHECK_INT(f.n, 2);
	CHECK_OK(st_read_f32(st_find(&f, "h"), h, 3, &err), &err);
	CHECK_OK(st_read_f32(st_find(&f, "b"), &b, 1, &err), &err);
	CHECK(h[0] == 1 && h[1] == 0x1p-24f && isinf(h[2]) && h[2] < 0 && b == 1);
	CHECK(st_find(&f, "x") == NULL);
	CHECK(st_read_f32(st_find(&f, "h"), h, 2, &err) != 0);
}

static void refuses_lies(void)
{
	static const struct {
		const char *header;
		size_t n;
	} rows[] = {
		{"", 0},
		{"[]", 0},
		{"{\"a\":1}", 0},
		{"{\"a\":{}}", 0},
		{"{\"a\":{\"dtype\":\"F99\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 0},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", 4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,"
	         "0]}}",
	         0},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
	         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
	         4},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,9007199254740992]}}",
	         4},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct st_file f = {0};
		struct err err = {0};

		if (open_header(rows[i].header, rows[i].n, &f, &err) == 0) {
			printf("# taken: %s\n", rows[i].header);
			CHECK(false);
			st_close(&f);
		}
		CHECK(err.code != ERR_NONE);
	}
}

static void refuses_cut_files(void)
{
	static const unsigned char bytes[] = "\xff\xff\xff\xff\xff\xff\xff\x7f{}";
	struct st_file f = {0};
	struct err err = {0};

	for (size_t n = 0; n < sizeof(bytes); n++)
		CHECK(st_open_memory("test", bytes, n, &f, &err) != 0);
}

static void writes_what_it_reads(void)
{
	static const float values[] = {1.5f, -2, NAN, 0, 3, 4};
	static const int32_t ints[] = {7, -8};
	struct st_item items[] = {
		{.prefix = "x.",
	         .name = "a",
	         .dtype = ST_F32,
	         .ndim = 2,
	         .shape = {2, 3},
	         .data = values},
		{.name = "b\"\n", .dtype = ST_I32, .ndim = 1, .shape = {2}, .data = ints}};
	AUTO(st_file) struct st_file f = {0};
	struct err err = {0};
	char dir[4096], path[5000];
	float back[6];
	int32_t back_ints[2];

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/x.safetensors", dir);
	CHECK_OK(st_write(path, items, 2, &err), &err);
	CHECK_OK(st_open(path, &f, &err), &err);
	CHECK(((uintptr_t)st_find(&f, "x.a")->data & 63) == 0);
	CHECK_OK(st_read_f32(st_find(&f, "x.a"), back, 6, &err), &err);
	CHECK_OK(st_read_i32(st_find(&f, "b\"\n"), back_ints, 2, &err), &err);
	CHECK(memcmp(back, values, sizeof(values)) == 0);
	CHECK(memcmp(back_ints, ints, sizeof(ints)) == 0);
	CHECK(st_open("/nonexistent/x", &f, &err) != 0 && err.code == ERR_NOT_FOUND);
	CHECK(st_write("/nonexistent/x", items, 2, &err) != 0);
	unlink(path);
	rmdir(dir);
}

static void set_must_match(void)
{
	static const float values[6] = {0};
	struct st_item item = {
		.name = "a", .dtype = ST_F32, .ndim = 2, .shape = {2, 3}, .data = values};
	struct tensors set = {0}, other = {0}, missing = {0};
	AUTO(st_file) struct st_file f = {0};
	struct err err = {0};
	char dir[4096], path[5000];

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/x.safetensors", dir);
	CHECK_OK(st_write(path, &item, 1, &err), &err);
	CHECK_OK(st_open(path, &f, &err), &err);
	tensors_add(&set, "a", 2, (size_t[]){2, 3});
	tensors_add(&other, "a", 2, (size_t[]){3, 2});
	tensors_add(&missing, "b", 2, (size_t[]){2, 3});
	tensors_alloc(&set, NULL, NULL);
	tensors_alloc(&other, NULL, NULL);
	tensors_alloc(&missing, NULL, NULL);
	CHECK_OK(st_read_set(&f, "", &set, &err), &err);
	CHECK(st_read_set(&f, "", &other, &err) != 0);
	CHECK(strstr(err.msg, "'a'") != NULL);
	CHECK(st_read_set(&f, "", &missing, &err) != 0);
	tensors_done(&set);
	tensors_done(&other);
	tensors_done(&missing);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	TEST("jsonr: values of every kind", json_values);
	TEST("jsonr: what is not strict JSON is refused", json_refusals);
	TEST("safetensors: half and bfloat16 are widened", reads_types);
	TEST("safetensors: headers that lie are refused", refuses_lies);
	TEST("safetensors: a file cut short is refused", refuses_cut_files);
	TEST("safetensors: what is written reads back", writes_what_it_reads);
	TEST("safetensors: a set's names and shapes must match", set_must_match);
	return test_done();
}
