#include "trainer/comm/comm.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "trainer/comm/engine.h"
#include "trainer/comm/pmi.h"

enum {
	TIMEOUT_S = 45,
	JOIN_S = 900,
	SPIN = 2000,
	SLEEP_NS = 50000,
	PENDING_MAX = 512,
	HOST_MAX = 256
};

/* Rank 0 waits this long for the others to say that they wait, too. */
enum { NAMING_S = 8 };

/* MPI counts with int; larger sums go in pieces. */
enum { PIECE = 1 << 28 };

struct comm {
	struct comm_engine e; /* state NULL: one process */
	unsigned timeout_s;
	struct pmi *pmi; /* rank 0's, when no mpirun started the ranks */
	struct comm_request pending[PENDING_MAX];
	size_t n_pending;
};

static void nap(void)
{
	struct timespec ts = {.tv_sec = 0, .tv_nsec = SLEEP_NS};

	nanosleep(&ts, NULL);
}

/* Busy at first, for small messages; then in naps, to leave the core to the computation. */
static int wait_until(struct comm *c, struct comm_request *r, double limit, bool *ret_done)
{
	double end = clock_seconds() + limit;
	unsigned tries = 0;

	*ret_done = false;
	do {
		if (c->e.test(c->e.state, r, ret_done) != 0)
			return -1;
		if (*ret_done)
			return 0;
		if (++tries > SPIN)
			nap();
	} while (tries <= SPIN || clock_seconds() < end);
	return 0;
}

/* Rank 0 after a time-out: who is missing? The request may still complete meanwhile. */
static int name_missing(struct comm *c, struct comm_request *r, bool *ret_done, struct err *err)
{
	AUTO(strbuf) struct strbuf who = STRBUF_INIT(ERR_MSG_MAX / 2);
	double end = clock_seconds() + (double)NAMING_S;
	char host[HOST_MAX];
	unsigned missing = 0;

	while (clock_seconds() < end) {
		if (wait_until(c, r, 0.2, ret_done) != 0)
			return err_set(err, ERR_NETWORK, "%s: an exchange failed on rank 0",
			               c->e.name);
		if (*ret_done)
			return 0;
		for (unsigned i = 1; i < c->e.size; i++)
			c->e.told(c->e.state, i);
	}
	for (unsigned i = 1; i < c->e.size; i++) {
		if (c->e.told(c->e.state, i))
			continue;
		c->e.host(c->e.state, i, host, sizeof(host));
		strbuf_addf(&who, "%s%u (%s)", missing++ > 0 ? ", " : "", i, host);
	}
	return err_set(err, ERR_NETWORK, "no answer for %u s from rank%s %s", c->timeout_s,
	               missing == 1 ? "" : "s", missing > 0 ? strbuf_str(&who) : "(unknown)");
}

static int give_up(struct comm *c, struct comm_request *r, bool *ret_done, struct err *err)
{
	char host[HOST_MAX];
	int rc = 0;

	if (c->e.rank == 0) {
		rc = name_missing(c, r, ret_done, err);
	} else {
		/* Rank 0 names the ranks and ends all; when it is silent, it is the one. */
		if (c->e.tell(c->e.state) == 0 && wait_until(c, r, 2 * NAMING_S, ret_done) == 0 &&
		    *ret_done)
			return 0;
		c->e.host(c->e.state, 0, host, sizeof(host));
		rc = err_set(err, ERR_NETWORK,
		             "no answer for %u s from rank 0 (%s) or one it waits for",
		             c->timeout_s + 2 * NAMING_S, host);
	}
	if (rc != 0)
		err_hint(err, "The last checkpoint is intact: start the job again with --resume.");
	return rc;
}

static int finish(struct comm *c, struct comm_request *r, struct err *err)
{
	bool done;

	if (wait_until(c, r, c->timeout_s, &done) != 0)
		return err_set(err, ERR_NETWORK, "%s: an exchange failed on rank %u", c->e.name,
		               c->e.rank);
	return done ? 0 : give_up(c, r, &done, err);
}

static int began(struct comm *c, int rc, struct err *err)
{
	if (rc == 0)
		return 0;
	return err_set(err, ERR_NETWORK, "%s: an exchange could not start on rank %u", c->e.name,
	               c->e.rank);
}

static int reduce(struct comm *c, double *values, size_t n, enum comm_op op, struct err *err)
{
	struct comm_request r = {NULL};

	if (c->e.state == NULL)
		return 0;
	if (began(c, c->e.all_reduce(c->e.state, values, n, COMM_F64, op, &r), err) != 0)
		return -1;
	return finish(c, &r, err);
}

int comm_sum(struct comm *c, double *values, size_t n, struct err *err)
{
	return reduce(c, values, n, COMM_SUM, err);
}

int comm_max(struct comm *c, double *values, size_t n, struct err *err)
{
	return reduce(c, values, n, COMM_MAX, err);
}

