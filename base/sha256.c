#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"

enum { READ_CHUNK = 1 << 18 };

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load_be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* FIPS 180-4, 6.2.2. */
static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], v[8];

	for (int t = 0; t < 16; t++)
		w[t] = load_be32(block + 4 * t);
	for (int t = 16; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = w[t - 16] + w[t - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (int t = 0; t < 64; t++) {
		uint32_t e = v[4], a = v[0];
		uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
		              ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
		              ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	*s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
	                               0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_update(struct sha256 *s, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	size_t held = (size_t)(s->len % SHA256_BLOCK);

	s->len += len;
	if (held > 0) {
		size_t take = SHA256_BLOCK - held < len ? SHA256_BLOCK - held : len;

		memcpy(s->block + held, p, take);
		p += take;
		len -= take;
		if (held + take < SHA256_BLOCK)
			return;
		compress(s->state, s->block);
	}
	for (; len >= SHA256_BLOCK; len -= SHA256_BLOCK, p += SHA256_BLOCK)
		compress(s->state, p);
	if (len > 0)
		memcpy(s->block, p, len);
}

char *sha256_hex(struct sha256 *s, char out[SHA256_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t bits = s->len * 8;
	unsigned char tail[SHA256_BLOCK + 8] = {0x80};
	size_t zeros = (SHA256_BLOCK + 55 - (size_t)(s->len % SHA256_BLOCK)) % SHA256_BLOCK;

	for (int i = 0; i < 8; i++)
		tail[zeros + 1 + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_update(s, tail, zeros + 9);
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		unsigned byte = s->state[i / 4] >> (24 - 8 * (i % 4)) & 255;

		out[2 * i] = digits[byte >> 4];
		out[2 * i + 1] = digits[byte & 15];
	}
	out[SHA256_HEX_MAX - 1] = '\0';
	return out;
}

int sha256_file(const char *path, char ret_hex[SHA256_HEX_MAX], uint64_t *ret_size, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE unsigned char *chunk = mem_zalloc(READ_CHUNK);
	struct sha256 s;
	ssize_t n;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s'", path);
	sha256_init(&s);
	while ((n = read(fd, chunk, READ_CHUNK)) != 0) {
		if (n > 0)
			sha256_update(&s, chunk, (size_t)n);
		else if (errno != EINTR)
			return err_set(err, ERR_IO, "read '%s'", path);
	}
	*ret_size = s.len;
	sha256_hex(&s, ret_hex);
	return 0;
}
