/* layer_reader and the tar reader under it: every dialect, damage, diff IDs. */
#include <locale.h>
#include <zlib.h>
#include <zstd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "builder/layer/tar/reader.h"
#include "builder/oci/mediatype.h"
#include "tests/harness.h"
#include "tests/tar_make.h"

enum { MAX = 64 << 20 };

/* "f name 0644 1:2 @3 len", one line a member, contents appended after '='. */
static int list(const struct strbuf *blob, const char *media_type, struct strbuf *out,
                struct digest *ret_diff_id, struct err *err)
{
	static const char types[] = "fdshcbp?";
	struct layer_reader *r;
	struct member m;
	bool more = true;
	int rc = layer_reader_open(source_from_bytes(strbuf_str(blob), blob->len), media_type, &r, err);
	int64_t raw;

	if (rc != 0)
		return rc;
	while (rc == 0 && more) {
		char content[8192];
		size_t n = 1;

		rc = layer_reader_next(r, &m, &more, err);
		if (rc != 0 || !more)
			break;
		strbuf_addf(out, "%c %s %04o %u:%u @%lld %lld", types[m.type], m.path, m.mode, m.uid, m.gid,
		            (long long)m.mtime, (long long)m.size);
		if (m.link != NULL)
			strbuf_addf(out, " > %s", m.link);
		for (size_t i = 0; i < m.n_xattrs; i++)
			strbuf_addf(out, " %s=%.*s", m.xattrs[i].name, (int)m.xattrs[i].len,
			            (const char *)m.xattrs[i].value);
		while (rc == 0 && n > 0 && m.size > 0) {
			rc = layer_reader_read(r, content, sizeof(content), &n, err);
			if (rc == 0 && m.size < 100)
				strbuf_addf(out, "%s%.*s", n > 0 ? " = " : "", (int)n, content);
		}
		strbuf_addc(out, '\n');
	}
	if (rc == 0)
		rc = layer_reader_finish(r, ret_diff_id, &raw, err);
	layer_reader_close(r);
	return rc;
}

static void check_list(const struct strbuf *tar, const char *want)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(MAX);
	struct err err = {0};
	struct digest id = {0}, direct = digest_of(strbuf_str(tar), tar->len);

	CHECK_OK(list(tar, MEDIA_LAYER, &out, &id, &err), &err);
	CHECK_STR(strbuf_str(&out), want);
	CHECK(digest_equal(&id, &direct));
}

static void check_refused(const struct strbuf *blob, const char *media_type, enum err_code code,
                          const char *why)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(MAX);
	struct err err = {0};
	struct digest id;

	CHECK(list(blob, media_type, &out, &id, &err) != 0);
	CHECK_INT(err.code, code);
	if (strstr(err.msg, why) == NULL)
		CHECK_STR(err.msg, why);
}

static void all_types(void)
{
	static const struct tar_make members[] = {
		{.name = "./", .type = '5', .mode = 0755},
		{.name = "./a", .type = '0', .mode = 0100644, .uid = 1, .gid = 2, .mtime = 3, .content = "hi", .len = 2},
		{.name = "/d/", .type = '5', .mode = 01777},
		{.name = "old/", .type = '0', .mode = 0700},
		{.name = "s", .type = '2', .link = "../x", .mode = 0777},
		{.name = "h", .type = '1', .link = "./a", .claim = 2},
		{.name = "c", .type = '3'},
		{.name = "b", .type = '4'},
		{.name = "p", .type = '6'},
		{.name = "q", .type = 'Q', .content = "skip", .len = 4},
		{.name = "v", .type = 0, .prefix = "pre/fix", .content = "x", .len = 1},
		{.name = "g", .type = 'g', .content = "16 path=ignored\n", .len = 16},
	};
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		tar_make_add(&tar, &members[i]);
	tar_make_end(&tar);
	check_list(&tar, "d  0755 0:0 @0 0\nf a 0644 1:2 @3 2 = hi\nd d 1777 0:0 @0 0\nd old 0700 0:0 @0 0\n"
	                 "s s 0777 0:0 @0 0 > ../x\nh h 0000 0:0 @0 0 > a\nc c 0000 0:0 @0 0\n"
	                 "b b 0000 0:0 @0 0\np p 0000 0:0 @0 0\n? q 0000 0:0 @0 0\n"
	                 "f pre/fix/v 0000 0:0 @0 1 = x\n");
}

