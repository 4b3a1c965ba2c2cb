/*
 * How a job's ranks talk between nodes, as their collectives say in the log: lines of NCCL, of
 * Neuron's collectives, which descend from it, and of the plugin aws-ofi-nccl that both load.
 * "Using network AWS Libfabric" proves nothing: libfabric may have taken TCP beneath.
 * Source: messages of NCCL 2.18 to 2.28 and of the plugin 1.6 to 1.17; read 2026-11-22. Pure; any
 * bytes are safe.
 */
#ifndef SLIPWAY_K8S_JOB_TRANSPORT_H
#define SLIPWAY_K8S_JOB_TRANSPORT_H

#include <stddef.h>

enum transport { TRANSPORT_UNKNOWN, TRANSPORT_EFA, TRANSPORT_SOCKET, TRANSPORTS };

/* "unknown", "efa", "socket" */
const char *transport_name(enum transport transport);

/* Whether a line, of any case, has `what` (lower case) in it: where; NULL if nowhere. */
const char *transport_find(const char *line, size_t len, const char *what);

/* What is known after another line. One rank on sockets is enough to spoil a job: it outweighs
 * every line that says EFA. */
enum transport transport_after(enum transport known, const char *line, size_t len);

/* Of a log's lines. */
enum transport transport_of_log(const char *log, size_t len);

#endif
