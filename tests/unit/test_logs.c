/* Logs merged by time, whose logs they are, and what a dry run would change. */
#include "tests/harness.h"

#include "k8s/deploy/diff.h"
#include "k8s/deploy/logs.h"

static void feed(struct logmerge *m, size_t source, const char *text)
{
	logmerge_feed(m, source, text, strlen(text));
}

static const char *next(struct logmerge *m, bool hurry)
{
	struct log_line line;

	return logmerge_next(m, hurry, &line) ? line.text : NULL;
}

static void the_oldest_line_waits_for_the_others(void)
{
	struct logmerge *m = logmerge_new(2);

	feed(m, 0, "2026-11-21T10:00:00.000000002Z b\n2026-11-21T10:00:03Z d\n");
	CHECK(next(m, false) == NULL);
	CHECK(logmerge_holds(m));
	feed(m, 1, "2026-11-21T10:00:00.000000001Z a\r\n2026-11-21T10:00:02");
	CHECK_STR(next(m, false), "a");
	CHECK(next(m, false) == NULL);
	CHECK_STR(next(m, true), "b");
	feed(m, 1, "Z c");
	logmerge_end(m, 1);
	CHECK_STR(next(m, false), "c");
	CHECK_STR(next(m, false), "d");
	CHECK(next(m, false) == NULL);
	logmerge_end(m, 0);
	CHECK(next(m, false) == NULL);
	CHECK(!logmerge_holds(m));
	logmerge_free(m);
}

static void long_lines_are_cut_and_memory_is_bounded(void)
{
	struct logmerge *m = logmerge_new(1);
	char block[1024];
	struct log_line line;

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 100; i++)
		logmerge_feed(m, 0, block, sizeof(block));
	feed(m, 0, "\nshort\n");
	CHECK(logmerge_next(m, false, &line));
	CHECK_INT((long long)line.len, LOG_LINE_MAX);
	CHECK(line.cut);
	CHECK(logmerge_next(m, false, &line));
	CHECK_STR(line.text, "short");
	CHECK(!line.cut && line.ns == 0);
	for (int i = 0; logmerge_wants(m, 0) && i < 100000; i++)
		feed(m, 0, "a line\n");
	CHECK(!logmerge_wants(m, 0));
	while (next(m, true) != NULL)
		;
	CHECK(logmerge_wants(m, 0));
	logmerge_free(m);
}

static void a_source_that_is_never_out_of_lines_keeps_its_order(void)
{
	struct logmerge *m = logmerge_new(1);
	char text[32];

	for (int i = 0; i < 1000; i++) {
		for (int k = 3 * i; k < 3 * i + 3; k++) {
			snprintf(text, sizeof(text), "%d\n", k);
			feed(m, 0, text);
		}
		for (int k = 2 * i; k < 2 * i + 2; k++) {
			snprintf(text, sizeof(text), "%d", k);
			CHECK_STR(next(m, false), text);
		}
	}
	for (int k = 2000; k < 2999; k++)
		CHECK(next(m, false) != NULL);
	CHECK_STR(next(m, false), "2999");
	CHECK(next(m, false) == NULL);
	logmerge_free(m);
}

#define POD(name, phase, container)                                                                \
	"{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[{\"name\":\"" container   \
	"\"}]},\"status\":{\"phase\":\"" phase "\"}}"

static void one_source_per_rank_the_one_that_runs(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(json)
	cJSON *pods = cJSON_Parse("[" POD("j-worker-1", "Running", "trainer") "," POD(
		"j-launcher-abc", "Running",
		"launcher") "," POD("j-old-worker-0", "Failed",
	                            "trainer") "," POD("j-worker-0", "Running",
	                                               "trainer") "," POD("j-stale-worker-0",
	                                                                  "Pending",
	                                                                  "trainer") ",7]");
	struct log_source *list;

	CHECK_INT((long long)log_sources(pods, "j", -1, &a, &list), 3);
	CHECK_INT(list[0].rank, -1);
	CHECK_STR(list[0].container, "launcher");
	CHECK_STR(list[1].pod, "j-worker-0");
	CHECK_STR(list[2].pod, "j-worker-1");
	CHECK_INT((long long)log_sources(pods, "j", 1, &a, &list), 1);
	CHECK_INT((long long)log_sources(pods, "j", 9, &a, &list), 0);
	CHECK_INT((long long)log_sources(NULL, "j", -1, &a, &list), 0);
}

#define OBJECT(rest)                                                                               \
	"[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"," rest "]"

static void text_of_diff(const char *before, const char *after, struct strbuf *sb)
{
	AUTO(json) cJSON *planned = cJSON_Parse(OBJECT("\"namespace\":null}}"));
	AUTO(json) cJSON *was = cJSON_Parse(before);
	AUTO(json) cJSON *is = cJSON_Parse(after);
	AUTO(json) cJSON *changes = cJSON_CreateArray();
	struct stage stage = {"devices", planned};

	diff_stage(&stage, was, is, changes);
	strbuf_reset(sb);
	diff_changes_text(changes, sb);
}

static void differences_are_told_by_path(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	text_of_diff("[]", "[]", &sb);
	CHECK_STR(strbuf_str(&sb), "create ConfigMap a (devices)\n");
	text_of_diff(OBJECT("\"uid\":\"1\",\"managedFields\":[]},\"status\":{\"a\":1}}"),
	             OBJECT("\"uid\":\"2\"}}"), &sb);
	CHECK_STR(strbuf_str(&sb), "");
	text_of_diff(OBJECT("\"labels\":{\"a.b/c\":\"1\"}},\"data\":{\"run.sh\":\"a\\nb\\nc\"}}"),
	             OBJECT("\"labels\":{}},\"data\":{\"run.sh\":\"a\\nB\\nc\",\"n\":true}}"), &sb);
	CHECK_STR(strbuf_str(&sb), "change ConfigMap a (devices)\n"
	                           "    metadata.labels[\"a.b/c\"]\n"
	                           "      - \"1\"\n"
	                           "    data[\"run.sh\"], from line 2\n"
	                           "      - \"b\"\n"
	                           "      + \"B\"\n"
	                           "    data.n\n"
	                           "      + true\n");
	text_of_diff(OBJECT("\"x\":[{\"name\":\"p\",\"v\":1},{\"name\":\"q\",\"v\":1}]}}"),
	             OBJECT("\"x\":[{\"name\":\"q\",\"v\":2},{\"name\":\"p\",\"v\":1}]}}"), &sb);
	CHECK_STR(strbuf_str(&sb), "change ConfigMap a (devices)\n"
	                           "    metadata.x[q].v\n"
	                           "      - 1\n"
	                           "      + 2\n");
}

int main(void)
{
	TEST("logs: the oldest line waits for the others", the_oldest_line_waits_for_the_others);
	TEST("logs: long lines are cut, memory is bounded",
	     long_lines_are_cut_and_memory_is_bounded);
	TEST("logs: a source that is never out of lines keeps its order",
	     a_source_that_is_never_out_of_lines_keeps_its_order);
	TEST("logs: one source per rank, the one that runs", one_source_per_rank_the_one_that_runs);
	TEST("diff: differences are told by path", differences_are_told_by_path);
	return test_done();
}
