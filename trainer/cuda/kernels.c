/*
 * The table of kernels, and the texts themselves: PTX that the Makefile has compiled, taken in by
 * the assembler as it is.
 */
#include "trainer/cuda/kernels.h"

/* A module's texts are named cuda_text_MODULE_75 and _80; one that a device cannot run is empty. */
#define CUDA_TEXT(module, sm)                                                                      \
	__asm__(".section .rodata.cuda_text_" #module "_" #sm ",\"a\"\n"                           \
	        ".globl cuda_text_" #module "_" #sm "\n"                                           \
	        "cuda_text_" #module "_" #sm ":\n"                                                 \
	        ".incbin \"sm_" #sm "/" #module ".ptx\"\n"                                         \
	        ".byte 0\n"                                                                        \
	        ".previous\n");                                                                    \
	extern const char cuda_text_##module##_##sm[] __attribute__((visibility("hidden")));

#define CUDA_TEXTS(module, oldest) CUDA_TEXT(module, 75) CUDA_TEXT(module, 80)
CUDA_MODULES(CUDA_TEXTS)

#define CUDA_MODULE(module, oldest)                                                                \
	[MODULE_##module] = {.name = #module,                                                      \
	                     .text = {(oldest) > 75 ? NULL : cuda_text_##module##_75,              \
	                              cuda_text_##module##_80}},
const struct cuda_module_row cuda_modules[MODULES] = {CUDA_MODULES(CUDA_MODULE)};

#define CUDA_KERNEL(source, kernel, type, block, bytes)                                            \
	[KERNEL_##kernel] = {.name = #kernel,                                                      \
	                     .module = MODULE_##source,                                            \
	                     .threads = (block),                                                   \
	                     .shared = (bytes),                                                    \
	                     .params = sizeof(struct type)},
const struct cuda_kernel_row cuda_kernels[KERNELS] = {CUDA_KERNELS(CUDA_KERNEL)};
