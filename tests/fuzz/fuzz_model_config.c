/* Any bytes as a config.json: what is taken must have sizes that hold together. */
#include <stdint.h>
#include <stdlib.h>

#include "trainer/classes/class_read.h"
#include "trainer/model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A class that is listed is found again. */
static void read_classes(const struct jsonr *doc)
{
	AUTO(class_list) struct class_list list = {0};
	struct err err = {0};

	if (class_list_of_id2label("f", jsonr_get(doc, doc->nodes, "id2label"), doc, &list, &err) !=
	    0)
		return;
	for (size_t i = 0; i < list.n; i++)
		if (class_list_find(&list, list.at[i]) != i)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(jsonr) struct jsonr doc = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct model_config c = model_config_tiny();
	struct model_dims d;
	struct err err = {0};

	if (jsonr_parse("f", (const char *)data, size, &doc, &err) != 0)
		return 0;
	read_classes(&doc);
	if (model_config_read(&c, &doc, doc.nodes, &text, &err) != 0)
		return 0;
	d = model_dims(&c);
	if (d.n_tokens == 0 || d.channels <= d.audio_data + d.audio_pos ||
	    d.queries <= c.label_query_channels)
		abort();
	model_config_print(&c, NULL, &text);
	return 0;
}
