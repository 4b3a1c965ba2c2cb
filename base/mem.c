#include "base/mem.h"

#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/run_exit.h"

void mem_exhausted(const char *who)
{
	fprintf(stderr, "slipway: error: out of memory (%s)\n", who);
	/* Not abort(): a core would hold what is secret. */
	_exit(RUN_EXIT_MEMORY);
}

static void *memory_or_end(void *ptr, size_t size)
{
	char bytes[32];

	if (ptr == NULL) {
		snprintf(bytes, sizeof(bytes), "%zu bytes", size);
		mem_exhausted(bytes);
	}
	return ptr;
}

static size_t checked_product(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		BUG("allocation of %zu x %zu bytes", n, size);
	return bytes != 0 ? bytes : 1;
}

void *mem_zalloc(size_t size)
{
	return mem_calloc(1, size);
}

void *mem_calloc(size_t n, size_t size)
{
	size_t bytes = checked_product(n, size);

	return memory_or_end(calloc(1, bytes), bytes);
}

void *mem_realloc(void *ptr, size_t n, size_t size)
{
	size_t bytes = checked_product(n, size);

	return memory_or_end(realloc(ptr, bytes), bytes);
}

char *mem_strdup(const char *text)
{
	return mem_strndup(text, strlen(text));
}

char *mem_strndup(const char *text, size_t len)
{
	char *copy = mem_calloc(len + 1, 1);

	memcpy(copy, text, len);
	return copy;
}

void *mem_vec_grow(void *at, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return at;
	*cap = *cap < 8 ? 8 : *cap * 2;
	return mem_realloc(at, *cap, size);
}

void mem_free_secret(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

bool mem_is_zero(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}
