/* The block pipeline and deflate_join: round trips through other decoders, whatever the threads. */
#include "tests/harness.h"

#include <libdeflate.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "builder/layer/pack/blocks.h"
#include "builder/layer/pack/compress.h"
#include "builder/layer/pack/deflate_join.h"

enum kind { ZEROS, RANDOM, TEXT, MIXED, N_KINDS };

static const enum compression codecs[] = {COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The same bytes on every machine. */
static void fill(unsigned char *out, size_t n, enum kind kind, uint64_t seed)
{
	uint64_t state = seed * 2654435761U + 88172645463325252U;

	for (size_t i = 0; i < n; i++) {
		uint64_t r = next_random(&state);
		enum kind k = kind == MIXED ? (enum kind)((i >> 15) % 3) : kind;

		if (k == ZEROS)
			out[i] = 0;
		else if (k == RANDOM)
			out[i] = (unsigned char)(r >> 32);
		else
			out[i] = (unsigned char)"etaoin shrdlu\nint return 0;{}"[(r >> 32) % 11 *
										 ((r >> 40) % 3)];
	}
}

/* Passes bytes through the pipeline; the digest of the raw bytes in *ret_raw. */
static void run_blocks(enum compression codec, int level, unsigned threads,
		       const unsigned char *bytes, size_t n, struct strbuf *sb,
		       struct digest *ret_raw)
{
	struct strbuf_sink sink;
	AUTO(blocks) struct blocks b = {0};
	struct blocks_opts opts = {.compression = codec, .threads = threads, .out = &sink.sink};
	struct err err = {0};

	CHECK_OK(codec_level(codec, level, &opts.level, &err), &err);
	strbuf_sink_init(&sink, sb);
	CHECK_OK(blocks_start(&b, &opts, &err), &err);
	for (size_t done = 0, step = 1; done < n; step = step * 3 + 1) {
		size_t piece = step < n - done ? step : n - done;

		CHECK_OK(tar_out_write(&b.out, bytes + done, piece, &err), &err);
		done += piece;
	}
	CHECK_OK(blocks_finish(&b, &err), &err);
	CHECK_INT(b.raw_size, n);
	*ret_raw = blocks_raw_digest(&b);
}

static bool unzstd(const struct strbuf *sb, unsigned char *out, size_t n)
{
	return ZSTD_decompress(out, n, sb->ptr, sb->len) == n;
}

/* One member, to the last byte, by zlib and by libdeflate. */
static bool ungzip(const struct strbuf *sb, unsigned char *out, size_t n)
{
	z_stream z = {.next_in = (unsigned char *)sb->ptr,
		      .avail_in = (unsigned)sb->len,
		      .next_out = out,
		      .avail_out = (unsigned)n};
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t used = 0, got = 0;
	bool ok;

	ok = inflateInit2(&z, 15 + 16) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END &&
	     z.avail_in == 0 && z.total_out == n;
	inflateEnd(&z);
	ok = ok &&
	     libdeflate_gzip_decompress_ex(d, sb->ptr, sb->len, out, n, &used, &got) ==
		 LIBDEFLATE_SUCCESS &&
	     used == sb->len && got == n;
	libdeflate_free_decompressor(d);
	return ok;
}

static bool decode(enum compression codec, const struct strbuf *sb, unsigned char *out, size_t n)
{
	if (codec == COMPRESSION_ZSTD)
		return unzstd(sb, out, n);
	if (codec == COMPRESSION_GZIP)
		return ungzip(sb, out, n);
	if (sb->len != n)
		return false;
	memcpy(out, strbuf_str(sb), n);
	return true;
}

static void check_round_trip(enum compression codec, enum kind kind, size_t n)
{
	AUTO_FREE unsigned char *bytes = mem_calloc(1, n + 1), *back = mem_calloc(1, n + 1);
	AUTO(strbuf) struct strbuf sb = {0};
	struct digest raw, want;

	fill(bytes, n, kind, n);
	run_blocks(codec, 0, 2, bytes, n, &sb, &raw);
	if (!decode(codec, &sb, back, n) || memcmp(bytes, back, n) != 0) {
		printf("# %s, kind %d, %zu bytes\n", compression_name(codec), (int)kind, n);
		test_fail(__FILE__, __LINE__, "does not read back");
	}
	want = digest_of(bytes, n);
	if (codec != COMPRESSION_NONE)
		CHECK(digest_equal(&raw, &want));
}

static void round_trips(void)
{
	for (size_t c = 0; c < ARRAY_LEN(codecs); c++) {
		size_t block = codec_block_size(codecs[c]);
		const size_t sizes[] = {0,     1,         2,     255,       65535,
					65536, block - 1, block, block + 1, 3 * block};

		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			for (int kind = sizes[i] > block ? MIXED : ZEROS; kind < N_KINDS; kind++)
				check_round_trip(codecs[c], (enum kind)kind, sizes[i]);
	}
}

static void threads_do_not_matter(void)
{
	static const unsigned threads[] = {1, 2, 7, 1000};

	for (size_t c = 0; c < ARRAY_LEN(codecs); c++) {
		size_t n = 3 * codec_block_size(codecs[c]) + 12345;
		AUTO_FREE unsigned char *bytes = mem_calloc(1, n);
		struct digest want = {0}, raw;

		fill(bytes, n, MIXED, 7);
		for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
			AUTO(strbuf) struct strbuf sb = {0};
			struct digest got;

			run_blocks(codecs[c], 0, threads[i], bytes, n, &sb, &raw);
			got = digest_of(sb.ptr, sb.len);
			if (i == 0)
				want = got;
			CHECK(digest_equal(&got, &want));
		}
	}
}

