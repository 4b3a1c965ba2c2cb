/* Any configuration and any layers through the whole image check: every rule, one verdict. */
#include "builder/check/check.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct check_opts opts = {.threads = 1};
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	struct parts parts = {(const char *)data, size};
	struct memory_store m;
	struct check_report report;
	struct err err = {0};

	memory_image(&m, &parts, 2, &a);
	if (check_image(&m.store, &m.root, &opts, &a, &report, &d, &err) != 0 &&
	    err.code == ERR_CHECK && d.n_errors == 0)
		BUG("refused without a reason: %s", err.msg);
	return 0;
}
