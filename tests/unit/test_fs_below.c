/* Files below a folder with somebody else's content: no link in it is followed. */
#include "tests/harness.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs_below.h"

struct room {
	char dir[4096];
	struct fs_below out;
	char here[PATH_MAX];
};

/* A folder with victim/kept and an open folder out, as the working directory. */
static void room_open(struct room *r)
{
	struct err err = {0};

	test_tmpdir(r->dir);
	CHECK(getcwd(r->here, sizeof(r->here)) != NULL);
	CHECK_INT(chdir(r->dir), 0);
	CHECK_OK(fs_mkdirs("victim", &err), &err);
	CHECK_OK(fs_write_file("victim/kept", "kept", 4, 0644, &err), &err);
	CHECK_OK(fs_below_open("out", &r->out, &err), &err);
}

static void room_done(struct room *r)
{
	struct err err = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);

	fs_below_done(&r->out);
	CHECK_OK(fs_read_file("victim/kept", 100, &sb, &err), &err);
	CHECK_STR(strbuf_str(&sb), "kept");
	CHECK_INT(chdir(r->here), 0);
	CHECK_OK(fs_remove_tree(r->dir, &err), &err);
}

static void reads_writes_removes(void)
{
	AUTO(room) struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct err err = {0};
	enum fs_below_kind kind;

	room_open(&r);
	CHECK_OK(fs_below_write(&r.out, "a/b/file", "text", 4, 0600, &err), &err);
	CHECK_OK(fs_below_read(&r.out, "a/b/file", 100, &sb, &err), &err);
	CHECK_STR(strbuf_str(&sb), "text");
	CHECK_OK(fs_below_kind(&r.out, "a/b/file", &kind, &err), &err);
	CHECK_INT(kind, FS_BELOW_FILE);
	CHECK_OK(fs_below_kind(&r.out, "x/y", &kind, &err), &err);
	CHECK_INT(kind, FS_BELOW_NOTHING);
	CHECK_INT(fs_below_read(&r.out, "a/none", 100, &sb, &err), -1);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK_INT(fs_below_read(&r.out, "a/b/file", 3, &sb, &err), -1);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK_OK(fs_below_remove(&r.out, "a/b/file", &err), &err);
	CHECK(!fs_exists("out/a/b"));
	CHECK(fs_exists("out/a"));
	CHECK_OK(fs_below_remove(&r.out, "none/none", &err), &err);
}

static void links_are_not_followed(void)
{
	AUTO(room) struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct err err = {0};
	enum fs_below_kind kind;
	struct stat st;

	room_open(&r);
	CHECK_INT(symlink("../victim", "out/folder"), 0);
	CHECK_INT(symlink("../victim/kept", "out/kept"), 0);
	CHECK_INT(fs_below_write(&r.out, "folder/new", "x", 1, 0644, &err), -1);
	CHECK_INT(err.code, ERR_CONFLICT);
	CHECK(strstr(err.msg, "'folder'") != NULL);
	CHECK_INT(fs_below_mkdirs(&r.out, "folder/deep", &err), -1);
	CHECK_INT(fs_below_read(&r.out, "folder/kept", 100, &sb, &err), -1);
	CHECK_INT(fs_below_read(&r.out, "kept", 100, &sb, &err), -1);
	CHECK_INT(fs_below_remove(&r.out, "folder/kept", &err), -1);
	CHECK_OK(fs_below_kind(&r.out, "kept", &kind, &err), &err);
	CHECK_INT(kind, FS_BELOW_OTHER);
	/* A link in the file's own place is replaced, as rename does. */
	CHECK_OK(fs_below_write(&r.out, "kept", "new", 3, 0644, &err), &err);
	CHECK_INT(lstat("out/kept", &st), 0);
	CHECK(S_ISREG(st.st_mode));
	CHECK(!fs_exists("victim/new") && !fs_exists("victim/deep"));
}

static void the_folder_itself(void)
{
	AUTO(room) struct room r;
	struct fs_below other = FS_BELOW_INIT;
	struct err err = {0};
	char here[PATH_MAX], path[PATH_MAX];

	room_open(&r);
	CHECK_INT(symlink("victim", "link"), 0);
	CHECK_INT(fs_below_open("link", &other, &err), -1);
	CHECK_INT(fs_below_open("./link/deep", &other, &err), -1);
	CHECK(!fs_exists("victim/deep"));
	/* An absolute path into the working directory is the same path. */
	CHECK(getcwd(here, sizeof(here)) != NULL);
	CHECK_OK(fs_join(path, here, "link/deep", &err), &err);
	CHECK_INT(fs_below_open(path, &other, &err), -1);
	/* The way to another place is the user's own. */
	CHECK_INT(chdir("out"), 0);
	CHECK_OK(fs_below_open(path, &other, &err), &err);
	fs_below_done(&other);
	CHECK_INT(rmdir("../victim/deep"), 0);
	CHECK_OK(fs_below_open("../other", &other, &err), &err);
	fs_below_done(&other);
	CHECK_INT(chdir(".."), 0);
	CHECK(fs_exists("other"));
}

int main(void)
{
	TEST("fs below: files are read, replaced and removed", reads_writes_removes);
	TEST("fs below: no symbolic link is followed", links_are_not_followed);
	TEST("fs below: the folder is not reached through a link of the working directory",
	     the_folder_itself);
	return test_done();
}