static void all_levels(void)
{
	size_t n = (1 << 20) + 777;
	AUTO_FREE unsigned char *bytes = mem_calloc(1, n), *back = mem_calloc(1, n);
	struct digest raw;

	fill(bytes, n, MIXED, 3);
	for (size_t c = 1; c < ARRAY_LEN(codecs); c++)
		for (int level = 1; level <= 12; level++) {
			AUTO(strbuf) struct strbuf sb = {0};

			run_blocks(codecs[c], level, 2, bytes, n, &sb, &raw);
			CHECK(decode(codecs[c], &sb, back, n) && memcmp(bytes, back, n) == 0);
		}
}

static void refuses_levels(void)
{
	struct err err = {0};
	int level;

	CHECK(codec_level(COMPRESSION_GZIP, 13, &level, &err) != 0 && err.code == ERR_USAGE);
	CHECK(codec_level(COMPRESSION_ZSTD, 20, &level, &err) != 0 && err.code == ERR_USAGE);
	CHECK(codec_level(COMPRESSION_ZSTD, -1, &level, &err) != 0 && err.code == ERR_USAGE);
	CHECK(codec_level(COMPRESSION_NONE, 0, &level, &err) == 0);
}

static void random_is_stored(void)
{
	size_t n = 4 << 20;
	AUTO_FREE unsigned char *bytes = mem_calloc(1, n);
	AUTO(strbuf) struct strbuf sb = {0};
	struct digest raw;

	fill(bytes, n, RANDOM, 1);
	run_blocks(COMPRESSION_GZIP, 0, 2, bytes, n, &sb, &raw);
	CHECK(sb.len < n + n / 1000);
	CHECK((unsigned char)sb.ptr[10] == 0 && sb.ptr[11] == '\xff' && sb.ptr[12] == '\xff');
}

/* ---- failures ---- */

static int refuse(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	(void)s, (void)bytes, (void)len;
	return err_set(err, ERR_LIMIT, "disk full");
}

static void a_failing_writer_stops_the_producer(void)
{
	static unsigned char piece[1 << 20];
	struct sink sink = {.write = refuse};
	AUTO(blocks) struct blocks b = {0};
	struct err err = {0};
	int rc = 0;

	CHECK_OK(blocks_start(&b,
			      &(struct blocks_opts){
				  .compression = COMPRESSION_NONE, .threads = 2, .out = &sink},
			      &err),
		 &err);
	for (int i = 0; i < 100 && rc == 0; i++)
		rc = tar_out_write(&b.out, piece, sizeof(piece), &err);
	CHECK(rc != 0);
	CHECK_STR(err.msg, "disk full");
}

