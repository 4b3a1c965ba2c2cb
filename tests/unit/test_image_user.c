/* Users and groups found as container runtimes find them, and what they may do. */
#include "tests/harness.h"

#include "base/arena.h"
#include "builder/check/user.h"

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
			     "\n"
			     "broken\n"
			     "odd:x:one:1::/:\n"
			     "app:x:1000:1001:App:/home/app:/bin/sh\n"
			     "7:x:1007:1007::/:\n"
			     "last:x:1008:1008::/:";
static const char group[] = "root:x:0:\n"
			    "app:x:1001:\n"
			    "audio:x:29:last,app\n"
			    "video:x:44:apple\n"
			    "render:x:105:app";

static const struct {
	const char *text;
	enum user_fault fault;
	uint32_t uid, gid;
	size_t n_groups;
} cases[] = {
	{"", USER_FOUND, 0, 0, 0},
	{"root", USER_FOUND, 0, 0, 0},
	{"app", USER_FOUND, 1000, 1001, 2},
	{"1000", USER_FOUND, 1000, 1001, 2}, /* a number is looked up, too */
	{"app:", USER_FOUND, 1000, 1001, 2},
	{"app:video", USER_FOUND, 1000, 44, 0},
	{"app:4711", USER_FOUND, 1000, 4711, 0},
	{"4711", USER_FOUND, 4711, 0, 0},
	{"4711:audio", USER_FOUND, 4711, 29, 0},
	{"7", USER_FOUND, 1007, 1007, 0}, /* a name of digits */
	{"last", USER_FOUND, 1008, 1008, 1},
	{"ap", USER_UNKNOWN, 0, 0, 0},
	{"odd", USER_UNKNOWN, 0, 0, 0},
	{"broken", USER_UNKNOWN, 0, 0, 0},
	{"-1", USER_UNKNOWN, 0, 0, 0},
	{"app:apple", USER_NO_GROUP, 0, 0, 0},
	{"2147483647", USER_FOUND, 2147483647, 0, 0},
	{"2147483648", USER_TOO_LARGE, 0, 0, 0},
	{"99999999999999999999", USER_TOO_LARGE, 0, 0, 0},
	{"app:4294967295", USER_TOO_LARGE, 0, 0, 0},
};

static void resolves_names_and_numbers(void)
{
	struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct image_user user;
		enum user_fault fault = user_resolve(cases[i].text, passwd, group, &a, &user);

		if (fault != cases[i].fault ||
		    (fault == USER_FOUND && (user.uid != cases[i].uid || user.gid != cases[i].gid ||
		                             user.n_groups != cases[i].n_groups)))
			test_fail(__FILE__, __LINE__, cases[i].text);
	}
	arena_done(&a);
}

static void needs_files_for_names_alone(void)
{
	struct arena a = {0};
	struct image_user user;

	CHECK_INT(user_resolve("", "", "", &a, &user), USER_FOUND);
	CHECK_INT(user_resolve("1000:1000", "", "", &a, &user), USER_FOUND);
	CHECK_INT(user_resolve("root", "", "", &a, &user), USER_UNKNOWN);
	CHECK_INT(user_resolve("0:root", "", "", &a, &user), USER_NO_GROUP);
	CHECK_INT(user_names(passwd, &a).n, 7);
	arena_done(&a);
}

static void finds_one_of_many_groups(void)
{
	static const char many[] = "c:x:300:app\na:x:7:app\nd:x:9:app\nb:x:100:app\na:x:7:app\n";
	static const uint32_t in[] = {300, 7, 9, 100}, out[] = {0, 8, 99, 301};
	struct scan_member m = {.type = MEMBER_FILE, .mode = 0040};
	struct arena a = {0};
	struct image_user user;

	CHECK_INT(user_resolve("app", passwd, many, &a, &user), USER_FOUND);
	for (size_t i = 0; i < ARRAY_LEN(in); i++) {
		m.gid = in[i];
		CHECK(user_may(&user, &m, USER_READ));
		m.gid = out[i];
		CHECK(!user_may(&user, &m, USER_READ));
	}
	arena_done(&a);
}

static void holds_rights_against_modes(void)
{
	static const uint32_t groups[] = {29};
	const struct image_user root = {"root", 0, 0, NULL, 0},
				app = {"app", 1000, 1001, groups, 1};
	struct scan_member m = {.type = MEMBER_FILE, .mode = 0605, .uid = 1000, .gid = 7};
	struct scan_member dir = {.type = MEMBER_DIR, .mode = 0};

	/* The owner's bits count for the owner, even where others have more. */
	CHECK(user_may(&app, &m, USER_READ) && !user_may(&app, &m, USER_EXECUTE));
	m.uid = 0;
	CHECK(user_may(&app, &m, USER_READ) && user_may(&app, &m, USER_EXECUTE));
	m.gid = 29;
	CHECK(!user_may(&app, &m, USER_READ));
	m.gid = 1001;
	CHECK(!user_may(&app, &m, USER_READ));
	m.mode = 0040;
	CHECK(user_may(&app, &m, USER_READ));
	CHECK(user_may(&root, &m, USER_READ) && !user_may(&root, &m, USER_EXECUTE));
	CHECK(user_may(&root, &dir, USER_SEARCH) && !user_may(&app, &dir, USER_SEARCH));
	CHECK(user_may(&app, NULL, USER_SEARCH));
}

int main(void)
{
	TEST("user: names and numbers are found as runtimes find them", resolves_names_and_numbers);
	TEST("user: numbers need no files", needs_files_for_names_alone);
	TEST("user: each of many groups counts, in whatever order they stand",
	     finds_one_of_many_groups);
	TEST("user: the first of owner, group and others counts", holds_rights_against_modes);
	return test_done();
}
