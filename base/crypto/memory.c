#include "base/crypto/memory.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "base/mem.h"

static void *allocate(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return mem_realloc(NULL, size, 1);
}

/* As realloc: nothing is left of a size of 0. */
static void *reallocate(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	if (size != 0)
		return mem_realloc(old, size, 1);
	free(old);
	return NULL;
}

static void release(void *old, const char *file, int line)
{
	(void)file;
	(void)line;
	free(old);
}

void crypto_use_mem(void)
{
	(void)CRYPTO_set_mem_functions(allocate, reallocate, release);
}
