/*
 * Fourier position features, in the float32 steps that the published model was made with: arguments
 * reach 48,000 rad, so another order of roundings gives visibly other sines.
 */
#ifndef SLIPWAY_TRAINER_MODEL_POSITIONS_H
#define SLIPWAY_TRAINER_MODEL_POSITIONS_H

#include <stddef.h>

/* out[i] = start .. end in n even steps, both ends included (n == 1: start). */
void positions_linspace(float start, float end, size_t n, float *out);

/* row[0] = pos, row[1..K] = sin(pi f pos), row[K+1..2K] = cos(pi f pos), f in 1
 * .. resolution / 2. */
void positions_features(float pos, size_t resolution, size_t n_bands, float *row);

/* [n, 1 + 2K] for the encoder's positions linspace(-1, 1, n). */
void positions_encoder(size_t n, size_t resolution, size_t n_bands, float *out);

/* Row i of the decoder's, whose positions are -1 + 2 i / n, the end not included. */
void positions_decoder_row(size_t i, size_t n, size_t resolution, size_t n_bands, float *row);

/* All n of them. */
void positions_decoder(size_t n, size_t resolution, size_t n_bands, float *out);

#endif