static void pax_records_win(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX), records = STRBUF_INIT(MAX);

	tar_make_record(&records, "path", "p\xc3\xa4x/n", 6);
	tar_make_record(&records, "SCHILY.xattr.user.b", "2", 1);
	tar_make_record(&records, "SCHILY.xattr.user.a", "1", 1);
	tar_make_record(&records, "SCHILY.xattr.user.b", "3", 1);
	tar_make_record(&records, "mtime", "-1.5", 4);
	tar_make_record(&records, "uid", "4294967295", 10);
	tar_make_record(&records, "size", "2", 1);
	tar_make_record(&records, "gid", "", 0);
	tar_make_record(&records, "comment", "x=y", 3);
	tar_make_add(&tar, &(struct tar_make){.name = "x", .type = 'x', .content = records.ptr, .len = records.len});
	tar_make_add(&tar, &(struct tar_make){.name = "n", .type = '0', .gid = 5, .content = "hi", .len = 2, .claim = -1});
	tar_make_file(&tar, "next", "y");
	tar_make_end(&tar);
	check_list(&tar, "f p\xc3\xa4x/n 0000 4294967295:5 @-2 2 user.a=1 user.b=3 = hi\n"
	                 "f next 0644 0:0 @0 1 = y\n");
}

static void gnu_long_names(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX), want = STRBUF_INIT(MAX);
	char name[3001] = {0};

	memset(name, 'n', 3000);
	tar_make_add(&tar, &(struct tar_make){.name = "././@LongLink", .type = 'L', .content = name, .len = 3001});
	tar_make_add(&tar, &(struct tar_make){.name = "././@LongLink", .type = 'K', .content = name, .len = 3001});
	tar_make_add(&tar, &(struct tar_make){.name = "short", .type = '2', .link = "short"});
	tar_make_end(&tar);
	strbuf_addf(&want, "s %s 0000 0:0 @0 0 > %s\n", name, name);
	check_list(&tar, strbuf_str(&want));
}

static void names_are_bytes(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

	setlocale(LC_ALL, "C");
	tar_make_file(&tar, "caf\xe9", "1");
	tar_make_pax(&tar, "path", "pax-\xff\xfe-\xe9", 8);
	tar_make_file(&tar, "x", "2");
	tar_make_end(&tar);
	check_list(&tar, "f caf\xe9 0644 0:0 @0 1 = 1\nf pax-\xff\xfe-\xe9 0644 0:0 @0 1 = 2\n");
}

static void base_256_numbers(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);
	unsigned char h[512];

	tar_make_header(&(struct tar_make){.name = "big", .type = '5', .mode = 0755}, h);
	memcpy(h + 108, "\x80\0\0\0\x01\0\0\0", 8); /* uid 2^24 */
	memcpy(h + 136, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 12);
	tar_make_sum(h);
	strbuf_add(&tar, h, sizeof(h));
	tar_make_end(&tar);
	check_list(&tar, "d big 0755 16777216:0 @-2 0\n");
}

