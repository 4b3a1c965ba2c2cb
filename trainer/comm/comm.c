#include "trainer/comm/comm.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/timestamp.h"
#include "trainer/comm/engine.h"
#include "trainer/comm/guard.h"
#include "trainer/comm/mover.h"
#include "trainer/comm/pmi.h"
#include "trainer/comm/watch.h"

enum {
	TIMEOUT_S = 45,
	JOIN_S = 900,
	SPIN = 2000,
	SLEEP_NS = 50000,
	PENDING_MAX = 512,
	NAMING_S = 3 /* for the watch to say why an exchange does not end */
};

/* MPI counts with int; larger sums go in pieces. */
enum { PIECE = 1 << 28 };

struct comm {
	struct comm_engine e; /* state NULL: one process */
	struct comm_options options;
	struct pmi *pmi;          /* rank 0's, when no mpirun started the ranks */
	struct rank_watch *watch; /* NULL: one process */
	struct comm_request pending[PENDING_MAX];
	size_t n_pending;
};

/* What to do about a lost rank; one that ended for good says so in its own log (run_exit.h). */
static int next_step(struct err *err)
{
	return err_hint(err, err->code == ERR_NETWORK
	                             ? "The last checkpoint is intact: start the job again with "
	                               "--resume."
	                             : "That rank's log says why. The last checkpoint is intact, "
	                               "but starting again alone would end the same way.");
}

static void nap(void)
{
	struct timespec ts = {.tv_sec = 0, .tv_nsec = SLEEP_NS};

	nanosleep(&ts, NULL);
}

/* An exchange that fails, fails because of a rank: a moment later the watch knows which one. What
 * *err says already stays where it does not. */
static int exchange_failed(struct comm *c, struct err *err)
{
	double end = clock_seconds() + (double)NAMING_S;

	while (c->watch != NULL && clock_seconds() < end) {
		if (watch_check(c->watch, err) != 0)
			return next_step(err);
		nap();
	}
	return -1;
}

static int engine_failed(struct comm *c, struct err *err)
{
	return err_set(err, ERR_NETWORK, "%s: an exchange failed on rank %u", c->e.name, c->e.rank);
}

/* A request of the engine's, as something to wait for. */
struct engine_request {
	struct comm *comm;
	struct comm_request *request;
};

static int test_request(void *ctx, bool *ret_done, struct err *err)
{
	struct engine_request *r = ctx;
	struct comm_engine *e = &r->comm->e;

	return e->test(e->state, r->request, ret_done) == 0 ? 0 : engine_failed(r->comm, err);
}

/* Busy at first, for small messages; then in naps, to leave the core to the computation. */
static int wait_until(struct comm *c, const struct comm_awaited *what, bool *ret_done,
                      struct err *err)
{
	double end = clock_seconds() + c->options.timeout_s + (c->watch != NULL ? NAMING_S : 0);
	unsigned tries = 0;

	*ret_done = false;
	do {
		if (what->test(what->ctx, ret_done, err) != 0)
			return exchange_failed(c, err);
		if (*ret_done)
			return 0;
		if (++tries <= SPIN)
			continue;
		if (watch_check(c->watch, err) != 0)
			return next_step(err);
		nap();
	} while (tries <= SPIN || clock_seconds() < end);
	return 0;
}

/* The watch has seen nothing wrong with any rank, or there is none. */
static int give_up(struct comm *c, struct err *err)
{
	err_set(err, ERR_NETWORK,
	        "rank %u has waited for %u s in an exchange, and no rank is known to be at fault",
	        c->e.rank, c->options.timeout_s);
	return err_hint(err, "Can the ranks' nodes reach each other at every port? The last "
	                     "checkpoint is intact: start the job again with --resume.");
}

/* The caller may free what it gave: nothing works on it any more. */
static void forget(struct comm *c)
{
	c->n_pending = 0;
	if (c->e.forget != NULL)
		c->e.forget(c->e.state);
}

int comm_await(struct comm *c, const struct comm_awaited *what, struct err *err)
{
	bool done = false;
	int rc;

	watch_waits(c->watch, true);
	rc = wait_until(c, what, &done, err);
	watch_waits(c->watch, false);
	return rc == 0 && !done ? give_up(c, err) : rc;
}

static int finish(struct comm *c, struct comm_request *r, struct err *err)
{
	struct engine_request request = {c, r};
	int rc = comm_await(c, &(struct comm_awaited){test_request, &request}, err);

	if (rc != 0)
		forget(c);
	return rc;
}

