/* Buffers, arenas, maps, digests and streams. */
#include "base/crypto/digest_stream.h"
#include "tests/harness.h"

#include <fcntl.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/strbuf.h"
#include "base/stream.h"
#include "base/strmap.h"

static void grows_and_stays_terminated(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	CHECK_STR(strbuf_str(&sb), "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&sb, "%d,", i);
	CHECK_INT(sb.len, strlen(strbuf_str(&sb)));
	CHECK_INT(sb.len, 10 * 2 + 90 * 3 + 900 * 4);
	strbuf_reset(&sb);
	CHECK_STR(strbuf_str(&sb), "");
	strbuf_adds(&sb, "x");
	strbuf_addc(&sb, 'y');
	strbuf_add(&sb, "z\0!", 3);
	CHECK_INT(sb.len, 5);
	CHECK(memcmp(sb.ptr, "xyz\0!", 6) == 0);
}

static void beyond_its_maximum_it_drops(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4);

	strbuf_adds(&sb, "1234");
	CHECK(!sb.overflow);
	strbuf_addc(&sb, '5');
	CHECK(sb.overflow);
	CHECK_STR(strbuf_str(&sb), "1234");
	strbuf_reset(&sb);
	CHECK(!sb.overflow);
	strbuf_addf(&sb, "%s", "12345");
	CHECK(sb.overflow);
	CHECK_INT(sb.len, 0);
	strbuf_reset(&sb);
	strbuf_add(&sb, "x", SIZE_MAX);
	CHECK(sb.overflow);
}

static void content_is_handed_out(void)
{
	struct strbuf sb = STRBUF_INIT(100);
	AUTO_FREE char *first = NULL;
	AUTO_FREE char *second = NULL;

	strbuf_adds(&sb, "text");
	first = strbuf_take(&sb);
	second = strbuf_take(&sb);
	CHECK_STR(first, "text");
	CHECK_STR(second, "");
	CHECK(sb.ptr == NULL && sb.max == 100);
}

static void arenas(void)
{
	AUTO(arena) struct arena a = {0};
	char *text = arena_printf(&a, "%s-%d", "n", 7), *big;
	char *copies[500];

	CHECK_STR(text, "n-7");
	CHECK(arena_strdup(&a, NULL) == NULL);
	CHECK_STR(arena_strndup(&a, "abcdef", 3), "abc");
	big = arena_alloc(&a, 3 << 20);
	for (size_t i = 0; i < (3 << 20); i += 4096)
		CHECK(big[i] == 0);
	memset(big, 'x', 3 << 20);
	for (int i = 0; i < 500; i++) {
		char *p = arena_alloc(&a, (size_t)i % 7 + 1);

		CHECK((uintptr_t)p % _Alignof(max_align_t) == 0);
		copies[i] = arena_printf(&a, "item %d", i);
	}
	for (int i = 0; i < 500; i++)
		CHECK_INT(strtol(copies[i] + 5, NULL, 10), i);
	CHECK(memcmp(arena_memdup(&a, "a\0b", 3), "a\0b", 3) == 0);
	CHECK(arena_calloc(&a, 0, 8) != NULL || true);
	CHECK_STR(text, "n-7");
	arena_done(&a);
	CHECK_STR(arena_strdup(&a, "again"), "again");
}

static void maps(void)
{
	AUTO(arena) struct arena a = {0};
	struct strmap map = {0};
	char key[16];

	CHECK(strmap_get(&map, "x") == NULL);
	strmap_sort(&map);
	for (int i = 30; i > 0; i--) {
		snprintf(key, sizeof(key), "k%02d", i);
		strmap_set(&map, &a, key, "v");
	}
	strmap_set(&map, &a, "k30", "changed");
	CHECK_INT(map.n, 30);
	CHECK_STR(map.at[0].key, "k30"); /* insertion order, replaced in place */
	CHECK_STR(strmap_get(&map, "k30"), "changed");
	CHECK(strmap_get(&map, "K30") == NULL);
	strmap_set(&map, &a, "B", "");
	strmap_sort(&map);
	CHECK_STR(map.at[0].key, "B");
	CHECK_STR(map.at[1].key, "k01");
	CHECK_STR(map.at[30].key, "k30");
}

/* FIPS 180-4 and NIST's examples. */
static void digest_vectors(void)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	char hex[DIGEST_HEX_MAX], text[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct digest d = digest_of(rows[i].text, strlen(rows[i].text)), parsed;
		struct err err = {0};
		struct hasher h = {0};

		CHECK_STR(digest_hex(&d, hex), rows[i].hex);
		CHECK_OK(digest_parse(digest_text(&d, text), &parsed, &err), &err);
		CHECK(digest_equal(&d, &parsed) && !digest_is_zero(&d));
		hasher_init(&h);
		for (const char *s = rows[i].text; *s != '\0'; s++)
			hasher_update(&h, s, 1);
		parsed = hasher_final(&h);
		hasher_done(&h);
		CHECK(digest_equal(&d, &parsed));
	}
}

static void digests_are_read_strictly(void)
{
#define HEX63 "a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	static const char *const bad[] = {
		"",
		"sha256:",
		HEX63 "b",
		"sha256:" HEX63,
		"sha256:" HEX63 "bb",
		"sha512:" HEX63 "b",
		"SHA256:" HEX63 "b",
		"sha256:" HEX63 "B",
		"sha256:" HEX63 "g",
		" sha256:" HEX63 "b",
		"sha256:" HEX63 "b\n",
	};
	struct digest d;
	struct err err = {0};

	CHECK_OK(digest_parse("sha256:" HEX63 "b", &d, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err = (struct err){0};
		CHECK(digest_parse(bad[i], &d, &err) != 0);
		CHECK_INT(err.code, ERR_FORMAT);
	}
}

