#include "tests/cuda/emulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "tests/cuda/copies.h"
#include "tests/cuda/fiber.h"
#include "trainer/cuda/kernels/device.h"

enum { STACK = 1 << 16, THREADS_MAX = 1024, SHARED_MAX = 227 << 10 };

enum waiting { READY, AT_WARP, AT_BARRIER, ENDED, WAITINGS };

struct emulated_thread {
	void *stack;
	enum waiting waiting;
	struct warp_request *request;
};

/* The launch that runs: there is one at a time, and kernels have no argument to find it by. */
static struct device_state {
	const struct emulated *launch;
	unsigned block[3], current;
	struct emulated_thread threads[THREADS_MAX];
	unsigned lanes[THREADS_MAX / WARP][WAITINGS]; /* of each warp, how many wait for what */
	void *scheduler;
	char *stacks, *shared;
	unsigned stacks_n; /* threads that they are enough for */
	const char *problem;
	uint64_t random;
	struct emulated_barriers *barriers;
} device;

/* xorshift64*: Vigna 2016 */
static unsigned draw(unsigned below)
{
	device.random ^= device.random >> 12;
	device.random ^= device.random << 25;
	device.random ^= device.random >> 27;
	return (unsigned)((device.random * 0x2545F4914F6CDD1DULL) >> 33) % below;
}

static void shuffle(unsigned *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n; i > 1; i--) {
		unsigned j = draw(i), kept = order[i - 1];

		order[i - 1] = order[j];
		order[j] = kept;
	}
}

static void set_waiting(unsigned thread, enum waiting waiting)
{
	unsigned *lanes = device.lanes[thread / WARP];

	lanes[device.threads[thread].waiting]--;
	lanes[waiting]++;
	device.threads[thread].waiting = waiting;
}

static void stop_as(enum waiting waiting)
{
	struct emulated_thread *t = &device.threads[device.current];

	set_waiting(device.current, waiting);
	fiber_switch(&t->stack, device.scheduler);
}

static void run_thread(void)
{
	device.launch->kernel(device.launch->args);
	if (copies_are_left(device.current))
		emulate_fail("a thread ends without waiting for what it copies");
	stop_as(ENDED);
}

_Noreturn void emulate_fail(const char *problem)
{
	device.problem = problem;
	for (;;)
		stop_as(ENDED);
}

size_t emulate_shared_size(void)
{
	return device.launch->shared;
}

void emulate_warp(struct warp_request *request)
{
	device.threads[device.current].request = request;
	stop_as(AT_WARP);
}

/* ---- the scheduler ---- */

static void start_threads(void)
{
	for (unsigned i = 0; i < device.launch->threads; i++)
		device.threads[i] = (struct emulated_thread){
			.stack = fiber_start(device.stacks + (size_t)(i + 1) * STACK, run_thread)};
	for (unsigned w = 0; w < device.launch->threads / WARP; w++)
		memcpy(device.lanes[w], (unsigned[WAITINGS]){[READY] = WARP},
		       sizeof(device.lanes[w]));
	memset(device.shared, 0xff, device.launch->shared);
	copies_begin(device.shared, device.launch->shared);
}

/* Runs the ready lanes of a warp, in any order, until each waits or has ended. */
static void run_lanes(unsigned warp)
{
	unsigned order[WARP];

	shuffle(order, WARP);
	for (unsigned i = 0; i < WARP && device.problem == NULL; i++) {
		device.current = warp * WARP + order[i];
		if (device.threads[device.current].waiting == READY)
			fiber_switch(&device.scheduler, device.threads[device.current].stack);
	}
}

/* Lets a warp whose lanes all wait for one instruction have its result. */
static void run_request(unsigned warp)
{
	struct emulated_thread *first = &device.threads[warp * WARP];
	struct warp_request *lanes[WARP];

	if (device.lanes[warp][AT_WARP] != WARP) {
		device.problem = "an instruction of the whole warp without some of its lanes";
		return;
	}
	for (unsigned i = 0; i < WARP; i++) {
		lanes[i] = first[i].request;
		if (lanes[i]->run != lanes[0]->run || lanes[i]->mask != lanes[0]->mask)
			device.problem = "lanes of a warp are at different instructions";
		set_waiting(warp * WARP + i, READY);
	}
	if (device.problem == NULL)
		lanes[0]->run(lanes);
}

