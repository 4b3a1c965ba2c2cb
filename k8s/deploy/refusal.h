/*
 * What a cluster says when it lets a job have no pods: its quotas, its pod security, its policies;
 * and what a registry says when there is no image. The controllers of all kinds of job repeat the
 * API server's sentence in an event (reason FailedCreate), which is all there is to read. Pure.
 *
 * Sources of the sentences: k8s.io/apiserver (admission plugins resourcequota, validating and
 * webhook), k8s.io/pod-security-admission, and the errors of containerd and of registries as
 * kubelets pass them on.
 */
#ifndef SLIPWAY_K8S_DEPLOY_REFUSAL_H
#define SLIPWAY_K8S_DEPLOY_REFUSAL_H

#include <stdbool.h>

/* In the order of gravity. */
enum refusal {
	REFUSAL_NONE,
	REFUSAL_PASSING, /* it may pass by itself: a webhook that does not answer */
	REFUSAL_TARGET,  /* a quota of what only some targets ask for */
	REFUSAL_QUOTA,   /* a quota of what every target asks for */
	REFUSAL_FINAL    /* no time and no other target cures it */
};

/* Of an event's message that says why a pod could not be made; *ret_hint (may be NULL): the next
 * step, a sentence without commands. */
enum refusal refusal_of(const char *message, const char **ret_hint);

/* Does a quota's refusal still have to last? Pods that have just gone are counted for a moment. */
bool refusal_settles(enum refusal refusal);

/* Will the image never come: there is none of that name, or it is not for these credentials? */
bool image_is_refused(const char *message);

#endif
