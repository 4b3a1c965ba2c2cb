/*
 * Little-endian numbers in byte strings: the byte order of every file the trainer writes.
 */
#ifndef SLIPWAY_TRAINER_DATA_LE_H
#define SLIPWAY_TRAINER_DATA_LE_H

#include <stdint.h>

static inline void le16_put(unsigned char *p, uint16_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

static inline void le32_put(unsigned char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static inline void le64_put(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static inline uint16_t le16_get(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t le32_get(const unsigned char *p)
{
	uint32_t v = 0;

	for (int i = 3; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static inline uint64_t le64_get(const unsigned char *p)
{
	return (uint64_t)le32_get(p + 4) << 32 | le32_get(p);
}

#endif
