/*
 * The logs of a job's ranks, read by one `kubectl logs` each and merged by time. A rank whose log
 * cannot be read is reported and does not stop the others.
 */
#ifndef SLIPWAY_K8S_DEPLOY_LOGS_H
#define SLIPWAY_K8S_DEPLOY_LOGS_H

#include "k8s/deploy/kubectl.h"
#include "k8s/deploy/logmerge.h"

enum { LOG_SOURCES_MAX = 512 /* children at once */ };

struct log_source {
	int64_t rank; /* -1: the launcher */
	const char *pod, *container;
};

/*
 * One source per rank, the launcher first: of several pods of a rank (a job that was tried again)
 * the one that runs, or the last. rank < 0 asks for all. Returns how many; *ret in the arena. Pure.
 */
size_t log_sources(const cJSON *pods, const char *job, int64_t rank, struct arena *a,
                   struct log_source **ret);

struct logs_opts {
	const char *namespace;
	bool follow, previous;
	const char *since; /* "10m", NULL = all */
	int64_t tail;      /* lines of each rank; -1 = all */
	void *ctx;
	void (*line)(void *ctx, const struct log_source *source, const struct log_line *line);
	void (*problem)(void *ctx, const struct log_source *source, const char *text);
};

/*
 * Reads to the end of all; with follow, while pods run, and a pod that has not started is asked
 * again. ERR_INTERRUPTED when asked to stop; the children are ended. When no rank could be read,
 * the error of the last one.
 */
int logs_run(const struct kubectl_exec *k, const struct log_source *sources, size_t n,
             const struct logs_opts *opts, struct err *err) MUST_USE;

#endif
