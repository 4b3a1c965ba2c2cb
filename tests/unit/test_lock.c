/* slipway.lock. */
#include "tests/harness.h"

#include "base/fs.h"
#include "builder/spec/lock.h"

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void paths(void)
{
	AUTO(arena) struct arena a = {0};

	CHECK_STR(lock_path("slipway.yaml", &a), "slipway.lock");
	CHECK_STR(lock_path("d.yaml/x.yml", &a), "d.yaml/x.lock");
	CHECK_STR(lock_path("spec", &a), "spec.lock");
}

static void saved_locks_are_found_again(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16);
	char dir[4096], path[4200];
	struct digest one = digest_of("1", 1), two = digest_of("2", 1), got;
	struct lock lock, again;
	struct err err = {0};

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/slipway.lock", dir);
	CHECK_OK(lock_load(path, &a, &lock, &err), &err); /* missing = empty */
	CHECK(!lock_find(&lock, "z", &got));
	CHECK_OK(lock_save(&lock, &err), &err);
	CHECK(!fs_exists(path)); /* nothing changed */
	lock_set(&lock, &a, "z/app:1", &one);
	lock_set(&lock, &a, "a/app:1", &one);
	lock_set(&lock, &a, "a/app:1", &two);
	CHECK(lock.changed);
	CHECK_OK(lock_save(&lock, &err), &err);
	CHECK(!lock.changed);
	CHECK_OK(fs_read_file(path, 1 << 16, &text, &err), &err);
	CHECK(strstr(text.ptr, "a/app:1") < strstr(text.ptr, "z/app:1"));
	CHECK_OK(lock_load(path, &a, &again, &err), &err);
	CHECK(lock_find(&again, "a/app:1", &got) && digest_equal(&got, &two));
	CHECK(lock_find(&again, "z/app:1", &got) && digest_equal(&got, &one));
	lock_set(&again, &a, "z/app:1", &one);
	CHECK(!again.changed); /* no news */
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void what_is_no_lock_file_is_refused(void)
{
	static const struct {
		const char *text;
		enum err_code code;
	} rows[] = {
		{"", ERR_FORMAT},
		{"[]", ERR_FORMAT},
		{"{\"bases\":{}}", ERR_FORMAT},
		{"{\"version\":2,\"bases\":{}}", ERR_UNSUPPORTED},
		{"{\"version\":1,\"bases\":{\"x\":1}}", ERR_FORMAT},
		{"{\"version\":1,\"bases\":{\"x\":\"sha256:zz\"}}", ERR_FORMAT},
		{"{\"version\":1,\"bases\":{\"x\":\"sha256:" A64 "\",\"x\":\"sha256:" A64 "\"}}",
	         ERR_FORMAT},
	};
	AUTO(arena) struct arena a = {0};
	char dir[4096], path[4200];
	struct lock lock;
	struct err err = {0};

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/slipway.lock", dir);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_OK(fs_write_file(path, rows[i].text, strlen(rows[i].text), 0644, &err), &err);
		CHECK(lock_load(path, &a, &lock, &err) != 0);
		CHECK_INT(err.code, rows[i].code);
		CHECK(strstr(err.msg, path) != NULL && err.hint[0] != '\0');
	}
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("lock: its path", paths);
	TEST("lock: what is saved is found again", saved_locks_are_found_again);
	TEST("lock: what is no lock file is refused", what_is_no_lock_file_is_refused);
	return test_done();
}
