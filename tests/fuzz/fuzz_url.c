/* Any text as a URL and as a Location: what is accepted is clean and parses again. */
#include <stdint.h>
#include <string.h>

#include "base/net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	const char *text = arena_strndup(&a, (const char *)data, size), *url;
	struct url u;
	struct err err = {0};

	if (url_parse(text, &a, &u, &err) == 0) {
		url_host_is_private(u.host);
		if (u.target[0] != '/' || strpbrk(u.host, "/?#@ \r\n") != NULL)
			BUG("a URL was taken apart wrongly");
	}
	if (url_resolve("https://r.example:5000/v2/app/?x=y", text, &a, &url, &err) == 0 &&
	    url_parse(url, &a, &u, &err) != 0)
		BUG("a resolved URL does not parse");
	return 0;
}
