/*
 * A record's bytes as the numbers that the model takes.
 */
#ifndef SLIPWAY_TRAINER_DATA_FRAMES_H
#define SLIPWAY_TRAINER_DATA_FRAMES_H

#include "trainer/data/shard.h"

/*
 * Frames [from, from + n) of a clip and the sound that belongs to them, to frames [to, to + n) of
 * image [T][3][H][W] in [0, 1] and audio [samples] in [-1, 1]. Both ranges are within the clip.
 */
void frames_spread(const struct clip_shape *shape, const struct clip_view *clip, uint32_t from,
                   uint32_t n, uint32_t to, float *image, float *audio);

/* The same frames as they are, and their samples in the host's order. */
void frames_copy(const struct clip_shape *shape, const struct clip_view *clip, uint32_t from,
                 uint32_t n, uint32_t to, uint8_t *video, int16_t *sound);

#endif
