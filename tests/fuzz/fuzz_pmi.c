/*
 * Lines that a rank, or a stranger, sends to rank 0 while a job's ranks meet.
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/comm/pmi_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_strndup((const char *)data, size);
	struct pmi_store *store = pmi_store_new(2);
	char *rest = text;

	for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
		AUTO(strbuf) struct strbuf reply = STRBUF_INIT(2048);

		if (!pmi_answer(store, line, &reply))
			break;
	}
	pmi_store_free(store);
	return 0;
}
