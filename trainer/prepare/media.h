/*
 * A thin hull around FFmpeg: opens one stream of a file and hands out its frames with their times.
 */
#ifndef SLIPWAY_TRAINER_PREPARE_MEDIA_H
#define SLIPWAY_TRAINER_PREPARE_MEDIA_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct media {
	AVFormatContext *file;
	AVCodecContext *codec;
	AVPacket *packet;
	AVFrame *frame;
	int stream;
	bool draining;
};

/* The best stream of this type. ERR_FORMAT; ERR_NOT_FOUND when the file has no such stream. */
int media_open(const char *path, enum AVMediaType type, uint64_t max_pixels, struct media *ret,
               struct err *err) MUST_USE;
/* Numbered PNG pictures as a stream; the path has %03d for the number. */
int media_open_pictures(const char *path, struct media *ret, struct err *err) MUST_USE;
void media_done(struct media *m);

/* Decodes the next frame into m->frame; *ret_end at the stream's end. Broken
 * packets are skipped. */
int media_next(struct media *m, bool *ret_end, struct err *err) MUST_USE;

/* Time of m->frame in seconds on the file's clock; `otherwise` when the file does not say. */
double media_time(const struct media *m, double otherwise);

/* An FFmpeg error as ERR_FORMAT: "WHAT: text". Returns -1. */
int media_fail(struct err *err, const char *what, int code);

#endif
