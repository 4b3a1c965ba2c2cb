/* Any two images compared: with itself an image has no difference. */
#include "builder/check/diff.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(struct memory_store *one, struct memory_store *two, bool same)
{
	const struct diff_side a = {&one->store, &one->root, "a"},
			       b = {&two->store, &two->root, "b"};
	AUTO(json) cJSON *doc = NULL;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(8 << 20);
	struct budget budget = {0};
	struct err err = {0};

	if (diff_images(&a, &b, &(struct diff_opts){&budget, true}, &doc, &err) != 0)
		return;
	diff_text(doc, &text);
	if (same && !cJSON_IsTrue(json_get(doc, "equal")))
		BUG("an image differs from itself: %s", strbuf_str(&text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct parts parts = {(const char *)data, size};
	struct memory_store one, two;

	memory_image(&one, &parts, 1, &a);
	memory_image(&two, &parts, 1, &a);
	compare(&one, &two, false);
	compare(&one, &one, true);
	return 0;
}
