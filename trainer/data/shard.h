/*
 * A shard: the decoded clips of one video in one file, made by slipway-prepare and read by the
 * trainer, a record at a time. All numbers are little endian; every region is aligned to 64 bytes.
 *
 *   offset  bytes  header (SHARD_HEADER_BYTES)
 *        0      8  "SLIPCLIP"
 *        8      4  version, 1
 *       12      4  CRC-32C of the header with this field zero
 *       16      4  frames per clip, T
 *       20      4  height, H
 *       24      4  width, W
 *       28      4  audio samples per clip, S
 *       32      4  frames per second
 *       36      4  audio samples per second: S / T * 25
 *       40      8  clips, N
 *       48      8  bytes from one record to the next, a multiple of 64
 *       56     72  zero
 *      128         N records: T * H * W * 3 bytes of RGB (row by row, as a picture), then S signed
 *                  16-bit audio samples (mono, 32768 = 1.0), then zeros up to the next record
 *      end - 16*N  index, an entry a record: u32 CRC-32C of its video and audio, u32 zero,
 *                  u64 start in the source, microseconds
 *
 * The label is not here but in dataset.json: it belongs to the folder the video lay in, while the
 * shard belongs to the video's bytes alone (and may be shared by two classes).
 *
 * A reader treats a shard as hostile: sizes are capped and multiplied with checks, the file's size
 * must be what the header implies, and a record is used only after its checksum.
 */
#ifndef SLIPWAY_TRAINER_DATA_SHARD_H
#define SLIPWAY_TRAINER_DATA_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	SHARD_HEADER_BYTES = 128,
	SHARD_INDEX_BYTES = 16,
	SHARD_ALIGN = 64,
	SHARD_FRAMES_MAX = 4096,
	SHARD_SIDE_MAX = 8192,
	SHARD_CLIPS_MAX = 1 << 24,
	SHARD_FPS = 25
};

/* What one clip holds. */
struct clip_shape {
	uint32_t frames, height, width;
	uint32_t samples;
};

/* ERR_FORMAT when a side is zero or above its cap, or samples are no multiple of frames. */
int clip_shape_check(const struct clip_shape *s, struct err *err) MUST_USE;
/* Audio samples per second at SHARD_FPS: 48000 for the published model. */
uint32_t clip_sample_rate(const struct clip_shape *s);
/* Bytes of a checked shape's video, and from record to record. */
size_t clip_video_bytes(const struct clip_shape *s);
size_t clip_record_bytes(const struct clip_shape *s);

struct shard {
	struct clip_shape shape;
	uint64_t n_clips;
	const unsigned char *bytes; /* the whole file, where it is in memory; NULL: at path */
	const char *path;           /* borrowed */
	bool checked;               /* false in a zeroed one */
};

/* Checks bytes as a whole shard; ERR_FORMAT, ERR_LIMIT. bytes stay the caller's. `name` is
 * borrowed. */
int shard_parse(const char *name, const void *bytes, size_t len, struct shard *ret,
                struct err *err) MUST_USE;

/* Reads the file's header and checks it with the file's size; `path` is borrowed. Nothing stays
 * open: a dataset may have more shards than a process may have files. ERR_NOT_FOUND, ERR_IO,
 * ERR_FORMAT, ERR_LIMIT. */
int shard_open(const char *path, struct shard *ret, struct err *err) MUST_USE;

struct clip_view {
	const uint8_t *video;       /* [T][H][W][3] */
	const unsigned char *audio; /* S little-endian int16 */
	uint64_t start_us;          /* where in the source it begins */
};

/*
 * Clip i, after checking its checksum (ERR_DIGEST names file and clip; ERR_FORMAT when the file has
 * become shorter). It is read, not mapped: a file that is cut off under a mapping is a SIGBUS. The
 * view points into the shard's bytes, or into *room, which grows as needed and is the caller's to
 * free.
 */
int shard_clip(const struct shard *s, uint64_t i, unsigned char **room, struct clip_view *ret,
               struct err *err) MUST_USE;

/*
 * Writing: begin, add any number of clips, end. The file is whole only after shard_writer_end; the
 * caller writes under a temporary name and renames. Uses one buffered pass and no seeks but the
 * last.
 */
struct shard_writer {
	int fd; /* owned by the caller */
	struct clip_shape shape;
	uint64_t n_clips;
	unsigned char *index; /* owned */
	size_t index_cap;
};

int shard_writer_begin(struct shard_writer *w, int fd, const struct clip_shape *shape,
                       struct err *err) MUST_USE;
/* video: [T][H][W][3]; audio: S values in host order. */
int shard_writer_add(struct shard_writer *w, const uint8_t *video, const int16_t *audio,
                     uint64_t start_us, struct err *err) MUST_USE;
int shard_writer_end(struct shard_writer *w, struct err *err) MUST_USE;
void shard_writer_done(struct shard_writer *w);

#endif
