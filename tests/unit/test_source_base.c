/* Accounts, certificates and what lands where, above a base image that this file makes up. */
#include "builder/layer/source/source_accounts.h"
#include "builder/layer/source/source_data.h"
#include "tests/source_make.h"

/* A base: paths free of links, each a link, or a file with its bytes. */
struct fake_file {
	const char *path, *link, *bytes;
	size_t len;
};

struct fake_base {
	struct base_files files;
	const struct fake_file *at;
	size_t n, n_looks;
};

static const struct fake_file *find(const struct fake_base *b, const char *path)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->at[i].path, path) == 0)
			return &b->at[i];
	return NULL;
}

static int look(struct base_files *files, const char *path, struct base_entry *ret_entry,
                struct err *err UNUSED)
{
	struct fake_base *b = (struct fake_base *)files;
	const struct fake_file *f = find(b, path);

	b->n_looks++;
	*ret_entry = (struct base_entry){.kind = f == NULL         ? BASE_NOTHING
	                                         : f->link != NULL ? BASE_LINK
	                                                           : BASE_FILE,
	                                 .link = f != NULL ? f->link : NULL};
	return 0;
}

static int read_all(struct base_files *files, const char *path, size_t max_bytes, struct strbuf *sb,
                    struct err *err)
{
	const struct fake_file *f = find((struct fake_base *)files, path);

	strbuf_reset(sb);
	if (f == NULL || f->link != NULL)
		return err_set(err, ERR_NOT_FOUND, "there is no '%s'", path);
	if (f->len > max_bytes)
		return err_set(err, ERR_LIMIT, "'%s' is too large", path);
	strbuf_add(sb, f->bytes, f->len);
	return 0;
}

static struct fake_base fake(const struct fake_file *at, size_t n)
{
	return (struct fake_base){
		.files = {.name = "fake", .look = look, .read = read_all}, .at = at, .n = n};
}

static int add_app(struct source_fixture *f, struct fake_base *b)
{
	struct layer_user app = {
		.at = here, .name = "app", .uid = 5, .gid = -1, .home = "/", .shell = "/x"};
	const struct layer_accounts want = {.at = here, .users = &app, .n_users = 1};

	return accounts_on_base(&f->tree, &want, &b->files, &f->diags, &f->err);
}

static void texts_of_the_base_are_read_through_its_links(void)
{
	static const struct fake_file files[] = {
		{"/etc/passwd", "../usr/etc/passwd", NULL, 0},
		{"/usr/etc/passwd", NULL, "root:x:0:0::/:/y\n", 17},
	};
	AUTO(fixture) struct source_fixture f;
	struct fake_base b = fake(files, ARRAY_LEN(files));

	fixture_init(&f);
	CHECK_OK(add_app(&f, &b), &f.err);
	CHECK(strstr(listing(&f), "etc/passwd=root:x:0:0::/:/y\napp:x:5:5::/:/x\n") != NULL);
	CHECK(strstr(listing(&f), "etc/nsswitch.conf=passwd:") != NULL);
}

static void hostile_texts_of_a_base_are_refused(void)
{
	static char large[(1 << 20) + 1];
	const struct {
		struct fake_file file;
		enum err_code code;
	} rows[] = {
		{{"/etc/passwd", NULL, "root\0:x", 7}, ERR_FORMAT},
		{{"/etc/group", NULL, large, sizeof(large)}, ERR_LIMIT},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct source_fixture f;
		struct fake_base b = fake(&rows[i].file, 1);

		fixture_init(&f);
		CHECK(add_app(&f, &b) != 0);
		CHECK_INT(f.err.code, rows[i].code);
		CHECK(strstr(f.err.msg, rows[i].file.path) != NULL && f.err.hint[0] != '\0');
	}
}

static void data_land_where_links_lead(void)
{
	static const struct fake_file files[] = {{"/etc/ssl/certs", "../pki/certs", NULL, 0}};
	static const char *const paths[] = {"etc/ssl/certs/a", "etc/ssl/certs/b", "etc/ssl/c",
	                                    "etc/ssl/certs2/d", "top"};
	AUTO(fixture) struct source_fixture f;
	struct fake_base b = fake(files, ARRAY_LEN(files));

	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		const struct entry e = {.path = paths[i], .type = ENTRY_FILE, .mode = 0644};

		CHECK_OK(tree_add(&f.tree, &e, &f.err), &f.err);
	}
	/* What stood in the tree before stays where it is. */
	CHECK_OK(data_land(&f.tree, 1, &b.files, &f.err), &f.err);
	CHECK_STR(listing(&f),
	          "etc/pki/certs/b=|etc/ssl/c=|etc/ssl/certs/a=|etc/ssl/certs2/d=|top=");
}

static void neighbours_ask_once(void)
{
	AUTO(fixture) struct source_fixture f;
	struct fake_base b = fake(NULL, 0);
	size_t first;

	fixture_init(&f);
	for (size_t i = 0; i < 100; i++) {
		const struct entry e = {.path = arena_printf(&f.arena, "usr/share/zoneinfo/%zu", i),
		                        .type = ENTRY_FILE,
		                        .mode = 0644};

		CHECK_OK(tree_add(&f.tree, &e, &f.err), &f.err);
	}
	first = f.tree.n - 100;
	CHECK_OK(data_land(&f.tree, first, &b.files, &f.err), &f.err);
	CHECK_INT(b.n_looks, 3);
}

int main(void)
{
	TEST("base: texts of accounts are read through the base's links",
	     texts_of_the_base_are_read_through_its_links);
	TEST("base: a passwd with a NUL byte or over 1 MiB is refused",
	     hostile_texts_of_a_base_are_refused);
	TEST("base: run-time data land where the base's links lead", data_land_where_links_lead);
	TEST("base: the files of one folder ask the base once", neighbours_ask_once);
	return test_done();
}
