/*
 * Ops that are asked for once and done many times: what happens between ops_record and
 * ops_record_end is not done but kept, with its addresses and values, and ops_replay asks for all
 * of it at once (a CUDA graph). What differs from time to time must lie in the device's memory, at
 * the same addresses.
 *
 * While recording: no memory is allocated or given back, and nothing waits. So what is recorded is
 * done once before, which takes the memory that it needs.
 */
#ifndef SLIPWAY_TRAINER_OPS_RECORDING_H
#define SLIPWAY_TRAINER_OPS_RECORDING_H

#include <stdbool.h>

struct ops;

/* False: this device records nothing, or has failed; ops are then done as always. */
bool ops_record(struct ops *ops);

/* What was asked for since; NULL when it cannot be done, and then none of it is. ops_forget. */
void *ops_record_end(struct ops *ops);

/* False, and nothing is done: the recording holds memory that was given back since. */
bool ops_replay(struct ops *ops, void *recording);

/* NULL is fine. */
void ops_forget(struct ops *ops, void *recording);

#endif