static void sparse_forms_fill_holes(void)
{
	static const char *const forms[][2] = {
		{"--format=gnu", NULL},
		{"--format=posix", "--sparse-version=0.0"},
		{"--format=posix", "--sparse-version=0.1"},
		{"--format=posix", "--sparse-version=1.0"},
	};
	AUTO(strbuf) struct strbuf whole = STRBUF_INIT(MAX);
	char dir[4096], path[PATH_MAX];
	struct err err = {0};

	test_tmpdir(dir);
	CHECK_OK(fs_join(path, dir, "sparse", &err), &err);
	FILE *f = fopen(path, "w");

	for (int i = 1; f != NULL && i < 40; i++) {
		fseek(f, i * 65536, SEEK_SET);
		fprintf(f, "piece %d", i);
	}
	CHECK(f != NULL && ftruncate(fileno(f), 3000000) == 0 && fclose(f) == 0);
	CHECK_OK(fs_read_file(path, MAX, &whole, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const char *argv[] = {"tar", "-C", dir, "-cS", forms[i][0], "sparse", forms[i][1], NULL};
		struct proc_result p = {.out = STRBUF_INIT(MAX), .err_text = STRBUF_INIT(4096)};
		AUTO(strbuf) struct strbuf got = STRBUF_INIT(MAX);
		struct layer_reader *r;
		struct member m;
		bool more;
		size_t n = 1;
		char buf[1000];

		CHECK_OK(proc_run(argv, NULL, 0, &p, &err), &err);
		CHECK_INT(p.exit_status, 0);
		CHECK(p.out.len < 400000);
		CHECK_OK(layer_reader_open(source_from_bytes(p.out.ptr, p.out.len), MEDIA_LAYER, &r, &err), &err);
		CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
		CHECK_STR(m.path, "sparse");
		CHECK_INT(m.size, 3000000);
		while (n > 0 && layer_reader_read(r, buf, sizeof(buf), &n, &err) == 0)
			strbuf_add(&got, buf, n);
		CHECK(got.len == whole.len && memcmp(got.ptr, whole.ptr, whole.len) == 0);
		CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
		CHECK(!more);
		layer_reader_close(r);
		proc_result_done(&p);
	}
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* A tar of one large and some small members. */
static void make_layer(struct strbuf *tar)
{
	AUTO_FREE char *large = mem_zalloc(3 << 20);

	for (size_t i = 0; i < 3 << 20; i++)
		large[i] = (char)(i * i >> 7);
	tar_make_add(tar, &(struct tar_make){.name = "large", .type = '0', .content = large, .len = 3 << 20});
	tar_make_file(tar, "small", "s");
	tar_make_end(tar);
	strbuf_adds(tar, "bytes behind the end count too");
}

static void gzip_member(struct strbuf *out, const char *bytes, size_t len)
{
	size_t cap = compressBound(len) + 64;
	AUTO_FREE unsigned char *buf = mem_zalloc(cap);
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)len, .next_out = buf,
	              .avail_out = (unsigned)cap};

	CHECK(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	strbuf_add(out, buf, z.total_out);
	deflateEnd(&z);
}

static void zstd_frame(struct strbuf *out, const char *bytes, size_t len)
{
	size_t cap = ZSTD_compressBound(len);
	AUTO_FREE unsigned char *buf = mem_zalloc(cap);

	strbuf_add(out, buf, ZSTD_compress(buf, cap, bytes, len, 1));
}

/* Compressed as two members or frames. */
static void compress_twice(const struct strbuf *tar, bool gzip, struct strbuf *out)
{
	void (*const one)(struct strbuf *, const char *, size_t) = gzip ? gzip_member : zstd_frame;

	one(out, tar->ptr, 1000000);
	one(out, tar->ptr + 1000000, tar->len - 1000000);
}

static void every_compression_gives_the_diff_id(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);
	static const struct {
		const char *media_type;
		bool gzip;
	} rows[] = {{MEDIA_LAYER_GZIP, true}, {MEDIA_DOCKER_LAYER_GZIP, true}, {MEDIA_LAYER_ZSTD, false}};

	make_layer(&tar);
	struct digest want = digest_of(tar.ptr, tar.len);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf blob = STRBUF_INIT(MAX), out = STRBUF_INIT(MAX);
		struct digest id = {0};
		struct err err = {0};

		compress_twice(&tar, rows[i].gzip, &blob);
		CHECK_OK(list(&blob, rows[i].media_type, &out, &id, &err), &err);
		CHECK(digest_equal(&id, &want));
		CHECK(strstr(strbuf_str(&out), "f small 0644 0:0 @0 1 = s") != NULL);
		/* Any cut is noticed. */
		for (size_t cut = 0; cut < blob.len; cut += 1 + blob.len / 37) {
			struct strbuf part = {.ptr = blob.ptr, .len = cut};

			strbuf_reset(&out);
			err = (struct err){0};
			bool border = list(&part, rows[i].media_type, &out, &id, &err) == 0;

			CHECK(!border && err.code == ERR_FORMAT);
		}
		strbuf_adds(&blob, "rubbish behind it");
		check_refused(&blob, rows[i].media_type, ERR_FORMAT, rows[i].gzip ? "gzip: " : "zstd: ");
	}
}

