#include "tests/harness.h"

#include "base/fs.h"
#include "builder/layer/source/sysroot.h"

static char top[4096];

static void put_dir(const char *path)
{
	struct err err = {0};
	char full[8192];

	snprintf(full, sizeof(full), "%s%s", top, path);
	CHECK_OK(fs_mkdirs(full, &err), &err);
}

static void put_file(const char *path)
{
	struct err err = {0};
	char full[8192];

	snprintf(full, sizeof(full), "%s%s", top, path);
	CHECK_OK(fs_write_file(full, "x\n", 2, 0644, &err), &err);
}

static void put_link(const char *target, const char *path)
{
	char full[8192];

	snprintf(full, sizeof(full), "%s%s", top, path);
	CHECK(symlink(target, full) == 0);
}

static void begin(void)
{
	test_tmpdir(top);
}

static void end(void)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(top, &err), &err);
}

static void open_root(struct sysroot *s, struct arena *a)
{
	struct err err = {0};

	CHECK_OK(sysroot_init(s, top, platform_arch_find("arm64"), a, &err), &err);
}

static void stays_inside(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;
	const char *path = NULL;
	struct err err = {0};

	begin();
	put_dir("/etc");
	put_dir("/usr/lib");
	put_file("/usr/lib/x");
	put_file("/etc/passwd");
	put_link("/usr/lib/x", "/abs");
	put_link("../../../../../../../../../../etc/passwd", "/usr/lib/up");
	put_link("/etc/hostname", "/out");
	put_link("loop", "/loop");
	open_root(&s, &a);
	CHECK(sysroot_is_file(&s, "/abs", &a, &path));
	CHECK_STR(path, "/usr/lib/x");
	CHECK(sysroot_is_file(&s, "/usr/lib/up", &a, &path));
	CHECK_STR(path, "/etc/passwd");
	CHECK(!sysroot_is_file(&s, "/out", &a, &path));
	CHECK(!sysroot_is_file(&s, "/loop", &a, &path));
	CHECK(sysroot_resolve(&s, "/loop", &a, &path, &err) == -1 && err.code == ERR_FORMAT);
	CHECK_OK(sysroot_resolve(&s, "/usr/./lib//../lib/x", &a, &path, &err), &err);
	CHECK_STR(path, "/usr/lib/x");
	CHECK(sysroot_resolve(&s, "/nowhere/x", &a, &path, &err) == -1 &&
	      err.code == ERR_NOT_FOUND);
	end();
}

static void normalises_merged_usr(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;

	begin();
	put_dir("/usr/lib/aarch64-linux-gnu");
	put_dir("/usr/lib64");
	put_link("usr/lib", "/lib");
	put_link("usr/lib64", "/lib64");
	open_root(&s, &a);
	CHECK(s.named);
	CHECK_INT(s.n_dirs, 3);
	CHECK(s.n_dirs == 3 && strcmp(s.dirs[0].image, "/usr/lib/aarch64-linux-gnu") == 0);
	CHECK(s.n_dirs == 3 && strcmp(s.dirs[1].image, "/usr/lib64") == 0);
	CHECK(s.n_dirs == 3 && strcmp(s.dirs[2].image, "/usr/lib") == 0);
	CHECK_STR(s.lib_token, "lib/aarch64-linux-gnu");
	CHECK_STR(sysroot_image_dir(&s, "/lib/aarch64-linux-gnu", &a),
		  "/usr/lib/aarch64-linux-gnu");
	CHECK_STR(sysroot_image_dir(&s, "/opt/x", &a), "/opt/x");
	end();
}

static void keeps_unmerged_folders(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;

	begin();
	put_dir("/lib64");
	put_dir("/usr/lib64");
	open_root(&s, &a);
	CHECK_INT(s.n_dirs, 2);
	CHECK(s.n_dirs == 2 && strcmp(s.dirs[0].image, "/lib64") == 0);
	CHECK_STR(s.lib_token, "lib64");
	end();
}

static void reads_its_ld_so_conf(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;
	struct err err = {0};
	char path[8192];

	begin();
	put_dir("/etc/ld.so.conf.d");
	put_dir("/opt/vendor/lib");
	put_dir("/usr/lib");
	snprintf(path, sizeof(path), "%s/etc/ld.so.conf", top);
	CHECK_OK(fs_write_file(path, "include ld.so.conf.d/*.conf\n", 28, 0644, &err), &err);
	snprintf(path, sizeof(path), "%s/etc/ld.so.conf.d/v.conf", top);
	CHECK_OK(fs_write_file(path, "/opt/vendor/lib\n/usr/lib\n", 25, 0644, &err), &err);
	open_root(&s, &a);
	CHECK_INT(s.n_extra, 1);
	CHECK(s.n_extra == 1 && strcmp(s.extra[0].path, "/opt/vendor/lib") == 0);
	end();
}

static void refuses_no_folder(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;
	struct err err = {0};

	CHECK(sysroot_init(&s, "/nonexistent-sysroot", platform_arch_find("arm64"), &a, &err) ==
	      -1);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(err.hint[0] != '\0');
}

static void maps_the_machine(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;
	struct err err = {0};
	bool cross = false;

	CHECK_OK(sysroot_init(&s, NULL, platform_arch_find("arm64"), &a, &err), &err);
	CHECK(!s.named);
	for (size_t i = 0; i < s.n_dirs; i++)
		if (strcmp(s.dirs[i].path, "/usr/aarch64-linux-gnu/lib") == 0) {
			cross = true;
			CHECK_STR(s.dirs[i].image, "/usr/lib/aarch64-linux-gnu");
		}
	if (!cross)
		SKIP("no arm64 cross toolchain here");
}

static void finds_paths_below(void)
{
	AUTO(arena) struct arena a = {0};
	struct sysroot s;
	char path[8192];

	begin();
	put_dir("/usr/bin");
	put_file("/usr/bin/p");
	open_root(&s, &a);
	snprintf(path, sizeof(path), "%s/usr/bin/p", top);
	CHECK_STR(sysroot_path_of(&s, path, &a), "/usr/bin/p");
	CHECK(sysroot_path_of(&s, "/etc", &a) == NULL);
	CHECK(sysroot_path_of(&s, "/nonexistent", &a) == NULL);
	end();
}

int main(void)
{
	TEST("sysroot: no link leads out of a named root", stays_inside);
	TEST("sysroot: /lib becomes /usr/lib where it is a link to it", normalises_merged_usr);
	TEST("sysroot: unmerged folders keep their place", keeps_unmerged_folders);
	TEST("sysroot: folders of its ld.so.conf are told apart", reads_its_ld_so_conf);
	TEST("sysroot: a root that is no folder is refused", refuses_no_folder);
	TEST("sysroot: the cross toolchain's folder maps to the multiarch folder",
	     maps_the_machine);
	TEST("sysroot: a host path below the root is found in it", finds_paths_below);
	return test_done();
}
