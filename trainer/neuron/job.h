/*
 * One execution under way: nrt_execute waits for its module's end, so a thread calls it, while the
 * caller writes the next batch and reports the last step. One at a time; its tensors are not to be
 * touched until neuron_job_wait.
 */
#ifndef SLIPWAY_TRAINER_NEURON_JOB_H
#define SLIPWAY_TRAINER_NEURON_JOB_H

#include <pthread.h>

#include "trainer/neuron/executable.h"

/* All zero: none is under way. */
struct neuron_job {
	const struct neuron_executable *x;
	void **inputs, **results; /* owned, in the net's order; the tensors are not */
	pthread_t thread;
	bool running; /* in the thread */
	int rc;
	struct err err;
};

/* Begins it, where the last one was waited for; takes both arrays. Without a thread to be had it is
 * done at once. What it fails with is told by neuron_job_wait. */
void neuron_job_start(struct neuron_job *j, const struct neuron_executable *x, void **inputs,
                      void **results);

/* Returns once nothing is under way; 0 where nothing was. */
int neuron_job_wait(struct neuron_job *j, struct err *err) MUST_USE;

#endif
