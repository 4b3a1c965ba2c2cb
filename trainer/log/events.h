/*
 * TensorBoard event files: TFRecord frames (u64 length, masked CRC-32C of it, bytes, masked CRC-32C
 * of them) that hold protocol-buffer Event messages. Written by hand: two messages with five
 * fields. (tensorflow/core/util/event.proto and summary.proto give the field numbers.)
 */
#ifndef SLIPWAY_TRAINER_LOG_EVENTS_H
#define SLIPWAY_TRAINER_LOG_EVENTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

struct events_scalar {
	const char *tag;
	float value;
};

/* Pure: appends one framed record; the first of a file says its version. */
void events_version(struct strbuf *sb, double wall_seconds);
void events_scalars(struct strbuf *sb, double wall_seconds, int64_t step,
                    const struct events_scalar *scalars, size_t n);

/*
 * Creates folder/events.out.tfevents.<seconds>.<host>.<pid>.0, as TensorBoard looks for, with the
 * version record. The folder is made when missing. The caller closes *ret_fd.
 */
int events_create(const char *folder, double wall_seconds, int *ret_fd, struct err *err) MUST_USE;

#endif
