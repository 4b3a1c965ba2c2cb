/* Any bytes as main.yaml: nothing crashes, and every value is a text of its own. */
#include <stdint.h>
#include <string.h>

#include "trainer/config/flat_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ctx, const char *key, const char *text, struct err *err)
{
	size_t *bytes = ctx;

	(void)err;
	*bytes += strlen(key) + strlen(text);
	if (key[0] == '\0')
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes = 0;
	struct flat_yaml_sink sink = {take, &bytes};
	struct err err = {0};

	if (flat_yaml_read("f", (const char *)data, size, &sink, &err) == 0 &&
	    bytes > 20 * size + 20)
		abort();
	return 0;
}
