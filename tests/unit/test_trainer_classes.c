#include <string.h>

#include "base/fs.h"
#include "tests/harness.h"
#include "trainer/classes/class_read.h"
#include "trainer/classify/table.h"
#include "trainer/config/model_classes.h"
#include "trainer/config/model_file.h"
#include "trainer/export/export.h"

static int lines(const char *text, struct class_list *ret, struct err *err)
{
	return class_list_of_lines("list.txt", text, strlen(text), ret, err);
}

static void a_line_a_name(void)
{
	AUTO(class_list) struct class_list list = {0};
	struct err err = {0};

	CHECK_OK(lines("bird\r\n\nair drumming\nice_hockey\nball", &list, &err), &err);
	CHECK_INT(list.n, 4);
	CHECK_INT(class_list_find(&list, "ball"), 3);
	CHECK_INT(class_list_find(&list, "bird"), 0);
	CHECK_INT(class_list_find(&list, "air_drumming"), 1);
	CHECK_INT(class_list_find(&list, "ice hockey"), 2);
	CHECK(class_list_find(&list, "bal") == CLASS_NONE);
}

static void the_very_name_goes_first(void)
{
	AUTO(class_list) struct class_list list = {0};
	struct err err = {0};

	CHECK_OK(lines("a b\na_b\n", &list, &err), &err);
	CHECK_INT(class_list_find(&list, "a b"), 0);
	CHECK_INT(class_list_find(&list, "a_b"), 1);
}

static void bad_names(void)
{
	static const char *const bad[] = {"a\nb\na\n", "a\n\x1b[31m\n", "a\n\xff\n"};
	struct class_list list;
	char big[CLASS_NAME_MAX + 2];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};

		CHECK(lines(bad[i], &list, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
		CHECK(strstr(err.msg, "list.txt") != NULL);
	}
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	struct err err = {0};

	CHECK(lines(big, &list, &err) != 0);
}

static int of_json(const char *text, struct class_list *ret, struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};

	if (jsonr_parse("config.json", text, strlen(text), &doc, err) != 0)
		return -1;
	return class_list_of_id2label("config.json", jsonr_get(&doc, doc.nodes, "id2label"), &doc,
	                              ret, err);
}

static void labels_without_a_class(void)
{
	AUTO(class_list) struct class_list list = {0};
	AUTO(class_list) struct class_list none = {0};
	struct err err = {0};

	CHECK_OK(of_json("{\"id2label\": {\"2\": \"LABEL_2\", \"0\": \"b\", \"1\": \"a\", \"3\": "
	                 "\"LABEL_3\"}}",
	                 &list, &err),
	         &err);
	CHECK_INT(list.n, 2);
	CHECK_STR(list.at[0], "b");
	CHECK_OK(of_json("{\"id2label\": {\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"}}", &none, &err),
	         &err);
	CHECK_INT(none.n, 0);
	CHECK_OK(of_json("{}", &none, &err), &err);
	CHECK_INT(none.n, 0);
}

