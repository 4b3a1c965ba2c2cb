/*
 * For tests of sources: a folder of this test's own, files in it, and a layer's tree as one line.
 * Everything is in the arena or removed by fixture_done: `AUTO(fixture) struct fixture f;`.
 */
#ifndef SLIPWAY_TESTS_SOURCE_MAKE_H
#define SLIPWAY_TESTS_SOURCE_MAKE_H

#include <limits.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/layer/source/sources.h"
#include "tests/harness.h"

enum { MAX = 16 << 20 };

static const struct srcpos here UNUSED = {"s.yaml", 5, 9, 1};

struct source_fixture {
	struct arena arena;
	struct tree tree;
	struct diags diags;
	struct err err;
	char dir[4096];
	struct platform platform;
	struct layer_spec layer;
};

static inline void fixture_init(struct source_fixture *f)
{
	*f = (struct source_fixture){.layer = {.name = "data"}};
	test_tmpdir(f->dir);
	tree_init(&f->tree, &f->arena, "data", 1000);
	CHECK_OK(platform_parse("linux/amd64", &f->platform, &f->err), &f->err);
}

static inline void fixture_done(struct source_fixture *f)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(f->dir, &err), &err);
	tree_done(&f->tree);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

static inline const char *in_dir(struct source_fixture *f, const char *path)
{
	return arena_printf(&f->arena, "%s/%s", f->dir, path);
}

static inline void put(struct source_fixture *f, const char *path, const char *text)
{
	char parent[PATH_MAX];

	fs_parent(in_dir(f, path), parent);
	CHECK_OK(fs_mkdirs(parent, &f->err), &f->err);
	CHECK_OK(fs_write_file(in_dir(f, path), text, strlen(text), 0640, &f->err), &f->err);
}

static inline void put_link(struct source_fixture *f, const char *path, const char *target)
{
	char parent[PATH_MAX];

	fs_parent(in_dir(f, path), parent);
	CHECK_OK(fs_mkdirs(parent, &f->err), &f->err);
	CHECK_INT(symlink(target, in_dir(f, path)), 0);
}

/* The tree without folders: "path=content" or "path>target", one after the other. */
static inline const char *listing(struct source_fixture *f)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(MAX);

	CHECK_OK(tree_finish(&f->tree, &f->diags, &f->err), &f->err);
	for (size_t i = 0; i < f->tree.n; i++) {
		const struct entry *e = &f->tree.at[i];
		AUTO(strbuf) struct strbuf content = STRBUF_INIT(MAX);
		struct source *in;

		CHECK(e->uid == 0 && e->gid == 0 && e->mtime <= 1000);
		if (e->type == ENTRY_DIR)
			continue;
		strbuf_addf(&all, "%s%s", all.len > 0 ? "|" : "", e->path);
		if (e->type == ENTRY_SYMLINK) {
			strbuf_addf(&all, ">%s", e->link);
			continue;
		}
		CHECK_INT(e->mode, 0644);
		CHECK_OK(tree_open_content(&f->tree, e, &in, &f->err), &f->err);
		CHECK_OK(stream_read_all(in, &content, &f->err), &f->err);
		source_close(in);
		strbuf_addf(&all, "=%s", strbuf_str(&content));
	}
	return arena_strdup(&f->arena, strbuf_str(&all));
}

static inline const char *problem(const struct source_fixture *f)
{
	CHECK_INT(f->diags.n_errors, 1);
	if (f->diags.n == 0)
		return "";
	CHECK_INT(f->diags.at[0].at.line, 5);
	CHECK(f->diags.at[0].hint != NULL);
	return f->diags.at[0].message;
}

#endif
