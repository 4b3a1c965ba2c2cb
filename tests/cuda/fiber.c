#include "tests/cuda/fiber.h"

#include <stdint.h>

#ifdef __x86_64__

/* rbx, rbp, r12 to r15 are the caller's; the return address lies above them. */
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "\tpushq %rbp\n"
        "\tpushq %rbx\n"
        "\tpushq %r12\n"
        "\tpushq %r13\n"
        "\tpushq %r14\n"
        "\tpushq %r15\n"
        "\tmovq %rsp, (%rdi)\n"
        "\tmovq %rsi, %rsp\n"
        "\tpopq %r15\n"
        "\tpopq %r14\n"
        "\tpopq %r13\n"
        "\tpopq %r12\n"
        "\tpopq %rbx\n"
        "\tpopq %rbp\n"
        "\tret\n"
        ".size fiber_switch, . - fiber_switch\n");

void *fiber_start(void *end, void (*enter)(void))
{
	/* Entered by ret, with the stack as a call leaves it: 8 off a multiple of 16. */
	uintptr_t *top = (uintptr_t *)((uintptr_t)end & ~(uintptr_t)15) - 2;

	top[0] = (uintptr_t)enter;
	for (int i = 1; i <= 6; i++)
		top[-i] = 0;
	return top - 6;
}

#else

/* x19 to x30 and d8 to d15 are the caller's; x30 is where to return. */
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".type fiber_switch, %function\n"
        "fiber_switch:\n"
        "\tsub sp, sp, #160\n"
        "\tstp x19, x20, [sp]\n"
        "\tstp x21, x22, [sp, #16]\n"
        "\tstp x23, x24, [sp, #32]\n"
        "\tstp x25, x26, [sp, #48]\n"
        "\tstp x27, x28, [sp, #64]\n"
        "\tstp x29, x30, [sp, #80]\n"
        "\tstp d8, d9, [sp, #96]\n"
        "\tstp d10, d11, [sp, #112]\n"
        "\tstp d12, d13, [sp, #128]\n"
        "\tstp d14, d15, [sp, #144]\n"
        "\tmov x9, sp\n"
        "\tstr x9, [x0]\n"
        "\tmov sp, x1\n"
        "\tldp x19, x20, [sp]\n"
        "\tldp x21, x22, [sp, #16]\n"
        "\tldp x23, x24, [sp, #32]\n"
        "\tldp x25, x26, [sp, #48]\n"
        "\tldp x27, x28, [sp, #64]\n"
        "\tldp x29, x30, [sp, #80]\n"
        "\tldp d8, d9, [sp, #96]\n"
        "\tldp d10, d11, [sp, #112]\n"
        "\tldp d12, d13, [sp, #128]\n"
        "\tldp d14, d15, [sp, #144]\n"
        "\tadd sp, sp, #160\n"
        "\tret\n"
        ".size fiber_switch, . - fiber_switch\n");

void *fiber_start(void *end, void (*enter)(void))
{
	uintptr_t *top = (uintptr_t *)((uintptr_t)end & ~(uintptr_t)15) - 20;

	for (int i = 0; i < 20; i++)
		top[i] = 0;
	top[11] = (uintptr_t)enter;
	return top;
}

#endif
