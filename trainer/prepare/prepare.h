/*
 * Makes a dataset folder (trainer/data/dataset.h) from videos. Every video is decoded in a child
 * process with limits on memory, time and file size, so that a hostile one costs itself only; what
 * it did is in dataset.json under "rejected". Shards are named by the SHA-256 of the video's bytes
 * and the clip's shape: what is there is not decoded again, and a run that was stopped goes on
 * where it was.
 */
#ifndef SLIPWAY_TRAINER_PREPARE_PREPARE_H
#define SLIPWAY_TRAINER_PREPARE_PREPARE_H

#include "trainer/prepare/decode.h"
#include "trainer/prepare/scan.h"

struct prepare_options {
	const char *source, *out;
	struct clip_shape shape;
	struct decode_limits limits;
	unsigned jobs;
	unsigned timeout_s;    /* of a video, CPU time and (twice that) wall time */
	uint64_t memory_bytes; /* of a child's address space */
	/* called after each video; reason NULL: it is fine. May be NULL. */
	void (*progress)(void *ctx, const struct video *v, const char *reason);
	void *ctx;
};

struct prepare_report {
	size_t videos, decoded, reused, rejected, ignored;
	uint64_t clips;
	size_t classes;
};

/* ERR_CONFLICT when another prepare works there; ERR_SPEC when not one video gave a clip;
 * ERR_INTERRUPTED when asked to stop (run it again to go on). */
int prepare_run(const struct prepare_options *o, struct prepare_report *ret,
                struct err *err) MUST_USE;

/* One video's fate. */
struct video_outcome {
	char *file;   /* relative to the folder; NULL when rejected. Owned */
	char *reason; /* of a rejection. Owned */
	uint32_t clips;
	bool known; /* from the dataset.json before */
};

/* What the last run wrote, for videos whose path, size and time of change are the same.
 * outcomes has videos->n zeroed entries. Anything doubtful is decoded again. */
void prepare_recall(const struct prepare_options *o, const struct videos *videos,
                    struct video_outcome *outcomes);
/* Writes dataset.json unless it says the same already. */
int prepare_record(const struct prepare_options *o, const struct videos *videos,
                   const struct video_outcome *outcomes, struct err *err) MUST_USE;

/* In the child: finds or makes the shard of a video; its name into ret_file. ret_decoded tells
 * whether it had to be made. */
enum { PREPARE_NAME_MAX = 96 };
int prepare_one(const struct prepare_options *o, const char *path, char ret_file[PREPARE_NAME_MAX],
                bool *ret_decoded, struct err *err) MUST_USE;

#endif
