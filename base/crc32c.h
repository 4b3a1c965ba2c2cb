/*
 * CRC-32C (Castagnoli, reflected polynomial 0x82F63B78; RFC 3720 appendix B.4 has test values).
 * Detects accidents in shards and TensorBoard records; it is no defence against a forger.
 */
#ifndef SLIPWAY_BASE_CRC32C_H
#define SLIPWAY_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 at the start) over len bytes. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t len);

/* The rotated form that TFRecord files store, so that a CRC over data holding CRCs stays useful. */
static inline uint32_t crc32c_masked(uint32_t crc)
{
	return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

#endif
