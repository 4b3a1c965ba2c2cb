/*
 * Where clips come from: `synthetic`, which computes them, or a folder that slipway-prepare wrote.
 * A dataset is a numbered set of clips; the loader decides the order.
 *
 * The folder holds dataset.json and shards/ (trainer/data/shard.h):
 *   {"format": "slipway-dataset/v1",
 *    "clip": {"frames": 16, "height": 224, "width": 224, "samples": 30720},
 *    "classes": ["abseiling", ...],
 *    "shards": [{"file": "shards/ab/ab12...clips", "clips": 15, "label": 0, "source": "..."}, ...],
 *    "rejected": [{"source": "...", "reason": "..."}]}
 * "label" is a number in "classes". Clips that are only to be classified have none.
 *
 * What a model learns and says are the numbers of its label head, which are found by the names of
 * the classes: two splits may number theirs differently.
 *
 * Thread rule: after opening, a dataset is only read; dataset_clip may run in several threads.
 */
#ifndef SLIPWAY_TRAINER_DATA_DATASET_H
#define SLIPWAY_TRAINER_DATA_DATASET_H

#include <stdint.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "trainer/classes/label_head.h"
#include "trainer/data/shard.h"

struct dataset; /* opaque */

/* Where one clip goes. */
struct clip_room {
	float *image; /* [T][3][H][W] in [0, 1] */
	float *audio; /* [samples] in [-1, 1] */
	int32_t *label;
	/* or, in the place of image and audio, bytes as the record has them, sound in the host's
	 * order; of a dataset that has bytes */
	uint8_t *video; /* [T][H][W][3] */
	int16_t *sound; /* [samples] */
};

/*
 * Endless in kind, n clips in number: moving gratings with tones, both fixed by the label and the
 * clip's number, so that a model can learn them. The same seed gives the same clips anywhere.
 */
struct dataset *dataset_synthetic(uint64_t seed, const struct clip_shape *shape, uint32_t n_labels,
                                  uint64_t n_clips);

/*
 * Opens a prepared folder; clips must have `shape` and labels be below n_labels. ERR_NOT_FOUND when
 * there is no dataset.json (with the command that makes one), ERR_FORMAT, ERR_SPEC when the shape
 * does not fit or no clip is in it. Shards are opened when first needed.
 */
int dataset_open(const char *folder, const struct clip_shape *shape, uint32_t n_labels,
                 struct dataset **ret, struct err *err) MUST_USE;

/* The same for clips whose labels are not looked at, or not yet: each is 0 until dataset_match. */
int dataset_open_clips(const char *folder, const struct clip_shape *shape, struct dataset **ret,
                       struct err *err) MUST_USE;

/*
 * Gives every clip the label that its class has in the head, by name; the numbers of dataset.json
 * count where the head has no names. ERR_SPEC naming the class that the head lacks, or when clips
 * have no label. Before clips are read.
 */
int dataset_match(struct dataset *d, const struct label_head *head, struct err *err) MUST_USE;

/* The classes of dataset.json; empty for synthetic clips. */
const struct class_list *dataset_classes(const struct dataset *d);
/* What dataset.json lists; NULL for synthetic clips. */
const struct dataset_list *dataset_contents(const struct dataset *d);

/* Its clips are bytes: a folder's. Synthetic ones are finer than that. */
bool dataset_has_bytes(const struct dataset *d);
uint64_t dataset_n_clips(const struct dataset *d);
/* A digest of which clips there are, in which order, with which labels; the same wherever the
 * folder lies. "" for synthetic clips, which the seed says all about. Returns out. */
char *dataset_digest(const struct dataset *d, char out[SHA256_HEX_MAX]);
/* Appends where clip i is: "clip 3 of shards/ab/ab12.clips". */
void dataset_clip_name(const struct dataset *d, uint64_t i, struct strbuf *sb);
/* Clip i, decoded into room. Errors name the shard. */
int dataset_clip(struct dataset *d, uint64_t i, const struct clip_room *room,
                 struct err *err) MUST_USE;
/*
 * The clip that begins `later` frames after clip i, of its records and the next one's; for the last
 * clip of a video, the one that begins so many frames before it. Clip i itself where later is 0 and
 * where no neighbour of the same video adjoins it in time; synthetic clips have none. later is
 * below the frames of a clip.
 */
int dataset_clip_later(struct dataset *d, uint64_t i, uint32_t later, const struct clip_room *room,
                       struct err *err) MUST_USE;
/* The label of clip i, one of the n, which is not read. */
uint32_t dataset_label(const struct dataset *d, uint64_t i);
void dataset_free(struct dataset *d);

/* What dataset.json says, checked, for dataset_open and for fuzzers. */
#define DATASET_NO_LABEL UINT32_MAX
struct dataset_entry {
	char *file;     /* owned; relative, without ".." */
	char *source;   /* owned; the video, NULL where it does not say */
	uint64_t first; /* number of its first clip */
	uint32_t n_clips;
	uint32_t label;  /* as dataset.json has it, a number in its classes; or DATASET_NO_LABEL */
	uint32_t number; /* in the model's head, after dataset_match; else 0 */
};
struct dataset_rejected {
	char *source, *reason; /* owned */
};
struct dataset_list {
	struct clip_shape shape;
	struct class_list classes;
	struct dataset_entry *at;
	size_t n, cap;
	uint64_t n_clips;
	VEC(struct dataset_rejected) rejected;
};
int dataset_list_parse(const char *what, const char *text, size_t len, struct dataset_list *ret,
                       struct err *err) MUST_USE;
void dataset_list_done(struct dataset_list *list); /* for AUTO(dataset_list) */

/* Reads FOLDER/dataset.json; *ret is zeroed before. ERR_NOT_FOUND with the command that makes one,
 * ERR_FORMAT. The caller: dataset_list_done. */
int dataset_list_load(const char *folder, struct dataset_list *ret, struct err *err) MUST_USE;

/* dataset_match for a list; `what` is its dataset.json. */
int dataset_list_match(struct dataset_list *list, const char *what, const struct label_head *head,
                       struct err *err) MUST_USE;

#endif
