/* What is remembered of a base image from build to build. */
#include "tests/harness.h"

#include <dirent.h>

#include "base/fs.h"
#include "builder/image/base_memo.h"
#include "tests/base_make.h"

static const char *needed[] = {"liba.so.1", "libb.so.2"}, *versions[] = {"V_1", "V_2"};
static const char *dirs[] = {"/lib64", "/usr/lib64"}, *conf_d[] = {"a.conf", "b.conf"};
static const struct elf_info elf = {.machine = 183,
				    .bits = 64,
				    .dynamic = true,
				    .executable = true,
				    .soname = "libx.so.1",
				    .runpath = "$ORIGIN",
				    .needed = {needed, 2},
				    .defined = {versions, 2}};
static const struct base_row rows[] = {
    {"/lib64", .link = "usr/lib64"},
    {.path = "/usr"},
    {"/usr/lib64/libx.so.1", .elf = &elf, .loader_dirs = {dirs, 2}},
    {"/etc/passwd", .text = "root:x:0:0:root:/root:/bin/sh\nna\xc3\xafve:x:1:1::/:\n"},
    {"/etc/latin1", .text = "na\xefve\n"},
    {"/etc/conf.d", .names = {conf_d, 2}},
};

struct room {
	char dir[4096];
	struct layer_cache *cache;
	struct base_make base;
	struct platform platform;
};

static void room_init(struct room *r)
{
	struct err err = {0};

	*r = (struct room){.base = BASE_MAKE(rows)};
	test_tmpdir(r->dir);
	CHECK_OK(cache_open(r->dir, &r->cache, &err), &err);
	CHECK_OK(platform_parse("linux/arm64", &r->platform, &err), &err);
}

static void room_done(struct room *r)
{
	struct err err = {0};

	cache_close(r->cache);
	CHECK_OK(fs_remove_tree(r->dir, &err), &err);
}

static struct base_files *reader(struct room *r, const char *manifest)
{
	const struct digest digest = digest_of(manifest, strlen(manifest));

	return base_memo_open(&r->base.files, r->cache, &digest, &r->platform);
}

static void ask_all(struct base_files *files)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);
	struct err err = {0};
	struct base_entry e;
	struct strlist names;

	CHECK_OK(files->look(files, "/lib64", &e, &err), &err);
	CHECK(e.kind == BASE_LINK && strcmp(e.link, "usr/lib64") == 0);
	CHECK_OK(files->look(files, "/usr", &e, &err), &err);
	CHECK(e.kind == BASE_FOLDER && e.elf == NULL);
	CHECK_OK(files->look(files, "/absent", &e, &err), &err);
	CHECK(e.kind == BASE_NOTHING);
	CHECK_OK(files->look(files, "/usr/lib64/libx.so.1", &e, &err), &err);
	CHECK(e.kind == BASE_FILE && e.elf != NULL && e.loader_dirs.n == 2);
	if (e.elf != NULL) {
		CHECK_INT(e.elf->machine, 183);
		CHECK_INT(e.elf->bits, 64);
		CHECK(e.elf->dynamic && e.elf->executable && !e.elf->no_default_dirs);
		CHECK_STR(e.elf->soname, "libx.so.1");
		CHECK_STR(e.elf->runpath, "$ORIGIN");
		CHECK(e.elf->rpath == NULL && e.elf->interpreter == NULL);
		CHECK(e.elf->needed.n == 2 && strcmp(e.elf->needed.at[1], "libb.so.2") == 0);
		CHECK(e.elf->defined.n == 2 && strcmp(e.elf->defined.at[0], "V_1") == 0);
	}
	CHECK_OK(files->read(files, "/etc/passwd", 4096, &text, &err), &err);
	CHECK_STR(strbuf_str(&text), rows[3].text);
	CHECK_INT(files->read(files, "/etc/passwd", 10, &text, &err), -1);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK_INT(files->read(files, "/etc/none", 4096, &text, &err), -1);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK_OK(files->names(files, "/etc/conf.d", &names, &err), &err);
	CHECK(names.n == 2 && strcmp(names.at[1], "b.conf") == 0);
}

static void asks_once(void)
{
	struct room r;
	struct base_files *files;

	room_init(&r);
	files = reader(&r, "one");
	ask_all(files);
	CHECK_INT(r.base.n_asked, 7);
	ask_all(files);
	CHECK_INT(r.base.n_asked, 7);
	base_memo_close(files);

	files = reader(&r, "one");
	ask_all(files);
	CHECK_INT(r.base.n_asked, 7);
	base_memo_close(files);

	files = reader(&r, "two");
	ask_all(files);
	CHECK_INT(r.base.n_asked, 14);
	base_memo_close(files);
	room_done(&r);
}

