/*
 * What an all-reduce log is worth: the peak, the verdict and the report.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "k8s/nettest/nettest.h"

static double better(const struct nettest_row *row)
{
	return row->out_busbw > row->in_busbw ? row->out_busbw : row->in_busbw;
}

double nettest_peak(const struct nettest *n, int64_t *ret_bytes)
{
	int64_t largest = -1;
	double peak = 0;

	for (size_t i = 0; i < n->n_rows; i++) {
		const struct nettest_row *row = &n->rows[i];

		if (row->bytes > largest || (row->bytes == largest && better(row) > peak)) {
			largest = row->bytes;
			peak = better(row);
		}
	}
	*ret_bytes = largest;
	return peak;
}

double nettest_floor_of(const struct instance *i)
{
	return i->efa > 0 ? (double)i->network_mbps / 8 / 1000 * 0.6 : 0;
}

struct reasons {
	char (*at)[NETTEST_REASON_MAX];
	size_t n;
};

static void because(struct reasons *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void because(struct reasons *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->at[r->n++], NETTEST_REASON_MAX, fmt, args);
	va_end(args);
}

static void judge_transport(const struct nettest *n, struct reasons *r)
{
	if (n->transport == TRANSPORT_SOCKET)
		because(r, "NCCL fell back to TCP: EFA was not used");
	else if (n->transport == TRANSPORT_UNKNOWN)
		because(r, "no line of the log shows that EFA was used: run with NCCL_DEBUG=INFO "
		           "and keep the whole log");
}

static int64_t wrong_values(const struct nettest *n)
{
	for (size_t i = 0; i < n->n_rows; i++)
		if (n->rows[i].wrong > 0)
			return n->rows[i].bytes;
	return -1;
}

size_t nettest_judge(const struct nettest *n, const struct nettest_floor *floor,
                     char reasons[NETTEST_REASONS][NETTEST_REASON_MAX])
{
	struct reasons r = {reasons, 0};
	int64_t bytes, wrong = wrong_values(n);
	double peak = nettest_peak(n, &bytes);

	if (!floor->allow_tcp)
		judge_transport(n, &r);
	if (wrong >= 0)
		because(&r, "wrong values at %lld bytes: the result of the all-reduce is incorrect",
		        (long long)wrong);
	if (n->out_of_bounds)
		because(&r, "the final check found values out of bounds");
	if (!n->has_average)
		because(&r, "the log ends before the test does: no line \"Avg bus bandwidth\"");
	if (floor->gbps > 0 && peak < floor->gbps)
		because(&r, "%.2f GB/s at %lld bytes is below the floor of %.2f GB/s", peak,
		        (long long)bytes, floor->gbps);
	return r.n;
}

/* Thousandths as a whole number: GB/s as MB/s, microseconds as nanoseconds. */
static void add_thousandths(cJSON *obj, const char *key, double value)
{
	json_add_int(obj, key, llround(value * 1000));
}

static void add_sizes(const struct nettest *n, cJSON *obj)
{
	cJSON *sizes = json_add_array(obj, "sizes");

	for (size_t i = 0; i < n->n_rows; i++) {
		const struct nettest_row *row = &n->rows[i];
		cJSON *item = cJSON_CreateObject();

		json_push(sizes, item);
		json_add_int(item, "bytes", row->bytes);
		add_thousandths(item, "out_of_place_ns", row->out_us);
		add_thousandths(item, "out_of_place_mb_s", row->out_busbw);
		add_thousandths(item, "in_place_ns", row->in_us);
		add_thousandths(item, "in_place_mb_s", row->in_busbw);
		if (row->wrong >= 0)
			json_add_int(item, "wrong", row->wrong);
	}
}

void nettest_json(const struct nettest *n, cJSON *obj)
{
	int64_t bytes;
	double peak = nettest_peak(n, &bytes);

	json_add_string(obj, "transport", transport_name(n->transport));
	json_add_bool(obj, "rdma", n->rdma);
	if (n->plugin[0] != '\0')
		json_add_string(obj, "plugin", n->plugin);
	add_thousandths(obj, "peak_mb_s", peak);
	json_add_int(obj, "peak_bytes", bytes);
	if (n->has_average)
		add_thousandths(obj, "average_mb_s", n->average);
	add_sizes(n, obj);
}
