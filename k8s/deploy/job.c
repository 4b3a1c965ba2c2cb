#include "k8s/deploy/job.h"

#include <string.h>

#include "base/attr.h"

const char *job_phase_name(enum job_phase phase)
{
	static const char *const names[] = {"absent", "pending", "running", "succeeded", "failed"};

	return names[phase];
}

bool is_job_of(const cJSON *object, const struct fleet_target *target)
{
	const char *component = object_label(object, "app.kubernetes.io/component");
	const char *kind = json_string(object, "kind"), *name = object_name(object);

	return component != NULL && strcmp(component, "jobs") == 0 && kind != NULL &&
	       strcmp(kind, "Service") != 0 && strcmp(kind, "ResourceClaimTemplate") != 0 &&
	       name != NULL && strcmp(name, target->job) == 0;
}

static const struct {
	const char *condition, *phase; /* Kubernetes', JobSet's and MPI's; Volcano's */
	enum job_phase means;
} ends[] = {
	{"Complete", "Completed", JOB_SUCCEEDED}, {"Completed", NULL, JOB_SUCCEEDED},
	{"Succeeded", NULL, JOB_SUCCEEDED},       {"Failed", "Failed", JOB_FAILED},
	{NULL, "Terminated", JOB_FAILED},         {NULL, "Aborted", JOB_FAILED},
};

enum job_phase job_end(const cJSON *job, const cJSON **ret_said)
{
	const cJSON *state = json_get(json_get(job, "status"), "state");
	const char *phase = json_string(state, "phase");

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const cJSON *said = NULL;

		if (phase != NULL && ends[i].phase != NULL && strcmp(phase, ends[i].phase) == 0)
			said = state;
		else if (ends[i].condition != NULL && object_holds(job, ends[i].condition))
			said = object_condition(job, ends[i].condition);
		if (said == NULL)
			continue;
		*ret_said = said;
		return ends[i].means;
	}
	*ret_said = NULL;
	return JOB_WAITING;
}