static int began(struct comm *c, int rc, struct err *err)
{
	if (rc == 0)
		return 0;
	forget(c);
	engine_failed(c, err);
	return exchange_failed(c, err);
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

/* MPI may stay in such a call until another rank comes: it is an exchange, and no work. */
static int begin_sum(struct comm *c, float *values, size_t n, struct err *err)
{
	struct comm_request *r = &c->pending[c->n_pending++];
	int rc;

	*r = (struct comm_request){NULL};
	watch_waits(c->watch, true);
	rc = c->e.all_reduce(c->e.state, values, n, COMM_F32, COMM_SUM, r);
	watch_waits(c->watch, false);
	return began(c, rc, err);
}

static int wait_pending(void *ctx, struct err *err)
{
	struct comm *c = ctx;
	int rc = 0;

	for (size_t i = 0; i < c->n_pending && rc == 0; i++)
		rc = finish(c, &c->pending[i], err);
	c->n_pending = 0;
	watch_stepped(c->watch);
	return rc;
}

static int begin_f32(void *ctx, float *values, size_t n, struct err *err)
{
	struct comm *c = ctx;

	while (n > 0) {
		size_t piece = n < PIECE ? n : PIECE;

		if (c->n_pending == PENDING_MAX && wait_pending(c, err) != 0)
			return -1;
		if (begin_sum(c, values, piece, err) != 0)
			return -1;
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
	return (struct reducer){.rank = c->e.rank,
	                        .n_ranks = c->e.size,
	                        .sum_f32 = sum_f32,
	                        .sum_f64 = sum_f64,
	                        .begin_f32 = begin_f32,
	                        .wait = wait_pending,
	                        .ctx = c};
}

/* ---- joining and leaving ---- */

/* Whether MPICH's mpirun started us, or nobody who speaks MPI: then MPICH is what can be joined. */
static bool wants_mpich(const struct comm_place *place)
{
	return !place->speaks_mpi || strcmp(place->launcher, "PMI") == 0;
}

/* What can be known before any rank is waited for. */
static int check_library(const struct comm_place *place, const struct comm_mpi *mpi,
                         struct err *err)
{
	if (place->speaks_mpi || (mpi->mpich && place->master[0] != '\0'))
		return 0;
	err_set(err, ERR_UNSUPPORTED, "%s started rank %u of %u without mpirun, %s",
	        place->launcher, place->rank, place->n_ranks,
	        mpi->mpich ? "and rank 0's host is not known"
	                   : "and Open MPI cannot join ranks that way");
	return err_hint(err, "Without mpirun, ranks need MPICH (Debian's libmpich12 in the image) "
	                     "and MASTER_ADDR.");
}

static int check_size(const struct comm_place *place, struct comm *c, struct err *err)
{
	if (c->e.size == place->n_ranks)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "%s started rank %u of %u, but %s sees %u", place->launcher,
	        place->rank, place->n_ranks, c->e.name, c->e.size);
	err_hint(err, "With mpirun or srun --mpi=pmix, the image needs the MPI that it belongs to: "
	              "Debian's libopenmpi3 or libmpich12.");
	c->e.close(c->e.state);
	return -1;
}

/* The ranks learn over MPI where rank 0 watches. */
static int start_watch(struct comm *c, struct err *err)
{
	struct watch_invitation invitation;
	struct rank_watch *w = watch_new(&c->e, &c->options, &invitation);

	if (comm_broadcast(c, &invitation, sizeof(invitation), err) != 0) {
		watch_end(w);
		return -1;
	}
	watch_begin(w, &invitation);
	c->watch = w;
	return 0;
}

static int join(const struct comm_place *place, struct comm *c, struct err *err)
{
	struct comm_mpi mpi;
	struct guard *guard;
	int rc;

	if (comm_mpi_load(c->options.library, wants_mpich(place), &mpi, err) != 0 ||
	    check_library(place, &mpi, err) != 0)
		return -1;
	if (!place->speaks_mpi && pmi_meet(place, &c->options, &c->pmi, err) != 0)
		return -1;
	guard = guard_new(&c->options);
	rc = comm_mpi_start(&mpi, &c->e, err);
	guard_end(guard);
	if (rc != 0 || check_size(place, c, err) != 0)
		return -1;
	c->e = mover_wrap(&c->e);
	if (start_watch(c, err) == 0)
		return 0;
	c->e.abort(c->e.state, RUN_EXIT_RANK_LOST);
	return -1;
}

static struct comm_options with_defaults(const struct comm_options *o)
{
	struct comm_options full = *o;

	full.timeout_s = o->timeout_s > 0 ? o->timeout_s : TIMEOUT_S;
	full.join_s = o->join_s > 0 ? o->join_s : JOIN_S;
	return full;
}

int comm_open(const struct comm_place *place, const struct comm_options *o, struct comm **ret,
              struct err *err)
{
	struct comm *c = mem_zalloc(sizeof(*c));

	c->options = with_defaults(o);
	c->e = (struct comm_engine){.name = "single process", .size = 1};
	if (place->n_ranks > 1 && join(place, c, err) != 0) {
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
	watch_end(c->watch);
	if (c->e.state != NULL)
		c->e.close(c->e.state);
	pmi_part(c->pmi);
	free(c);
	return 0;
}

void comm_abort(struct comm *c, int status)
{
	if (c == NULL || c->e.state == NULL) {
		free(c);
		return;
	}
	/* The watch uses c until the process ends. */
	watch_fail(c->watch, status);
	c->e.abort(c->e.state, status);
}

void comm_excuse(struct comm *c, double seconds)
{
	watch_excuse(c->watch, seconds);
}

bool comm_lost(struct comm *c)
{
	return watch_lost(c->watch);
}

void comm_say(const struct comm_options *o, const char *text)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(ERR_MSG_MAX);
	char now[TIMESTAMP_MAX];

	if (o->say == NULL)
		return;
	timestamp_extended(clock_system()->now_ms(clock_system()), now);
	strbuf_addf(&line, "%s %s", now, text);
	o->say(o->ctx, strbuf_str(&line));
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
