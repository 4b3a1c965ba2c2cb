/*
 * Switching between stacks, for the threads of an emulated block: what a function call keeps, and
 * no more (System V ABI of amd64, AAPCS64 of arm64). ucontext would ask the kernel twice a switch.
 */
#ifndef SLIPWAY_TESTS_CUDA_FIBER_H
#define SLIPWAY_TESTS_CUDA_FIBER_H

#include <stddef.h>

/* Leaves the stack in use at *from and goes on where `to` was left. */
void fiber_switch(void **from, void *to);

/* What to switch to so that enter() runs on a stack that ends at `end`; enter must not return. */
void *fiber_start(void *end, void (*enter)(void));

#endif
