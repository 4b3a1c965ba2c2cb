/* NCCL all-reduce logs: what is read from them and when a run passes. */
#include "tests/harness.h"

#include "base/mem.h"
#include "k8s/nettest/nettest.h"

#define HEAD                                                                                       \
	"#       size         count      type   redop    root     time   algbw   busbw #wrong    " \
	" "                                                                                        \
	"time   algbw   busbw #wrong\n"                                                            \
	"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)           " \
	" "                                                                                        \
	"(us)  (GB/s)  (GB/s)       \n"
#define PROOF "ip-10-0-0-1:33:44 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)\n"
#define SMALL                                                                                      \
	"           8             2     float     sum      -1    164.9    0.00    0.00      0    " \
	"163.6    0.00    0.00      0\n"
#define LARGE                                                                                      \
	" 17179869184    4294967296     float     sum      -1   712345   24.12   45.22      0   "  \
	"711111   24.16   45.30      0\n"
#define END "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 13.8712 \n#\n"

static const struct nettest_floor none;

static struct nettest *read_log(const char *log)
{
	struct nettest *n = mem_calloc(1, sizeof(*n));
	struct err err = {0};

	CHECK_INT(nettest_parse(log, strlen(log), n, &err), 0);
	return n;
}

static size_t judge(const char *log, const struct nettest_floor *floor, const char *first)
{
	AUTO_FREE struct nettest *n = read_log(log);
	char reasons[NETTEST_REASONS][NETTEST_REASON_MAX] = {{0}};
	size_t count = nettest_judge(n, floor, reasons);

	if (first != NULL)
		CHECK(count > 0 && strstr(reasons[0], first) != NULL);
	return count;
}

static void reads_table(void)
{
	AUTO_FREE struct nettest *n = read_log(PROOF HEAD SMALL LARGE END);
	int64_t bytes;

	CHECK_INT(n->n_rows, 2);
	CHECK_INT(n->transport, TRANSPORT_EFA);
	CHECK(n->has_average && n->average > 13.87 && n->average < 13.88);
	CHECK(nettest_peak(n, &bytes) == 45.30);
	CHECK(bytes == 17179869184);
	CHECK(n->rows[0].in_us == 163.6 && n->rows[1].out_algbw == 24.12);
	CHECK(!n->out_of_bounds && !n->rdma);
}

static void reads_old_table(void)
{
	AUTO_FREE struct nettest *n = read_log("  1048576  262144  float  sum  161.0  6.51  12.21  "
	                                       "5e-07  160.0  6.55  12.29  0e+00\n"
	                                       "  2097152  524288  bfloat16  none  161.0  6.51  "
	                                       "3.5  N/A  160.0  6.55  3.25  N/A\n");

	CHECK_INT(n->n_rows, 2);
	CHECK_INT(n->rows[0].wrong, 1);
	CHECK_INT(n->rows[1].wrong, -1);
	CHECK(!n->has_average);
}

static void strips_prefixes(void)
{
	AUTO_FREE struct nettest *n = read_log(
		"[pod/x-launcher/nccl] 2026-11-21T10:00:00.123456789Z [1,0]<stdout>:" LARGE
		"2026-11-21T10:00:00Z [1,0]<stderr>: [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] "
		"[send] "
		"via NET/AWS Libfabric/0/GDRDMA\r\n"
		"[1,3]<stdout>:h:1:2 [3] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.14.0; x\n"
		"[1,0]<stdout>:# Avg bus bandwidth    : 40.5\r\n"
		"[1,2]<stdout>:h:1:2 [2] NCCL INFO USING NETWORK EFA\n");

	CHECK_INT(n->n_rows, 1);
	CHECK(n->rdma);
	CHECK_STR(n->plugin, "1.14.0");
	CHECK(n->has_average && n->average == 40.5);
	CHECK_INT(n->transport, TRANSPORT_EFA);
}

static void one_socket_spoils(void)
{
	AUTO_FREE struct nettest *n =
		read_log("x NCCL INFO Using network Socket\n" PROOF HEAD LARGE END);

	CHECK_INT(n->transport, TRANSPORT_SOCKET);
}

static void libfabric_alone_is_no_proof(void)
{
	AUTO_FREE struct nettest *unknown = read_log("Using network AWS Libfabric\n" LARGE);
	AUTO_FREE struct nettest *tcp = read_log("Using network AWS Libfabric\n"
	                                         "NET/OFI Selected Provider is tcp\n" LARGE);

	CHECK_INT(unknown->transport, TRANSPORT_UNKNOWN);
	CHECK_INT(tcp->transport, TRANSPORT_SOCKET);
}

static void refuses(void)
{
	static const char *const logs[] = {
		"",
		"\n\n",
		HEAD END,
		"exec /opt/nccl-tests/build/all_reduce_perf: no such file\n",
		/* One token short, one too many, words where numbers are, hex, infinite, negative.
	         */
		" 8 2 float sum 164.9 0 0 0 163.6 0 0\n",
		" 8 2 float sum -1 164.9 0 0 0 163.6 0 0 0 0\n",
		" 8 2 float sum -1 164.9 0 x 0 163.6 0 0 0\n",
		" 8 2 float sum -1 0x10 0 0 0 163.6 0 0 0\n",
		" 8 2 float sum -1 inf 0 0 0 163.6 0 0 0\n",
		" 8 2 float sum -1 1 -5 0 0 163.6 0 0 0\n",
		" 8 2 float sum -1 1 1e300 0 0 163.6 0 0 0\n",
		" 99999999999999999999 2 float sum -1 1 1 0 0 163.6 0 0 0\n",
		" -8 2 float sum -1 1 1 0 0 163.6 0 0 0\n",
		" 8 2 5 sum -1 1 1 0 0 163.6 0 0 0\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
		AUTO_FREE struct nettest *n = mem_calloc(1, sizeof(*n));
		struct err err = {0};

		CHECK_INT(nettest_parse(logs[i], strlen(logs[i]), n, &err), -1);
		CHECK_INT(err.code, ERR_FORMAT);
		CHECK(err.hint[0] != '\0');
	}
}