static void a_reader_can_be_left_early(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);
	struct layer_reader *r;
	struct member m;
	struct err err = {0};
	bool more;

	make_layer(&tar);
	CHECK_OK(layer_reader_open(source_from_bytes(tar.ptr, tar.len), MEDIA_LAYER, &r, &err), &err);
	CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
	CHECK_STR(m.path, "large");
	layer_reader_close(r);
	layer_reader_close(NULL);
}

static void unread_content_is_skipped(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);
	struct layer_reader *r;
	struct member m;
	struct err err = {0};
	struct digest id, want;
	int64_t raw;
	bool more;
	char some[10];
	size_t n;

	make_layer(&tar);
	want = digest_of(tar.ptr, tar.len);
	CHECK_OK(layer_reader_open(source_from_bytes(tar.ptr, tar.len), MEDIA_LAYER, &r, &err), &err);
	CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
	CHECK_OK(layer_reader_read(r, some, sizeof(some), &n, &err), &err);
	CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
	CHECK_STR(m.path, "small");
	CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
	CHECK(!more);
	CHECK_OK(layer_reader_next(r, &m, &more, &err), &err);
	CHECK(!more);
	CHECK_OK(layer_reader_finish(r, &id, &raw, &err), &err);
	CHECK(digest_equal(&id, &want));
	CHECK_INT(raw, tar.len);
	layer_reader_close(r);
}

static void a_missing_end_is_the_end(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

	check_list(&tar, "");
	tar_make_file(&tar, "x", "1");
	check_list(&tar, "f x 0644 0:0 @0 1 = 1\n");
}

static void cut_archives_are_refused(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);
	static const size_t cuts[] = {1, 511, 513, 1023, 1025, 1536, 2047};

	tar_make_pax(&tar, "path", "y", 1); /* 1024 bytes */
	tar_make_file(&tar, "x", "1");
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++)
		check_refused(&(struct strbuf){.ptr = tar.ptr, .len = cuts[i]}, MEDIA_LAYER, ERR_FORMAT,
		              "ends in the middle");
	tar.len = 1024;
	tar_make_end(&tar);
	check_refused(&tar, MEDIA_LAYER, ERR_FORMAT, "ends in the middle");
}

