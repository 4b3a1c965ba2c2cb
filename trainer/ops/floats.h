/*
 * Memory for large arrays of floats: 64-byte aligned, and in huge pages where the system gives them
 * on request, since products walk down columns and would touch another page at every step.
 */
#ifndef SLIPWAY_TRAINER_OPS_FLOATS_H
#define SLIPWAY_TRAINER_OPS_FLOATS_H

#include <stddef.h>

/* At least n floats, content undefined; free with free(). Ends the program when there is no memory.
 * Not touched here: pages that nobody uses cost nothing. */
float *floats_new(size_t n);

#endif
