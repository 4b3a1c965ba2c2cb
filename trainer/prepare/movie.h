/*
 * What `slipway-trainer sample` wrote, as one film: frame-000.png ... with their sounds, the
 * input's on the left and the reconstruction's on the right, as in the pictures.
 */
#ifndef SLIPWAY_TRAINER_PREPARE_MOVIE_H
#define SLIPWAY_TRAINER_PREPARE_MOVIE_H

#include "base/err.h"

/*
 * Reads folder/frame-%03d.png, input.wav and reconstruction.wav, writes folder/movie.mp4: H.264
 * where FFmpeg was built with an encoder of it, else MPEG-4 Visual; AAC. Small pictures are
 * enlarged. ERR_NOT_FOUND, ERR_FORMAT when a file is not as `sample` writes it, ERR_UNSUPPORTED
 * when an encoder is missing.
 */
int movie_write(const char *folder, struct err *err) MUST_USE;

#endif
