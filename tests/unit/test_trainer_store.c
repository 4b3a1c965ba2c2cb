/* Folders of checkpoints: whole or not there. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/slurp.h"
#include "tests/harness.h"
#include "trainer/checkpoint/store.h"

static int write_two(void *ctx, const char *folder, struct err *err)
{
	char path[PATH_MAX];
	const char *text = ctx;

	if (fs_join(path, folder, "a.bin", err) != 0 ||
	    fs_write_file(path, text, strlen(text), 0644, err) != 0 ||
	    fs_join(path, folder, "b.bin", err) != 0)
		return -1;
	return fs_write_file(path, "second", 6, 0644, err);
}

static int write_half(void *ctx, const char *folder, struct err *err)
{
	if (write_two(ctx, folder, err) != 0)
		return -1;
	return err_set(err, ERR_LIMIT, "disk full");
}

static const struct store_keep keep_all = {0};

static void commit(const char *dir, uint64_t step, const struct store_keep *keep)
{
	struct store_writer w = {write_two, (void *)(uintptr_t) "first"};
	struct err err = {0};

	CHECK_OK(store_commit(dir, "a", step, &w, keep, &err), &err);
}

static uint64_t newest(const char *dir, struct strbuf *remarks)
{
	char path[PATH_MAX];
	uint64_t step = 0;
	struct err err = {0};

	return store_newest(dir, "a", path, &step, remarks, &err) == 0 ? step : UINT64_MAX;
}

static void newest_whole(void)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
	char dir[4096], path[8192];
	struct err err = {0};

	test_tmpdir(dir);
	CHECK(newest(dir, &remarks) == UINT64_MAX);
	commit(dir, 100, &keep_all);
	commit(dir, 20, &keep_all);
	CHECK_INT(newest(dir, &remarks), 100);
	snprintf(path, sizeof(path), "%s/step-00000100/a.bin", dir);
	CHECK_OK(fs_write_file(path, "fIrst", 5, 0644, &err), &err);
	CHECK_INT(newest(dir, &remarks), 20);
	CHECK(strstr(strbuf_str(&remarks), "step-00000100/a.bin") != NULL);
	snprintf(path, sizeof(path), "%s/step-00000020/manifest.json", dir);
	unlink(path);
	CHECK(newest(dir, &remarks) == UINT64_MAX);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void failed_writing(void)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
	struct store_writer w = {write_half, (void *)(uintptr_t) "x"};
	char dir[4096], path[8192];
	struct err err = {0};

	test_tmpdir(dir);
	commit(dir, 1, &keep_all);
	CHECK(store_commit(dir, "a", 2, &w, &keep_all, &err) != 0);
	CHECK(strstr(err.msg, "disk full") != NULL);
	CHECK_INT(newest(dir, &remarks), 1);
	snprintf(path, sizeof(path), "%s/.tmp-step-00000002", dir);
	CHECK(!fs_exists(path));
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void keeps_some(void)
{
	static const bool stays[] = {false, false, false, true, false, false, true, true};
	struct store_keep keep = {.keep = 2, .keep_every = 30};
	char dir[4096], path[8192];
	struct err err = {0};

	test_tmpdir(dir);
	for (uint64_t step = 10; step <= 70; step += 10)
		commit(dir, step, &keep);
	for (unsigned i = 1; i <= 7; i++) {
		snprintf(path, sizeof(path), "%s/step-%08u", dir, 10 * i);
		CHECK_INT(fs_exists(path), stays[i]);
	}
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static bool has_step(const char *dir, unsigned step)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/step-%08u", dir, step);
	return fs_exists(path);
}

static void names_the_best(void)
{
	struct store_keep keep = {.keep = 1, .best = true};
	char dir[4096], path[8192];
	struct err err = {0};
	bool there = true;

	test_tmpdir(dir);
	commit(dir, 10, &keep);
	keep.best = false;
	commit(dir, 20, &keep);
	commit(dir, 30, &keep);
	CHECK(has_step(dir, 10) && !has_step(dir, 20) && has_step(dir, 30));
	keep.best = true;
	commit(dir, 40, &keep);
	CHECK(!has_step(dir, 10) && has_step(dir, 40));
	CHECK_OK(store_name_best(dir, 30, &there, &err), &err);
	CHECK(!there);
	snprintf(path, sizeof(path), "%s/best", dir);
	CHECK(!fs_exists(path));
	CHECK_OK(store_name_best(dir, 40, &there, &err), &err);
	CHECK(there && fs_exists(path));
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void commit_of(const char *dir, const char *run, uint64_t step)
{
	struct store_writer w = {write_two, (void *)(uintptr_t) "first"};
	struct store_keep keep = {.keep = 1};
	struct err err = {0};

	CHECK_OK(store_commit(dir, run, step, &w, &keep, &err), &err);
}

/* A run that begins again in the folder of one that is further on. */
static void keeps_to_its_own(void)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
	char dir[4096], path[8192];
	struct err err = {0};
	uint64_t step = 0;
	bool used = true;

	test_tmpdir(dir);
	CHECK_OK(store_is_used(dir, &used, &err), &err);
	CHECK(!used);
	commit_of(dir, "a", 100);
	commit_of(dir, "b", 10);
	commit_of(dir, "b", 20);
	CHECK(has_step(dir, 100) && !has_step(dir, 10) && has_step(dir, 20));
	CHECK_OK(store_newest(dir, "b", path, &step, &remarks, &err), &err);
	CHECK_INT(step, 20);
	CHECK_OK(store_newest(dir, NULL, path, &step, &remarks, &err), &err);
	CHECK_INT(step, 100);
	CHECK_STR(strbuf_str(&remarks), "");
	snprintf(path, sizeof(path), "%s/best", dir);
	CHECK_OK(fs_write_file(path, "step-00000020\n", 14, 0644, &err), &err);
	commit_of(dir, "b", 30);
	commit_of(dir, "b", 40);
	CHECK(has_step(dir, 20) && !has_step(dir, 30) && has_step(dir, 40));
	CHECK_OK(store_clear(dir, "b", &err), &err);
	CHECK(!has_step(dir, 100) && has_step(dir, 20) && has_step(dir, 40) && !fs_exists(path));
	CHECK_OK(store_is_used(dir, &used, &err), &err);
	CHECK(used);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void one_writer(void)
{
	char dir[4096], path[8192];
	struct err err = {0};
	int a = -1, b = -1;

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/.tmp-step-00000005", dir);
	CHECK_OK(fs_mkdirs(path, &err), &err);
	CHECK_OK(store_lock(dir, &a, &err), &err);
	CHECK(!fs_exists(path));
	CHECK(store_lock(dir, &b, &err) != 0);
	CHECK_INT(err.code, ERR_CONFLICT);
	close(a);
	CHECK_OK(store_lock(dir, &b, &err), &err);
	close(b);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void write_forever(const char *dir)
{
	struct store_keep keep = {.keep = 2};
	struct store_writer w = {write_two, (void *)(uintptr_t) "first"};
	struct err err = {0};

	for (uint64_t step = 1; step < STORE_STEP_MAX; step++) {
		keep.best = step % 3 == 1;
		if (store_commit(dir, "a", step, &w, &keep, &err) != 0)
			return;
	}
}

/* OUT/best names a whole checkpoint, one that was committed as the best. */
static bool best_is_whole(const char *dir)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(0);
	char path[8192];
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/best", dir);
	if (slurp_file(path, 64, &name, &err) != 0)
		return err.code == ERR_NOT_FOUND;
	snprintf(path, sizeof(path), "%s/%.*s", dir, (int)name.len - 1, strbuf_str(&name));
	return store_verify(path, &err) == 0 && strtoul(strbuf_str(&name) + 5, NULL, 10) % 3 == 1;
}

static void killed(void)
{
	char dir[4096];
	struct err err = {0};

	test_tmpdir(dir);
	commit(dir, 0, &keep_all);
	for (unsigned i = 0; i < 20; i++) {
		AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(0);
		pid_t child = fork();

		if (child == 0) {
			write_forever(dir);
			quick_exit(0);
		}
		usleep(3000 + 1700 * i);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		CHECK(newest(dir, &remarks) != UINT64_MAX);
		CHECK_STR(strbuf_str(&remarks), "");
		CHECK(best_is_whole(dir));
	}
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("store: the newest whole checkpoint is found, damaged ones are passed over",
	     newest_whole);
	TEST("store: a failed writing leaves the one before, and no litter", failed_writing);
	TEST("store: keeps the newest and every so many", keeps_some);
	TEST("store: a run sees and removes its own checkpoints only, and never those with a name",
	     keeps_to_its_own);
	TEST("store: the best one keeps its name and its place; a lost one loses the name",
	     names_the_best);
	TEST("store: one writer a folder; litter of a crash is swept", one_writer);
	TEST("store: kill -9 at any moment leaves whole checkpoints only", killed);
	return test_done();
}