static void keeps_no_failure(void)
{
	struct room r;
	struct base_files *files;
	struct base_entry e;
	struct err err = {0};

	room_init(&r);
	r.base.broken = ERR_NETWORK;
	files = reader(&r, "one");
	CHECK_INT(files->look(files, "/lib64", &e, &err), -1);
	CHECK_INT(err.code, ERR_NETWORK);
	r.base.broken = ERR_NONE;
	ask_all(files);
	base_memo_close(files);
	room_done(&r);
}

static void asks_again_for_what_json_cannot_hold(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);
	struct room r;
	struct base_files *files;
	struct err err = {0};

	room_init(&r);
	for (unsigned i = 1; i <= 2; i++) {
		files = reader(&r, "one");
		CHECK_OK(files->read(files, "/etc/latin1", 4096, &text, &err), &err);
		CHECK_STR(strbuf_str(&text), rows[4].text);
		CHECK_INT(r.base.n_asked, i);
		base_memo_close(files);
	}
	room_done(&r);
}

/* Writes `value` as the only record there is, with a check line that fits. */
static void replace_record(const struct room *r, const char *value)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(8192);
	char path[8192], hex[DIGEST_HEX_MAX];
	const struct dirent *entry = NULL;
	struct digest digest;
	struct err err = {0};
	DIR *d;

	snprintf(path, sizeof(path), "%s/records/facts", r->dir);
	d = opendir(path);
	CHECK(d != NULL);
	while (d != NULL && (entry = readdir(d)) != NULL && entry->d_name[0] == '.')
		;
	CHECK(entry != NULL);
	strbuf_addf(&text, "slipway-cache 1 facts %s %s\n", entry->d_name, value);
	snprintf(path, sizeof(path), "%s/records/facts/%s", r->dir, entry->d_name);
	digest = digest_of(strbuf_str(&text), text.len);
	strbuf_addf(&text, "%s\n", digest_hex(&digest, hex));
	CHECK_OK(fs_write_file(path, strbuf_str(&text), text.len, 0644, &err), &err);
	closedir(d);
}

static void strange_records(void)
{
	static const char *const strange[] = {
	    "",
	    "[]",
	    "{}",
	    "{\"entries\":[1,{},{\"path\":\"/usr\"},{\"path\":\"/usr\",\"kind\":\"x\"}]}",
	    "{\"entries\":[{\"path\":\"/lib64\",\"kind\":\"link\"}],\"names\":[{}],\"texts\":[7]}",
	    ("{\"entries\":[{\"path\":\"/usr/lib64/libx.so.1\",\"kind\":\"file\",\"elf\":"
	     "{\"machine\":99999,\"bits\":64}}]}"),
	};
	struct room r;

	room_init(&r);
	for (size_t i = 0; i < ARRAY_LEN(strange); i++) {
		struct base_files *files = reader(&r, "one");

		ask_all(files);
		base_memo_close(files);
		replace_record(&r, strange[i]);
		r.base.n_asked = 0;
		files = reader(&r, "one");
		ask_all(files);
		CHECK_INT(r.base.n_asked, 7);
		base_memo_close(files);
	}
	room_done(&r);
}

/* Distinct paths beyond what is kept are answered all the same, until there are too many. */
static void limits_questions(void)
{
	struct room r;
	struct base_files *files;
	struct base_entry e;
	struct err err = {0};
	unsigned n = 0;

	room_init(&r);
	files = reader(&r, "one");
	ask_all(files);
	for (; n < 1000000; n++) {
		char path[1024];

		snprintf(path, sizeof(path), "/%0800u", n);
		if (files->look(files, path, &e, &err) != 0)
			break;
		CHECK(e.kind == BASE_NOTHING);
	}
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(n > 50000 && n < 100000);
	base_memo_close(files);
	room_done(&r);
}

int main(void)
{
	TEST("base memo: a question is asked once, over builds too", asks_once);
	TEST("base memo: a failure is not an answer", keeps_no_failure);
	TEST("base memo: a text that is not UTF-8 is asked for again",
	     asks_again_for_what_json_cannot_hold);
	TEST("base memo: what does not read as answers is asked again", strange_records);
	TEST("base memo: how much may be asked has a limit", limits_questions);
	return test_done();
}
