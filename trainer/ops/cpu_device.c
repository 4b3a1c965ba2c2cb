/* The CPU as a device: its memory is the host's, and nothing is ever behind. */
#include <stdlib.h>
#include <string.h>

#include "trainer/ops/cpu.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/threads.h"

static void allocate(struct ops *ops, struct buffer *b, const char *what)
{
	(void)ops;
	(void)what;
	b->at = floats_new((b->bytes + sizeof(float) - 1) / sizeof(float));
}

static void release(struct ops *ops, struct buffer *b)
{
	(void)ops;
	free(b->at);
}

static void zero(struct ops *ops, void *to, size_t n)
{
	(void)ops;
	memset(to, 0, n);
}

static void copy(struct ops *ops, void *to, const void *from, size_t n)
{
	(void)ops;
	memcpy(to, from, n);
}

static void sync_nothing(struct ops *ops)
{
	(void)ops;
}

static void describe(const struct ops *ops, struct strbuf *sb)
{
	strbuf_addf(sb, "%u threads, %s, %s", ops_threads(ops), ops_isa(ops), ops_precision(ops));
}

static size_t held(const struct ops *ops)
{
	return cpu_of(ops)->scratch_n * sizeof(float);
}

static void close_cpu(struct ops *ops)
{
	struct cpu *cpu = ops->own;

	threads_free(cpu->threads);
	free(cpu->scratch);
	free(cpu);
}

const struct op_device cpu_device = {
	.shared = true,
	.allocate = allocate,
	.release = release,
	.zero = zero,
	.copy = copy,
	.upload = copy,
	.download = copy,
	.sync = sync_nothing,
	.describe = describe,
	.held = held,
	.close = close_cpu,
};
