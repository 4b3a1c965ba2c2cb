/* Any text as an image reference and as a platform: what is accepted survives its canonical form. */
#include <string.h>

#include "base/mem.h"
#include "builder/oci/platform.h"
#include "builder/oci/ref.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ref(const char *text)
{
	AUTO(arena) struct arena a = {0};
	struct ref ref, again;
	struct err err = {0};

	if (ref_parse(text, &a, &ref, &err) != 0)
		return;
	const char *canonical = ref_text(&ref, &a);

	if (ref_parse(canonical, &a, &again, &err) != 0)
		BUG("'%s' became '%s': %s", text, canonical, err.msg);
	if (strcmp(ref_text(&again, &a), canonical) != 0 || again.kind != ref.kind)
		BUG("'%s' is not stable", canonical);
}

static void check_platform(const char *text)
{
	struct platform p, again;
	char out[PLATFORM_TEXT_MAX];
	struct err err = {0};

	if (platform_parse(text, &p, &err) != 0)
		return;
	if (platform_parse(platform_text(&p, out), &again, &err) != 0 || !platform_equal(&p, &again))
		BUG("'%s' is not stable", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_strndup((const char *)data, size);

	check_ref(text);
	check_platform(text);
	return 0;
}