static void a_stopped_producer_leaves_no_thread(void)
{
	AUTO(strbuf) struct strbuf sb = {0};
	struct strbuf_sink sink;
	struct err err = {0};

	strbuf_sink_init(&sink, &sb);
	for (int i = 0; i < 20; i++) {
		AUTO(blocks) struct blocks b = {0};

		CHECK_OK(blocks_start(&b,
				      &(struct blocks_opts){.compression = COMPRESSION_ZSTD,
							    .level = 3,
							    .threads = 3,
							    .out = &sink.sink},
				      &err),
			 &err);
		CHECK_OK(tar_out_write(&b.out, "half", 4, &err), &err);
	}
}

/* ---- deflate_join ---- */

/* Reads a raw stream back with zlib: `want` `times` times. */
static void check_inflates(const struct strbuf *sb, const unsigned char *want, size_t n_want,
			   size_t times)
{
	AUTO_FREE unsigned char *back = mem_calloc(times, n_want + 1);
	z_stream z = {.next_in = (unsigned char *)sb->ptr,
		      .avail_in = (unsigned)sb->len,
		      .next_out = back,
		      .avail_out = (unsigned)(times * (n_want + 1))};

	CHECK_INT(inflateInit2(&z, -15), Z_OK);
	CHECK_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK_INT(z.total_out, times * n_want);
	CHECK_INT(z.avail_in, 0);
	for (size_t i = 0; i < times; i++)
		CHECK(memcmp(back + i * n_want, want, n_want) == 0);
	inflateEnd(&z);
}

/* Joins a raw stream of n bytes with itself, alone and two at once with an empty one. */
static void check_join(const unsigned char *stream, size_t n, const unsigned char *want,
		       size_t n_want)
{
	static const unsigned char empty[] = {3, 0};
	size_t cap = n + DEFLATE_JOIN_SLACK;
	AUTO_FREE unsigned char *one = mem_calloc(1, cap), *two = mem_calloc(1, cap);
	unsigned char other[64] = {3, 0};
	struct deflate_stream a = {one, n, cap}, b = {two, n, cap}, c = {other, 2, sizeof(other)};
	AUTO(strbuf) struct strbuf all = {0};
	struct err err = {0};

	memcpy(one, stream, n);
	memcpy(two, stream, n);
	CHECK_OK(deflate_join(&a, &err), &err);
	CHECK(a.len >= n && a.len <= n + 5);
	CHECK_OK(n % 2 == 0 ? deflate_join_two(&b, &c, &err) : deflate_join_two(&c, &b, &err),
		 &err);
	strbuf_add(&all, a.bytes, a.len);
	strbuf_add(&all, c.bytes, c.len);
	strbuf_add(&all, b.bytes, b.len);
	CHECK_OK(deflate_join_two(&(struct deflate_stream){memcpy(one, stream, n), n, cap},
				  &(struct deflate_stream){memcpy(two, stream, n), n, cap}, &err),
		 &err);
	strbuf_add(&all, one, a.len);
	strbuf_add(&all, two, a.len);
	strbuf_add(&all, empty, sizeof(empty));
	check_inflates(&all, want, n_want, 4);
}

/* zlib makes stored, fixed and dynamic blocks of all kinds on demand. */
static void joins_what_zlib_makes(void)
{
	static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED,
					 Z_FILTERED};
	static const size_t sizes[] = {0, 1, 3, 100, 5000, 70000, 150000};
	AUTO_FREE unsigned char *bytes = mem_calloc(1, 300000), *out = mem_calloc(1, 400000);

	for (size_t i = 0; i < ARRAY_LEN(sizes) * N_KINDS * ARRAY_LEN(strategies) * 4; i++) {
		static const int levels[] = {0, 1, 6, 9};
		size_t n = sizes[i % ARRAY_LEN(sizes)];
		z_stream z = {0};

		fill(bytes, n, (enum kind)(i / 7 % N_KINDS), i);
		CHECK_INT(deflateInit2(&z, levels[i / 140], Z_DEFLATED, -15, 1 + (int)(i % 9),
				       strategies[i / 28 % ARRAY_LEN(strategies)]),
			  Z_OK);
		z.next_in = bytes;
		z.avail_in = (unsigned)n;
		z.next_out = out;
		z.avail_out = 400000;
		CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
		check_join(out, z.total_out, bytes, n);
		deflateEnd(&z);
	}
}

