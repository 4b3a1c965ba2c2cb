/*
 * A device on the host: runs one launch of a kernel, block after block, each thread on a stack of
 * its own, and supplies the functions of trainer/cuda/kernels/device.h. Only one thread runs at a
 * time; which one goes on is drawn from a seed: blocks in any order; warps of a block in turns cut
 * at every barrier, shuffle and matrix instruction, or one after the other up to the next barrier;
 * lanes of a warp in any order between those. A kernel that reads what another thread has not surely
 * written gives other results for another seed. Shared memory is filled with not-a-numbers before
 * each block.
 *
 * A warp's instruction waits for all 32 lanes; a lane that is elsewhere, or has ended, is a problem
 * and not a hang: that is what `.sync` and `.aligned` demand (PTX ISA, 9.7.9 and 9.7.14).
 */
#ifndef SLIPWAY_TESTS_CUDA_EMULATE_H
#define SLIPWAY_TESTS_CUDA_EMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emulated {
	void (*kernel)(const void *args);
	const void *args;
	unsigned grid[3], threads;
	size_t shared; /* bytes, at most 227 KiB */
};

/* NULL, or what the kernel did that a device would not allow; then its threads were abandoned. */
const char *emulate(const struct emulated *launch, uint64_t seed);

/*
 * Barriers, a block's and a warp's, by the place in a kernel that asks for them: those that launches
 * meet from emulate_barriers on, and one that is left out, as if the kernel did not have it.
 */
enum { EMULATED_BARRIERS = 128 };
struct emulated_barrier {
	const void *site; /* the address behind the call */
	void (*kernel)(const void *args);
};
struct emulated_barriers {
	struct emulated_barrier at[EMULATED_BARRIERS];
	size_t n;
	const void *omitted; /* a site, or NULL: none */
};
/* Borrowed until the next call; NULL: nobody wants to know. */
void emulate_barriers(struct emulated_barriers *b);

/* What the warp's instructions take and give, by lane. */
struct warp_request {
	void (*run)(struct warp_request *const lanes[32]);
	uint32_t a[4], b[2];
	float sum[4];
	unsigned mask;
	const void *at;
};

/* Waits until all lanes of the warp ask for the same, and runs it once for all. */
void emulate_warp(struct warp_request *request);

/* A problem that the running thread met: the launch ends. */
_Noreturn void emulate_fail(const char *problem);

/* Bytes of shared memory of the launch. */
size_t emulate_shared_size(void);

/* A 16-bit value as a float. */
float bf16_value(uint16_t bits);
float f16_value(uint16_t bits);
/* A float's bits rounded to tf32's 11 of significand: to nearest, away from 0 where two are. */
uint32_t tf32_bits(float value);
/* What a matrix unit takes of it. */
float tf32_value(uint32_t bits);
/* Rounded to nearest even. */
uint16_t bf16_bits(float value);
uint16_t f16_bits(float value);

#endif
