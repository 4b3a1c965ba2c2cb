/* The backend without a device: launches are forgotten, memory is counted. */
#include <stdlib.h>

#include "base/mem.h"
#include "trainer/cuda/backend.h"
#include "trainer/cuda/launch.h"

struct rehearsal {
	struct cuda_queue queue; /* first: where ops look for it */
	struct tally *tally;
	uintptr_t next; /* address; nothing is there */
	void *scratch;
	size_t scratch_n;
};

enum { SCRATCH_STEP = 1 << 20 };

static struct rehearsal *rehearsal_of(const struct ops *ops)
{
	return ops->own;
}

static void *take(struct rehearsal *r, size_t n, const char *what)
{
	void *at = (void *)r->next;

	r->next += (n + TALLY_ALIGN - 1) / TALLY_ALIGN * TALLY_ALIGN;
	tally_take(r->tally, at, n, what);
	return at;
}

/* Pinned memory is the host's, and may be looked through. */
static void allocate(struct ops *ops, struct buffer *b, const char *what)
{
	b->at = b->pinned ? mem_calloc(b->bytes, 1) : take(rehearsal_of(ops), b->bytes, what);
}

static void release(struct ops *ops, struct buffer *b)
{
	if (b->pinned)
		free(b->at);
	else
		tally_give_back(rehearsal_of(ops)->tally, b->at);
}

static void set_nothing(struct ops *ops, void *to, size_t n)
{
	(void)ops;
	(void)to;
	(void)n;
}

static void move_nothing(struct ops *ops, void *to, const void *from, size_t n)
{
	(void)ops;
	(void)to;
	(void)from;
	(void)n;
}

static void wait_for_nothing(struct ops *ops)
{
	(void)ops;
}

static void describe(const struct ops *ops, struct strbuf *sb)
{
	(void)ops;
	strbuf_adds(sb, "nothing is computed");
}

static size_t held(const struct ops *ops)
{
	return rehearsal_of(ops)->scratch_n;
}

static void close_rehearsal(struct ops *ops)
{
	struct rehearsal *r = rehearsal_of(ops);

	if (r->scratch != NULL)
		tally_give_back(r->tally, r->scratch);
	free(r);
}

static const struct op_device rehearsal_device = {.allocate = allocate,
                                                  .release = release,
                                                  .zero = set_nothing,
                                                  .copy = move_nothing,
                                                  .upload = move_nothing,
                                                  .download = move_nothing,
                                                  .sync = wait_for_nothing,
                                                  .describe = describe,
                                                  .held = held,
                                                  .close = close_rehearsal};

static void launch(struct cuda_queue *q, enum cuda_kernel kernel, const unsigned grid[3],
                   const void *params)
{
	(void)q;
	(void)kernel;
	(void)grid;
	(void)params;
}

static void zero(struct cuda_queue *q, void *to, size_t n)
{
	(void)q;
	(void)to;
	(void)n;
}

/* As the driver's: a larger one takes the place of the former. */
static void *scratch(struct cuda_queue *q, size_t n)
{
	struct rehearsal *r = (struct rehearsal *)q;

	if (n <= r->scratch_n)
		return r->scratch;
	if (r->scratch != NULL)
		tally_give_back(r->tally, r->scratch);
	r->scratch_n = (n + SCRATCH_STEP - 1) / SCRATCH_STEP * SCRATCH_STEP;
	r->scratch = take(r, r->scratch_n, "scratch");
	return r->scratch;
}

void cuda_ops_rehearse(const struct ops_options *options, struct tally *tally, struct ops *ret)
{
	struct rehearsal *r = mem_zalloc(sizeof(*r));

	r->queue = (struct cuda_queue){.launch = launch,
	                               .zero = zero,
	                               .scratch = scratch,
	                               .operands = cuda_operands_of(options->precision),
	                               .compute = 80};
	r->tally = tally;
	r->next = (uintptr_t)1 << 40;
	*ret = (struct ops){.table = &cuda_op_table,
	                    .device = &rehearsal_device,
	                    .own = r,
	                    .rounds = options->precision,
	                    .part = ""};
}