static void joins_what_libdeflate_makes(void)
{
	AUTO_FREE unsigned char *bytes = mem_calloc(1, 300000), *out = mem_calloc(1, 400000);

	for (int level = 0; level <= 12; level++) {
		struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);

		for (size_t n = 0; n < 300000; n = n * 5 + 1)
			for (int kind = 0; kind < N_KINDS; kind++) {
				fill(bytes, n, (enum kind)kind, n);
				check_join(out,
					   libdeflate_deflate_compress(c, bytes, n, out, 400000),
					   bytes, n);
			}
		libdeflate_free_compressor(c);
	}
}

static void refuses_malformed_streams(void)
{
	static const struct {
		const char *what;
		size_t n;
		const char *bytes;
	} cases[] = {
	    {"nothing", 0, ""},
	    {"block type 3", 1, "\x07"},
	    {"stored length without complement", 6, "\x01\x01\x00\x01\x00x"},
	    {"stored block cut", 6, "\x01\x05\x00\xfa\xffx"},
	    {"fixed block without end", 2, "\x4b\x04"},
	    {"bytes behind the end", 3, "\x03\x00\x00"},
	    {"no final block", 5, "\x00\x00\x00\xff\xff"},
	    {"more codes than exist", 18,
	     "\x05\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unsigned char buf[64] = {0};
		unsigned char good[64] = {3, 0};
		struct deflate_stream s = {buf, cases[i].n, sizeof(buf)},
				      ok = {good, 2, sizeof(good)};
		struct err err = {0};

		memcpy(buf, cases[i].bytes, cases[i].n);
		CHECK(deflate_join_two(&ok, &s, &err) != 0);
		memcpy(buf, cases[i].bytes, cases[i].n);
		s.len = cases[i].n;
		if (deflate_join(&s, &err) == 0)
			printf("# %s\n", cases[i].what), test_fail(__FILE__, __LINE__, "accepted");
		else
			CHECK_INT(err.code, ERR_FORMAT);
	}
}

static void survives_damage(void)
{
	AUTO_FREE unsigned char *bytes = mem_calloc(1, 20000), *out = mem_calloc(1, 40000);
	AUTO_FREE unsigned char *bad = mem_calloc(1, 40000);
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	uint64_t state = 99;
	size_t n;

	fill(bytes, 20000, TEXT, 5);
	n = libdeflate_deflate_compress(c, bytes, 20000, out, 30000);
	for (int i = 0; i < 2000; i++) {
		struct err err = {0};
		size_t cut = i % 2 == 0 ? n : 1 + next_random(&state) % n;
		struct deflate_stream s = {bad, cut, 40000};

		memcpy(bad, out, n);
		for (int k = 0; k < i % 4; k++)
			bad[next_random(&state) % n] ^=
			    (unsigned char)(1U << next_random(&state) % 8);
		if (deflate_join(&s, &err) == 0)
			CHECK(s.len <= cut + 5);
	}
	libdeflate_free_compressor(c);
}

int main(void)
{
	TEST("compress: every size and kind reads back", round_trips);
	TEST("compress: 1, 2, 7 and 1000 threads give the same bytes", threads_do_not_matter);
	TEST("compress: every level reads back", all_levels);
	TEST("compress: levels a codec does not have are refused", refuses_levels);
	TEST("compress: gzip stores random bytes", random_is_stored);
	TEST("blocks: a failing writer stops the producer", a_failing_writer_stops_the_producer);
	TEST("blocks: a stopped producer leaves no thread", a_stopped_producer_leaves_no_thread);
	TEST("deflate_join: joins what zlib makes", joins_what_zlib_makes);
	TEST("deflate_join: joins what libdeflate makes", joins_what_libdeflate_makes);
	TEST("deflate_join: malformed streams are refused", refuses_malformed_streams);
	TEST("deflate_join: damaged streams do no harm", survives_damage);
	return test_done();
}
