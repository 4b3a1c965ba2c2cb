/*
 * The bits of layers, pinned. A failure here means that every image built with this version differs
 * from those built before. That is a decision: raise LAYER_FORMAT_VERSION, say what changed in
 * docs/FORMAT.md, and only then put the new digests into the table.
 */
#include "tests/harness.h"

#include <fcntl.h>
#include <stdint.h>

#include "base/fs.h"
#include "builder/layer/pack/layer.h"

enum { TEXT_BYTES = 9 << 20, NOISE_BYTES = 3 << 20, SMALL_BYTES = 70000, EPOCH = 1700000000 };

/* Linear congruential, so that the same bytes come out everywhere and for ever. */
static char *made_up(struct arena *a, size_t n, bool noise)
{
	static const char *const words[] = {"layer ", "digest ", "the ",   "of ",
					    "\n",     "blob ",   "0x7f, ", "a"};
	char *out = arena_alloc(a, n + 16);
	uint64_t state = 42;

	for (size_t i = 0; i < n;) {
		state = state * 6364136223846793005U + 1442695040888963407U;
		if (noise) {
			out[i++] = (char)(state >> 40);
			continue;
		}
		for (const char *w = words[state >> 60 & 7]; *w != '\0' && i < n; w++)
			out[i++] = *w;
	}
	return out;
}

static void add(struct tree *t, struct entry e)
{
	struct err err = {0};

	if (e.size > 0)
		e.content = CONTENT_BYTES;
	CHECK_OK(tree_add(t, &e, &err), &err);
}

/* One entry of every kind a tar can hold, more than two blocks of every codec. */
static void fill_tree(struct tree *t, struct arena *a)
{
	static struct entry_xattr capability = {"security.capability",
						"\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20};
	char *text = made_up(a, TEXT_BYTES, false), *noise = made_up(a, NOISE_BYTES, true);
	char *deep = arena_alloc(a, 301);
	struct diags d = {0};
	struct err err = {0};

	for (size_t i = 0; i < 300; i++)
		deep[i] = i % 30 == 29 ? '/' : 'd';
	deep[299] = 'f';
	tree_init(t, a, "pinned", EPOCH);
	add(t, (struct entry){.path = "bin", .type = ENTRY_DIR, .mode = 0755});
	add(t, (struct entry){.path = "bin/ping",
			      .mode = 04755,
			      .bytes = text,
			      .size = SMALL_BYTES,
			      .xattrs = &capability,
			      .n_xattrs = 1});
	add(t, (struct entry){
		   .path = "bin/ping6", .type = ENTRY_HARDLINK, .mode = 04755, .link = "bin/ping"});
	add(t,
	    (struct entry){.path = "bin/sh", .type = ENTRY_SYMLINK, .mode = 0777, .link = "dash"});
	add(t, (struct entry){.path = "caf\xc3\xa9", .mode = 0644, .bytes = "x", .size = 1});
	for (size_t i = 29; i < 299; i += 30)
		add(t, (struct entry){
			   .path = arena_strndup(a, deep, i), .type = ENTRY_DIR, .mode = 0755});
	add(t, (struct entry){.path = deep, .mode = 0600, .bytes = "deep", .size = 4});
	add(t, (struct entry){.path = "empty", .mode = 0644, .mtime = EPOCH});
	add(t, (struct entry){.path = "noise", .mode = 0644, .bytes = noise, .size = NOISE_BYTES});
	add(t, (struct entry){.path = "text",
			      .mode = 0640,
			      .uid = 65532,
			      .gid = 3000000,
			      .bytes = text,
			      .size = TEXT_BYTES});
	add(t, (struct entry){.path = "tmp", .type = ENTRY_DIR, .mode = 01777});
	CHECK_OK(tree_finish(t, &d, &err), &err);
	CHECK_INT(d.n_errors, 0);
	diags_done(&d);
}

struct pinned {
	enum compression compression;
	int level;
	unsigned threads;
	const char *format, *diff_id, *digest;
};

#define DIFF_ID "sha256:9c37c705616c7226a9fda7da5dbd276e32dd865c59d662c1ae4568c0cff17bcb"
#define GZIP_1  "sha256:342a59f32e659e86d804674033bc264fca14424588090720ec24e696493d0545"
#define GZIP_6  "sha256:6057268c7d6275799441a7d770d721492377f0d9d642459f53579d1893809cec"
#define ZSTD_3  "sha256:87847672d6a21bb405a7fd91d5bd1bc3ea667d5504d834f82107aada8ed3e493"
#define ZSTD_9  "sha256:3b0eaf996703500b5490564fcab079b84601b0bec4dbdbf8bc9c9cc9097d7657"

static const struct pinned pins[] = {
    {COMPRESSION_NONE, 0, 2, "1 tar", DIFF_ID, DIFF_ID},
    {COMPRESSION_GZIP, 0, 1, "1 libdeflate-1.14 level 1", DIFF_ID, GZIP_1},
    {COMPRESSION_GZIP, 0, 3, "1 libdeflate-1.14 level 1", DIFF_ID, GZIP_1},
    {COMPRESSION_GZIP, 6, 2, "1 libdeflate-1.14 level 6", DIFF_ID, GZIP_6},
    {COMPRESSION_ZSTD, 0, 1, "1 zstd-1.5.4 level 3", DIFF_ID, ZSTD_3},
    {COMPRESSION_ZSTD, 0, 3, "1 zstd-1.5.4 level 3", DIFF_ID, ZSTD_3},
    {COMPRESSION_ZSTD, 9, 2, "1 zstd-1.5.4 level 9", DIFF_ID, ZSTD_9},
};

static void check_pin(const struct tree *t, struct layout *layout, const struct pinned *pin)
{
	struct layer_opts opts = {.compression = pin->compression,
				  .level = pin->level,
				  .threads = pin->threads,
				  .layout = layout};
	char text[DIGEST_TEXT_MAX];
	struct layer_result r;
	struct err err = {0};

	CHECK_OK(layer_write(t, &opts, &r, &err), &err);
	if (err.code != ERR_NONE)
		return;
	CHECK_STR(layer_format_text(pin->compression, pin->level, t->arena), pin->format);
	CHECK_STR(digest_text(&r.diff_id, text), pin->diff_id);
	CHECK_STR(digest_text(&r.digest, text), pin->digest);
	CHECK(layout_has(layout, &r.digest, r.size));
	CHECK(r.raw_size % 512 == 0 && !r.cached);
}

static void bits_are_pinned(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO_LAYOUT struct layout *layout = NULL;
	char dir[4096];
	struct tree t;
	struct err err = {0};

	test_tmpdir(dir);
	fill_tree(&t, &a);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(pins); i++)
		check_pin(&t, layout, &pins[i]);
	tree_done(&t);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("layer: the bits of a known tree are what they always were", bits_are_pinned);
	return test_done();
}
