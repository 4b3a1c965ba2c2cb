/*
 * "Please stop": a flag set by SIGINT/SIGTERM handlers and polled by long loops, so that temporary
 * files are removed and locks released on the way out. The only process-wide state in the tree.
 */
#ifndef SLIPWAY_BASE_INTERRUPT_H
#define SLIPWAY_BASE_INTERRUPT_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Installs handlers for SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE. A second signal of them,
 * more than 200 ms after the first, ends the process at once, as if there were no handlers. A
 * SIGHUP that whoever started the process has it ignore, as nohup(1) does, stays ignored.
 */
void interrupt_install(void);

bool interrupt_requested(void);

/* 0, or -1 with ERR_INTERRUPTED when a stop was requested. */
int interrupt_check(struct err *err) MUST_USE;

/* While held, a request to stop is not reported: for the few calls of a clean-up that must still be
 * made. A second signal kills all the same. */
void interrupt_hold(bool held);

#endif