int comm_broadcast(struct comm *c, void *bytes, size_t n, struct err *err)
{
	struct comm_request r = {NULL};

	if (c->e.state == NULL)
		return 0;
	if (began(c, c->e.broadcast(c->e.state, bytes, n, &r), err) != 0)
		return -1;
	return finish(c, &r, err);
}

int comm_barrier(struct comm *c, struct err *err)
{
	struct comm_request r = {NULL};

	if (c->e.state == NULL)
		return 0;
	if (began(c, c->e.barrier(c->e.state, &r), err) != 0)
		return -1;
	return finish(c, &r, err);
}

/* ---- what the training loop calls ---- */

static int wait_pending(void *ctx, struct err *err)
{
	struct comm *c = ctx;
	int rc = 0;

	for (size_t i = 0; i < c->n_pending && rc == 0; i++)
		rc = finish(c, &c->pending[i], err);
	c->n_pending = 0;
	return rc;
}

static int begin_f32(void *ctx, float *values, size_t n, struct err *err)
{
	struct comm *c = ctx;

	while (n > 0) {
		size_t piece = n < PIECE ? n : PIECE;
		struct comm_request *r;
		bool done;

		if (c->n_pending == PENDING_MAX && wait_pending(c, err) != 0)
			return -1;
		r = &c->pending[c->n_pending++];
		*r = (struct comm_request){NULL};
		if (began(c, c->e.all_reduce(c->e.state, values, piece, COMM_F32, COMM_SUM, r),
		          err) != 0)
			return -1;
		/* MPI moves only inside its calls. */
		if (c->e.test(c->e.state, &c->pending[0], &done) != 0)
			return began(c, -1, err);
		values += piece;
		n -= piece;
	}
	return 0;
}

static int sum_f32(void *ctx, float *values, size_t n, struct err *err)
{
	return begin_f32(ctx, values, n, err) != 0 ? -1 : wait_pending(ctx, err);
}

static int sum_f64(void *ctx, double *values, size_t n, struct err *err)
{
	return comm_sum(ctx, values, n, err);
}

struct reducer comm_reducer(struct comm *c)
{
	if (c->e.state == NULL)
		return (struct reducer){.n_ranks = 1};
	return (struct reducer){c->e.rank, c->e.size, sum_f32, sum_f64, begin_f32, wait_pending, c};
}

/* ---- joining and leaving ---- */

/* Whether MPICH's mpirun started us, or nobody who speaks MPI: then MPICH is what can be joined. */
static bool wants_mpich(const struct comm_place *place)
{
	return !place->speaks_mpi || strcmp(place->launcher, "PMI") == 0;
}

static int join(const struct comm_place *place, const struct comm_options *o, struct comm *c,
                struct err *err)
{
	unsigned wait_s = o->join_s > 0 ? o->join_s : JOIN_S;

	if (!place->speaks_mpi && place->master[0] != '\0' &&
	    pmi_meet(place, wait_s, &c->pmi, err) != 0)
		return -1;
	if (comm_mpi_open(o->library, wants_mpich(place), &c->e, err) != 0)
		return -1;
	if (c->e.size == place->n_ranks)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "%s started rank %u of %u, but %s sees %u", place->launcher,
	        place->rank, place->n_ranks, c->e.name, c->e.size);
	err_hint(err, "Without mpirun, ranks need MPICH (Debian's libmpich12 in the image) and "
	              "MASTER_ADDR; with mpirun or srun --mpi=pmix, that of the MPI in the image.");
	c->e.close(c->e.state);
	return -1;
}

int comm_open(const struct comm_place *place, const struct comm_options *o, struct comm **ret,
              struct err *err)
{
	struct comm *c = mem_zalloc(sizeof(*c));

	c->timeout_s = o->timeout_s > 0 ? o->timeout_s : TIMEOUT_S;
	c->e = (struct comm_engine){.name = "single process", .size = 1};
	if (place->n_ranks > 1 && join(place, o, c, err) != 0) {
		err_wrap(err, "join %u ranks", place->n_ranks);
		pmi_quit(c->pmi);
		free(c);
		return -1;
	}
	*ret = c;
	return 0;
}

int comm_close(struct comm *c, struct err *err)
{
	int rc = comm_barrier(c, err);

	if (rc != 0)
		return rc;
	if (c->e.state != NULL)
		c->e.close(c->e.state);
	pmi_part(c->pmi);
	free(c);
	return 0;
}

void comm_abort(struct comm *c, int status)
{
	if (c == NULL)
		return;
	if (c->e.state != NULL)
		c->e.abort(c->e.state, status);
	free(c);
}

unsigned comm_rank(const struct comm *c)
{
	return c->e.rank;
}

unsigned comm_size(const struct comm *c)
{
	return c->e.size;
}

const char *comm_name(const struct comm *c)
{
	return c->e.name;
}
