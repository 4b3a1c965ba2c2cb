#include "trainer/cuda/backend.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trainer/cuda/driver_internal.h"
#include "trainer/cuda/gemm.h"
#include "trainer/cuda/launch_cross.h"
#include "trainer/cuda/nccl.h"
#include "trainer/ops/feed.h"

_Static_assert((int)CUDA_LANES == (int)FEED_LANES, "a device has as many lanes as a feed");

/* ---- the device ---- */

static struct cuda_device *device_of(const struct ops *ops)
{
	return ops->own;
}

/* What failed on the device sticks to the ops, as soon as it is asked for. */
static void keep_failure(struct ops *ops)
{
	struct err failure = {0};

	if (cuda_failed(device_of(ops), &failure))
		ops_fail(ops, &failure);
}

static void allocate(struct ops *ops, struct buffer *b, const char *what)
{
	b->at = b->pinned ? cuda_allocate_pinned(device_of(ops), b->bytes, what)
	                  : cuda_allocate(device_of(ops), b->bytes, what);
	keep_failure(ops);
}

static void release(struct ops *ops, struct buffer *b)
{
	if (b->pinned)
		cuda_release_pinned(device_of(ops), b->at);
	else
		cuda_release(device_of(ops), b->at);
	keep_failure(ops);
}

static void zero(struct ops *ops, void *to, size_t n)
{
	struct cuda_queue *q = cuda_queue_of(device_of(ops));

	q->zero(q, to, n);
}

static void copy(struct ops *ops, void *to, const void *from, size_t n)
{
	cuda_copy(device_of(ops), to, from, n);
}

static void upload(struct ops *ops, void *to, const void *from, size_t n)
{
	cuda_upload(device_of(ops), to, from, n);
}

static void download(struct ops *ops, void *to, const void *from, size_t n)
{
	cuda_download(device_of(ops), to, from, n);
}

static void wait_for_all(struct ops *ops)
{
	struct err failure = {0};

	if (cuda_sync(device_of(ops), &failure) != 0)
		ops_fail(ops, &failure);
	cuda_gemm_keep(device_of(ops));
}

static void send(struct ops *ops, unsigned lane, void *to, const void *from, size_t n)
{
	cuda_send(device_of(ops), lane, to, from, n);
}

static void sent(struct ops *ops, unsigned lane)
{
	cuda_sent(device_of(ops), lane);
	keep_failure(ops);
}

static void take(struct ops *ops, unsigned lane, void *to, const void *from, size_t n)
{
	cuda_take(device_of(ops), lane, to, from, n);
}

static bool record(struct ops *ops)
{
	return cuda_record(device_of(ops));
}

static void *record_end(struct ops *ops)
{
	void *graph = cuda_record_end(device_of(ops));

	keep_failure(ops);
	return graph;
}

static bool replay(struct ops *ops, void *recording)
{
	return cuda_replay(device_of(ops), recording);
}

static void forget(struct ops *ops, void *recording)
{
	cuda_forget(device_of(ops), recording);
	keep_failure(ops);
}

static void describe(const struct ops *ops, struct strbuf *sb)
{
	const struct cuda_about *a = cuda_about(device_of(ops));

	strbuf_addf(sb, "%s, compute capability %d.%d, CUDA %d.%d, %s", a->name, a->major, a->minor,
	            a->driver / 1000, a->driver % 1000 / 10, precision_name(ops->rounds));
}

static void products(const struct ops *ops, struct strbuf *sb)
{
	cuda_gemm_describe(device_of(ops), sb);
}

static double peak(struct ops *ops, uint32_t rounds)
{
	struct cuda_device *d = device_of(ops);

	return cuda_peak(cuda_queue_of(d), (unsigned)cuda_about(d)->multiprocessors * PEAK_BLOCKS,
	                 rounds);
}

static size_t held(const struct ops *ops)
{
	return cuda_held(device_of(ops));
}

static void read_meters(struct ops *ops, struct meters *ret)
{
	cuda_meters(device_of(ops), ret);
}

static void close_device(struct ops *ops)
{
	cuda_gemm_close(device_of(ops));
	cuda_close(device_of(ops));
}

