/*
 * That the emulator takes copies that go on by themselves (cp.async) as the PTX ISA has them: a
 * pipeline of them is right in every order, and each way to wait too little, to send too early and
 * to ask for what a device refuses is found.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/emulate.h"
#include "tests/cuda/ptx_run.h"
#include "tests/harness.h"
#include "trainer/cuda/kernels/device.h"

enum { THREADS = 64, PIECES = 3, STEPS = 7, ORDERS = 10 };

enum fault {
	NO_FAULT,
	WAITS_FOR_TOO_FEW,
	ENDS_NO_GROUP,
	MEETS_NOBODY,
	SENDS_BEFORE_ALL_HAVE_READ,
	ENDS_WITHOUT_WAITING,
	FAULTS
};

struct pipeline {
	float in[STEPS][THREADS][4], out[THREADS];
	enum fault fault;
	bool translated; /* reads as translated PTX does */
};

static void send(struct pipeline *p, float (*s)[THREADS][4], unsigned step)
{
	unsigned i = thread_index();

	if (step < STEPS)
		copy_four(s[step % PIECES][i], p->in[step][i], 16);
	if (p->fault != ENDS_NO_GROUP)
		copies_end_group();
}

static float read_four(const struct pipeline *p, float (*s)[THREADS][4], unsigned piece, unsigned i)
{
	const float *at = s[piece][i];

	if (p->translated)
		at = ptx_shared((uint64_t)((const char *)at - (const char *)shared_memory()), 16);
	return at[0] + at[1] + at[2] + at[3];
}

/* A thread's sum is of what the thread at the other end has copied. */
static void run_pipeline(const void *params)
{
	struct pipeline *p = *(struct pipeline *const *)params;
	float(*s)[THREADS][4] = shared_memory(), sum = 0;
	unsigned left = PIECES - 2 + (p->fault == WAITS_FOR_TOO_FEW);

	for (unsigned step = 0; step < PIECES - 1; step++)
		send(p, s, step);
	for (unsigned step = 0; step < STEPS; step++) {
		copies_wait(left);
		if (p->fault == SENDS_BEFORE_ALL_HAVE_READ)
			send(p, s, step + PIECES - 1);
		if (p->fault != MEETS_NOBODY)
			block_sync();
		if (p->fault != SENDS_BEFORE_ALL_HAVE_READ)
			send(p, s, step + PIECES - 1);
		sum += read_four(p, s, step % PIECES, THREADS - 1 - thread_index());
	}
	if (p->fault == ENDS_WITHOUT_WAITING)
		copy_four(s[STEPS % PIECES][thread_index()], p->in[0][0], 16);
	p->out[thread_index()] = sum;
}

static bool is_right(struct pipeline *p, uint64_t seed)
{
	struct emulated launch = {.kernel = run_pipeline,
	                          .args = &p,
	                          .grid = {1, 1, 1},
	                          .threads = THREADS,
	                          .shared = PIECES * THREADS * 16};
	bool right = emulate(&launch, seed) == NULL;

	for (unsigned i = 0; i < THREADS; i++) {
		float want = 0;

		for (unsigned step = 0; step < STEPS; step++)
			for (unsigned k = 0; k < 4; k++)
				want += p->in[step][THREADS - 1 - i][k];
		right = right && p->out[i] == want;
	}
	return right;
}

static unsigned count_right(enum fault fault, bool translated)
{
	static struct pipeline p;
	unsigned right = 0;

	p.fault = fault;
	p.translated = translated;
	for (unsigned i = 0; i < STEPS * THREADS * 4; i++)
		(&p.in[0][0][0])[i] = (float)(i % 101);
	for (uint64_t seed = 0; seed < ORDERS; seed++)
		right += is_right(&p, seed);
	return right;
}

static void pipelines_are_right_or_found_out(void)
{
	for (int translated = 0; translated < 2; translated++) {
		CHECK_INT(count_right(NO_FAULT, translated), ORDERS);
		for (enum fault fault = NO_FAULT + 1; fault < FAULTS; fault++)
			CHECK(count_right(fault, translated) <= 1);
	}
}

