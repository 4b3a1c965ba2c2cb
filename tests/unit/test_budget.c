/* What reading an image may cost: bounds by weight, by the user, and what holds them. */
#include "tests/harness.h"

#include <string.h>

#include "builder/check/diff_internal.h"
#include "builder/check/view.h"
#include "builder/oci/budget.h"

#define MIB (INT64_C(1) << 20)

static void a_small_image_has_its_floor(void)
{
	struct budget b = {0};
	struct err err = {0};

	budget_spend(&b, BUDGET_UNPACKED, 512 * MIB);
	budget_spend(&b, BUDGET_KEPT, 64 * MIB);
	budget_spend(&b, BUDGET_STEPS, 8 * MIB);
	CHECK_OK(budget_check(&b, &err), &err);
	CHECK(!budget_exceeded(&b));
	budget_spend(&b, BUDGET_STEPS, 1);
	CHECK(budget_exceeded(&b));
	CHECK_INT(budget_check(&b, &err), -1);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK_STR(err.msg, "the layers' paths lead through more than 8388608 folders and links, "
	                   "and weigh only 0 B");
	CHECK(strstr(err.hint, "--max-unpacked SIZE") != NULL);
}

static void weight_raises_every_bound(void)
{
	struct budget b = {0};

	budget_earn(&b, MIB);
	budget_spend(&b, BUDGET_UNPACKED, (512 + 1100) * MIB);
	budget_spend(&b, BUDGET_KEPT, (64 + 32) * MIB);
	budget_spend(&b, BUDGET_STEPS, (8 + 64) * MIB);
	CHECK(!budget_exceeded(&b));
	budget_spend(&b, BUDGET_KEPT, 1);
	CHECK(budget_exceeded(&b));
}

static void no_weight_raises_it_beyond_a_disk(void)
{
	struct budget b = {0};

	budget_earn(&b, INT64_MAX);
	budget_spend(&b, BUDGET_UNPACKED, 256 * 1024 * MIB);
	CHECK(!budget_exceeded(&b));
	budget_spend(&b, BUDGET_UNPACKED, 1);
	CHECK(budget_exceeded(&b));
}

static void the_users_bound_holds_in_both_directions(void)
{
	struct budget less = {.max_unpacked = 100}, more = {.max_unpacked = 1024 * 1024 * MIB};

	budget_earn(&less, MIB);
	budget_spend(&less, BUDGET_UNPACKED, 101);
	CHECK(budget_exceeded(&less));
	budget_spend(&more, BUDGET_UNPACKED, 1024 * 1024 * MIB);
	budget_spend(&more, BUDGET_KEPT, 10 * 1024 * MIB);
	CHECK(!budget_exceeded(&more));
}

static void sums_do_not_overflow(void)
{
	struct budget b = {.max_unpacked = INT64_MAX - 1};

	budget_spend(&b, BUDGET_UNPACKED, INT64_MAX - 1);
	CHECK(!budget_exceeded(&b));
	budget_spend(&b, BUDGET_UNPACKED, INT64_MAX);
	CHECK(budget_exceeded(&b));
	budget_spend(NULL, BUDGET_UNPACKED, 1);
	CHECK(!budget_exceeded(NULL));
}

static void an_arena_is_paid_for_once(void)
{
	AUTO(arena) struct arena a = {0};
	struct budget b = {0};
	size_t mark = 0;

	arena_alloc(&a, 1 << 20);
	budget_spend_arena(&b, &a, &mark);
	budget_spend_arena(&b, &a, &mark);
	CHECK_INT(b.spent[BUDGET_KEPT], 1 << 20);
	CHECK_INT(mark, 1 << 20);
}

static void one_window_at_a_time_is_large(void)
{
	struct budget b = {0};
	struct err err = {0};

	CHECK_OK(budget_hold_window(&b, &err), &err);
	CHECK(b.large_window);
	budget_release_window(&b);
	CHECK_OK(budget_hold_window(&b, &err), &err);
	CHECK_OK(budget_hold_window(NULL, &err), &err);
}

/* A view of one layer of these members. */
static int apply(struct view *v, struct arena *a, struct scan_member *members, size_t n,
                 struct err *err)
{
	struct layer_scan scan = {0};
	int rc;

	for (size_t i = 0; i < n; i++)
		vec_push(&scan.members, &members[i]);
	view_init(v, a, NULL, NULL);
	rc = view_apply(v, &scan, 0, err);
	vec_done(&scan.members);
	return rc;
}

