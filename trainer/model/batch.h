/*
 * What one step sees: clips, labels, which tokens are hidden, which points are decoded. Borrowed
 * memory only; whoever fills it keeps it alive until the step ends.
 */
#ifndef SLIPWAY_TRAINER_MODEL_BATCH_H
#define SLIPWAY_TRAINER_MODEL_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch {
	size_t n;           /* clips, B */
	const float *image; /* [B, T, 3, H, W] in [0, 1] */
	const float *audio; /* [B, T * samples per frame] in [-1, 1] */
	/* or, in their place, as records have them (struct op_clip of trainer/ops/ops_data.h) */
	const uint8_t *video; /* [B, T, H, W, 3] */
	const int16_t *sound; /* [B, T * samples per frame] */
	const int32_t *label; /* [B], 0 .. num_labels - 1 */
	/* 1 = the whole token is replaced by its modality's mask vector; NULL = none is */
	const float *mask_audio; /* [B, n_audio] */
	const float *mask_image; /* [B, n_image] */
	const float *mask_label; /* [B] */
	/* points to decode, the same for every clip; the label is decoded when decode_label */
	const int32_t *out_image; /* t*H*W + y*W + x, n_out_image of them */
	const int32_t *out_audio; /* audio patches, n_out_audio of them */
	size_t n_out_image, n_out_audio;
	bool decode_label;
	uint64_t dropout_seed; /* key of the attention dropout's random numbers */
	/* [B] their counters (the clips' global numbers); NULL: 0.. */
	const uint64_t *dropout_sample;
};

#endif
