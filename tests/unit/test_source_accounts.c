/* accounts: passwd, group and nsswitch.conf from the spec and from what a base has. */
#include "base/text.h"
#include "builder/layer/source/source_accounts.h"
#include "tests/harness.h"

static const struct srcpos here = {"s.yaml", 7, 9, 1};

/* Parts of initializers. */
#define USER(name_, uid_)  .at = {"s.yaml", 7, 9, 1}, .name = (name_), .uid = (uid_)
#define GROUP(name_, gid_) .at = {"s.yaml", 8, 9, 1}, .name = (name_), .gid = (gid_)
#define NSSWITCH                                                                                   \
	"passwd:    files\ngroup:     files\nshadow:    files\nhosts:     files dns\n"             \
	"networks:  files\nprotocols: files\nservices:  files\n"

struct fixture {
	struct arena arena;
	struct diags diags;
	struct accounts_text text;
};

static void fixture_done(struct fixture *f)
{
	diags_done(&f->diags);
	arena_done(&f->arena);
}

/* With the defaults of the rows. */
static struct layer_user as_decoded(struct layer_user u)
{
	u.gid = u.gid > 0 ? u.gid : -1;
	u.home_mode = 0700;
	u.shell = u.shell != NULL ? u.shell : "/sbin/nologin";
	return u;
}

/* Writes the texts of up to two users and two groups; those without a name are left out. */
static void write_all(struct fixture *f, const struct layer_user users[2],
                      const struct layer_group groups[2], const struct accounts_text *base)
{
	struct layer_user u[2] = {{.name = NULL}};
	struct layer_group g[2] = {{.name = NULL}};
	struct layer_accounts want = {.at = here, .users = u, .groups = g};

	for (size_t i = 0; users != NULL && i < 2 && users[i].name != NULL; i++)
		u[want.n_users++] = as_decoded(users[i]);
	for (size_t i = 0; groups != NULL && i < 2 && groups[i].name != NULL; i++)
		g[want.n_groups++] = groups[i];
	accounts_write(&want, base, "data", &f->arena, &f->diags, &f->text);
}

static void a_user_alone_brings_root_and_a_group(void)
{
	AUTO(fixture) struct fixture f = {0};
	const struct layer_user users[2] = {{USER("app", 65532)}};

	write_all(&f, users, NULL, NULL);
	CHECK_INT(f.diags.n, 0);
	CHECK_STR(f.text.passwd, "root:x:0:0::/root:/sbin/nologin\n"
	                         "app:x:65532:65532::/home/app:/sbin/nologin\n");
	CHECK_STR(f.text.group, "root:x:0:\napp:x:65532:\n");
	CHECK_STR(f.text.nsswitch, NSSWITCH);
}

static void members_stand_in_their_groups(void)
{
	AUTO(fixture) struct fixture f = {0};
	const char *further[] = {"video", "app"};
	const struct layer_user users[2] = {
		{USER("a", 1), .groups = {further, 1}},
		{USER("b", 2), .gid = 44, .groups = {further, 1}, .comment = "B b", .home = "/"},
	};
	const struct layer_group groups[2] = {{GROUP("video", 44)}};

	write_all(&f, users, groups, NULL);
	CHECK_INT(f.diags.n, 0);
	CHECK_STR(f.text.group, "root:x:0:\nvideo:x:44:a,b\na:x:1:\n");
	CHECK(strstr(f.text.passwd, "b:x:2:44:B b:/:/sbin/nologin\n") != NULL);
}

static void root_is_who_the_spec_says(void)
{
	AUTO(fixture) struct fixture f = {0};
	const struct layer_user users[2] = {{USER("root", 0), .shell = "/bin/sh"}};

	write_all(&f, users, NULL, NULL);
	CHECK_STR(f.text.passwd, "root:x:0:0::/root:/bin/sh\n");
	CHECK_STR(f.text.group, "root:x:0:\n");
}

static void number_zero_is_taken_by_name(void)
{
	AUTO(fixture) struct fixture f = {0};
	const struct layer_user users[2] = {{USER("toor", 0)}};

	write_all(&f, users, NULL, NULL);
	CHECK_INT(f.diags.n, 0);
	CHECK_STR(f.text.passwd, "toor:x:0:0::/home/toor:/sbin/nologin\n");
}

static const struct accounts_text debian = {
	"root:x:0:0:root:/root:/bin/bash\n# a remark\n+nis::::::\nnobody:x:65534:65534:n:/:/x\n"
	"damaged:x\nlast:x:7:7::/:/x",
	"root:x:0:\nvideo:x:44:old\nodd:x:9\n", "passwd: files systemd\n"};

static void lines_of_the_base_stay(void)
{
	AUTO(fixture) struct fixture f = {0};
	const char *further[] = {"video"};
	const struct layer_user users[2] = {{USER("app", 65532), .groups = {further, 1}}};

	write_all(&f, users, NULL, &debian);
	CHECK_INT(f.diags.n, 0);
	CHECK_STR(f.text.passwd, "root:x:0:0:root:/root:/bin/bash\n# a remark\n+nis::::::\n"
	                         "nobody:x:65534:65534:n:/:/x\ndamaged:x\nlast:x:7:7::/:/x\n"
	                         "app:x:65532:65532::/home/app:/sbin/nologin\n");
	CHECK_STR(f.text.group, "root:x:0:\nvideo:x:44:old,app\nodd:x:9\napp:x:65532:\n");
	CHECK_STR(f.text.nsswitch, "passwd: files systemd\n");
}

