#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

enum { SLICES = 8, POLYNOMIAL_BITS = 8 };

/* Table s holds the effect of a byte that is followed by s zero bytes. */
static uint32_t tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < POLYNOMIAL_BITS; bit++)
			crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1u)));
		tables[0][i] = crc;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int s = 1; s < SLICES; s++)
			tables[s][i] = (tables[s - 1][i] >> 8) ^ tables[0][tables[s - 1][i] & 255];
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	pthread_once(&tables_once, fill_tables);
	crc = ~crc;
	for (; len >= SLICES; len -= SLICES, p += SLICES) {
		uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		                      (uint32_t)p[3] << 24);

		crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^
		      tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^ tables[3][p[4]] ^
		      tables[2][p[5]] ^ tables[1][p[6]] ^ tables[0][p[7]];
	}
	for (; len > 0; len--)
		crc = (crc >> 8) ^ tables[0][(crc ^ *p++) & 255];
	return ~crc;
}
