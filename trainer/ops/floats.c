#include "trainer/ops/floats.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

float *floats_new(size_t n)
{
	size_t bytes = (n * sizeof(float) + LINE - 1) / LINE * LINE + LINE;
	bool large = bytes >= HUGE_PAGE;
	void *block = NULL;
	char what[48];

	if (n > SIZE_MAX / sizeof(float) - HUGE_PAGE ||
	    posix_memalign(&block, large ? HUGE_PAGE : LINE, bytes) != 0) {
		snprintf(what, sizeof(what), "%zu floats", n);
		mem_exhausted(what);
	}
	if (large) /* a wish: without it the memory is as good, only slower */
		(void)madvise(block, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	return block;
}