/* True when the warp has something to do: its lanes are ready, or all wait for one another. */
static bool can_run(unsigned warp)
{
	return device.lanes[warp][READY] > 0 || device.lanes[warp][AT_WARP] > 0;
}

static void pass_barrier(unsigned warps)
{
	for (unsigned i = 0; i < warps * WARP; i++) {
		if (device.threads[i].waiting == ENDED)
			device.problem = "a barrier that a thread of the block never reaches";
		set_waiting(i, READY);
	}
}

/*
 * In every other block the warps take turns. In the others one goes ahead, up to the next barrier,
 * before the next one moves at all: as far apart as they can be, which is where a missing barrier
 * shows after much work, too.
 */
static void run_block(void)
{
	unsigned warps = device.launch->threads / WARP, order[THREADS_MAX / WARP];
	bool ahead = draw(2) == 0;

	start_threads();
	shuffle(order, warps);
	while (device.problem == NULL) {
		unsigned ended = 0, i = 0;

		for (unsigned w = 0; w < warps; w++)
			ended += device.lanes[w][ENDED];
		if (ended == warps * WARP)
			return;
		if (!ahead)
			shuffle(order, warps);
		while (i < warps && !can_run(order[i]))
			i++;
		if (i == warps) {
			pass_barrier(warps);
			shuffle(order, warps);
			continue;
		}
		if (device.lanes[order[i]][AT_WARP] > 0)
			run_request(order[i]);
		run_lanes(order[i]);
	}
}

static void run_blocks(void)
{
	const unsigned *grid = device.launch->grid;
	unsigned n = grid[0] * grid[1] * grid[2];
	AUTO_FREE unsigned *order = calloc(n, sizeof(order[0]));

	if (order == NULL) {
		device.problem = "no memory for so many blocks";
		return;
	}
	shuffle(order, n);
	for (unsigned i = 0; i < n && device.problem == NULL; i++) {
		device.block[0] = order[i] % grid[0];
		device.block[1] = order[i] / grid[0] % grid[1];
		device.block[2] = order[i] / grid[0] / grid[1];
		run_block();
	}
}

/* Kept from launch to launch, since a run has thousands of them. */
static bool take_memory(unsigned threads)
{
	if (threads > device.stacks_n) {
		free(device.stacks);
		device.stacks = aligned_alloc(64, (size_t)threads * STACK);
		device.stacks_n = device.stacks != NULL ? threads : 0;
	}
	if (device.shared == NULL)
		device.shared = aligned_alloc(64, SHARED_MAX + 64);
	return device.stacks != NULL && device.shared != NULL;
}

__attribute__((destructor)) static void give_back_memory(void)
{
	free(device.stacks);
	free(device.shared);
}

const char *emulate(const struct emulated *launch, uint64_t seed)
{
	if (launch->threads == 0 || launch->threads % WARP != 0 || launch->threads > THREADS_MAX)
		return "a block that is not 1 to 32 whole warps";
	if (launch->shared > SHARED_MAX)
		return "more shared memory than a block can have";
	if (launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0)
		return "a grid without blocks";
	device.launch = launch;
	device.problem = NULL;
	device.random = (seed + 1) * 0x9E3779B97F4A7C15ULL;
	if (!take_memory(launch->threads))
		return "no memory for so many threads";
	run_blocks();
	return device.problem;
}

/* ---- trainer/cuda/kernels/device.h ---- */

unsigned thread_index(void)
{
	return device.current;
}
unsigned block_x(void)
{
	return device.block[0];
}
unsigned block_y(void)
{
	return device.block[1];
}
unsigned block_z(void)
{
	return device.block[2];
}
unsigned grid_x(void)
{
	return device.launch->grid[0];
}
void *shared_memory(void)
{
	return device.shared;
}

void emulate_barriers(struct emulated_barriers *b)
{
	device.barriers = b;
}