static void bad_id2labels(void)
{
	static const char *const bad[] = {
		"{\"id2label\": {\"0\": \"a\", \"2\": \"b\"}}",
		"{\"id2label\": {\"0\": \"a\", \"00\": \"b\"}}",
		"{\"id2label\": {\"-1\": \"a\"}}",
		"{\"id2label\": {\"99999999999\": \"a\"}}",
		"{\"id2label\": {\"x\": \"a\"}}",
		"{\"id2label\": {\"0\": 1}}",
		"{\"id2label\": [\"a\"]}",
		"{\"id2label\": {\"0\": \"a\", \"1\": \"a\"}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct class_list list;
		struct err err = {0};

		CHECK(of_json(bad[i], &list, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
	}
}

static void config_carries_classes(void)
{
	AUTO(class_list) struct class_list list = {0};
	AUTO(class_list) struct class_list back = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct model_config c = model_config_tiny(), again = model_config_full();
	struct err err = {0};
	char dir[4096], path[8192];

	CHECK_OK(lines("a \"b\"\nc", &list, &err), &err);
	model_config_print(&c, &list, &text);
	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/config.json", dir);
	CHECK_OK(fs_write_file(path, text.ptr, text.len, 0600, &err), &err);
	CHECK_OK(model_config_load(&again, path, NULL, &err), &err);
	CHECK_INT(again.num_labels, c.num_labels);
	CHECK_OK(class_list_load(dir, &back, &err), &err);
	CHECK_INT(back.n, 2);
	CHECK_STR(back.at[0], "a \"b\"");
	CHECK(strstr(text.ptr, "\"LABEL_9\": 9") != NULL && strstr(text.ptr, "LABEL_10") == NULL);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static int load_yaml(const char *text, struct model_config *c, struct class_list *classes,
                     struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
	char dir[4096], path[8192];
	int rc;

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/main.yaml", dir);
	rc = fs_write_file(path, text, strlen(text), 0600, err);
	if (rc == 0)
		rc = model_file_load(path, c, &remarks, err);
	if (rc == 0)
		rc = model_file_classes(path, classes, err);
	CHECK(fs_remove_tree(dir, err) == 0);
	return rc;
}

static void yaml_carries_classes(void)
{
	AUTO(class_list) struct class_list list = {0};
	struct model_config c;
	struct err err = {0};

	CHECK_OK(load_yaml("id2label:\n  0: abseiling\n  1: 'it''s'\nnum_frames: 16\n", &c, &list,
	                   &err),
	         &err);
	CHECK_INT(c.num_labels, 2);
	CHECK_INT(list.n, 2);
	CHECK_STR(list.at[1], "it's");
	class_list_done(&list);
	CHECK_OK(load_yaml("num_labels: 700\nid2label:\n  0: a\n", &c, &list, &err), &err);
	CHECK_INT(c.num_labels, 700);
	class_list_done(&list);
	CHECK(load_yaml("num_labels: 1\nid2label:\n  0: a\n  1: b\n", &c, &list, &err) != 0);
	CHECK(strstr(err.msg, "num_labels is 1") != NULL && strstr(err.msg, "2 classes") != NULL);
}

#define DATASET                                                                                    \
	"{\"format\":\"slipway-dataset/v1\",\"clip\":{\"frames\":2,\"height\":4,\"width\":6,"      \
	"\"samples\":64},\"classes\":[\"cat\",\"dog\",\"owl\"],\"shards\":["                       \
	"{\"file\":\"x\",\"clips\":1,\"label\":1},{\"file\":\"y\",\"clips\":2,\"label\":0}]}"

static void labels_go_by_name(void)
{
	AUTO(class_list) struct class_list head_classes = {0};
	AUTO(class_list) struct class_list short_list = {0};
	AUTO(dataset_list) struct dataset_list list = {0};
	struct label_head head = {5, &head_classes, "config.json"}, numbers = {2, NULL, ""};
	struct label_head other = {5, &short_list, "config.json"};
	struct err err = {0};

	CHECK_OK(lines("ape\ndog\nfox\ncat\n", &head_classes, &err), &err);
	CHECK_OK(lines("ape\ndog\n", &short_list, &err), &err);
	CHECK_OK(dataset_list_parse("d", DATASET, strlen(DATASET), &list, &err), &err);
	/* owl has no clip: it need not be there. */
	CHECK_OK(dataset_list_match(&list, "d", &head, &err), &err);
	CHECK_INT(list.at[0].number, 1);
	CHECK_INT(list.at[1].number, 3);
	CHECK_INT(list.at[1].label, 0);
	CHECK(dataset_list_match(&list, "d", &other, &err) != 0);
	CHECK(strstr(err.msg, "class 'cat' of 'd'") != NULL && err.hint[0] != '\0');
	CHECK(dataset_list_match(&list, "d", &numbers, &err) != 0);
	CHECK(strstr(err.msg, "3 classes") != NULL && strstr(err.msg, "num_labels 2") != NULL);
}

static void ranks_and_probabilities(void)
{
	double logits[] = {0, 1, -1, 1, 3, 2, 0.5};
	struct classified r;
	double sum = 0;

	classify_rank(logits, ARRAY_LEN(logits), &r);
	CHECK_INT(r.n, CLASSIFY_TOP);
	CHECK_INT(r.label[0], 4);
	CHECK_INT(r.label[1], 5);
	CHECK_INT(r.label[2], 1);
	CHECK_INT(r.label[3], 3);
	CHECK_INT(r.label[4], 6);
	for (size_t i = 0; i < r.n; i++)
		sum += r.probability[i];
	CHECK(sum < 1 && sum > 0.9 && r.probability[0] > 0.55 && r.probability[0] < 0.57);
	logits[0] = 1e300;
	classify_rank(logits, 2, &r);
	CHECK_INT(r.n, 2);
	CHECK(r.probability[0] == 1 && r.probability[1] == 0);
}

static void table_is_quoted(void)
{
	AUTO(class_list) struct class_list classes = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	struct dataset_entry at[] = {{.file = "s", .source = "b,\"1\".mp4", .n_clips = 2}};
	struct dataset_rejected no[] = {{"a.mp4", "no\nvideo"}};
	struct dataset_list list = {.at = at, .n = 1};
	struct classified result = {2, {1, 0}, {0.75, 0.25}};
	struct err err = {0};

	list.rejected.at = no;
	list.rejected.n = 1;
	CHECK_OK(lines("cat\n", &classes, &err), &err);
	classify_table(&list, &result, &classes, &sb);
	CHECK_STR(strchr(strbuf_str(&sb), '\n') + 1,
	          "a.mp4,,,,,,,,,,,0,\"no\nvideo\"\n"
	          "\"b,\"\"1\"\".mp4\",LABEL_1,0.750000,cat,0.250000,,,,,,,2,\n");
}

static void export_knows_what_is_built_in(void)
{
	struct model_config full = model_config_full(), mid = model_config_mid(),
			    tiny = model_config_tiny();
	struct err err = {0};

	CHECK_OK(export_check(&full, &err), &err);
	CHECK_OK(export_check(&mid, &err), &err);
	CHECK(export_check(&tiny, &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	CHECK(strstr(err.msg, "audio_num_bands 32") != NULL);
}

int main(void)
{
	TEST("classes: a text file has a name a line", a_line_a_name);
	TEST("classes: the very name goes before one with blanks for underscores",
	     the_very_name_goes_first);
	TEST("classes: names that are twice, or are none, are refused", bad_names);
	TEST("classes: LABEL_n at the end of id2label is no class", labels_without_a_class);
	TEST("classes: an id2label with a hole, a copy or no number is refused", bad_id2labels);
	TEST("config.json: every label has a name, and the classes come back",
	     config_carries_classes);
	TEST("main.yaml: id2label gives the classes; fewer labels than classes are refused",
	     yaml_carries_classes);
	TEST("dataset: labels go by the names of the classes", labels_go_by_name);
	TEST("classify: the five most probable, ties by number", ranks_and_probabilities);
	TEST("classify: a table is quoted as RFC 4180 says, rejected videos are rows",
	     table_is_quoted);
	TEST("export: what transformers has built in is checked", export_knows_what_is_built_in);
	return test_done();
}
