/*
 * A trained model for the commands that read one: where it is, its configuration, its classes.
 */
#ifndef SLIPWAY_TRAINER_CMD_TRAINED_H
#define SLIPWAY_TRAINER_CMD_TRAINED_H

#include <limits.h>

#include "trainer/classes/class_list.h"
#include "trainer/session/forwarder.h"

struct trained {
	char folder[PATH_MAX]; /* the checkpoint's */
	bool verified;         /* it has a manifest, and is what that says */
	struct model_config config;
	struct class_list classes; /* empty: its labels have no names */
	struct forwarder forward;  /* after trained_open */
};

/*
 * A checkpoint, a run's folder (its newest checkpoint) or a Hugging Face folder: its configuration
 * and classes, and what its manifest says, if there is one. ERR_NOT_FOUND, ERR_FORMAT, ERR_DIGEST.
 * The caller: trained_done.
 */
int trained_find(const char *path, struct trained *ret, struct err *err) MUST_USE;

/* Makes the learner (forwarder_open; its configuration and checkpoint are t's) and reads its
 * weights or, `averaged`, the averages of them by --ema_decay: ERR_NOT_FOUND where there are none.
 */
int trained_open(struct trained *t, struct forwarder_choice c, bool averaged,
                 struct err *err) MUST_USE;

void trained_done(struct trained *t); /* for AUTO(trained) */

#endif
