/*
 * One video file into one shard, with FFmpeg's libraries: frames at 25 per second (the frame that
 * is on screen at that moment), stretched to the clip's size (as the PyTorch program did), audio
 * mixed to mono and resampled, both aligned by their time stamps, cut into clips that do not
 * overlap.
 *
 * Runs in a process of its own that the caller has limited: the file may attack the decoder.
 */
#ifndef SLIPWAY_TRAINER_PREPARE_DECODE_H
#define SLIPWAY_TRAINER_PREPARE_DECODE_H

#include "trainer/data/shard.h"

struct decode_limits {
	uint32_t max_clips;
	uint64_t max_pixels; /* of a frame in the file */
};

/*
 * Decodes path into w (begun by the caller, ended by the caller). A video shorter than one clip
 * gives one, its last frame held. Silence stands where there is no audio. Broken stretches are
 * skipped as decoders do. ERR_FORMAT when nothing can be decoded; w->n_clips says how many there
 * are.
 */
int decode_video(const char *path, const struct decode_limits *limits, struct shard_writer *w,
                 struct err *err) MUST_USE;

/* No log of FFmpeg's on standard error. */
void decode_quiet(void);

#endif