static void a_user_of_the_base_is_taken_over(void)
{
	AUTO(fixture) struct fixture f = {0};
	const struct layer_user users[2] = {{USER("last", 7), .home = "/srv"}};
	const struct layer_group groups[2] = {{GROUP("video", 44)}};

	write_all(&f, users, groups, &debian);
	CHECK_INT(f.diags.n, 0);
	CHECK(text_has_suffix(f.text.passwd, "damaged:x\nlast:x:7:7::/srv:/sbin/nologin\n"));
	CHECK(strstr(f.text.group, "video:x:44:old\n") != NULL);
}

/* Checks that there is this one problem, at this line. */
static void one_problem(const struct fixture *f, unsigned line, const char *message)
{
	CHECK_INT(f->diags.n_errors, 1);
	if (f->diags.n_errors != 1)
		return;
	CHECK_INT(f->diags.at[0].at.line, line);
	CHECK(f->diags.at[0].hint != NULL);
	CHECK_STR(f->diags.at[0].message, message);
}

static void what_is_taken_is_a_problem(void)
{
	static const struct {
		struct layer_user users[2];
		struct layer_group groups[2];
		unsigned line;
		const char *message;
	} rows[] = {
		{.users = {{USER("last", 8)}},
	         .line = 7,
	         .message = "layer 'data': user 'last' has uid 7 in the base, not 8"},
		{.users = {{USER("app", 65534)}},
	         .line = 7,
	         .message = "layer 'data': user 'app': uid 65534 is that of 'nobody' in the base"},
		{.users = {{USER("app", 5)}, {USER("app", 5)}},
	         .line = 7,
	         .message = "layer 'data': user 'app' is listed twice (first in line 7)"},
		{.users = {{USER("app", 5)}, {USER("bpp", 5)}},
	         .line = 7,
	         .message = "layer 'data': user 'bpp': uid 5 is that of 'app' in line 7"},
		{.users = {{USER("video", 5)}},
	         .line = 7,
	         .message = "layer 'data': group 'video' has gid 44 in the base, not 5"},
		{.groups = {{GROUP("video", 45)}},
	         .line = 8,
	         .message = "layer 'data': group 'video' has gid 44 in the base, not 45"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f = {0};

		write_all(&f, rows[i].users, rows[i].groups, &debian);
		one_problem(&f, rows[i].line, rows[i].message);
	}
}

static void an_unknown_group_is_a_problem(void)
{
	AUTO(fixture) struct fixture f = {0};
	const char *further[] = {"vide"};
	const struct layer_user users[2] = {{USER("app", 5), .groups = {further, 1}}};

	write_all(&f, users, NULL, &debian);
	one_problem(
		&f, 7,
		"layer 'data': user 'app': group 'vide' is not among the groups, nor in the base");
	CHECK_STR(f.diags.at[0].hint, "did you mean 'video'?");
}

static void homes_are_folders_of_their_users(void)
{
	AUTO(fixture) struct fixture f = {0};
	struct layer_user users[] = {{USER("a", 5), .gid = 6},
	                             {USER("b", 7), .home = "/"},
	                             {USER("c", 8), .home = "/nonexistent"}};
	const struct layer_accounts want = {.at = here, .users = users, .n_users = 3};

	struct tree t;
	struct err err = {0};

	for (size_t i = 0; i < 3; i++)
		users[i] = as_decoded(users[i]);

	tree_init(&t, &f.arena, "data", 1000);
	CHECK_OK(source_accounts_add(&t, &want, NULL, &f.diags, &err), &err);
	CHECK_OK(tree_finish(&t, &f.diags, &err), &err);
	CHECK_INT(f.diags.n, 0);
	CHECK_INT(t.n, 6); /* etc with three files, home, home/a */
	const struct entry *home = &t.at[t.n - 1];

	CHECK_STR(home->path, "home/a");
	CHECK(home->type == ENTRY_DIR && home->mode == 0700 && home->uid == 5 && home->gid == 6 &&
	      home->mtime == 1000);
	CHECK(t.at[1].mode == 0644 && t.at[1].mtime == 1000);
	tree_done(&t);
}

static void nsswitch_of_the_base_is_left_alone(void)
{
	AUTO(fixture) struct fixture f = {0};
	struct layer_user users[] = {{USER("a", 5)}};
	const struct layer_accounts want = {.at = here, .users = users, .n_users = 1};
	struct tree t;
	struct err err = {0};

	tree_init(&t, &f.arena, "data", 0);
	CHECK_OK(source_accounts_add(&t, &want, &debian, &f.diags, &err), &err);
	CHECK_OK(tree_finish(&t, &f.diags, &err), &err);
	CHECK_INT(tree_find(&t, "etc/nsswitch.conf", 17), t.n);
	CHECK(tree_find(&t, "etc/passwd", 10) < t.n);
	tree_done(&t);
}

int main(void)
{
	TEST("accounts: a user alone brings root and a group of its own",
	     a_user_alone_brings_root_and_a_group);
	TEST("accounts: users are members of their further groups", members_stand_in_their_groups);
	TEST("accounts: root is who the spec says", root_is_who_the_spec_says);
	TEST("accounts: somebody else may have the number 0", number_zero_is_taken_by_name);
	TEST("accounts: lines of the base stay, remarks and damage too", lines_of_the_base_stay);
	TEST("accounts: a user of the base with name and number is taken over",
	     a_user_of_the_base_is_taken_over);
	TEST("accounts: a name or number that is taken is a problem", what_is_taken_is_a_problem);
	TEST("accounts: a group that nobody has is a problem", an_unknown_group_is_a_problem);
	TEST("accounts: homes are their users' folders, / and /nonexistent are none",
	     homes_are_folders_of_their_users);
	TEST("accounts: nsswitch.conf of a base is left alone", nsswitch_of_the_base_is_left_alone);
	return test_done();
}
