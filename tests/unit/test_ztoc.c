#include <fcntl.h>

#include "base/doc/json.h"
#include "base/fs.h"
#include "builder/layer/pack/blocks.h"
#include "builder/layer/pack/layer.h"
#include "builder/layer/pack/ztocs.h"
#include "builder/layer/ztoc/read.h"
#include "builder/layer/ztoc/spans.h"
#include "tests/harness.h"

static int print_of(const char *path, int64_t span, const char *tool, struct strbuf *ret,
                    struct err *err)
{
	AUTO(ztoc) struct ztoc z = {0};
	struct source *in = source_from_fd(open(path, O_RDONLY | O_CLOEXEC));
	int rc;

	ztoc_init(&z, span);
	rc = ztoc_read(in, &z, err);
	source_close(in);
	return rc == 0 ? ztoc_print(&z, tool, ret, err) : -1;
}

static const char golden[] = "tests/golden/ztoc/";

/* "NAME SPAN DIGEST", as tests/golden/ztoc/make wrote it. */
static void check_row(const char *row)
{
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(0);
	char name[64], want[DIGEST_TEXT_MAX], path[128], text[DIGEST_TEXT_MAX];
	struct err err = {0};
	struct digest digest;
	long long span;

	CHECK(sscanf(row, "%63s %lld %71s", name, &span, want) == 3);
	snprintf(path, sizeof(path), "%s%s.tar.gz", golden, name);
	if (print_of(path, span, "slipway", &got, &err) != 0) {
		printf("# %s: %s\n", name, err.msg);
		CHECK(!"a zTOC");
		return;
	}
	digest = digest_of(got.ptr, got.len);
	CHECK_STR(digest_text(&digest, text), want);
}

/* Of a folder with manifest.json: [{"name": , "input": , "span": }], and NAME.ztoc. */
static void check_vector(const char *dir, const cJSON *row)
{
	AUTO(strbuf) struct strbuf want = STRBUF_INIT(0), got = STRBUF_INIT(0);
	const char *name = json_string(row, "name"), *input = json_string(row, "input");
	struct err err = {0};
	char path[PATH_MAX];
	const cJSON *span = json_get(row, "span");

	snprintf(path, sizeof(path), "%s/%s.ztoc", dir, name);
	CHECK(fs_read_file(path, 8 << 20, &want, &err) == 0);
	snprintf(path, sizeof(path), "%s/%s", dir, input);
	CHECK(print_of(path, (int64_t)span->valuedouble, "soci-oracle", &got, &err) == 0);
	CHECK(got.len == want.len && memcmp(got.ptr, want.ptr, got.len) == 0);
	if (!test_state.ok)
		printf("# %s %s\n", name, err.msg);
}

/* More of the builder's, where $SLIPWAY_SHARED (default ../shared) has them. */
static void check_vectors(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(json) cJSON *rows = NULL;
	const char *shared = getenv("SLIPWAY_SHARED");
	struct err err = {0};
	char dir[PATH_MAX / 2], path[PATH_MAX];
	const cJSON *row;

	snprintf(dir, sizeof(dir), "%s/data/soci", shared != NULL ? shared : "../shared");
	snprintf(path, sizeof(path), "%s/manifest.json", dir);
	if (!fs_exists(path))
		return;
	CHECK(fs_read_file(path, 1 << 20, &text, &err) == 0);
	CHECK(json_parse(path, text.ptr, text.len, &rows, &err) == 0);
	CHECK(cJSON_GetArraySize(rows) > 0);
	cJSON_ArrayForEach (row, rows)
		check_vector(dir, row);
}

static void equals_golden(void)
{
	char row[256], path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%sexpect", golden);
	f = fopen(path, "re");
	CHECK(f != NULL);
	while (f != NULL && fgets(row, sizeof(row), f) != NULL) {
		check_row(row);
		n++;
	}
	CHECK(n >= 8);
	if (f != NULL)
		fclose(f);
	check_vectors();
}

/* Cut anywhere, a layer is refused and nothing else happens. */
static void refuses_cut_layers(void)
{
	AUTO(strbuf) struct strbuf whole = STRBUF_INIT(0);
	struct err err = {0};
	char path[64];

	snprintf(path, sizeof(path), "%skinds.tar.gz", golden);
	CHECK(fs_read_file(path, 1 << 20, &whole, &err) == 0);
	for (size_t len = 0; len < whole.len; len++) {
		AUTO(ztoc) struct ztoc z = {0};
		struct source *in = source_from_bytes(whole.ptr, len);

		err = (struct err){0};
		ztoc_init(&z, 4096);
		CHECK(ztoc_read(in, &z, &err) != 0);
		CHECK(err.code == ERR_FORMAT);
		source_close(in);
	}
}

