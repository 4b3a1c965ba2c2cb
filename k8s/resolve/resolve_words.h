/*
 * The words of the job's program on a target, as its container gets them, and whether that program
 * is our own trainer at work. Nobody outside k8s/resolve includes it.
 */
#ifndef SLIPWAY_K8S_RESOLVE_RESOLVE_WORDS_H
#define SLIPWAY_K8S_RESOLVE_RESOLVE_WORDS_H

#include "k8s/resolve/resolve_internal.h"

/* After the program. */
struct job_words {
	const char *at[3 * 256];
	size_t n;
};

void job_words_take(const struct resolver *r, const struct fleet_target *t, struct job_words *ret);

/* slipway-trainer, by job.command or else the image's entrypoint, told to train or to evaluate. */
bool job_words_train(const struct resolver *r, const struct job_words *w);

/* Is the option there? *ret_value (may be NULL) is its word, NULL without one. Options may be
 * written with '-' or '_', with '=' or without. */
bool job_words_have(const struct job_words *w, const char *option, const char **ret_value);

/* The trainer would compute on a device of this kind: the words name it, or auto, or none. */
bool job_words_allow(const struct job_words *w, const char *device);

#endif