#define CUDA_OP_DEVICE                                                                             \
	.shared = false, .allocate = allocate, .release = release, .zero = zero, .copy = copy,     \
	.upload = upload, .download = download, .sync = wait_for_all, .collective = &cuda_nccl,    \
	.send = send, .sent = sent, .take = take, .describe = describe, .products = products,      \
	.peak = peak, .held = held, .meters = read_meters, .close = close_device
static const struct op_device cuda_op_device = {CUDA_OP_DEVICE, .record = record,
                                                .record_end = record_end, .replay = replay,
                                                .forget = forget};
static const struct op_device unrecorded_op_device = {CUDA_OP_DEVICE};

/* ---- the table ---- */

#define BY_LAUNCH(op, type)                                                                        \
	static void op(struct ops *ops, const struct type *p)                                      \
	{                                                                                          \
		if (!ops->has_failed)                                                              \
			cuda_##op(ops->own, p);                                                    \
	}
EACH_OP(BY_LAUNCH)

/* The launches' own state, and the memory that it places. */
struct cross_state {
	struct cuda_cross cross; /* first: what the launches are given */
	struct buffer memory;
};

static void *cross_state_new(struct ops *ops, const struct op_cross *p)
{
	struct cross_state *s = mem_zalloc(sizeof(*s));

	s->memory = buffer_new(ops, cuda_cross_place(p, NULL, &s->cross), "cross attention");
	(void)cuda_cross_place(p, s->memory.at, &s->cross);
	return s;
}

static void cross_state_free(struct ops *ops, void *state)
{
	struct cross_state *s = state;

	if (s == NULL)
		return;
	buffer_free(ops, &s->memory);
	free(s);
}

#define ROW(op, type) .op = (op),
const struct op_table cuda_op_table = {
	.name = "cuda",
	EACH_OP(ROW).cross_state_new = cross_state_new,
	.cross_state_free = cross_state_free,
};

/* ---- opening ---- */

static int check_options(const struct ops_options *o, struct err *err)
{
	if (!o->reference && o->isa == NULL && !o->plain_cross)
		return 0;
	err_set(err, ERR_USAGE, "%s of a processor, not of a GPU",
	        o->reference     ? "the reference arithmetic is"
	        : o->isa != NULL ? "instruction sets are"
	                         : "the plain path is");
	return err_hint(err, "Give --device cpu with it.");
}

/* What products do with their operands, the first major capability that has it, and what to do
 * about an older one. */
static const struct {
	enum cuda_operands operands;
	int major;
	const char *instead;
} precisions[PRECISIONS] = {
	[PRECISION_F32] = {OPERANDS_F32, 0, ""},
	[PRECISION_BF16] = {OPERANDS_BF16, 8, "Give --precision f16, which this GPU has, or f32."},
	[PRECISION_F16] = {OPERANDS_F16, 0, ""},
	[PRECISION_TF32] = {OPERANDS_TF32, 8, "Give --precision f32, or f16, which this GPU has."}};

enum cuda_operands cuda_operands_of(enum op_precision p)
{
	return precisions[p].operands;
}

static int choose_operands(struct cuda_device *d, const struct ops_options *o, struct err *err)
{
	const struct cuda_about *a = cuda_about(d);
	enum op_precision p = o->precision;

	cuda_queue_of(d)->operands = cuda_operands_of(p);
	if (a->major >= precisions[p].major)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "the GPU %s has compute capability %d.%d: %s needs %d.0",
	        a->name, a->major, a->minor, precision_name(p), precisions[p].major);
	return err_hint(err, "%s", precisions[p].instead);
}

size_t cuda_ops_room(const struct ops *ops)
{
	return cuda_about(device_of(ops))->memory;
}

int cuda_ops_open(unsigned index, const struct ops_options *options, struct ops *ret,
                  struct err *err)
{
	struct cuda_device *d;

	if (check_options(options, err) != 0 || cuda_open(NULL, (int)index, &d, err) != 0)
		return -1;
	if (choose_operands(d, options, err) != 0 || cuda_gemm_open(d, options->gemm, err) != 0) {
		cuda_gemm_close(d);
		cuda_close(d);
		return -1;
	}
	*ret = (struct ops){.table = &cuda_op_table,
	                    .device = options->unrecorded ? &unrecorded_op_device : &cuda_op_device,
	                    .own = d,
	                    .rounds = options->precision,
	                    .part = ""};
	return 0;
}
