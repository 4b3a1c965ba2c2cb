/*
 * A stand-in for libnccl.so.2: ranks are processes of one machine, which meet in a file that they
 * all map. A sum is what NCCL's contract allows a communicator that does not block: in progress
 * until every rank has come to it, moved on by ncclCommGetAsyncError alone, and held up for ever by
 * a rank that is gone, until ncclCommAbort. It waits for the work before it in its stream, adds in
 * the order of the ranks, and compares what they ask for: kind, count, place, order, stream.
 *
 * Variables: STANDIN_NCCL_VERSION (23007), STANDIN_NCCL_FAIL_CALL, STANDIN_NCCL_FAIL_AT and
 * STANDIN_NCCL_RESULT have a call fail once, STANDIN_REPORT gets a line at the end of the process:
 * "nccl N sums held N problem TEXT".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cuda/uses.h"
#include "trainer/cuda/nccl_library.h"

enum { RANKS_MAX = 8, VALUES_MAX = 1 << 22, STREAMS_MAX = 8 };
enum { FINE = 0, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };

/* Of the stand-in for the driver, which this library needs as the real one does. */
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream);
int cuStreamSynchronize(void *stream);

/* What a rank asks for, in terms that are the same on all. */
struct request {
	uint64_t count, place; /* place: bytes from the first sum's values */
	int type, op;
	unsigned stream; /* the how manieth that this rank gave */
};

struct seat {
	_Atomic unsigned joined, left;
	_Atomic uint64_t posted, taken; /* sums */
	struct request request;
	float values[VALUES_MAX];
};

struct table {
	_Atomic unsigned n;
	struct seat seats[RANKS_MAX];
};

enum stage { IDLE, JOINING, POSTING, GATHERING, LEAVING };

struct comm {
	struct table *table;
	char path[128];
	unsigned rank, n;
	enum stage stage;
	int error;
	uint64_t sums;
	struct request request;
	const char *first; /* values of the first sum */
	void *values;      /* of this one; the device's */
	void *stream;
	const void *streams[STREAMS_MAX];
};

static struct {
	size_t calls, sums, held;
	const char *problem;
} nccl;

static struct uses uses;

static int wrong(int result, const char *problem)
{
	if (nccl.problem == NULL)
		nccl.problem = problem;
	return result;
}

static size_t setting(const char *name, size_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

/* 0, or what this call is to fail with. */
static int planted(const char *name)
{
	const char *call = getenv("STANDIN_NCCL_FAIL_CALL");

	uses_count(&uses, name);
	if (call == NULL || strcmp(call, name) != 0)
		return 0;
	return ++nccl.calls == setting("STANDIN_NCCL_FAIL_AT", 1)
	               ? (int)setting("STANDIN_NCCL_RESULT", 3)
	               : 0;
}

#define MAY_FAIL                                                                                   \
	do {                                                                                       \
		int fails = planted(__func__);                                                     \
                                                                                                   \
		if (fails != 0)                                                                    \
			return fails;                                                              \
	} while (0)

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("STANDIN_REPORT");
	FILE *f = path != NULL && (nccl.sums > 0 || nccl.held > 0) ? fopen(path, "a") : NULL;

	uses_report(&uses);
	if (f == NULL)
		return;
	fprintf(f, "nccl %zu sums held %zu problem %s\n", nccl.sums, nccl.held,
	        nccl.problem != NULL ? nccl.problem : "none");
	(void)fclose(f);
}

/* ---- the table ---- */

int ncclGetVersion(int *version)
{
	MAY_FAIL;
	*version = (int)setting("STANDIN_NCCL_VERSION", 23007);
	return FINE;
}

const char *ncclGetErrorString(int result)
{
	return result == INVALID_USAGE ? "invalid usage" : "planted";
}

int ncclGetUniqueId(struct nccl_id *id)
{
	char path[sizeof(id->bytes)];
	const char *folder = getenv("TMPDIR");
	int fd;

	MAY_FAIL;
	snprintf(path, sizeof(path), "%.90s/nccl-XXXXXX", folder != NULL ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, sizeof(struct table)) != 0)
		return wrong(2, "no file to meet in");
	(void)close(fd);
	memset(id, 0, sizeof(*id));
	memcpy(id->bytes, path, strlen(path));
	return FINE;
}

static struct table *map_table(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at = fd >= 0 ? mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED,
	                          fd, 0)
	                   : MAP_FAILED;

	if (fd >= 0)
		(void)close(fd);
	return at != MAP_FAILED ? at : NULL;
}

static bool is_set_up(const struct nccl_config *c)
{
	return c != NULL && c->size >= offsetof(struct nccl_config, cluster) &&
	       c->magic == 0xcafebeef && c->version >= NCCL_OLDEST && c->blocking == 0;
}

int ncclCommInitRankConfig(void **ret, int n_ranks, struct nccl_id id, int rank,
                           struct nccl_config *config)
{
	struct comm *c;

	MAY_FAIL;
	id.bytes[sizeof(id.bytes) - 1] = '\0';
	if (!is_set_up(config) || n_ranks < 1 || n_ranks > RANKS_MAX || rank < 0 || rank >= n_ranks)
		return wrong(INVALID_ARGUMENT, "joined with another configuration or rank");
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		abort();
	memcpy(c->path, id.bytes, sizeof(c->path));
	c->table = map_table(c->path);
	c->rank = (unsigned)rank;
	c->n = (unsigned)n_ranks;
	c->stage = JOINING;
	if (c->table == NULL || atomic_exchange(&c->table->seats[rank].joined, 1) != 0) {
		free(c);
		return wrong(INVALID_USAGE, "joined by an id that is not one, or twice");
	}
	nccl.held++;
	*ret = c;
	return NCCL_IN_PROGRESS;
}