/* Reads `text` through a verified source that expects `size` bytes of `want`. */
static int verified(const char *text, const char *want, int64_t size, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	struct digest d = digest_of(want, strlen(want));
	struct source *s = source_verified(source_from_bytes(text, strlen(text)), &d, size);
	int status = stream_read_all(s, &sb, err);

	source_close(s);
	if (status == 0)
		CHECK_STR(strbuf_str(&sb), text);
	return status;
}

static void sources_are_verified(void)
{
	struct err err = {0};

	CHECK_OK(verified("content", "content", 7, &err), &err);
	CHECK_OK(verified("", "", 0, &err), &err);
	CHECK(verified("content", "content", 8, &err) != 0);
	CHECK(err.code == ERR_DIGEST && strstr(err.msg, "7 bytes instead of 8") != NULL);
	CHECK(verified("content", "content", 6, &err) != 0);
	CHECK(err.code == ERR_DIGEST && strstr(err.msg, "more than 6 bytes") != NULL);
	CHECK(verified("CONTENT", "content", 7, &err) != 0);
	CHECK(err.code == ERR_DIGEST && strstr(err.msg, "the content's digest is sha256:") != NULL);
	CHECK(verified("", "content", 7, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
}

static void a_refusal_is_repeated(void)
{
	struct digest want = digest_of("content", 7);
	struct source *s = source_verified(source_from_bytes("CONTENT", 7), &want, 7);
	char buf[16], first[ERR_MSG_MAX];
	struct err err = {0};
	size_t n = 0;

	CHECK_OK(source_read(s, buf, sizeof(buf), &n, &err), &err);
	CHECK(source_read(s, buf, sizeof(buf), &n, &err) != 0);
	memcpy(first, err.msg, sizeof(first));
	CHECK(source_read(s, buf, sizeof(buf), &n, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK_STR(err.msg, first);
	source_close(s);
}

static void bytes_flow_through_a_chain(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(10);
	struct strbuf_sink out;
	AUTO(digest_sink) struct digest_sink hash;
	struct source *src = source_from_bytes("0123456789", 10);
	struct err err = {0};
	int64_t n = 0;

	strbuf_sink_init(&out, &sb);
	digest_sink_init(&hash, &out.sink);
	CHECK_OK(stream_copy(src, &hash.sink, &n, &err), &err);
	source_close(src);
	source_close(NULL);
	struct digest got = digest_sink_final(&hash), want = digest_of("0123456789", 10);

	CHECK_INT(n, 10);
	CHECK_INT(hash.bytes, 10);
	CHECK(digest_equal(&got, &want));
	CHECK(sink_write(&out.sink, "x", 1, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
}

static void descriptors_are_sources_and_sinks(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	int ends[2];
	struct fd_sink sink;
	struct source *src;
	struct err err = {0};

	CHECK_INT(pipe(ends), 0);
	fd_sink_init(&sink, ends[1]);
	CHECK_OK(sink_write(&sink.sink, "hello", 5, &err), &err);
	close(ends[1]);
	src = source_from_fd(ends[0]);
	CHECK_OK(stream_read_all(src, &sb, &err), &err);
	CHECK_STR(strbuf_str(&sb), "hello");
	source_close(src);
	CHECK(fcntl(ends[0], F_GETFD) < 0);
	CHECK(sink_write(&sink.sink, "x", 1, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
}

static void joined_arenas(void)
{
	for (int empty = 0; empty < 4; empty++) {
		AUTO(arena) struct arena a = {0};
		AUTO(arena) struct arena b = {0};
		const char *left = (empty & 1) != 0 ? "" : arena_strdup(&a, "left");
		const char *right = (empty & 2) != 0 ? "" : arena_strdup(&b, "right");

		if ((empty & 2) == 0)
			arena_alloc(&b, 1 << 20);
		const size_t bytes = a.bytes + b.bytes;

		arena_join(&a, &b);
		CHECK_INT(a.bytes, bytes);
		CHECK(b.head == NULL && b.bytes == 0);
		CHECK_STR(arena_strdup(&b, "new"), "new");
		CHECK_STR(arena_strdup(&a, "new"), "new");
		CHECK_STR(left, (empty & 1) != 0 ? "" : "left");
		CHECK_STR(right, (empty & 2) != 0 ? "" : "right");
	}
}

int main(void)
{
	TEST("strbuf: grows and stays terminated", grows_and_stays_terminated);
	TEST("strbuf: drops what is beyond its maximum", beyond_its_maximum_it_drops);
	TEST("strbuf: hands its content out", content_is_handed_out);
	TEST("arena: allocations are zeroed, aligned and lasting", arenas);
	TEST("arena: what is joined lives on, and both can be used", joined_arenas);
	TEST("strmap: insertion order, replacement, sorting", maps);
	TEST("digest: known vectors", digest_vectors);
	TEST("digest: anything but sha256 and lower-case hex is refused",
	     digests_are_read_strictly);
	TEST("stream: too long, too short and wrong content is refused", sources_are_verified);
	TEST("stream: a reader that asks again gets the same refusal", a_refusal_is_repeated);
	TEST("stream: bytes flow through a chain", bytes_flow_through_a_chain);
	TEST("stream: descriptors as source and sink", descriptors_are_sources_and_sinks);
	return test_done();
}
