/*
 * Who am I? By the environment a launcher sets.
 */
#include <string.h>

#include "base/text.h"
#include "trainer/comm/comm.h"

/* In order of precedence: what starts MPI processes inside a Job knows better than the Job. */
static const struct launcher {
	const char *name, *rank, *size, *local_rank;
	bool speaks_mpi;
} launchers[] = {
	{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
         true},
	{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", true},
	{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", true},
	{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", false},
	{"Volcano", "VC_TASK_INDEX", "VC_WORKER_NUM", NULL, false},
	{"Volcano", "VK_TASK_INDEX", "VC_WORKER_NUM", NULL, false},
	{"an indexed Job", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", NULL, false},
};

static int number(const char *name, const char *text, unsigned *ret, struct err *err)
{
	int64_t value;

	if (!text_int64(text, strlen(text), &value) || value < 0 || value > 1 << 20)
		return err_set(err, ERR_USAGE,
		               "the environment's %s is '%.40s', not a rank or a count", name,
		               text);
	*ret = (unsigned)value;
	return 0;
}

int comm_place(const char *(*look)(void *ctx, const char *name), void *ctx, struct comm_place *ret,
               struct err *err)
{
	struct comm_place p = {.n_ranks = 1};

	for (size_t i = 0; i < ARRAY_LEN(launchers) && p.launcher == NULL; i++) {
		const struct launcher *l = &launchers[i];
		const char *rank = look(ctx, l->rank), *size = look(ctx, l->size);
		const char *local = l->local_rank != NULL ? look(ctx, l->local_rank) : NULL;

		if (rank == NULL || size == NULL)
			continue;
		p.launcher = l->name;
		p.speaks_mpi = l->speaks_mpi;
		if (number(l->rank, rank, &p.rank, err) != 0 ||
		    number(l->size, size, &p.n_ranks, err) != 0 ||
		    (local != NULL && number(l->local_rank, local, &p.local_rank, err) != 0))
			return -1;
		if (p.rank >= p.n_ranks)
			return err_set(err, ERR_USAGE,
			               "%s says rank %u of %u: %s and %s contradict", l->name,
			               p.rank, p.n_ranks, l->rank, l->size);
	}
	*ret = p;
	return 0;
}