/* ---- going on ---- */

static unsigned count_joined(const struct comm *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		n += atomic_load(&c->table->seats[i].joined);
	return n;
}

static unsigned count_left(const struct comm *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		n += atomic_load(&c->table->seats[i].left);
	return n;
}

/* Every rank's counter is there. */
static bool all_at(const struct comm *c, bool posted, uint64_t sums)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct seat *s = &c->table->seats[i];

		if (atomic_load(posted ? &s->posted : &s->taken) < sums)
			return false;
	}
	return true;
}

/* The values as they are when the stream has done what it was given before. */
static int post(struct comm *c)
{
	struct seat *mine = &c->table->seats[c->rank];
	size_t bytes = c->request.count * sizeof(float);

	if (cuMemcpyDtoHAsync_v2(mine->values, (uint64_t)(uintptr_t)c->values, bytes, c->stream) !=
	            0 ||
	    cuStreamSynchronize(c->stream) != 0)
		return 1;
	mine->request = c->request;
	atomic_store(&mine->posted, c->sums);
	c->stage = GATHERING;
	return FINE;
}

static const char *difference(const struct request *a, const struct request *b)
{
	return a->type != b->type || a->op != b->op ? "ranks sum other types or by other operations"
	       : a->count != b->count               ? "ranks sum other numbers of values"
	       : a->place != b->place               ? "ranks sum in another order"
	       : a->stream != b->stream             ? "ranks sum in other streams"
	                                            : NULL;
}

static int gather(struct comm *c)
{
	float *sum = calloc(c->request.count, sizeof(*sum));
	const char *differs = NULL;
	int rc;

	if (sum == NULL)
		abort();
	for (unsigned r = 0; r < c->n && differs == NULL; r++) {
		differs = difference(&c->request, &c->table->seats[r].request);
		for (size_t i = 0; i < c->request.count && differs == NULL; i++)
			sum[i] += c->table->seats[r].values[i];
	}
	rc = differs == NULL ? cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)c->values, sum,
	                                            c->request.count * sizeof(*sum), c->stream)
	                     : 0;
	free(sum);
	if (differs != NULL)
		return wrong(INVALID_USAGE, differs);
	atomic_store(&c->table->seats[c->rank].taken, c->sums);
	nccl.sums++;
	c->stage = IDLE;
	return rc == 0 ? FINE : 1;
}

static int go_on(struct comm *c)
{
	if (c->stage == JOINING && count_joined(c) == c->n) {
		(void)unlink(c->path); /* everybody has it */
		c->stage = IDLE;
	} else if (c->stage == POSTING && all_at(c, false, c->sums - 1)) {
		return post(c);
	} else if (c->stage == GATHERING && all_at(c, true, c->sums)) {
		return gather(c);
	} else if (c->stage == LEAVING && count_left(c) == c->n) {
		c->stage = IDLE;
	}
	return FINE;
}

int ncclCommGetAsyncError(void *comm, int *result)
{
	struct comm *c = comm;

	MAY_FAIL;
	if (c->error == FINE)
		c->error = go_on(c);
	*result = c->error != FINE ? c->error : c->stage != IDLE ? NCCL_IN_PROGRESS : FINE;
	return FINE;
}

/* ---- calls that begin something ---- */

static unsigned stream_number(struct comm *c, const void *stream)
{
	unsigned i = 0;

	while (i < STREAMS_MAX - 1 && c->streams[i] != NULL && c->streams[i] != stream)
		i++;
	c->streams[i] = stream;
	return i;
}

int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *stream)
{
	struct comm *c = comm;

	MAY_FAIL;
	if (c->stage != IDLE || c->error != FINE)
		return wrong(INVALID_USAGE, "asked for a sum in the midst of another call");
	if (from != to || n == 0 || n > VALUES_MAX || type != NCCL_FLOAT || op != NCCL_SUM ||
	    stream == NULL)
		return wrong(INVALID_ARGUMENT, "a sum of another kind than the trainer's");
	if (c->first == NULL)
		c->first = from;
	c->values = to;
	c->stream = stream;
	c->request = (struct request){.count = n,
	                              .place = (uint64_t)((const char *)from - c->first),
	                              .type = type,
	                              .op = op,
	                              .stream = stream_number(c, stream)};
	c->sums++;
	c->stage = POSTING;
	return NCCL_IN_PROGRESS;
}

int ncclCommFinalize(void *comm)
{
	struct comm *c = comm;

	MAY_FAIL;
	if (c->stage != IDLE)
		return wrong(INVALID_USAGE, "left in the midst of another call");
	atomic_store(&c->table->seats[c->rank].left, 1);
	c->stage = LEAVING;
	return NCCL_IN_PROGRESS;
}

static void forget(struct comm *c)
{
	(void)unlink(c->path);
	(void)munmap(c->table, sizeof(*c->table));
	free(c);
	nccl.held--;
}

int ncclCommDestroy(void *comm)
{
	struct comm *c = comm;
	bool left = c->stage == IDLE && atomic_load(&c->table->seats[c->rank].left) == 1;

	forget(c);
	MAY_FAIL;
	return left ? FINE : wrong(INVALID_USAGE, "destroyed before it had left");
}

int ncclCommAbort(void *comm)
{
	forget(comm);
	MAY_FAIL;
	return FINE;
}
