/* Any bytes as a safetensors file: every tensor it admits must lie inside it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/checkpoint/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(st_file) struct st_file f = {0};
	struct err err = {0};

	if (st_open_memory("f", data, size, &f, &err) != 0)
		return 0;
	for (size_t i = 0; i < f.n; i++) {
		AUTO_FREE float *values = mem_calloc(f.at[i].n + 1, sizeof(float));

		if (st_find(&f, f.at[i].name) == NULL)
			abort();
		if (st_read_f32(&f.at[i], values, f.at[i].n, &err) != 0 &&
		    st_read_i32(&f.at[i], (int32_t *)values, f.at[i].n, &err) != 0 &&
		    f.at[i].dtype != ST_U8)
			abort();
	}
	return 0;
}
