/*
 * Sums over the GPUs of several ranks, which are processes here, on stand-ins for libcuda.so.1 and
 * libnccl.so.2 (tests/cuda/nccl_standin.c), dlopen included. No GPU was ever asked.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "trainer/cuda/backend.h"
#include "trainer/cuda/nccl.h"
#include "trainer/cuda/nccl_library.h"

enum { RANKS_MAX = 4, FIRST = 1000, SECOND = 24, VALUES = FIRST + SECOND, PATIENCE = 5000 };

/* What a rank does otherwise than the others. */
enum deviation { NONE, FEWER, OTHER_ORDER, ABSENT };

/* What became of it; all ranks map these. */
struct outcome {
	bool has_id;
	unsigned char id[COLLECTIVE_ID];
	struct rank {
		int rc;
		struct err err;
		float values[VALUES];
		bool ready, done;
		size_t held;
		char problem[80], name[40];
	} ranks[RANKS_MAX];
};

struct scenario {
	unsigned n;
	enum deviation last; /* the highest rank's */
	const char *fails;   /* a call of NCCL's, at the highest rank */
	const char *result;
};

static float value(unsigned rank, size_t i)
{
	return (float)(i % 97) * 0.37F + (float)rank * 1.1F;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Polls as the run does, but not for ever. */
static int await(struct collective *c, enum collective_state state, bool *ret, struct err *err)
{
	*ret = false;
	for (unsigned i = 0; i < PATIENCE && !*ret; i++) {
		if (c->table->test(c, state, ret, err) != 0)
			return -1;
		if (!*ret)
			nap();
	}
	return *ret ? 0 : err_set(err, ERR_LIMIT, "still waiting");
}

static int meet(struct collective *c, const struct scenario *s, struct outcome *o, unsigned rank,
                struct err *err)
{
	bool ready;

	if (rank == 0) {
		if (c->table->id(c, o->id, err) != 0)
			return -1;
		*(volatile bool *)&o->has_id = true;
	}
	for (unsigned i = 0; i < PATIENCE && !*(volatile bool *)&o->has_id; i++)
		nap();
	if (c->table->join(c, o->id, rank, s->n, err) != 0)
		return -1;
	return await(c, COLLECTIVE_READY, &ready, err);
}

/* Two buckets, the later values first, as a backward pass has them. */
static int sum(struct collective *c, enum deviation how, float *at, struct rank *r, struct err *err)
{
	size_t begin[2] = {FIRST, 0}, n[2] = {how == FEWER ? SECOND - 1 : SECOND, FIRST};

	for (size_t i = 0; i < 2; i++) {
		size_t k = how == OTHER_ORDER ? 1 - i : i;

		if (await(c, COLLECTIVE_READY, &r->ready, err) != 0 ||
		    c->table->begin_sum(c, at + begin[k], n[k], err) != 0)
			return -1;
	}
	return await(c, COLLECTIVE_DONE, &r->done, err);
}

static int take_part(struct ops *ops, struct collective *c, const struct scenario *s,
                     struct outcome *o, unsigned rank, struct err *err)
{
	enum deviation how = rank == s->n - 1 ? s->last : NONE;
	struct rank *r = &o->ranks[rank];
	struct buffer at;
	bool ready;
	int rc;

	if (how == ABSENT)
		return 0;
	if (meet(c, s, o, rank, err) != 0)
		return -1;
	at = buffer_new(ops, sizeof(r->values), "gradients");
	for (size_t i = 0; i < VALUES; i++)
		r->values[i] = value(rank, i);
	ops_upload(ops, at.at, r->values, sizeof(r->values));
	rc = sum(c, how, at.at, r, err);
	ops_download(ops, r->values, at.at, sizeof(r->values));
	if (rc == 0)
		rc = ops_sync(ops, err);
	if (rc == 0)
		rc = c->table->leave(c, err);
	if (rc == 0)
		rc = await(c, COLLECTIVE_READY, &ready, err);
	buffer_free(ops, &at);
	return rc;
}

/* Not linked: found by their names, as a node's and a base image's are. */
static struct standin_state (*load_standins(void))(void)
{
	void *driver = dlopen(CUDA_STANDIN, RTLD_NOW);
	struct standin_state (*state)(void);

	if (driver == NULL || dlopen(NCCL_STANDIN, RTLD_NOW) == NULL)
		abort();
	*(void **)&state = dlsym(driver, "standin_state");
	return state;
}

static void run_rank(const struct scenario *s, struct outcome *o, unsigned rank)
{
	struct standin_state (*state)(void);
	struct rank *r = &o->ranks[rank];
	struct collective *c = NULL;
	struct strbuf name = STRBUF_INIT(64);
	struct ops ops;

	if (s->fails != NULL && rank == s->n - 1) {
		setenv("STANDIN_NCCL_FAIL_CALL", s->fails, 1);
		setenv("STANDIN_NCCL_RESULT", s->result, 1);
	}
	state = load_standins();
	if (cuda_ops_open(0, &(struct ops_options){0}, &ops, &r->err) != 0)
		_exit(1);
	r->rc = cuda_nccl.open(&ops, &c, &r->err);
	if (r->rc == 0) {
		c->table->describe(c, &name);
		snprintf(r->name, sizeof(r->name), "%s", strbuf_str(&name));
		r->rc = take_part(&ops, c, s, o, rank, &r->err);
		c->table->close(c, r->rc == 0 && s->last != ABSENT);
	}
	strbuf_done(&name);
	ops_done(&ops);
	r->held = state().held;
	snprintf(r->problem, sizeof(r->problem), "%s",
	         state().problem != NULL ? state().problem : "none");
	_exit(0);
}

static struct outcome *play(const struct scenario *s)
{
	struct outcome *o =
		mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t ranks[RANKS_MAX];

	for (unsigned r = 0; r < s->n; r++) {
		ranks[r] = fork();
		if (ranks[r] == 0)
			run_rank(s, o, r);
	}
	for (unsigned r = 0; r < s->n; r++) {
		int status = -1;

		CHECK(waitpid(ranks[r], &status, 0) == ranks[r] && status == 0);
		CHECK(o->ranks[r].held == 0);
		CHECK_STR(o->ranks[r].problem, "none");
	}
	return o;
}

static void end(struct outcome *o)
{
	(void)munmap(o, sizeof(*o));
}

static void every_rank_has_the_sums_over_all_in_the_order_of_the_ranks(void)
{
	for (unsigned n = 1; n <= RANKS_MAX; n++) {
		struct outcome *o = play(&(struct scenario){.n = n});
		float want[VALUES] = {0};

		for (unsigned r = 0; r < n; r++)
			for (size_t i = 0; i < VALUES; i++)
				want[i] += value(r, i);
		for (unsigned r = 0; r < n; r++) {
			CHECK(o->ranks[r].rc == 0 && o->ranks[r].done);
			CHECK(memcmp(o->ranks[r].values, want, sizeof(want)) == 0);
			CHECK_STR(o->ranks[r].name, "NCCL 2.30.7");
		}
		end(o);
	}
}

static void ranks_that_sum_other_values_are_found_and_no_rank_hangs(void)
{
	static const enum deviation deviations[] = {FEWER, OTHER_ORDER};

	for (size_t i = 0; i < ARRAY_LEN(deviations); i++) {
		struct outcome *o = play(&(struct scenario){.n = 2, .last = deviations[i]});

		for (unsigned r = 0; r < 2; r++) {
			CHECK(o->ranks[r].rc != 0 && !o->ranks[r].done);
			CHECK(o->ranks[r].err.code == ERR_UNSUPPORTED);
			CHECK(strstr(o->ranks[r].err.msg, "ncclAllReduce: invalid usage") != NULL);
		}
		end(o);
	}
}

static void each_call_that_fails_is_named_and_gives_back_what_is_held(void)
{
	static const char *const calls[] = {
		"ncclGetVersion",        "ncclCommInitRankConfig", "ncclAllReduce",
		"ncclCommGetAsyncError", "ncclCommFinalize",
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct outcome *o =
			play(&(struct scenario){.n = 1, .fails = calls[i], .result = "3"});

		CHECK(o->ranks[0].rc != 0);
		CHECK(o->ranks[0].err.code == ERR_MACHINE);
		CHECK(strstr(o->ranks[0].err.msg, calls[i]) != NULL);
		CHECK(o->ranks[0].err.hint[0] != '\0');
		end(o);
	}
}

static void a_rank_that_never_comes_is_waited_for_without_blocking(void)
{
	struct outcome *o = play(&(struct scenario){.n = 2, .last = ABSENT});

	CHECK(o->ranks[0].rc != 0 && !o->ranks[0].ready);
	CHECK(o->ranks[0].err.code == ERR_LIMIT); /* the test's patience, not NCCL's */
	end(o);
}

static void failures_of_other_ranks_and_of_the_network_start_the_run_again(void)
{
	static const char *const results[] = {"2", "6", "8"};

	for (size_t i = 0; i < ARRAY_LEN(results); i++) {
		struct outcome *o = play(&(struct scenario){
			.n = 1, .fails = "ncclCommGetAsyncError", .result = results[i]});

		CHECK(o->ranks[0].err.code == ERR_NETWORK);
		end(o);
	}
}

int main(void)
{
	TEST("nccl: every rank has the sums over all, in the order of the ranks",
	     every_rank_has_the_sums_over_all_in_the_order_of_the_ranks);
	TEST("nccl: ranks that sum other values are found, and no rank hangs",
	     ranks_that_sum_other_values_are_found_and_no_rank_hangs);
	TEST("nccl: each call that fails is named, and gives back what is held",
	     each_call_that_fails_is_named_and_gives_back_what_is_held);
	TEST("nccl: a rank that never comes is waited for without blocking",
	     a_rank_that_never_comes_is_waited_for_without_blocking);
	TEST("nccl: failures of other ranks and of the network start the run again",
	     failures_of_other_ranks_and_of_the_network_start_the_run_again);
	return test_done();
}
