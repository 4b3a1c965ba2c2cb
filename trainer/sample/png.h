/*
 * PNG pictures without a library: 8-bit RGB, rows unfiltered, in stored deflate blocks (RFC 1950,
 * 1951, 2083). Larger than compressed ones and readable everywhere.
 */
#ifndef SLIPWAY_TRAINER_SAMPLE_PNG_H
#define SLIPWAY_TRAINER_SAMPLE_PNG_H

#include <stdint.h>

#include "base/strbuf.h"

/* Appends the picture of height x width RGB bytes to sb; sides from 1 to 32768. */
void png_encode(struct strbuf *sb, const uint8_t *rgb, uint32_t height, uint32_t width);

#endif
