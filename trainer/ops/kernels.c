#include "trainer/ops/kernels.h"

#include <string.h>

/* Best first. */
static const struct kernels *const sets[] = {
#if defined(__x86_64__)
	&kernels_avx512_bf16,
	&kernels_avx512,
	&kernels_avx2,
#elif defined(__aarch64__)
#if defined(KERNELS_NEON_BF16)
	&kernels_neon_bf16,
#endif
	&kernels_neon,
#endif
	&kernels_generic,
};

const struct kernels *kernels_find(const char *name)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if ((name == NULL || strcmp(sets[i]->name, name) == 0) && sets[i]->usable())
			return sets[i];
	return NULL;
}
