/*
 * The kinds of job that the spec may ask for, one row each: how the spec, `slipway explain` and the
 * diagram call it, which object it is and what brings that, how its pods are named, what it can do,
 * and who renders it. Everybody asks the row:
 *
 *   fleet->scheduler->render(fleet, target, out);
 *
 * To add one: an enumerator and a renderer's prototype here, a row in scheduler.c, and the renderer
 * in a file of its own. Constant data.
 */
#ifndef SLIPWAY_K8S_JOB_SCHEDULER_H
#define SLIPWAY_K8S_JOB_SCHEDULER_H

#include "base/doc/choices.h"
#include "k8s/object/kind.h"
#include "k8s/object/object.h"

/* job.scheduler */
enum scheduler_kind {
	SCHEDULER_VOLCANO,
	SCHEDULER_JOB,
	SCHEDULER_JOBSET,
	SCHEDULER_MPI,
	SCHEDULERS
};

enum { SCHEDULER_IN_PLACE_MAX = 3 };

struct scheduler {
	enum scheduler_kind kind; /* its place in the table */
	const char *name;         /* in the spec: "volcano" */
	const char *title;        /* of a target's job for explain: "indexed Job" */
	const char *caption;      /* for the diagram, where it has one line */
	struct kind_row object;   /* what runs the pods, named after the target's job */
	/* What the longest of its pods' names has after the job's, without the pod's index:
	 * "-workers-0-" and a random end. */
	const char *pod_suffix;
	const char *index_key; /* label or annotation of a pod: its index in the job */
	const char *nodes_at;  /* where the object says how many pods it has: "spec.parallelism" */
	void (*render)(const struct fleet *fleet, const struct fleet_target *target,
	               struct k8s_output *out);

	/* What not every one has; false or NULL = it has not. */
	const struct operator_row *brought_by; /* NULL = part of Kubernetes */
	void (*render_setup)(const struct fleet *fleet, struct k8s_output *out); /* 50-scheduler */
	/* Fields of the object's spec that one that is in the cluster takes: the server allows the
	 * change and no pod is another for it. */
	const char *in_place[SCHEDULER_IN_PLACE_MAX];
	bool queues;            /* knows job.queue */
	bool places_pods;       /* chooses nodes itself: no other scheduler stands beside it */
	bool needs_command;     /* starts job.command itself, not the image's entrypoint */
	const char *image_note; /* what its image must bring, a sentence for readers */
};

extern const struct scheduler schedulers[]; /* SCHEDULERS rows, by enum scheduler_kind */
extern const struct choices scheduler_choices;

void render_volcano_job(const struct fleet *fleet, const struct fleet_target *target,
                        struct k8s_output *out);

/* The ConfigMap of Volcano's scheduler, as its own installation calls it. */
#define VOLCANO_CONFIG "volcano-scheduler-configmap"
void render_volcano_setup(const struct fleet *fleet, struct k8s_output *out);
void render_indexed_job(const struct fleet *fleet, const struct fleet_target *target,
                        struct k8s_output *out);
void render_jobset(const struct fleet *fleet, const struct fleet_target *target,
                   struct k8s_output *out);
void render_mpi_job(const struct fleet *fleet, const struct fleet_target *target,
                    struct k8s_output *out);

#endif