/* ---- while a layer is packed ---- */

enum { MIXED_BYTES = 7 << 20 };

/* Text of several kinds, noise, zeros: DEFLATE blocks of all three types and of many sizes. */
static unsigned char *mixed(size_t n, size_t run)
{
	unsigned char *out = mem_calloc(n, 1);
	uint64_t state = 7;

	for (size_t i = 0; i < n; i++) {
		size_t part = i / run % 5;

		state = state * 6364136223846793005U + 1442695040888963407U;
		if (part == 1)
			out[i] = (unsigned char)(state >> 56);
		else if (part > 1)
			out[i] = (unsigned char)('a' + (state >> 40) % (1 + part * 3));
	}
	return out;
}

/* Packs bytes with spans_writer into a file's bytes. */
static void pack_spans(const unsigned char *bytes, size_t len, int level, struct ztoc *z,
                       struct strbuf *packed)
{
	AUTO(blocks) struct blocks b = {0};
	struct spans_writer *spans = spans_writer_new(z);
	struct strbuf_sink sink;
	struct err err = {0};

	strbuf_sink_init(&sink, packed);
	const struct blocks_opts opts = {.compression = COMPRESSION_GZIP,
	                                 .level = level,
	                                 .threads = 3,
	                                 .out = &sink.sink,
	                                 .spans = spans};

	CHECK_OK(blocks_start(&b, &opts, &err), &err);
	CHECK_OK(tar_out_write(&b.out, bytes, len, &err), &err);
	CHECK_OK(blocks_finish(&b, &err), &err);
	spans_writer_free(spans);
}

static void read_spans(const struct strbuf *packed, struct ztoc *z)
{
	struct source *in = source_from_bytes(packed->ptr, packed->len);
	struct source *spans = spans_reader(in, z);
	struct err err = {0};
	char buf[5000];
	size_t n = 1;

	while (n > 0 && source_read(spans, buf, sizeof(buf), &n, &err) == 0)
		;
	CHECK_STR(err.msg, "");
	source_close(spans);
	source_close(in);
}

static void check_same_points(const struct ztoc *a, const struct ztoc *b)
{
	CHECK_INT(a->points.n, b->points.n);
	CHECK_INT(a->packed, b->packed);
	for (size_t i = 0; i < a->points.n && i < b->points.n; i++)
		CHECK(memcmp(a->points.at[i], b->points.at[i], sizeof(struct ztoc_point)) == 0);
}

static void points_are_those_of_a_reader(void)
{
	static const struct {
		size_t len;
		int level;
		size_t run;
		int64_t span;
		size_t points; /* at least */
	} cases[] = {
		{MIXED_BYTES, 1, 300000, 4 << 20, 2},
		{MIXED_BYTES, 1, 300000, 1000, 60},
		{MIXED_BYTES, 6, 300000, 100000, 20},
		{MIXED_BYTES, 12, 300000, 700000, 5},
		{MIXED_BYTES, 1, 300000, 1 << 20, 5},
		{1 << 20, 1, 300000, 1 << 19, 2},
		{(1 << 20) + 100, 1, 300000, 4000, 10},
		{40000, 1, 300000, 4000, 1},
		{1024, 1, 300000, 4 << 20, 1},
		/* Blocks so short that a window begins in the piece before, which was not inflated. */
		{MIXED_BYTES, 12, 12000, 1 << 20, 5},
		{MIXED_BYTES, 9, 7000, (1 << 20) + 4000, 5},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO(strbuf) struct strbuf packed = STRBUF_INIT(0);
		AUTO(ztoc) struct ztoc written = {0}, read = {0};
		AUTO_FREE unsigned char *bytes = mixed(cases[i].len, cases[i].run);

		ztoc_init(&written, cases[i].span);
		ztoc_init(&read, cases[i].span);
		pack_spans(bytes, cases[i].len, cases[i].level, &written, &packed);
		read_spans(&packed, &read);
		check_same_points(&written, &read);
		CHECK(read.points.n >= cases[i].points);
	}
}

static void add(struct tree *t, struct entry e)
{
	struct err err = {0};

	e.content = e.size > 0 ? CONTENT_BYTES : CONTENT_NONE;
	CHECK_OK(tree_add(t, &e, &err), &err);
}

