/*
 * Prometheus metrics on a port: a thread that answers GET /metrics with the last published text,
 * one connection at a time, with small limits and short time-outs, so that nobody on the network
 * can hold the training or its memory. Speaks just enough HTTP/1.0; every other request gets 404 or
 * 400.
 */
#ifndef SLIPWAY_TRAINER_LOG_EXPORTER_H
#define SLIPWAY_TRAINER_LOG_EXPORTER_H

#include <stdint.h>

#include "base/err.h"
#include "trainer/log/lines.h"

struct exporter; /* opaque */

/* Listens on all addresses; port 0 takes a free one (exporter_port). ERR_IO when it is taken. */
int exporter_start(uint16_t port, struct exporter **ret, struct err *err) MUST_USE;
uint16_t exporter_port(const struct exporter *e);
/* Replaces what is answered. Any thread. */
void exporter_publish(struct exporter *e, const char *text);
/* Stops the thread and frees; NULL is fine. */
void exporter_stop(struct exporter *e);

/* The metrics of a step in Prometheus' text format 0.0.4. */
void exporter_format(struct strbuf *sb, const struct log_step *s, unsigned rank);
/* Those of an evaluation: slipway_trainer_validation_... */
void exporter_format_eval(struct strbuf *sb, const struct log_eval *e, unsigned rank);

#endif
