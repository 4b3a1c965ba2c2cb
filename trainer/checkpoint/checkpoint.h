/*
 * What a checkpoint of a run holds, over trainer/checkpoint/store.h:
 *   model.safetensors      the weights under Hugging Face's names; with config.json beside it,
 *                          from_pretrained reads the folder
 *   ema.safetensors        the averaged weights under the same names, where they are kept
 *   optimizer.safetensors  optim.exp_avg.*, optim.exp_avg_sq.*, or optim.momentum_buffer.*
 *   run.json               the run's identity and settings, as the session gives them
 *   trainer_state.json     step, sample cursor, random seed, optimizer updates, the best evaluation
 *                          so far: with counter-based random numbers this is all that a
 *                          bit-identical continuation needs, and the number of ranks may change
 *
 * Writing goes on in a thread from a copy, so that a step waits for the copy only.
 */
#ifndef SLIPWAY_TRAINER_CHECKPOINT_CHECKPOINT_H
#define SLIPWAY_TRAINER_CHECKPOINT_CHECKPOINT_H

#include "trainer/checkpoint/store.h"
#include "trainer/classes/class_list.h"
#include "trainer/train/loop.h"

struct saver; /* opaque */

/* folder and everything else is copied. Takes the folder's lock (ERR_CONFLICT). */
int saver_open(const char *folder, const struct store_keep *keep, uint64_t seed, struct saver **ret,
               struct err *err) MUST_USE;

/* Which run writes, before the first saver_save: its identity for the manifests, and the text that
 * becomes each checkpoint's run.json. Both are copied. */
void saver_set_run(struct saver *s, const char *id, const char *record);

/* The classes that config.json names, before the first saver_save. Copied. */
void saver_set_classes(struct saver *s, const struct class_list *classes);

/*
 * Copies the run's state and begins to write it; first waits for the writing before. Where that one
 * has failed, this one is waited for, too, and its failure returned: a disk that was full for a
 * while costs a checkpoint, one that stays full ends the run.
 */
int saver_save(struct saver *s, struct learner *l, const struct train_state *state,
               struct err *err) MUST_USE;

/* Waits until everything is on disk; the last failure. */
int saver_wait(struct saver *s, struct err *err) MUST_USE;
/* Has a checkpoint come to be on disk since the last call? *ret_step: the newest one's. */
bool saver_saved(struct saver *s, uint64_t *ret_step);

/* Has a writing failed since the last call? *ret: why. */
bool saver_failed(struct saver *s, struct err *ret);

/* Waits, lets go of the lock, frees; NULL is fine. */
void saver_free(struct saver *s);

/* Reads a checkpoint (already verified) into a prepared learner of its configuration. ERR_SPEC when
 * the seed differs from the run's (the numbers drawn would not be the continuation's). An average
 * of the weights begins anew where the checkpoint has none. */
int checkpoint_load(const char *checkpoint, uint64_t seed, struct learner *l,
                    struct train_state *ret_state, struct err *err) MUST_USE;

/* The averaged weights of a checkpoint folder (or a safetensors file) as the weights.
 * ERR_NOT_FOUND when the run kept none. */
int checkpoint_load_average(const char *path, struct learner *l, struct err *err) MUST_USE;

/* Weights alone, from a checkpoint folder, a Hugging Face folder, or a safetensors file. */
int checkpoint_load_weights(const char *path, struct learner *l, struct err *err) MUST_USE;

#endif
