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
	const char *classes; /* what the class list is taken from (class_list_load); NULL: see
	                        * prepare_classes */
	bool unlabelled;     /* any videos, without classes */
	double split;        /* share of the videos that go to OUT/val; 0: OUT is one dataset */
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
	size_t validation; /* videos of OUT/val */
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

/*
 * Numbers the labels as o->classes does. Without it: OUT named like a split other than train (val,
 * validation, valid, test, eval) beside a prepared train takes that one's list; else the videos'
 * own, sorted. ERR_SPEC naming a class that is not in the list.
 */
int prepare_classes(const struct prepare_options *o, struct videos *videos,
                    struct err *err) MUST_USE;

/*
 * Shares the videos out to OUT/train and OUT/val, each a dataset with the whole class list. In each
 * class the share is rounded to whole videos, at least one on each side where there are two; which
 * ones, the shards' digests decide: the same videos give the same split wherever they lie, and a
 * video more moves at most one other. Videos of the same bytes stay together. Shards are moved, and
 * outcomes say where they are. Interrupted, it leaves no dataset.json there and is done again.
 */
int prepare_split(const struct prepare_options *o, const struct videos *videos,
                  struct video_outcome *outcomes, size_t *ret_validation, struct err *err) MUST_USE;

/* The places below OUT where a shard may be: "", "train/", "val/", then NULL. */
const char *prepare_place(size_t i);

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
