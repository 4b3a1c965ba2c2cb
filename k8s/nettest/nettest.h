/*
 * Judging an NCCL all-reduce log: the table that nccl-tests prints and the lines by which NCCL
 * names its transport. Reads what `kubectl logs` brings, with mpirun's, kubectl's and time stamps'
 * prefixes; runs nothing. The log is hostile input: whatever it holds, memory stays constant.
 * Sources: output of nccl-tests 2.0 to 2.17 (with and without the `root` column) and messages of
 * the aws-ofi-nccl plugin; read 2026-11-21.
 * Thread rule: pure functions.
 */
#ifndef SLIPWAY_K8S_NETTEST_NETTEST_H
#define SLIPWAY_K8S_NETTEST_NETTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/doc/json.h"
#include "base/err.h"
#include "k8s/job/transport.h"
#include "k8s/object/render.h"
#include "karpenter/catalogue/catalogue.h"

extern const struct k8s_renderer nettest_renderer;

/* Can a target run the test, and what is its MPIJob called? */
bool nettest_runs_on(const struct fleet_target *target);
const char *nettest_name(const struct fleet_target *target, struct arena *a);

enum {
	NETTEST_LOG_MAX = 256 << 20, /* bytes of a log that callers should read at most */
	NETTEST_LINE_MAX = 4096,     /* longer lines are looked at no further than this */
	NETTEST_ROWS_MAX = 128,      /* sizes 1 B to 2^63 by factors of 2, twice over */
	NETTEST_PLUGIN_MAX = 64
};

/* One size. Bandwidths in GB/s (10^9 bytes); `wrong` counts differing values, -1 = not checked. */
struct nettest_row {
	int64_t bytes;
	double out_us, out_algbw, out_busbw; /* out of place */
	double in_us, in_algbw, in_busbw;    /* in place */
	int64_t wrong;
};

struct nettest {
	struct nettest_row rows[NETTEST_ROWS_MAX]; /* in the log's order */
	size_t n_rows;
	bool rows_dropped;               /* there were more than NETTEST_ROWS_MAX */
	enum transport transport;        /* how NCCL moved the bytes between nodes */
	bool rdma;                       /* some channel says GDRDMA */
	char plugin[NETTEST_PLUGIN_MAX]; /* version of aws-ofi-nccl, empty if not printed */
	bool has_average;                /* the closing line was there: the test ran to its end */
	double average;                  /* GB/s over all sizes, as the log says */
	bool out_of_bounds;              /* the closing check is not OK */
};

/* Reads a log. ERR_FORMAT when it holds no row of a result table. */
int nettest_parse(const char *log, size_t len, struct nettest *ret, struct err *err) MUST_USE;

/* Highest bus bandwidth at the largest size, and that size: small sizes measure latency. */
double nettest_peak(const struct nettest *n, int64_t *ret_bytes);

/* What is asked for. */
struct nettest_floor {
	double gbps;    /* GB/s of bus bandwidth at the largest size; 0 = none */
	bool allow_tcp; /* a run over sockets, or without a proof of EFA, passes */
};

/*
 * A floor for where the spec gives none: 60 % of what the instance's network carries, in GB/s. A
 * convention of slipway's, not a promise of AWS: low enough for one slow switch, too high for a
 * single TCP flow. 0 without EFA.
 */
double nettest_floor_of(const struct instance *i);

/* The reasons why the run does not pass, at most NETTEST_REASONS; 0 = it passes. Texts are of one
 * line each. */
enum { NETTEST_REASONS = 6, NETTEST_REASON_MAX = 160 };
size_t nettest_judge(const struct nettest *n, const struct nettest_floor *floor,
                     char reasons[NETTEST_REASONS][NETTEST_REASON_MAX]);

/* The report as members of obj: transport, peak, average, sizes; bus bandwidths in MB/s. */
void nettest_json(const struct nettest *n, cJSON *obj);

#endif
