/* Any bytes as dataset.json: what is accepted stays inside its folder and adds up. */
#include <stdint.h>
#include <string.h>

#include "trainer/data/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dataset_list list;
	struct err err = {0};
	uint64_t n = 0;

	if (dataset_list_parse("f", (const char *)data, size, &list, &err) != 0)
		return 0;
	for (size_t i = 0; i < list.n; i++) {
		if (list.at[i].first != n || list.at[i].file[0] == '/' ||
		    strncmp(list.at[i].file, "../", 3) == 0)
			abort();
		n += list.at[i].n_clips;
	}
	if (n != list.n_clips)
		abort();
	dataset_list_done(&list);
	return 0;
}
