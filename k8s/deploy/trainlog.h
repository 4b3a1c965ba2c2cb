/*
 * What a training log's tail says: the last step with its loss and throughput, and the last
 * checkpoint. Reads the trainer's lines, the JSON lines of --json_log, and the lines of the PyTorch
 * programs it replaces; with or without kubectl's timestamps and a launcher's prefix in front.
 * Pure; any bytes are safe.
 */
#ifndef SLIPWAY_K8S_DEPLOY_TRAINLOG_H
#define SLIPWAY_K8S_DEPLOY_TRAINLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRAINLOG_LINE_MAX = 240 };

struct trainlog {
	bool has_step;
	int64_t step;                 /* of the run if logged, else of the epoch */
	int64_t epoch;                /* -1 = not logged */
	double loss;                  /* NAN = not logged */
	double throughput;            /* clips (samples) per second; NAN = not logged */
	int64_t step_ms;              /* when the line was printed; 0 = not known */
	char last[TRAINLOG_LINE_MAX]; /* the last line that is not empty, cut, control bytes as '?'
	                               */
	int64_t last_ms;
	bool has_checkpoint;
	int64_t checkpoint_step; /* -1 = not logged */
	int64_t checkpoint_ms;
};

void trainlog_read(const char *text, size_t len, struct trainlog *ret);

/*
 * Splits kubectl's timestamp ("2026-11-21T10:00:00.123456789Z ") from a line. Returns how many
 * bytes it takes with its blank, 0 if there is none; *ret_ns is nanoseconds since 1970.
 */
size_t trainlog_timestamp(const char *line, size_t len, int64_t *ret_ns);

#endif