static void bad_headers_are_refused(void)
{
	static const struct {
		size_t at;
		const char *bytes;
		size_t len;
		bool sum;
		enum err_code code;
		const char *why;
	} rows[] = {
		{0, "y", 1, false, ERR_FORMAT, "checksum is wrong"},
		{148, "zzzzzz", 6, false, ERR_FORMAT, "checksum is wrong"},
		{124, "0000000008x", 11, true, ERR_FORMAT, "size is not a number"},
		{124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, true, ERR_FORMAT,
	         "size is out of range"},
		{124, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12, true, ERR_FORMAT,
	         "size is out of range"},
		{124, "\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, true, ERR_FORMAT,
	         "size is not a number"},
		{108, "\x80\0\x01\0\0\0\0\0", 8, true, ERR_FORMAT, "owner is out of range"},
		{108, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, true, ERR_FORMAT,
	         "owner is out of range"},
		{156, "M", 1, true, ERR_UNSUPPORTED, "multi-volume"},
		{156, "S", 1, true, ERR_FORMAT, "disagrees"},
		{124, "77777777777", 11, true, ERR_FORMAT, "ends in the middle"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

		tar_make_file(&tar, "x", "1");
		memcpy(tar.ptr + rows[i].at, rows[i].bytes, rows[i].len);
		if (rows[i].sum)
			tar_make_sum((unsigned char *)tar.ptr);
		check_refused(&tar, MEDIA_LAYER, rows[i].code, rows[i].why);
	}
}

static void bad_pax_headers_are_refused(void)
{
	static const struct {
		const char *records;
		size_t len;
		const char *why;
	} rows[] = {
		{"x", 1, "malformed"},
		{"5 a=b\n", 6, "malformed"},
		{"99 path=x\n", 10, "malformed"},
		{"-1 path=x\n", 10, "malformed"},
		{"9 path=xx", 9, "malformed"},
		{"3 =\n", 4, "malformed"},
		{"5 =b\n", 5, "has no key"},
		{"5 ab\n", 5, "has no key"},
		{"11 path=a\0\n", 11, "zero byte"},
		{"10 size=x\n", 10, "is not a number"},
		{"11 size=-1\n", 11, "is not a number"},
		{"28 size=9223372036854775807\n", 28, "out of range"},
		{"15 mtime=1.5x5\n", 15, "is not a time"},
		{"17 uid=4294967296\n", 18, "malformed"},
		{"19 uid=99999999999\n", 19, "owner is out of range"},
		{"25 GNU.sparse.map=1,2,0,1\n", 26, "malformed"},
		{"27 GNU.sparse.map=1,2,0,1\n\n", 26, "malformed"},
		{"26 GNU.sparse.map=5,2,0,1\n", 26, "out of order"},
		{"22 GNU.sparse.map=0,1\n", 22, "has no size"},
		{"22 GNU.sparse.major=1\n", 22, "map of a sparse file is malformed"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

		tar_make_add(&tar, &(struct tar_make){
		                           .name = "x", .type = 'x', .content = rows[i].records, .len = rows[i].len});
		tar_make_file(&tar, "x", "1");
		tar_make_end(&tar);
		check_refused(&tar, MEDIA_LAYER, ERR_FORMAT, rows[i].why);
	}
}

static void caps_hold(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX), two = STRBUF_INIT(MAX), many = STRBUF_INIT(MAX);
	char name[4200];

	memset(name, 'a', sizeof(name));
	tar_make_pax(&tar, "path", name, 4097);
	tar_make_file(&tar, "x", "1");
	check_refused(&tar, MEDIA_LAYER, ERR_LIMIT, "path is longer");
	tar_make_add(&two, &(struct tar_make){.name = "x", .type = 'x', .claim = 1 << 21});
	check_refused(&two, MEDIA_LAYER, ERR_LIMIT, "larger than 1 MiB");
	for (int i = 0; i < 100; i++)
		tar_make_pax(&many, "comment", "x", 1);
	check_refused(&many, MEDIA_LAYER, ERR_FORMAT, "too many extended headers");
}

static void unknown_media_types_are_refused(void)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

	check_refused(&tar, "application/x-bad", ERR_UNSUPPORTED, "media type");
	check_refused(&tar, MEDIA_LAYER_ZSTD, ERR_FORMAT, "truncated");
	check_refused(&tar, MEDIA_LAYER_GZIP, ERR_FORMAT, "truncated");
}

/* A source that breaks in the middle: its own error must come out. */
struct broken {
	struct source source;
	int calls;
};

static int broken_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	if (((struct broken *)s)->calls++ > 2)
		return err_set(err, ERR_DIGEST, "wrong digest");
	memset(buf, 0, cap);
	*ret_n = cap;
	return 0;
}

