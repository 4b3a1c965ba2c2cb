/* The trainer's own checksums, against published values. */
#include "base/crc32c.h"
#include "base/sha256.h"
#include "tests/harness.h"

static void check_sha(const char *text, size_t times, const char *want)
{
	char hex[SHA256_HEX_MAX];
	struct sha256 s;

	sha256_init(&s);
	for (size_t i = 0; i < times; i++)
		sha256_update(&s, text, strlen(text));
	CHECK_STR(sha256_hex(&s, hex), want);
}

/* FIPS 180-2, appendix B. */
static void published_digests(void)
{
	check_sha("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sha("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check_sha("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 3720, appendix B.4. */
static void published_checksums(void)
{
	unsigned char bytes[32] = {0};

	CHECK(crc32c(0, bytes, 32) == 0x8a9136aau);
	memset(bytes, 0xff, 32);
	CHECK(crc32c(0, bytes, 32) == 0x62a8ab43u);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	CHECK(crc32c(0, bytes, 32) == 0x46dd794eu);
	CHECK(crc32c(crc32c(0, bytes, 13), bytes + 13, 19) == 0x46dd794eu);
	CHECK(crc32c(0, "123456789", 9) == 0xe3069283u);
}

int main(void)
{
	TEST("sha256: the published digests", published_digests);
	TEST("crc32c: the published checksums, in one piece and in two", published_checksums);
	return test_done();
}
