/*
 * WAV sound: RIFF, one channel, 16-bit PCM.
 */
#ifndef SLIPWAY_TRAINER_SAMPLE_WAV_H
#define SLIPWAY_TRAINER_SAMPLE_WAV_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Appends n samples in [-1, 1] (others are cut) at `rate` per second. */
void wav_encode(struct strbuf *sb, const float *samples, size_t n, uint32_t rate);

#endif
