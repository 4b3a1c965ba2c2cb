/*
 * What a session is set up from, before anything large is made: the model's configuration, the
 * number of threads, the memory. For this folder only.
 */
#ifndef SLIPWAY_TRAINER_SESSION_SETUP_H
#define SLIPWAY_TRAINER_SESSION_SETUP_H

#include "trainer/device/devices.h"
#include "trainer/neuron/modules.h"
#include "trainer/session/session.h"

/* Batches read ahead: two, or more of small ones, since one clip may take longer than others. */
unsigned session_ahead(size_t batch);

/* The model that the flags name, with their attention_dropout, checked. eval takes the checkpoint's
 * own configuration unless a flag or the options file names another. */
int session_load_config(const struct train_flags *f, struct model_config *ret,
                        struct strbuf *remarks, struct err *err) MUST_USE;

/* The config.json beside the weights of --checkpoint; false when there is none. */
bool session_checkpoint_config(const struct train_flags *f, char ret[PATH_MAX]);

/* --threads, but not more than there are CPUs: that many wait for each other at every op, and a
 * step takes hundreds of times as long. Says so. */
unsigned session_threads(struct session *s);

/* A small model has fewer points than the options decode. */
void session_fit_points(const struct model_config *c, struct train_options *o);

/* ERR_MEMORY when the run needs more than this machine, or this process's control group, has. */
int session_check_memory(const struct train_flags *f, const struct model_config *c,
                         const struct train_options *o, struct err *err) MUST_USE;

/* The largest batch, up to o's, that takes at most half of this machine's memory; 0: none does. */
size_t session_fit_here(const struct train_flags *f, const struct model_config *c,
                        const struct train_options *o);

/*
 * batch_auto.c: makes a number of --batch_size auto. In a session: after the device was opened, on
 * every rank alike; all take the least that fits on any. A run that is resumed keeps its own.
 */
int session_settle_batch(struct session *s, struct train_flags *flags, struct err *err) MUST_USE;
/* The same for a NeuronCore of that target ("trn1"): run->step.batch of 0 becomes a number, the
 * same that `compile` takes. */
int session_settle_modules(struct session *s, struct train_flags *flags, const char *target,
                           struct neuron_run *run, struct err *err) MUST_USE;

/* Clips reach a device as bytes, for all that flags say. */
bool session_sends_bytes(const struct train_flags *f);

/* estimate_device.c: the same for a device with a memory of its own, of which so many bytes are
 * free; and its parts. */
int session_check_device(const struct device_row *row, size_t free_bytes,
                         const struct train_flags *f, const struct model_config *c,
                         const struct train_options *o, struct err *err) MUST_USE;
/* The largest batch, up to o's, that leaves a tenth of these bytes free; 0: none does. */
size_t session_fit_device(const struct device_row *row, size_t free_bytes,
                          const struct train_flags *f, const struct model_config *c,
                          const struct train_options *o);
int session_estimate_device(const struct device_row *row, const struct train_flags *f,
                            const struct model_config *c, const struct train_options *o,
                            struct strbuf *sb);

#endif
