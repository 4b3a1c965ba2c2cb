/*
 * What a fleet in a cluster does now: stages, the target in use and why, its job and pods, nodes,
 * the last step, and what it costs. Interpreting is separate from asking: status_read is pure, over
 * objects as kubectl gave them, and nothing in them is trusted; snapshot_take (collect.h) asks.
 */
#ifndef SLIPWAY_K8S_DEPLOY_STATUS_H
#define SLIPWAY_K8S_DEPLOY_STATUS_H

#include "k8s/deploy/apply.h"
#include "k8s/deploy/job.h"
#include "k8s/deploy/prices.h"
#include "k8s/deploy/pulls.h"
#include "k8s/deploy/trainlog.h"
#include "k8s/job/transport.h"

/* What there is to read; every pointer may be NULL. Borrowed. */
struct status_input {
	const struct fleet *fleet;
	const struct stage_list *stages; /* for the target in use */
	const cJSON *resources;  /* kinds that the cluster knows, as stages_check_kinds has them */
	const cJSON *owned;      /* owned_list */
	const cJSON *nodes;      /* nodes and node claims of the fleet's pools */
	const cJSON *pods;       /* of the job */
	const cJSON *pulled;     /* events: images that nodes fetched */
	const char *log;         /* tail of rank 0's log, with timestamps */
	const char *log_head;    /* its beginning */
	const char *compile_log; /* tail of the log of what compiles ahead, while it does */
	const char *log_problem; /* why there is none */
	const struct prices *prices; /* NULL = none were given */
	int64_t now_ms;
};

enum stage_state { STAGE_ABSENT, STAGE_WAITING, STAGE_READY, STAGE_STATES };

struct status_stage {
	const char *name;
	enum stage_state state;
	size_t there, planned; /* objects */
	const char *why;       /* "" when ready */
};

struct status_pod {
	const char *name, *phase, *node; /* node NULL = none yet */
	int64_t rank;                    /* -1 = a launcher */
	int64_t restarts;
	bool ready;
	const char *why; /* why it waits or failed, "" = it does not */
};

/* A node, or a claim whose node is not there yet. */
struct status_node {
	const char *name, *type, *zone, *capacity; /* NULL = unknown */
	int64_t age_s;                             /* -1 = unknown */
	bool ready, claim;
	const char *why;
	int64_t micros; /* per hour; -1 = unknown */
};

struct status_attempt {
	const char *target, *started, *ended, *outcome, *cause; /* NULL = unknown */
};

struct status {
	const struct fleet *fleet;
	const struct prices *prices;
	int64_t now_ms;
	struct status_stage *stages;
	size_t n_stages;
	const char *target; /* whose job is there, NULL = none */
	const char *reason; /* why this target, NULL = unknown */
	const char *since;
	struct status_attempt *attempts;
	size_t n_attempts;
	const char *job; /* name, NULL = none */
	int64_t run;     /* its number; 0 = unknown */
	enum job_phase phase;
	const char *why; /* what the job's controller says, "" = nothing */
	int64_t job_age_s;
	struct status_pod *pods;
	size_t n_pods;
	struct status_node *nodes;
	size_t n_nodes;
	struct image_pulls pulls;
	struct trainlog log;
	const char *log_problem;  /* NULL = the log was read */
	bool wants_efa;           /* the ranks are on several nodes, with EFA between them */
	enum transport transport; /* what the log says of it */
	int64_t storage_gib;      /* 0 = no file system of the fleet is there */
	int64_t storage_micros;   /* per hour; -1 = unknown */
	int64_t micros;           /* the sum of what is known */
	size_t unknown;           /* things whose price is unknown */
};

/* Are its ranks on several nodes, with EFA between them? */
bool target_talks_over_efa(const struct fleet_target *target);

/* The target whose job is in the cluster: the recorded one first, then by weight; or NULL. */
const struct fleet_target *status_target(const struct fleet *fleet, const cJSON *owned);

/* Strings live in the arena or in the input. */
void status_read(const struct status_input *in, struct arena *a, struct status *ret);

const char *stage_state_name(enum stage_state state); /* "waiting" */

/* Appends what a person reads; a stable object for programs (docs/DEPLOY.md). The caller owns it.
 */
void status_text(const struct status *s, struct strbuf *sb);
cJSON *status_json(const struct status *s);

/* What a log of changes shows: job, pods, nodes and stages with neither ages nor steps. */
void status_brief(const struct status *s, struct strbuf *sb);

/* Appends the lines of one status_brief that are not in an earlier one, and "KEY: gone" for what an
 * earlier one had and this one has not, each behind `stamp` and a blank. */
void status_changes(const char *before, const char *after, const char *stamp, struct strbuf *sb);

/* GiB of the fleet's claim among its objects, 0 if there is none. */
int64_t claim_gib(const cJSON *owned);

/* "3 d 4 h", "2 h 5 min", "42 s". */
enum { AGE_MAX = 40 };
const char *age_text(int64_t seconds, char out[AGE_MAX]);

#endif
