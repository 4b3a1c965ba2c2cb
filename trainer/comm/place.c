/*
 * Who am I? By the environment a launcher sets.
 */
#include <string.h>

#include "base/text.h"
#include "trainer/comm/comm.h"

/* torch.distributed's. */
enum { DEFAULT_PORT = 29500 };

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
	{"Volcano", "VC_TASK_INDEX", "NNODES", NULL, false},
	{"a Job's pods", "NODE_RANK", "NNODES", NULL, false},
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

/* Where rank 0 is: MASTER_ADDR, or the first of Volcano's host names. */
static int find_master(const char *(*look)(void *ctx, const char *name), void *ctx,
                       struct comm_place *p, struct err *err)
{
	const char *host = look(ctx, "MASTER_ADDR"), *port = look(ctx, "MASTER_PORT");
	size_t len;

	if (host == NULL)
		host = look(ctx, "VC_WORKER_HOSTS");
	len = host != NULL ? strcspn(host, ",") : 0;
	if (len >= sizeof(p->master))
		return err_set(err, ERR_USAGE, "the environment's MASTER_ADDR is not a host name");
	memcpy(p->master, host != NULL ? host : "", len);
	p->master[len] = '\0';
	p->port = DEFAULT_PORT;
	if (port == NULL)
		return 0;
	if (number("MASTER_PORT", port, &p->port, err) != 0)
		return -1;
	if (p->port < 1 || p->port > 65535)
		return err_set(err, ERR_USAGE,
		               "the environment's MASTER_PORT is '%.40s', not a port", port);
	return 0;
}

/* The first that is set. */
static int find_token(const char *(*look)(void *ctx, const char *name), void *ctx,
                      struct comm_place *p, struct err *err)
{
	static const char *const names[] = {COMM_TOKEN_VARIABLE, "TORCHELASTIC_RUN_ID"};

	for (size_t i = 0; i < ARRAY_LEN(names) && p->token[0] == '\0'; i++) {
		const char *token = look(ctx, names[i]);

		if (token == NULL)
			continue;
		if (strlen(token) >= sizeof(p->token))
			return err_set(err, ERR_USAGE,
			               "the environment's %s is longer than %zu characters",
			               names[i], sizeof(p->token) - 1);
		memcpy(p->token, token, strlen(token) + 1);
	}
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
		p.counts_locals = l->local_rank != NULL;
		if (number(l->rank, rank, &p.rank, err) != 0 ||
		    number(l->size, size, &p.n_ranks, err) != 0 ||
		    (local != NULL && number(l->local_rank, local, &p.local_rank, err) != 0))
			return -1;
		if (p.rank >= p.n_ranks)
			return err_set(err, ERR_USAGE,
			               "%s set rank %u of %u: %s and %s contradict each other",
			               l->name, p.rank, p.n_ranks, l->rank, l->size);
		if (!l->speaks_mpi &&
		    (find_master(look, ctx, &p, err) != 0 || find_token(look, ctx, &p, err) != 0))
			return -1;
	}
	*ret = p;
	return 0;
}
