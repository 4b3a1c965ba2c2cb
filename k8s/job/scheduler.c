#include "k8s/job/scheduler.h"

#include "base/attr.h"
#include "k8s/job/job.h"

/* ---- what must be installed ---- */

static const struct operator_row volcano = {
	"Volcano",
	" batch.volcano.sh scheduling.volcano.sh ",
	"`helm upgrade --install volcano volcano --repo https://volcano-sh.github.io/helm-charts "
	"--namespace volcano-system --create-namespace`, or choose another job.scheduler.",
};

static const struct operator_row jobset = {
	"JobSet",
	" jobset.x-k8s.io ",
	"`helm upgrade --install jobset oci://registry.k8s.io/jobset/charts/jobset --namespace "
	"jobset-system --create-namespace`, or choose another job.scheduler.",
};

static const struct operator_row mpi = {
	"The MPI operator",
	" kubeflow.org ",
	"`kubectl apply --server-side -f https://raw.githubusercontent.com/kubeflow/mpi-operator/"
	"master/deploy/v2beta1/mpi-operator.yaml`, or choose another job.scheduler.",
};

/* ---- the rows ---- */

#define INDEXED_KEY "batch.kubernetes.io/job-completion-index"
#define RANDOM_END  "-xxxxx"

/* Kind, group and resource of an object that goes with the job. */
#define OBJECT(kind_, group_, resource_)                                                           \
	{                                                                                          \
		kind_, group_, resource_ "." group_, LEAVE_JOB                                     \
	}
/* What every row says; what only some can do follows by name. */
#define SCHEDULER(kind_, name_, title_, caption_, object_, pod_suffix_, index_key_, nodes_at_,     \
                  render_, ...)                                                                    \
	{                                                                                          \
		.kind = SCHEDULER_##kind_, .name = "" name_, .title = "" title_,                   \
		.caption = "" caption_, .object = object_, .pod_suffix = "" pod_suffix_,           \
		.index_key = "" index_key_, .nodes_at = "" nodes_at_, .render = (render_),         \
		__VA_ARGS__                                                                        \
	}

#define VOLCANO_JOB OBJECT("Job", "batch.volcano.sh", "jobs")
#define PLAIN_JOB   OBJECT("Job", "batch", "jobs")
#define JOBSET      OBJECT("JobSet", "jobset.x-k8s.io", "jobsets")
#define MPI_JOB     OBJECT("MPIJob", "kubeflow.org", "mpijobs")

/* In the enum's order, without designators: a row that is left out anywhere is missed below. */
const struct scheduler schedulers[] = {
	SCHEDULER(VOLCANO, "volcano", "Volcano job, started as a whole",
                  "Volcano Job, all pods or none", VOLCANO_JOB, "-worker-", "volcano.sh/task-index",
                  "spec.minAvailable", render_volcano_job, .brought_by = &volcano,
                  .render_setup = render_volcano_setup, .queues = true, .places_pods = true),
	SCHEDULER(JOB, "job", "indexed Job", "indexed Job", PLAIN_JOB, "-" RANDOM_END, INDEXED_KEY,
                  "spec.parallelism", render_indexed_job, .brought_by = NULL,
                  .in_place = {"ttlSecondsAfterFinished", "backoffLimit", "activeDeadlineSeconds"}),
	SCHEDULER(JOBSET, "jobset", "JobSet", "JobSet", JOBSET, "-workers-0-" RANDOM_END,
                  INDEXED_KEY, "spec.replicatedJobs.0.template.spec.parallelism", render_jobset,
                  .brought_by = &jobset, .in_place = {"ttlSecondsAfterFinished"}),
	SCHEDULER(MPI, "mpi", "MPIJob", "MPIJob", MPI_JOB, "-launcher" RANDOM_END,
                  "training.kubeflow.org/replica-index", "spec.mpiReplicaSpecs.Worker.replicas",
                  render_mpi_job, .brought_by = &mpi, .needs_command = true,
                  .image_note = "The image must bring Open MPI, sshd and a user mpiuser whose "
                                "number is job.user."),
};
_Static_assert(ARRAY_LEN(schedulers) == SCHEDULERS, "schedulers: one row per enum scheduler_kind");

const struct choices scheduler_choices = CHOICES_OF(schedulers, name);

/* ---- what one needs beside its own installation ---- */

static bool with_setup(const struct fleet *fleet)
{
	return fleet_has_job(fleet) && fleet->scheduler->render_setup != NULL;
}

static void render_setup(const struct fleet *fleet, struct k8s_output *out)
{
	fleet->scheduler->render_setup(fleet, out);
}

const struct k8s_renderer scheduler_renderer = {
	.number = "50",
	.name = "scheduler",
	.summary = "Volcano's configuration and the job's queue",
	.deployed = true,
	.wanted = with_setup,
	.render = render_setup,
};
