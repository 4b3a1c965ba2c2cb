/*
 * The Job that compiles ahead of a target's job (k8s/job/compile.h): started and awaited before the
 * job is, so that no device waits for a compiler; and how far it is, by its log.
 */
#ifndef SLIPWAY_K8S_DEPLOY_COMPILING_H
#define SLIPWAY_K8S_DEPLOY_COMPILING_H

#include "k8s/deploy/apply.h"

enum { COMPILING_TEXT_MAX = 64, COMPILING_LOG_LINES = 200, COMPILING_LOG_MAX = 64 << 10 };

bool stage_compiles(const struct stage *stage);

/* Is the object such a Job? */
bool is_compile_job(const cJSON *object);

/* How far a compile is, by what slipway-trainer says of it: "compiling 2 of 3"; "" when the log
 * does not say. Pure; the log may be anybody's. */
void compiling_text(const char *log, char ret[COMPILING_TEXT_MAX]);

/* Reads the log's end into *ret (limited by COMPILING_LOG_MAX); what may not be read is empty. */
void compiling_log(struct kubectl *k, const char *namespace, const char *job, struct strbuf *ret);

/*
 * Sends the stage's Job and waits until it has succeeded. ERR_JOB: it failed, with the end of its
 * log and how to read the rest; no other target is tried for that. ERR_NETWORK: it takes longer
 * than opts->deadline_ms.
 */
int compiling_run(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                  struct apply_counts *ret, struct err *err) MUST_USE;

#endif
