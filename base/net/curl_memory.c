#include "base/net/curl_memory.h"

#include <curl/curl.h>
#include <stdlib.h>

#include "base/mem.h"

static void *allocate(size_t size)
{
	return mem_realloc(NULL, size, 1);
}

static void *reallocate(void *old, size_t size)
{
	return mem_realloc(old, size, 1);
}

int curl_memory_init(struct err *err)
{
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, allocate, free, reallocate, mem_strdup,
	                         mem_calloc) != CURLE_OK)
		return err_set(err, ERR_UNSUPPORTED, "libcurl cannot be initialised");
	return 0;
}
