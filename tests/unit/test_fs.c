/* Files: atomic replacement, caps, locks, links, removal. */
#include "tests/harness.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/fs.h"

struct room {
	char dir[4096];
};

static void room_done(struct room *r)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(r->dir, &err), &err);
	CHECK(!fs_exists(r->dir));
}

/* dir/name, in one of four rotating buffers. */
static const char *in(const struct room *r, const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *out = paths[next++ % 4];
	struct err err = {0};

	CHECK_OK(fs_join(out, r->dir, name, &err), &err);
	return out;
}

static void put(const struct room *r, const char *name, const char *text)
{
	struct err err = {0};

	CHECK_OK(fs_write_file(in(r, name), text, strlen(text), 0644, &err), &err);
}

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	CHECK(d != NULL);
	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n - 2;
}

static void writes_replace_and_leave_no_temp(void)
{
	AUTO(room) struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct err err = {0};
	struct stat st;

	test_tmpdir(r.dir);
	put(&r, "f", "one");
	CHECK_OK(fs_write_file(in(&r, "f"), "two!", 4, 0600, &err), &err);
	CHECK_OK(fs_read_file(in(&r, "f"), 100, &sb, &err), &err);
	CHECK_STR(strbuf_str(&sb), "two!");
	CHECK_INT(stat(in(&r, "f"), &st), 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(entries(r.dir), 1);
}

static void failed_writes_leave_nothing(void)
{
	AUTO(room) struct room r;
	struct err err = {0};

	test_tmpdir(r.dir);
	CHECK_INT(mkdir(in(&r, "d"), 0755), 0);
	put(&r, "d/x", "x");
	CHECK(fs_write_file(in(&r, "d"), "x", 1, 0644, &err) != 0); /* a folder is in the way */
	CHECK_INT(err.code, ERR_IO);
	CHECK_INT(entries(r.dir), 1);
	CHECK(fs_write_file(in(&r, "none/f"), "x", 1, 0644, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
	CHECK(strstr(err.msg, "none/f") != NULL);
}

static void an_abandoned_temp_disappears(void)
{
	AUTO(room) struct room r;
	struct err err = {0};

	test_tmpdir(r.dir);
	{
		AUTO(fs_temp) struct fs_temp t = FS_TEMP_INIT;

		CHECK_OK(fs_temp_open(&t, r.dir, &err), &err);
		CHECK_INT(entries(r.dir), 1);
		CHECK(fcntl(t.fd, F_GETFD) & FD_CLOEXEC);
	}
	CHECK_INT(entries(r.dir), 0);
	struct fs_temp zeroed = {0};

	fs_temp_done(&zeroed);
	CHECK(fcntl(0, F_GETFD) >= 0 || !"descriptor 0 was closed");
}

static void reads_are_capped(void)
{
	AUTO(room) struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct err err = {0};

	test_tmpdir(r.dir);
	put(&r, "f", "12345");
	put(&r, "empty", "");
	CHECK_OK(fs_read_file(in(&r, "f"), 5, &sb, &err), &err);
	CHECK_INT(sb.len, 5);
	CHECK(fs_read_file(in(&r, "f"), 4, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(fs_read_file("/dev/zero", 4096, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK_OK(fs_read_file(in(&r, "empty"), 5, &sb, &err), &err);
	CHECK_INT(sb.len, 0);
	CHECK(fs_read_file(in(&r, "absent"), 5, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(fs_read_file(r.dir, 5, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
}

static void locks_conflict(void)
{
	AUTO(room) struct room r;
	AUTO_CLOSE int first = -1;
	int second = -1, third = -1;
	struct err err = {0};

	test_tmpdir(r.dir);
	CHECK_OK(fs_lock(in(&r, "lock"), FS_LOCK_SHARED, &first, &err), &err);
	CHECK_OK(fs_lock(in(&r, "lock"), FS_LOCK_SHARED, &second, &err), &err);
	CHECK(fs_lock(in(&r, "lock"), FS_LOCK_TRY_EXCLUSIVE, &third, &err) != 0);
	CHECK_INT(err.code, ERR_CONFLICT);
	CHECK_INT(third, -1);
	close(second);
	close(first);
	first = -1;
	CHECK_OK(fs_lock(in(&r, "lock"), FS_LOCK_TRY_EXCLUSIVE, &third, &err), &err);
	CHECK(fs_lock(in(&r, "lock"), FS_LOCK_TRY_EXCLUSIVE, &first, &err) != 0);
	close(third);
	CHECK_OK(fs_lock(in(&r, "lock"), FS_LOCK_EXCLUSIVE, &first, &err), &err);
	CHECK(fs_lock(in(&r, "no/lock"), FS_LOCK_SHARED, &third, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
}

static void removal_does_not_follow_links(void)
{
	AUTO(room) struct room r;
	struct err err = {0};

	test_tmpdir(r.dir);
	CHECK_OK(fs_mkdirs(in(&r, "keep/sub"), &err), &err);
	put(&r, "keep/sub/f", "kept");
	CHECK_OK(fs_mkdirs(in(&r, "gone/a/b"), &err), &err);
	put(&r, "gone/a/b/f", "x");
	CHECK_INT(symlink(in(&r, "keep"), in(&r, "gone/link")), 0);
	CHECK_INT(symlink("../../keep/sub", in(&r, "gone/a/link")), 0);
	CHECK_INT(symlink("nowhere", in(&r, "gone/dangling")), 0);
	CHECK_INT(symlink(in(&r, "keep"), in(&r, "top")), 0);
	CHECK_OK(fs_remove_tree(in(&r, "gone"), &err), &err);
	CHECK_OK(fs_remove_tree(in(&r, "top"), &err), &err);
	CHECK(!fs_exists(in(&r, "gone")));
	CHECK(fs_exists(in(&r, "keep/sub/f")));
	CHECK_OK(fs_remove_tree(in(&r, "absent"), &err), &err);
	CHECK_OK(fs_remove_tree(in(&r, "keep/sub/f"), &err), &err); /* a file */
	CHECK(!fs_exists(in(&r, "keep/sub/f")));
}

static void links_or_copies(void)
{
	AUTO(room) struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct err err = {0};
	struct stat a, b;

	test_tmpdir(r.dir);
	put(&r, "src", "content");
	put(&r, "other", "other");
	CHECK_OK(fs_link_or_copy(in(&r, "src"), in(&r, "dst"), &err), &err);
	CHECK_INT(stat(in(&r, "src"), &a), 0);
	CHECK_INT(stat(in(&r, "dst"), &b), 0);
	CHECK(a.st_ino == b.st_ino);
	CHECK_OK(fs_link_or_copy(in(&r, "other"), in(&r, "dst"), &err), &err); /* there already */
	CHECK_OK(fs_read_file(in(&r, "dst"), 100, &sb, &err), &err);
	CHECK_STR(strbuf_str(&sb), "content");
	CHECK(fs_link_or_copy(in(&r, "absent"), in(&r, "dst2"), &err) != 0);
	CHECK_INT(err.code, ERR_IO);
	/* Another file system: no link can be made. */
	CHECK_OK(fs_link_or_copy("/proc/self/status", in(&r, "copy"), &err), &err);
	CHECK_OK(fs_read_file(in(&r, "copy"), 1 << 16, &sb, &err), &err);
	CHECK(strncmp(strbuf_str(&sb), "Name:", 5) == 0);
	CHECK_INT(entries(r.dir), 4);
}

static void folders(void)
{
	AUTO(room) struct room r;
	char huge[PATH_MAX + 10], joined[PATH_MAX];
	struct err err = {0};

	test_tmpdir(r.dir);
	CHECK_OK(fs_mkdirs(in(&r, "a/b//c/"), &err), &err);
	CHECK_OK(fs_mkdirs(in(&r, "a/b/c"), &err), &err);
	put(&r, "a/file", "x");
	CHECK(fs_mkdirs(in(&r, "a/file"), &err) != 0);
	CHECK_INT(err.code, ERR_IO);
	CHECK(strstr(err.msg, "Not a directory") != NULL);
	CHECK(fs_mkdirs(in(&r, "a/file/below"), &err) != 0);
	CHECK(strstr(err.msg, "a/file'") != NULL);
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	CHECK(fs_mkdirs(huge, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(fs_mkdirs("", &err) != 0);
	CHECK(fs_join(joined, "/", huge, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
}

static void the_cache_folder(void)
{
	char out[PATH_MAX];
	struct err err = {0};

	setenv("XDG_CACHE_HOME", "/xdg", 1);
	setenv("HOME", "/home/me", 1);
	CHECK_OK(fs_cache_dir(out, &err), &err);
	CHECK_STR(out, "/xdg/slipway");
	setenv("XDG_CACHE_HOME", "relative", 1);
	CHECK_OK(fs_cache_dir(out, &err), &err);
	CHECK_STR(out, "/home/me/.cache/slipway");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	CHECK(fs_cache_dir(out, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
}

static void unnamed_files_leave_nothing(void)
{
	AUTO(room) struct room r;
	AUTO_CLOSE int fd = -1;
	int none = -1;
	struct err err = {0};
	char back[4] = "";

	test_tmpdir(r.dir);
	CHECK_OK(fs_open_unnamed(r.dir, &fd, &err), &err);
	CHECK_INT(fs_pwrite(fd, "abc", 3, 5), 3);
	CHECK_INT(fs_pread(fd, back, 3, 5), 3);
	CHECK_STR(back, "abc");
	CHECK_INT(rmdir(r.dir), 0); /* empty */
	CHECK(fs_open_unnamed(r.dir, &none, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
}

static void parents(void)
{
	static const char *const rows[][2] = {
		{"a/b", "a"}, {"b", "."}, {"/b", "/"}, {"/a/b", "/a"}, {"a/b/", "a/b"}};
	char out[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fs_parent(rows[i][0], out);
		CHECK_STR(out, rows[i][1]);
	}
}

int main(void)
{
	TEST("fs: a write replaces the file and leaves no temporary one",
	     writes_replace_and_leave_no_temp);
	TEST("fs: a failed write leaves nothing", failed_writes_leave_nothing);
	TEST("fs: an abandoned temporary file disappears", an_abandoned_temp_disappears);
	TEST("fs: reads are capped", reads_are_capped);
	TEST("fs: locks conflict", locks_conflict);
	TEST("fs: removing a tree follows no symbolic link", removal_does_not_follow_links);
	TEST("fs: a file is linked, or copied across file systems", links_or_copies);
	TEST("fs: folders, and a file in their way", folders);
	TEST("fs: an unnamed file leaves nothing behind", unnamed_files_leave_nothing);
	TEST("fs: the folder a path stands in", parents);
	TEST("fs: where the cache is", the_cache_folder);
	return test_done();
}
