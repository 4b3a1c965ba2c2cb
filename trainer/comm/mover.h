/*
 * An engine that works while the caller computes. MPI moves an exchange on inside its calls only
 * (MPI 4.0, section 3.7.4, progress), so a sum that is begun and left alone begins in earnest when
 * it is waited for. Around an engine whose calls may come from any thread, one at a time, this puts
 * a lock and a thread that tests the large sums under way.
 *
 * A sum is the same engine's call with the same values, so its bits are, too.
 */
#ifndef SLIPWAY_TRAINER_COMM_MOVER_H
#define SLIPWAY_TRAINER_COMM_MOVER_H

#include "trainer/comm/engine.h"

enum { MOVED_VALUES = 1 << 14 }; /* the least that the thread is woken for */

/*
 * Takes the engine over, and gives it back as it is when it wants one thread, or no thread can be
 * started. The request of a sum stays where it is until it is complete or forgotten.
 */
struct comm_engine mover_wrap(const struct comm_engine *e);

#endif
