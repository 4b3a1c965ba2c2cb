/* Any bytes as JSON: what is accepted prints to something that is accepted and prints the same. */
#include <stdint.h>

#include "base/doc/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(json) cJSON *doc = NULL;
	AUTO(json) cJSON *again = NULL;
	AUTO(strbuf) struct strbuf first = STRBUF_INIT(16 << 20), second = STRBUF_INIT(16 << 20);
	struct err err = {0};
	int64_t n;

	if (size > 64 << 10 || json_parse("f", (const char *)data, size, &doc, &err) != 0)
		return 0;
	if (json_size(doc, "size", &n, &err) == 0 && n < 0)
		abort();
	json_print(doc, &first);
	if (json_parse("f", first.ptr, first.len, &again, &err) != 0)
		abort();
	json_print(again, &second);
	if (strcmp(strbuf_str(&first), strbuf_str(&second)) != 0)
		abort();
	return 0;
}
