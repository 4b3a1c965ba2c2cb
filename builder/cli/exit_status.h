/*
 * Exit statuses: they are stable, scripts switch on them.
 */
#ifndef SLIPWAY_BUILDER_CLI_EXIT_STATUS_H
#define SLIPWAY_BUILDER_CLI_EXIT_STATUS_H

#include "base/err.h"

enum exit_status {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
	EXIT_REFUSED,
	EXIT_DENIED,
	EXIT_NETWORK,
	EXIT_CAPACITY,
	EXIT_BUSY,
	EXIT_JOB,
	EXIT_WAITING,
	EXIT_ABSENT,
	EXIT_UNKNOWN,
	EXIT_STATUSES
};

struct exit_status_row {
	const char *name;    /* one word */
	const char *meaning; /* one line, no full stop */
};

/* By number: what help, the man page and README.md say of each. */
extern const struct exit_status_row exit_statuses[];

/* What a failed command exits with; EXIT_OK without an error. */
enum exit_status exit_status_of(const struct err *err);

#endif
