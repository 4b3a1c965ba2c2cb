/* Any bytes as an all-reduce log: what is read stays within its bounds and can be judged. */
#include <math.h>

#include "base/mem.h"
#include "k8s/nettest/nettest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE struct nettest *n = mem_calloc(1, sizeof(*n));
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf sb = {0};
	char reasons[NETTEST_REASONS][NETTEST_REASON_MAX];
	struct nettest_floor floor = {.gbps = 30};
	struct err err = {0};
	int64_t bytes;

	if (nettest_parse((const char *)data, size, n, &err) != 0)
		return 0;
	if (n->n_rows == 0 || n->n_rows > NETTEST_ROWS_MAX)
		BUG("%zu rows", n->n_rows);
	double peak = nettest_peak(n, &bytes);

	if (!isfinite(peak) || peak < 0 || bytes < 0)
		BUG("peak %f at %lld", peak, (long long)bytes);
	if (nettest_judge(n, &floor, reasons) > NETTEST_REASONS)
		BUG("too many reasons");
	nettest_json(n, doc);
	json_print(doc, &sb);
	return 0;
}