/* ---- one copy ---- */

struct one {
	float from[8], got[8];
	size_t to, at, size; /* bytes; at: into `from` */
	uint32_t bytes;
	bool again, translated, reads, loads;
};

static void copy_of(const struct one *p)
{
	float *to = (float *)((char *)shared_memory() + p->to);
	const float *from = (const float *)((const char *)p->from + p->at);

	if (p->translated)
		ptx_copy((uint32_t)p->to, (uint64_t)(uintptr_t)from, (uint32_t)p->size, p->bytes);
	else if (p->size == 16)
		copy_four(to, from, p->bytes);
	else
		copy_one(to, from, p->bytes);
}

static void run_one(const void *params)
{
	struct one *p = *(struct one *const *)params;
	uint32_t words[4];

	if (thread_index() == 0)
		copy_of(p);
	if (thread_index() == 0 && p->again)
		copy_of(p);
	if (p->reads)
		(void)ptx_shared(p->to, 4);
	if (p->loads)
		matrix_load_rows(words, shared_memory());
	copies_end_group();
	copies_wait(0);
	block_sync();
	if (thread_index() == 0)
		memcpy(p->got, shared_memory(), sizeof(p->got));
}

static const char *problem_of(struct one p, float got[8])
{
	struct one *at = &p;
	struct emulated launch = {.kernel = run_one,
	                          .args = &at,
	                          .grid = {1, 1, 1},
	                          .threads = WARP,
	                          .shared = sizeof(p.got)};
	const char *problem;

	for (unsigned i = 0; i < 8; i++)
		p.from[i] = (float)(i + 1);
	problem = emulate(&launch, 5);
	memcpy(got, p.got, sizeof(p.got));
	return problem != NULL ? problem : "";
}

static void a_copy_ends_with_zeros(void)
{
	for (unsigned i = 0; i < 2 * 6; i++) {
		struct one p = {.to = 16,
		                .at = 16,
		                .size = i % 6 < 5 ? 16 : 4,
		                .bytes = i % 6 < 5 ? i % 6 * 4 : 0,
		                .translated = i / 6};
		float got[8];

		CHECK_STR(problem_of(p, got), "");
		for (unsigned k = 0; k < 4; k++) {
			bool there = k * 4 < p.bytes, beyond = k * 4 >= p.size;

			CHECK(beyond ? got[4 + k] != got[4 + k]
			             : got[4 + k] == (there ? (float)(5 + k) : 0));
			CHECK(got[k] != got[k]); /* nobody has written there */
		}
	}
}

static void what_a_device_refuses_is_a_problem(void)
{
	static const struct {
		struct one what;
		const char *problem;
	} cases[] = {
		{{.to = 8, .size = 16, .bytes = 16}, "a copy to what is not aligned or not shared"},
		{{.to = 32, .size = 16}, "a copy to what is not aligned or not shared"},
		{{.at = 4, .size = 16, .bytes = 16},
	         "a copy from an address that is 0 or not aligned"},
		{{.size = 4, .bytes = 5}, "a copy of more bytes than its size"},
		{{.size = 12, .bytes = 12, .translated = true},
	         "a copy of a size that cp.async does not have"},
		{{.size = 16, .bytes = 16, .again = true}, "a copy to where another is on its way"},
		{{.size = 16, .bytes = 16, .reads = true},
	         "shared memory that a copy is still on its way to"},
		{{.size = 16, .bytes = 16, .loads = true},
	         "ldmatrix of what a copy is still on its way to"},
	};
	float got[8];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(problem_of(cases[i].what, got), cases[i].problem);
}

int main(void)
{
	TEST("copies: a pipeline is right in every order, and each of its faults is found",
	     pipelines_are_right_or_found_out);
	TEST("copies: what is not copied is zero, and nothing else is touched",
	     a_copy_ends_with_zeros);
	TEST("copies: what a device would refuse or race on is a problem",
	     what_a_device_refuses_is_a_problem);
	return test_done();
}
