/*
 * The kernels that a clip's bytes go through on their way in, beside the CPU's op: the same bits,
 * on every engine, in several orders of threads.
 */
#include <string.h>

#include "tests/cuda/compare.h"
#include "tests/harness.h"
#include "trainer/ops/ops.h"

#define CHECK_SAME(c)                                                                              \
	do {                                                                                       \
		const char *why = compare(c);                                                      \
                                                                                                   \
		if (why != NULL)                                                                   \
			test_fail(__FILE__, __LINE__, why);                                        \
	} while (0)

struct clip_kernel {
	enum cuda_kernel kernel;
	unsigned grid[3];
	void *params;
	void (*reference)(void *params);
};

static void by_launch(struct cuda_queue *q, void *op)
{
	const struct clip_kernel *k = op;

	q->launch(q, k->kernel, k->grid, k->params);
}

static void by_reference(void *op)
{
	const struct clip_kernel *k = op;

	k->reference(k->params);
}

static struct compared compared(struct clip_kernel *k)
{
	return (struct compared){.name = cuda_kernels[k->kernel].name,
	                         .op = k,
	                         .reference = by_reference,
	                         .device = by_launch};
}

static void clip_reference(struct op_clip op)
{
	struct ops cpu;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &cpu));
	cpu.table->clip(&cpu, &op);
	ops_done(&cpu);
}

static void video_reference(void *params)
{
	const struct clip_launch *p = params;

	clip_reference((struct op_clip){.frames = p->n / p->plane / 3,
	                                .plane = p->plane,
	                                .video = p->bytes,
	                                .image = p->out});
}

static void sound_reference(void *params)
{
	const struct clip_launch *p = params;

	clip_reference((struct op_clip){
		.samples = p->n, .sound = (const int16_t *)p->bytes, .audio = p->out});
}

static void bytes_are_numbers(void)
{
	enum { PLANE = 77, FRAMES = 5, N = FRAMES * PLANE * 3, SAMPLES = 900 };
	int16_t samples[SAMPLES];
	uint8_t bytes[N];
	struct clip_launch v = {.bytes = bytes, .n = N, .plane = PLANE};
	struct clip_launch s = {.bytes = (uint8_t *)samples, .n = SAMPLES};
	struct clip_kernel video = {KERNEL_clip_video, {2, 1, 1}, &v, video_reference};
	struct clip_kernel sound = {KERNEL_clip_sound, {1, 1, 1}, &s, sound_reference};
	struct compared c = compared(&video);

	for (size_t i = 0; i < N; i++)
		bytes[i] = (uint8_t)(i * 37);
	for (size_t i = 0; i < SAMPLES; i++)
		samples[i] = (int16_t)(i * 73 - 32768);
	v.out = compared_result(&c, N);
	CHECK_SAME(&c);
	c = compared(&sound);
	s.out = compared_result(&c, SAMPLES);
	CHECK_SAME(&c);
}

int main(void)
{
	TEST("cuda: a clip's bytes become the CPU's numbers", bytes_are_numbers);
	return test_done();
}