/* Every kind of entry, names and numbers that need records, and enough bytes to be indexed. */
static void fill_tree(struct tree *t, struct arena *a, const unsigned char *bytes)
{
	static struct entry_xattr xattrs[] = {{"security.capability", "\1\0\0\2\0\4\0\0", 8},
	                                      {"user.a", "=", 1}};
	struct diags d = {0};
	struct err err = {0};

	tree_init(t, a, "indexed", 1LL << 40);
	add(t, (struct entry){.path = "usr/bin/tool",
	                      .mode = 04755,
	                      .bytes = bytes,
	                      .size = MIXED_BYTES,
	                      .xattrs = xattrs,
	                      .n_xattrs = 2});
	add(t, (struct entry){.path = "usr/bin/same",
	                      .type = ENTRY_HARDLINK,
	                      .mode = 04755,
	                      .link = "usr/bin/tool"});
	add(t,
	    (struct entry){.path = "usr/lib", .type = ENTRY_SYMLINK, .mode = 0777, .link = "bin"});
	add(t, (struct entry){
		       .path = "caf\xc3\xa9", .mode = 0644, .uid = 3000000, .mtime = 1LL << 35});
	add(t, (struct entry){.path = "z/odd", .mode = 0600, .bytes = bytes + 333, .size = 777777});
	for (char *c = arena_strdup(a, "n0"); c[1] < '9'; c = arena_strdup(a, c), c[1]++)
		add(t, (struct entry){.path = c,
		                      .mode = 0644,
		                      .bytes = bytes + 300000,
		                      .size = MIXED_BYTES / 3});
	CHECK_OK(tree_finish(t, &d, &err), &err);
}

static void check_layer_ztoc(const struct layer_result *layer, const char *dir, bool cached)
{
	AUTO(strbuf) struct strbuf want = STRBUF_INIT(0);
	char path[PATH_MAX], hex[DIGEST_HEX_MAX];
	struct err err = {0};
	struct digest digest;

	CHECK_INT(layer->cached, cached);
	CHECK(layer->size >= ZTOCS_LAYER_MIN);
	CHECK_INT(layer->ztoc.size > 0, true);
	snprintf(path, sizeof(path), "%s/blobs/sha256/%s", dir, digest_hex(&layer->digest, hex));
	CHECK_OK(print_of(path, ZTOC_SPAN_BYTES, ZTOCS_TOOL, &want, &err), &err);
	digest = digest_of(want.ptr, want.len);
	CHECK(digest_equal(&digest, &layer->ztoc.digest));
}

/* Packed, then remembered, then of a layer that was packed when nobody asked for a zTOC. */
static void of_a_packed_layer(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO_FREE unsigned char *bytes = mixed(MIXED_BYTES, 300000);
	char dir[] = "/tmp/ztoc-layout-XXXXXX", cache_dir[] = "/tmp/ztoc-cache-XXXXXX";
	struct layer_opts opts = {.compression = COMPRESSION_GZIP, .threads = 2, .ztoc = true};
	struct layer_result layer = {0};
	struct err err = {0};
	struct tree t;

	fill_tree(&t, &a, bytes);
	CHECK(mkdtemp(dir) != NULL && mkdtemp(cache_dir) != NULL);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &opts.layout, &err), &err);
	CHECK_OK(layer_write(&t, &opts, &layer, &err), &err);
	check_layer_ztoc(&layer, dir, false);
	CHECK_OK(cache_open(cache_dir, &opts.cache, &err), &err);
	opts.ztoc = false;
	CHECK_OK(layer_write(&t, &opts, &layer, &err), &err);
	CHECK_INT(layer.ztoc.size, 0);
	opts.ztoc = true;
	for (int i = 0; i < 2; i++) {
		CHECK_OK(layer_write(&t, &opts, &layer, &err), &err);
		check_layer_ztoc(&layer, dir, true);
	}
	cache_close(opts.cache);
	layout_close(opts.layout);
	tree_done(&t);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
	CHECK_OK(fs_remove_tree(cache_dir, &err), &err);
}

int main(void)
{
	TEST("ztoc: equal, byte for byte, to those of SOCI's own builder", equals_golden);
	TEST("ztoc: a layer cut anywhere is refused", refuses_cut_layers);
	TEST("ztoc: packing finds the points that reading finds", points_are_those_of_a_reader);
	TEST("ztoc: a packed layer's equals that of reading it, cached or not", of_a_packed_layer);
	return test_done();
}
