#include "trainer/cuda/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "trainer/cuda/failure.h"

#define CUDA_SYMBOL(member, name, parameters) {#name, offsetof(struct cuda_calls, member)},
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {CUDA_CALLS(CUDA_SYMBOL)};

static int find_symbols(struct cuda_library *l, const char *path, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(l->handle, symbols[i].name);

		if (symbol == NULL) {
			err_set(err, ERR_UNSUPPORTED, "%s has no function %s", path,
			        symbols[i].name);
			return err_hint(
				err, "Update the node's NVIDIA driver: slipway needs CUDA 11.4 or "
				     "newer (R470).");
		}
		/* POSIX lets dlsym's result be a function; ISO C wants the copy. */
		memcpy((char *)&l->call + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

int cuda_library_open(const char *path, struct cuda_library *ret, struct err *err)
{
	struct cuda_library l = {0};

	if (path == NULL)
		path = "libcuda.so.1";
	l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (l.handle == NULL) {
		err_set(err, ERR_NOT_FOUND, "there is no driver for NVIDIA's GPUs: %.300s",
		        dlerror());
		return err_hint(err, "It is the node's, and mounted into containers that ask for "
		                     "a GPU: on EKS, a pod that asks for nvidia.com/gpu.");
	}
	if (find_symbols(&l, path, err) != 0)
		return -1;
	*ret = l;
	return 0;
}

const char *cuda_result_name(const struct cuda_library *l, int result)
{
	const char *name = NULL;

	return l->call.error_name(result, &name) == 0 && name != NULL ? name : "unknown";
}

static bool means_none(int result)
{
	return result == RESULT_NO_DEVICE || result == RESULT_STUB;
}

int cuda_count(unsigned *ret, struct err *err)
{
	struct cuda_library l;
	struct err absent = {0};
	const char *call = "cuInit";
	int n = 0, result;

	*ret = 0;
	if (cuda_library_open(NULL, &l, &absent) != 0) {
		if (absent.code == ERR_NOT_FOUND)
			return 0;
		*err = absent;
		return -1;
	}
	result = l.call.init(0);
	if (result == 0) {
		call = "cuDeviceGetCount";
		result = l.call.count(&n);
	}
	if (result != 0 && !means_none(result))
		return cuda_failure(err, result, call, cuda_result_name(&l, result));
	*ret = result == 0 && n > 0 ? (unsigned)n : 0;
	return 0;
}