/* Whether the barrier of this site is to be left out. */
static bool is_omitted(const void *site)
{
	struct emulated_barriers *b = device.barriers;
	size_t i = 0;

	if (b == NULL)
		return false;
	while (i < b->n && b->at[i].site != site)
		i++;
	if (i == EMULATED_BARRIERS)
		emulate_fail("more barriers than there is room for");
	if (i == b->n)
		b->at[b->n++] = (struct emulated_barrier){site, device.launch->kernel};
	return site == b->omitted;
}

void block_sync(void)
{
	if (!is_omitted(__builtin_return_address(0)))
		stop_as(AT_BARRIER);
}

static void send(float *to, const float *from, size_t size, uint32_t bytes)
{
	size_t at = (size_t)((const char *)to - device.shared);
	const char *problem = copies_send(device.current, at, from, size, bytes);

	if (problem != NULL)
		emulate_fail(problem);
}

void copy_four(float *to, const float *from, uint32_t bytes)
{
	send(to, from, 16, bytes);
}
void copy_one(float *to, const float *from, uint32_t bytes)
{
	send(to, from, 4, bytes);
}
void copies_end_group(void)
{
	copies_end(device.current);
}
void copies_wait(unsigned left)
{
	copies_land(device.current, left);
}

static void nothing(struct warp_request *const lanes[WARP])
{
	(void)lanes;
}

void warp_sync(void)
{
	struct warp_request r = {.run = nothing};

	if (!is_omitted(__builtin_return_address(0)))
		emulate_warp(&r);
}

/* Of two words, so that a double travels whole. */
static void exchange(struct warp_request *const lanes[WARP])
{
	for (unsigned i = 0; i < WARP; i++)
		for (unsigned k = 0; k < 2; k++)
			lanes[i]->b[k] = lanes[i ^ lanes[i]->mask]->a[k];
}

double warp_xor_double(double value, unsigned mask)
{
	struct warp_request r = {.run = exchange, .mask = mask};

	if (mask >= WARP)
		emulate_fail("a shuffle with a mask of more than 31");
	memcpy(r.a, &value, sizeof(value));
	emulate_warp(&r);
	memcpy(&value, r.b, sizeof(value));
	return value;
}

float warp_xor(float value, unsigned mask)
{
	return (float)warp_xor_double(value, mask);
}

float root(float x)
{
	return sqrtf(x);
}

double root_double(double x)
{
	return sqrt(x);
}

float exp2_fast(float x)
{
	float y = exp2f(x);

	return y < 0x1p-126f ? 0 : y;
}

float log2_fast(float x)
{
	return log2f(fabsf(x) < 0x1p-126f ? 0 : x);
}

uint32_t multiply_high(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)a * b >> 32);
}

float bf16_value(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

uint16_t bf16_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (value != value)
		return 0x7fff;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* IEEE 754 binary16: 10 bits of significand, exponents -14 to 15, then subnormals. */
float f16_value(uint16_t bits)
{
	int exponent = bits >> 10 & 31, significand = bits & 1023;
	float size = exponent == 0    ? ldexpf((float)significand, -24)
	             : exponent == 31 ? (significand == 0 ? INFINITY : NAN)
	                              : ldexpf((float)(1024 + significand), exponent - 25);

	return bits >> 15 ? -size : size;
}

uint16_t f16_bits(float value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	float size = fabsf(value);
	int exponent;

	if (value != value)
		return 0x7fff;
	if (size >= 65520)
		return sign | 0x7c00;
	(void)frexpf(size, &exponent);
	/* size < 2^exponent; 0, whose exponent is 0, is a subnormal */
	exponent = exponent < -13 || size == 0 ? -13 : exponent;
	/* A significand rounded up to 2048 carries into the exponent, as it should. */
	return (uint16_t)(sign + ((exponent + 13) << 10) +
	                  (int)nearbyintf(ldexpf(size, 11 - exponent)));
}

uint32_t pack_bf16(float low, float high)
{
	return (uint32_t)bf16_bits(high) << 16 | bf16_bits(low);
}
uint32_t pack_f16(float low, float high)
{
	return (uint32_t)f16_bits(high) << 16 | f16_bits(low);
}