static void survives_bytes(void)
{
	static const char log[] = "\0\0# \0:\n[[[[\n<<<<:\n[1,0]<stdout\n 8 2 fl\0at sum\n" LARGE;
	AUTO_FREE struct nettest *n = mem_calloc(1, sizeof(*n));
	AUTO_FREE char *wide = mem_calloc(1 << 20, 1);
	struct err err = {0};

	CHECK_INT(nettest_parse(log, sizeof(log) - 1, n, &err), 0);
	CHECK_INT(n->n_rows, 1);
	memset(wide, ' ', 1 << 20);
	CHECK_INT(nettest_parse(wide, 1 << 20, n, &err), -1);
}

static void caps_rows(void)
{
	AUTO_FREE struct nettest *n = NULL;
	AUTO(strbuf) struct strbuf log = STRBUF_INIT(1 << 20);

	for (size_t i = 0; i < NETTEST_ROWS_MAX + 5; i++)
		strbuf_adds(&log, LARGE);
	n = read_log(strbuf_str(&log));
	CHECK_INT(n->n_rows, NETTEST_ROWS_MAX);
	CHECK(n->rows_dropped);
}

static void judges(void)
{
	struct nettest_floor floor = {.gbps = 30}, high = {.gbps = 60};
	struct nettest_floor tcp = {.gbps = 30, .allow_tcp = true};

	CHECK_INT(judge(PROOF HEAD SMALL LARGE END, &floor, NULL), 0);
	CHECK_INT(judge(PROOF HEAD SMALL LARGE END, &none, NULL), 0);
	CHECK_INT(judge(PROOF HEAD SMALL LARGE END, &high,
	                "45.30 GB/s at 17179869184 bytes is "
	                "below the floor of 60.00 GB/s"),
	          1);
	CHECK_INT(judge(HEAD LARGE END, &floor, "no line of the log shows that EFA was used"), 1);
	CHECK_INT(judge("Using network Socket\n" LARGE END, &floor, "fell back to TCP"), 1);
	CHECK_INT(judge("Using network Socket\n" LARGE END, &tcp, NULL), 0);
	CHECK_INT(judge(PROOF LARGE, &floor, "ends before the test does"), 1);
	CHECK_INT(judge(PROOF LARGE "# Out of bounds values : 3 FAILED\n"
	                            "# Avg bus bandwidth : 1\n",
	                &floor, "out of bounds"),
	          1);
	CHECK_INT(judge(PROOF " 8 2 float sum -1 1 1 50 2 1 1 50 3\n" END, &floor,
	                "wrong values at 8 bytes"),
	          1);
}

static void small_size_does_not_count(void)
{
	/* A fast small size does not lift a slow large one over the floor. */
	struct nettest_floor floor = {.gbps = 50};

	CHECK_INT(judge(PROOF " 8 2 float sum -1 1 1 99 0 1 1 99 0\n" LARGE END, &floor,
	                "45.30 GB/s"),
	          1);
}

static void floors_by_instance(void)
{
	CHECK(nettest_floor_of(instance_find("p4d.24xlarge")) == 400000.0 / 8 / 1000 * 0.6);
	CHECK(nettest_floor_of(instance_find("g5.xlarge")) == 0);
}

static void reports_json(void)
{
	AUTO_FREE struct nettest *n = read_log(PROOF LARGE END);
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	nettest_json(n, doc);
	json_print(doc, &sb);
	CHECK_STR(strbuf_str(&sb),
	          "{\"transport\":\"efa\",\"rdma\":false,\"peak_mb_s\":45300,"
	          "\"peak_bytes\":17179869184,\"average_mb_s\":13871,\"sizes\":[{\"bytes\":"
	          "17179869184,\"out_of_place_ns\":712345000,\"out_of_place_mb_s\":45220,"
	          "\"in_place_ns\":711111000,\"in_place_mb_s\":45300,\"wrong\":0}]}");
}

int main(void)
{
	TEST("nettest: sizes, bandwidths and the closing average are read", reads_table);
	TEST("nettest: the table of older versions has no root column", reads_old_table);
	TEST("nettest: prefixes of mpirun and kubectl are stripped", strips_prefixes);
	TEST("nettest: one rank on sockets outweighs proofs of EFA", one_socket_spoils);
	TEST("nettest: libfabric may have taken TCP", libfabric_alone_is_no_proof);
	TEST("nettest: a log without a table is refused", refuses);
	TEST("nettest: odd bytes and endless lines are survived", survives_bytes);
	TEST("nettest: more rows than fit are dropped and told", caps_rows);
	TEST("nettest: transport, wrong values, the end and the floor decide", judges);
	TEST("nettest: the largest size is judged, not the fastest", small_size_does_not_count);
	TEST("nettest: the default floor is 60 % of the instance's network", floors_by_instance);
	TEST("nettest: the report as JSON", reports_json);
	return test_done();
}
