/*
 * A folder of checkpoints in which a crash at any instant leaves only whole ones:
 *
 *   OUT/lock                 held by the running trainer (flock)
 *   OUT/step-00000200/       a checkpoint: model.safetensors, config.json, optimizer.safetensors,
 *                            trainer_state.json, and manifest.json with the size and SHA-256 of
 *                            each, written last
 *   OUT/.tmp-step-00000300/  being written, or left by a crash (removed at the next start)
 *   OUT/latest               the name of the newest one; OUT/best, where there is one, that of the
 *                            best
 *   OUT/run.json             the run that works here (trainer/session/run.h)
 *
 * A checkpoint is written under a temporary name, every file and the folder are synced, then it is
 * renamed and the parent synced. So a folder named step-N is whole, unless a disk damaged it later:
 * reading verifies the manifest and falls back to the one before.
 *
 * Every checkpoint names the run that wrote it. What another run wrote is never removed by a save,
 * nor what `latest` or `best` names.
 *
 * Knows nothing of what is in the files: the caller writes them. One writer a folder (store_lock);
 * any number of readers.
 */
#ifndef SLIPWAY_TRAINER_CHECKPOINT_STORE_H
#define SLIPWAY_TRAINER_CHECKPOINT_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "trainer/checkpoint/manifest.h"

enum { STORE_STEP_MAX = 99999999 };

/* Creates the folder and takes its lock; removes what crashed writers left. ERR_CONFLICT when
 * another trainer works there. The lock lives until *ret_fd is closed. */
int store_lock(const char *folder, int *ret_fd, struct err *err) MUST_USE;

/* Writes the files of a checkpoint into `folder` (which exists and is empty). */
struct store_writer {
	int (*write)(void *ctx, const char *folder, struct err *err);
	void *ctx;
};

/*
 * Commits a checkpoint of `run` as `step` and then removes older ones of that run: but for the
 * newest `keep` (0: keeps all), those whose step is a multiple of keep_every (0: none is kept for
 * that) and those that `latest` and `best` name. A failure (a full disk) leaves the older
 * checkpoints as they were. An existing one of that step is replaced.
 *
 * With `best`, OUT/best names it from then on, before anything is removed. A crash in between
 * leaves OUT/best as it was, naming a whole checkpoint: store_name_best mends that.
 */
struct store_keep {
	unsigned keep;
	uint64_t keep_every;
	bool best;
};
int store_commit(const char *folder, const char *run, uint64_t step, const struct store_writer *w,
                 const struct store_keep *keep, struct err *err) MUST_USE;

/* OUT/best is to name the checkpoint of `step`; where that is not there, OUT/best is removed, and
 * *ret_there is false. */
int store_name_best(const char *folder, uint64_t step, bool *ret_there, struct err *err) MUST_USE;

/* OUT/latest is to name that checkpoint, whose path is in the folder; nothing is written when it
 * does. */
int store_name_latest(const char *folder, const char *checkpoint, struct err *err) MUST_USE;

/* Whether the folder is there and holds a checkpoint, whole or not. */
int store_is_used(const char *folder, bool *ret, struct err *err) MUST_USE;

/* Removes what `run` did not write: `latest` and `best`, then the checkpoints. */
int store_clear(const char *folder, const char *run, struct err *err) MUST_USE;

/*
 * The newest whole checkpoint of `run` (NULL: of any) into ret_path and *ret_step, verified.
 * Damaged ones are passed over, with a line each in remarks. ERR_NOT_FOUND when there is none.
 */
int store_newest(const char *folder, const char *run, char ret_path[PATH_MAX], uint64_t *ret_step,
                 struct strbuf *remarks, struct err *err) MUST_USE;

/*
 * Where the checkpoint is that a path means: OUT/latest and OUT/best stand for the ones they name,
 * a run's folder for that of its `latest`, any other path for itself. ERR_FORMAT when such a file
 * does not name one. store_find_named leaves a run's folder as it is.
 */
int store_find_named(const char *path, char ret[PATH_MAX], struct err *err) MUST_USE;
int store_find(const char *path, char ret[PATH_MAX], struct err *err) MUST_USE;

/* The name in OUT/latest or OUT/best into ret; "" where there is none, or none that is a
 * checkpoint's. `which`: "latest" or "best". */
enum { STORE_NAME_MAX = 64 };
void store_named(const char *folder, const char *which, char ret[STORE_NAME_MAX]);

/* The steps of a folder's checkpoints, whole or not, ascending; the caller frees *ret. */
int store_steps(const char *folder, uint64_t **ret, size_t *ret_n, struct err *err) MUST_USE;

/* Checks every file of a checkpoint against its manifest. ERR_FORMAT, ERR_DIGEST; ERR_NOT_FOUND
 * also when its run removes it meanwhile. */
int store_verify(const char *checkpoint, struct err *err) MUST_USE;

/* The same before anything is read from a path that may be another program's folder, or a file:
 * what has no manifest is taken as it is. *ret_verified: it has one. */
int store_verify_ours(const char *path, bool *ret_verified, struct err *err) MUST_USE;

#endif