static void errors_of_the_blob_come_through(void)
{
	struct broken blob = {.source = {broken_read, NULL}};
	struct layer_reader *r;
	struct err err = {0};
	struct digest id;
	int64_t raw;

	CHECK_OK(layer_reader_open(&blob.source, MEDIA_LAYER, &r, &err), &err);
	CHECK(layer_reader_finish(r, &id, &raw, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	layer_reader_close(r);
}

/* A layer of one sparse file, in pax form 1.0, whose map is `map`. */
static int read_map(const char *records, const char *map, int64_t *ret_size, struct err *err)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(1 << 20);
	struct layer_reader *r = NULL;
	struct member m = {0};
	char content[512] = "";
	bool more = false;

	snprintf(content, sizeof(content), "%s", map);
	tar_make_add(&tar, &(struct tar_make){.name = "pax",
	                                      .type = 'x',
	                                      .content = records,
	                                      .len = strlen(records)});
	tar_make_add(&tar, &(struct tar_make){.name = "hole",
	                                      .type = '0',
	                                      .content = content,
	                                      .len = sizeof(content)});
	tar_make_end(&tar);
	CHECK_OK(layer_reader_open(source_from_bytes(tar.ptr, tar.len), MEDIA_LAYER, &r, err), err);
	int rc = layer_reader_next(r, &m, &more, err);

	*ret_size = m.size;
	layer_reader_close(r);
	return rc;
}

#define FORM_1_0 "22 GNU.sparse.major=1\n"

static void numbers_of_maps_do_not_overflow(void)
{
	static const char records[] = FORM_1_0 "28 GNU.sparse.realsize=1000\n";
	int64_t size;

	for (size_t i = 0; i < 2; i++) {
		struct err err = {0};
		const char *maps[] = {"9223372036854775808\n", "9999999999999999999\n"};

		CHECK_INT(read_map(records, maps[i], &size, &err), -1);
		CHECK_INT(err.code, ERR_FORMAT);
		CHECK(strstr(err.msg, "map of a sparse file is malformed") != NULL);
	}
	struct err err = {0};

	CHECK_OK(read_map(records, "0\n", &size, &err), &err);
	CHECK_INT(size, 1000);
}

static void a_hole_counts_before_it_is_read(void)
{
	static const char records[] = FORM_1_0 "43 GNU.sparse.realsize=4611686018427387904\n";
	struct err err = {0};
	int64_t size;

	CHECK_INT(read_map(records, "0\n", &size, &err), -1);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(strstr(err.msg, "unpack to more than") != NULL);
}

int main(void)
{
	TEST("reader: every type of member", all_types);
	TEST("reader: pax records win over the header", pax_records_win);
	TEST("reader: GNU long names", gnu_long_names);
	TEST("reader: names are bytes, whatever the locale", names_are_bytes);
	TEST("reader: base-256 numbers", base_256_numbers);
	TEST("reader: a number of a sparse file's map that does not fit is refused",
	     numbers_of_maps_do_not_overflow);
	TEST("reader: a hole counts before anybody reads it", a_hole_counts_before_it_is_read);
	TEST("reader: holes of all four sparse forms are filled", sparse_forms_fill_holes);
	TEST("reader: every compression gives the diff ID, every cut is noticed",
	     every_compression_gives_the_diff_id);
	TEST("reader: a reader can be left early", a_reader_can_be_left_early);
	TEST("reader: unread content is skipped", unread_content_is_skipped);
	TEST("reader: a missing end mark is the end", a_missing_end_is_the_end);
	TEST("reader: archives cut in a member are refused", cut_archives_are_refused);
	TEST("reader: bad headers are refused", bad_headers_are_refused);
	TEST("reader: bad pax headers are refused", bad_pax_headers_are_refused);
	TEST("reader: caps hold", caps_hold);
	TEST("reader: unknown media types and empty blobs are refused", unknown_media_types_are_refused);
	TEST("reader: errors of the blob come through", errors_of_the_blob_come_through);
	return test_done();
}
