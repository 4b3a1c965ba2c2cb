#include "trainer/session/collective.h"

#include <string.h>

#include "trainer/ops/ops.h"

static bool is(const char *choice, const char *name)
{
	return strcmp(choice, name) == 0;
}

int collective_check_choice(const char *choice, struct err *err)
{
	if (is(choice, "auto") || is(choice, "nccl") || is(choice, "host"))
		return 0;
	return err_set(err, ERR_USAGE, "--collective is '%.60s', expected auto, nccl or host",
	               choice);
}

/* ---- waiting ---- */

struct awaited {
	struct collective *devices;
	enum collective_state state;
};

static int test_devices(void *ctx, bool *ret_done, struct err *err)
{
	const struct awaited *a = ctx;

	return a->devices->table->test(a->devices, a->state, ret_done, err);
}

static int await(struct session_collective *c, enum collective_state state, struct err *err)
{
	struct awaited a = {c->devices, state};

	return comm_await(c->comm, &(struct comm_awaited){test_devices, &a}, err);
}

/* ---- joining ---- */

/* *ret: 0, or 1 + the highest rank that lacks what `own` says; every rank has the same then. */
static int who_lacks(struct comm *comm, int own, unsigned *ret, struct err *err)
{
	double highest = own == 0 ? 0 : comm_rank(comm) + 1.0;

	if (comm_max(comm, &highest, 1, err) != 0)
		return -1;
	*ret = (unsigned)highest;
	return 0;
}

static int open_own(struct session_collective *c, struct ops *ops, struct err *err)
{
	const struct op_collective *table = ops->device->collective;

	if (table != NULL)
		return table->open(ops, &c->devices, err);
	err_set(err, ERR_NOT_FOUND, "rank %u does not compute on a GPU", comm_rank(c->comm));
	return err_hint(err, "Give --collective host or auto.");
}

static void drop(struct session_collective *c)
{
	if (c->devices != NULL)
		c->devices->table->close(c->devices, false);
	c->devices = NULL;
}

/* Some rank cannot: an error where it was asked for, otherwise the reason for the log. */
static int do_without(struct session_collective *c, const char *choice, int own, unsigned lacks,
                      struct err *err)
{
	drop(c);
	if (own == 0)
		err_set(err, ERR_NOT_FOUND, "rank %u has no NCCL: its log says why", lacks - 1);
	if (is(choice, "nccl"))
		return -1;
	snprintf(c->why, sizeof(c->why), "%.150s", err->msg);
	return 0;
}

/* Rank 0 makes what all meet by. */
static int join(struct session_collective *c, struct err *err)
{
	struct {
		unsigned char id[COLLECTIVE_ID], failed;
	} meeting = {{0}, 0};
	const struct op_collective *table = c->devices->table;
	unsigned rank = comm_rank(c->comm);

	if (rank == 0)
		meeting.failed = table->id(c->devices, meeting.id, err) != 0;
	if (comm_broadcast(c->comm, &meeting, sizeof(meeting), err) != 0)
		return -1;
	if (meeting.failed != 0)
		return rank == 0 ? -1
		                 : err_set(err, ERR_NETWORK,
		                           "rank 0 could not begin to join the GPUs: its log says "
		                           "why");
	if (table->join(c->devices, meeting.id, rank, comm_size(c->comm), err) != 0)
		return -1;
	return await(c, COLLECTIVE_READY, err);
}

int collective_open(struct session_collective *c, const char *choice, struct comm *comm,
                    struct ops *ops, struct err *err)
{
	struct err lack = {0};
	unsigned lacks;
	int own;

	*c = (struct session_collective){.comm = comm};
	if (is(choice, "host") || (is(choice, "auto") && ops->device->collective == NULL))
		return 0;
	own = open_own(c, ops, &lack);
	if (own != 0 && ops_failed(ops))
		return ops_sync(ops, err);
	if (who_lacks(comm, own, &lacks, err) != 0)
		return -1;
	if (lacks == 0)
		return join(c, err) == 0
		               ? 0
		               : err_wrap(err, "join the GPUs of %u ranks", comm_size(comm));
	if (do_without(c, choice, own, lacks, &lack) == 0)
		return 0;
	*err = lack;
	return -1;
}

/* ---- sums ---- */

static int begin_f32(void *ctx, float *values, size_t n, struct err *err)
{
	struct session_collective *c = ctx;

	if (await(c, COLLECTIVE_READY, err) != 0)
		return -1;
	return c->devices->table->begin_sum(c->devices, values, n, err);
}

/* The hosts have nothing under way; their wait tells the watch that a step is done. */
static int wait_all(void *ctx, struct err *err)
{
	struct session_collective *c = ctx;

	if (await(c, COLLECTIVE_DONE, err) != 0)
		return -1;
	return c->hosts.wait(c->hosts.ctx, err);
}

static int sum_f32(void *ctx, float *values, size_t n, struct err *err)
{
	return begin_f32(ctx, values, n, err) != 0 ? -1 : wait_all(ctx, err);
}

static int sum_f64(void *ctx, double *values, size_t n, struct err *err)
{
	struct session_collective *c = ctx;

	return c->hosts.sum_f64(c->hosts.ctx, values, n, err);
}

struct reducer collective_reducer(struct session_collective *c, struct comm *comm)
{
	struct reducer hosts = comm_reducer(comm);

	if (c->devices == NULL)
		return hosts;
	c->hosts = hosts;
	return (struct reducer){.rank = hosts.rank,
	                        .n_ranks = hosts.n_ranks,
	                        .sum_f32 = sum_f32,
	                        .sum_f64 = sum_f64,
	                        .begin_f32 = begin_f32,
	                        .wait = wait_all,
	                        .on_device = true,
	                        .ctx = c};
}

void collective_print(const struct session_collective *c, const struct comm *comm, FILE *out)
{
	AUTO(strbuf) struct strbuf by = STRBUF_INIT(256);

	if (c->devices != NULL)
		c->devices->table->describe(c->devices, &by);
	else
		strbuf_addf(&by, "%s, through the hosts' memory%s%s", comm_name(comm),
		            c->why[0] != '\0' ? ": " : "", c->why);
	fprintf(out, "gradients are summed by %s\n", strbuf_str(&by));
}

/* ---- leaving ---- */

int collective_close(struct session_collective *c, bool in_order, struct err *err)
{
	struct collective *d = c->devices;
	int rc = 0;

	if (d == NULL)
		return 0;
	if (in_order) {
		rc = d->table->leave(d, err);
		if (rc == 0)
			rc = await(c, COLLECTIVE_READY, err);
	}
	d->table->close(d, in_order && rc == 0);
	c->devices = NULL;
	return rc;
}
