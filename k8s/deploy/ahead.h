/*
 * Calls of kubectl that are begun before anybody needs their answers, so that they take their time
 * beside others: a kubectl in front of another. Who asks for what was begun gets that answer, right
 * or wrong, once; all other calls, and a call that is made again, go to the one behind.
 */
#ifndef SLIPWAY_K8S_DEPLOY_AHEAD_H
#define SLIPWAY_K8S_DEPLOY_AHEAD_H

#include "k8s/deploy/kubectl.h"

enum { AHEAD_MAX = 8 };

struct ahead_call {
	char *words; /* NULL = its answer was given */
	struct proc_child child;
};

struct kubectl_ahead {
	struct kubectl base;
	struct kubectl *inner; /* borrowed */
	struct ahead_call at[AHEAD_MAX];
	size_t n;
};
/* The struct stays where it is. */
void kubectl_ahead_init(struct kubectl_ahead *a, struct kubectl *inner);

/* Ends what nobody asked for. */
void kubectl_ahead_done(struct kubectl_ahead *a);

/* Begins a call without input; args as kubectl_run takes them, not kept. Where calls cannot be read
 * while they run, or this one could not be started, it is made when it is asked for. */
void kubectl_ahead_begin(struct kubectl_ahead *a, const char *const *args);

#endif
