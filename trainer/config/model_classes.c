#include "trainer/config/model_classes.h"

#include <string.h>

#include "base/fs.h"
#include "base/slurp.h"
#include "trainer/classes/class_read.h"
#include "trainer/config/flat_yaml.h"
#include "trainer/config/model_file.h"

enum { CONFIG_BYTES_MAX = 16 << 20 };

static int pass_over(void *ctx, const char *key, const char *text, struct err *err)
{
	(void)ctx;
	(void)key;
	(void)text;
	(void)err;
	return 0;
}

static int take_entry(void *ctx, const char *key, const char *name, const char *text,
                      struct err *err)
{
	return strcmp(key, "id2label") == 0 ? class_entries_add(ctx, name, text, err) : 0;
}

int model_file_classes(const char *which, struct class_list *ret, struct err *err)
{
	AUTO(class_entries) struct class_entries entries = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct flat_yaml_sink sink = {.value = pass_over, .ctx = &entries, .entry = take_entry};

	if (model_file_is_built_in(which) || !fs_exists(which)) {
		*ret = (struct class_list){0};
		return 0;
	}
	if (slurp_file(which, CONFIG_BYTES_MAX, &text, err) != 0)
		return -1;
	if (strbuf_str(&text)[0] == '{')
		return class_list_load(which, ret, err);
	if (flat_yaml_read(which, strbuf_str(&text), text.len, &sink, err) != 0)
		return -1;
	return class_entries_end(&entries, which, ret, err);
}