static void a_path_made_long_by_links_is_refused(void)
{
	AUTO(arena) struct arena a = {0};
	char deep[2001], below[2100];
	struct err err = {0};
	struct view v;

	memset(deep, 'd', sizeof(deep) - 1);
	for (size_t i = 100; i < sizeof(deep); i += 100)
		deep[i - 1] = '/';
	deep[sizeof(deep) - 2] = 'd';
	deep[sizeof(deep) - 1] = '\0';
	snprintf(below, sizeof(below), "l/%s", deep);
	struct scan_member members[] = {
		{.path = deep, .type = MEMBER_DIR, .mode = 0755},
		{.path = "l", .type = MEMBER_SYMLINK, .link = deep},
		{.path = below, .type = MEMBER_DIR, .mode = 0755},
		{.path = arena_printf(&a, "%s/m", below), .type = MEMBER_SYMLINK, .link = "x"},
		{.path = arena_printf(&a, "%s/%0100d", below, 1), .type = MEMBER_FILE},
	};

	CHECK_OK(apply(&v, &a, members, 4, &err), &err);
	view_done(&v);
	CHECK_INT(apply(&v, &a, members, 5, &err), -1);
	view_done(&v);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(strstr(err.msg, "longer than 4095 bytes once its links are followed") != NULL);
}

static cJSON *parse(const char *text)
{
	cJSON *doc = NULL;
	struct err err = {0};

	CHECK_OK(json_parse("test", text, strlen(text), &doc, &err), &err);
	return doc;
}

static bool equal(const char *a, const char *b)
{
	AUTO(json) cJSON *x = parse(a);
	AUTO(json) cJSON *y = parse(b);

	return diff_equal_json(x, y);
}

static void objects_are_equal_whatever_their_order(void)
{
	CHECK(equal("{\"a\":1,\"b\":{\"c\":[1,2],\"d\":null}}",
	            "{\"b\":{\"d\":null,\"c\":[1,2]},\"a\":1}"));
	CHECK(!equal("{\"a\":1}", "{\"a\":1,\"b\":1}"));
	CHECK(!equal("{\"a\":1}", "{\"b\":1}"));
	CHECK(!equal("[1,2]", "[2,1]"));
	CHECK(!equal("[1,2]", "[1]"));
	CHECK(!equal("{}", "[]"));
	CHECK(!equal("\"1\"", "1"));
	CHECK(equal("{}", "{}"));
}

static void configurations_differ_by_member(void)
{
	AUTO(json)
	cJSON *a = parse("{\"os\":\"x\",\"rootfs\":1,\"config\":{\"User\":\"1\",\"Cmd\":[]}}");
	AUTO(json)
	cJSON *b = parse("{\"author\":\"me\",\"config\":{\"Cmd\":[],\"User\":\"2\"},\"os\":\"x\"}");
	AUTO(json) cJSON *out = cJSON_CreateArray();
	AUTO(arena) struct arena arena = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 10);

	diff_configs(a, b, &arena, out);
	json_print(out, &text);
	CHECK_STR(strbuf_str(&text), "[{\"member\":\"author\",\"b\":\"me\"},"
	                             "{\"member\":\"config.User\",\"a\":\"1\",\"b\":\"2\"}]");
}

int main(void)
{
	TEST("budget: a small image has its floor, and one step more is an error with its bound",
	     a_small_image_has_its_floor);
	TEST("budget: what an image weighs raises every bound", weight_raises_every_bound);
	TEST("budget: no weight allows more than 256 GiB", no_weight_raises_it_beyond_a_disk);
	TEST("budget: the user's own bound holds in both directions",
	     the_users_bound_holds_in_both_directions);
	TEST("budget: sums of holes do not overflow", sums_do_not_overflow);
	TEST("budget: what an arena grew by is paid for once", an_arena_is_paid_for_once);
	TEST("budget: a large window is held by one at a time", one_window_at_a_time_is_large);
	TEST("view: a path that links make longer than a system call takes is refused",
	     a_path_made_long_by_links_is_refused);
	TEST("diff: objects are equal whatever the order of their keys",
	     objects_are_equal_whatever_their_order);
	TEST("diff: configurations differ by member, in the order of names",
	     configurations_differ_by_member);
	return test_done();
}
