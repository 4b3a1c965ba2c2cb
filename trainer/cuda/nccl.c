#include "trainer/cuda/nccl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/cuda/nccl_library.h"
#include "trainer/cuda/side.h"
#include "trainer/ops/ops.h"

struct nccl {
	struct collective base; /* first: a collective is its nccl */
	struct nccl_library library;
	struct cuda_side *side;
	void *comm;
	const char *last; /* the call that comm may still be at */
	bool marked;      /* the side's end is behind the last sum */
};

#define NCCL_NAME_MEMBER(member, name, parameters) const char *member;
#define NCCL_NAME(member, name, parameters)        .member = #name,
static const struct {
	NCCL_CALLS(NCCL_NAME_MEMBER)
} names = {NCCL_CALLS(NCCL_NAME)};

/* The call; what it has not finished when it returns goes on in NCCL. */
#define ASK(n, err, member, arguments)                                                             \
	answer((n), (n)->library.call.member arguments, names.member, (err))

static int answer(struct nccl *n, int result, const char *call, struct err *err)
{
	n->last = call;
	return result == 0 || result == NCCL_IN_PROGRESS
	               ? 0
	               : nccl_failure(&n->library, result, call, err);
}

static struct nccl *nccl_of(struct collective *c)
{
	return (struct nccl *)c;
}

static void nccl_close(struct collective *c, bool in_order)
{
	struct nccl *n = nccl_of(c);

	if (n == NULL)
		return;
	/* Only then do the GPU's part of its sums end, and the stream with them. */
	if (n->comm != NULL)
		(void)(in_order ? n->library.call.destroy(n->comm)
		                : n->library.call.abort(n->comm));
	cuda_side_free(n->side);
	free(n);
}

static int nccl_open(struct ops *ops, struct collective **ret, struct err *err)
{
	struct nccl *n = mem_zalloc(sizeof(*n));

	n->base.table = &cuda_nccl;
	if (nccl_library_open(&n->library, err) != 0 ||
	    cuda_side_new(ops->own, &n->side, err) != 0) {
		nccl_close(&n->base, false);
		return -1;
	}
	*ret = &n->base;
	return 0;
}

static int nccl_id(struct collective *c, unsigned char ret[COLLECTIVE_ID], struct err *err)
{
	struct nccl *n = nccl_of(c);
	struct nccl_id id = {{0}};

	if (ASK(n, err, unique_id, (&id)) != 0)
		return -1;
	memcpy(ret, id.bytes, COLLECTIVE_ID);
	return 0;
}

/* Nothing blocks: a rank that never comes would hold this one in the call for ever. */
static int nccl_join(struct collective *c, const unsigned char id[COLLECTIVE_ID], unsigned rank,
                     unsigned n_ranks, struct err *err)
{
	struct nccl *n = nccl_of(c);
	struct nccl_id place;
	struct nccl_config config = {.size = sizeof(config),
	                             .magic = (unsigned)NCCL_MAGIC,
	                             .version = NCCL_CONFIG_VERSION,
	                             .blocking = 0,
	                             .cluster = NCCL_UNDEFINED,
	                             .blocks_min = NCCL_UNDEFINED,
	                             .blocks_max = NCCL_UNDEFINED,
	                             .split_share = NCCL_UNDEFINED};

	memcpy(place.bytes, id, sizeof(place.bytes));
	return ASK(n, err, join, (&n->comm, (int)n_ranks, place, (int)rank, &config));
}

static int nccl_begin_sum(struct collective *c, float *values, size_t n_values, struct err *err)
{
	struct nccl *n = nccl_of(c);

	n->marked = false;
	if (cuda_side_follow(n->side, err) != 0 ||
	    ASK(n, err, sum,
	        (values, values, n_values, NCCL_FLOAT, NCCL_SUM, n->comm,
	         cuda_side_stream(n->side))) != 0)
		return -1;
	return 0;
}

/* A sum that is in progress may not be in the stream yet: its end is marked when NCCL is ready. */
static int side_done(struct nccl *n, bool *ret, struct err *err)
{
	if (!n->marked && cuda_side_mark(n->side, err) != 0)
		return -1;
	n->marked = true;
	return cuda_side_done(n->side, ret, err);
}

static int nccl_test(struct collective *c, enum collective_state state, bool *ret, struct err *err)
{
	struct nccl *n = nccl_of(c);
	const char *last = n->last;
	int under_way = 0;

	*ret = false;
	if (ASK(n, err, state, (n->comm, &under_way)) != 0)
		return -1;
	n->last = last;
	if (under_way == NCCL_IN_PROGRESS)
		return 0;
	if (under_way != 0)
		return nccl_failure(&n->library, under_way, last, err);
	*ret = state == COLLECTIVE_READY;
	return *ret ? 0 : side_done(n, ret, err);
}

static int nccl_leave(struct collective *c, struct err *err)
{
	struct nccl *n = nccl_of(c);

	return ASK(n, err, finalize, (n->comm));
}

/* 23007 is 2.30.7. */
static void nccl_describe(const struct collective *c, struct strbuf *sb)
{
	int version = ((const struct nccl *)c)->library.version;

	strbuf_addf(sb, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

const struct op_collective cuda_nccl = {
	.open = nccl_open,
	.id = nccl_id,
	.join = nccl_join,
	.begin_sum = nccl_begin_sum,
	.test = nccl_test,
	.leave = nccl_leave,
	.close = nccl_close,
	.describe = nccl_describe,
};
