#include "trainer/neuron/job.h"

#include <signal.h>
#include <stdlib.h>

static void *work(void *ctx)
{
	struct neuron_job *j = ctx;

	j->rc = neuron_executable_run(j->x, j->inputs, j->results, &j->err);
	return NULL;
}

/* Signals are the main thread's. */
static bool start_thread(struct neuron_job *j)
{
	sigset_t every, before;
	bool started;

	sigfillset(&every);
	pthread_sigmask(SIG_BLOCK, &every, &before);
	started = pthread_create(&j->thread, NULL, work, j) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void neuron_job_start(struct neuron_job *j, const struct neuron_executable *x, void **inputs,
                      void **results)
{
	*j = (struct neuron_job){.x = x, .inputs = inputs, .results = results};
	j->running = start_thread(j);
	if (!j->running)
		work(j);
}

int neuron_job_wait(struct neuron_job *j, struct err *err)
{
	int rc;

	if (j->running)
		pthread_join(j->thread, NULL);
	free(j->inputs);
	free(j->results);
	rc = j->rc;
	if (rc != 0)
		*err = j->err;
	*j = (struct neuron_job){0};
	return rc;
}
