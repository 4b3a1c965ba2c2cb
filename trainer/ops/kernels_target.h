/*
 * For kernels_*.c alone: KERNELS_FOR("avx2,fma") ... KERNELS_END compiles the functions between for
 * processors that have these features. gcc and clang spell it differently; under gcc it holds to
 * the end of the file.
 */
#ifndef SLIPWAY_TRAINER_OPS_KERNELS_TARGET_H
#define SLIPWAY_TRAINER_OPS_KERNELS_TARGET_H

#define KERNELS_PRAGMA(text) _Pragma(#text)

#if defined(__clang__)
#define KERNELS_FOR(features)                                                                      \
	KERNELS_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define KERNELS_END KERNELS_PRAGMA(clang attribute pop)
/* clang has no such switch for a part of a file */
#define KERNELS_WIDE
#else
#define KERNELS_FOR(features) KERNELS_PRAGMA(GCC target(features))
#define KERNELS_END
/* vectors of 512 bits for the loops that the compiler vectorises by itself, too */
#define KERNELS_WIDE KERNELS_PRAGMA(GCC target("prefer-vector-width=512"))
#endif

#endif
