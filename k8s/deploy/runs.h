/*
 * Runs of a fleet's job. A job that is in the cluster cannot be changed (the pods of a Job, a
 * JobSet or a Volcano Job are immutable), so a changed one is a new run that takes the former one's
 * place. Runs are numbered from 1. The job keeps its name, so that no two runs of a target are ever
 * there at once and everything that goes with it keeps its own; the label slipway/run has the
 * number.
 *
 * What the last runs were is kept in one ConfigMap per fleet, so that `slipway rollback` can bring
 * one back: FLEET-runs in the fleet's namespace, with the owner's label; a key "run-N.json" each:
 *
 *   {
 *     "run": 7,
 *     "since": "2026-11-21T13:45:57Z",   when it was begun
 *     "image": "REPOSITORY@sha256:...",
 *     "reason": "deploy",                or "rollback to run 5"
 *     "jobs": {"trn1": [OBJECT, ...], "g5": [...]}     as they were rendered, for every target
 *   }
 *
 * Only the holder of the Lease writes it (k8s/deploy/lease.h); anybody may read it.
 */
#ifndef SLIPWAY_K8S_DEPLOY_RUNS_H
#define SLIPWAY_K8S_DEPLOY_RUNS_H

#include "k8s/deploy/apply.h"

#define RUN_LABEL   "slipway/run"
#define RUNS_SUFFIX "-runs"

enum {
	RUNS_KEPT = 5,
	RUNS_BYTES_MAX = 900 << 10, /* of all of them: a ConfigMap holds 1 MiB */
	RUN_REASON_MAX = 64
};

/* ---- the jobs of one run ---- */

/* Those of every target, as the output renders them: {"trn1": [OBJECT, ...], ...}. The caller
 * deletes it; it outlives the output. */
cJSON *release_of(const struct k8s_output *out);

/* The jobs stage of one target: references into the release; items NULL without a job. Free with
 * stage_done. */
struct stage release_stage(const cJSON *release, const char *target);
void stage_done(struct stage *stage);

/* The same of another row's objects that are each target's own: what goes ahead of the job. */
cJSON *choices_of(const struct k8s_output *out, const struct k8s_renderer *row);
struct stage choices_stage(const cJSON *choices, const struct k8s_renderer *row,
                           const char *target);

/* Would the pods of that target be the same? What a running job takes as it is (its time to live)
 * makes no difference, nor does the Service, which all runs share. Pure. */
bool release_same(const cJSON *a, const cJSON *b, const char *target);

/* A copy of a stage whose job bears the number. */
struct stage run_stage(const struct stage *stage, int64_t run);

/* The number that a live job bears; 0 = none. */
int64_t run_number(const cJSON *job);

/* ---- what is kept ---- */

/* An array of runs, rising; [] in a fleet without any. The caller deletes it. ERR_CONFLICT: it is
 * another owner's. ERR_FORMAT: somebody edited it. */
int runs_read(struct kubectl *k, const char *namespace, const char *fleet, cJSON **ret,
              struct err *err) MUST_USE;

/* Writes the array; the caller holds the Lease. ERR_LIMIT: one run alone is too large. */
int runs_write(struct kubectl *k, const char *namespace, const char *fleet, const cJSON *runs,
               struct err *err) MUST_USE;

/* The row of that number, the last row, the last row below `run`; NULL if there is none. */
const cJSON *runs_find(const cJSON *runs, int64_t run);
const cJSON *runs_last(const cJSON *runs);
const cJSON *runs_before(const cJSON *runs, int64_t run);

/* A row's number (0: none) and its release (NULL: none). */
int64_t runs_number(const cJSON *row);
const cJSON *runs_release(const cJSON *row);

/* The number under which `release` is begun on `target`: the last run's, if it is that one, else
 * the next. */
int64_t runs_number_for(const cJSON *runs, const cJSON *release, const char *target);

/* Adds a run that the array has not, and forgets the oldest beyond RUNS_KEPT and what does not fit
 * into a ConfigMap. */
struct run_row {
	int64_t run, since_ms;
	const char *image, *reason; /* image NULL = unknown */
	const cJSON *release;       /* copied */
};
void runs_add(cJSON *runs, const struct run_row *row);

#endif
