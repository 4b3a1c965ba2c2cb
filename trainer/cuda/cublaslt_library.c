#include "trainer/cuda/cublaslt_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/attr.h"

#define CUBLASLT_NAME(member, name, parameters) .member = #name,
const struct cublaslt_names cublaslt_names = {CUBLASLT_CALLS(CUBLASLT_NAME)};

#define CUBLASLT_SYMBOL(member, name, parameters) {#name, offsetof(struct cublaslt_calls, member)},
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {CUBLASLT_CALLS(CUBLASLT_SYMBOL){"cublasLtGetVersion",
                                               offsetof(struct cublaslt_calls, version)}};

static const char bring[] =
	"The image's base or a layer brings it (NVIDIA's packages libcublas-*), where "
	"LD_LIBRARY_PATH finds it. Without it: --gemm own.";

static int find_symbols(void *handle, const char *name, struct cublaslt_calls *ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *at = dlsym(handle, symbols[i].name);

		if (at == NULL) {
			err_set(err, ERR_UNSUPPORTED, "%s has no function %s", name,
			        symbols[i].name);
			return err_hint(err, "Bring cuBLAS 11.4 or newer, or give --gemm own.");
		}
		memcpy((char *)ret + symbols[i].offset, &at, sizeof(at));
	}
	return 0;
}

int cublaslt_library_open(int driver, struct cublaslt_library *ret, struct err *err)
{
	static const struct {
		const char *name;
		int cuda; /* the oldest driver that it can do with */
	} versions[] = {{"libcublasLt.so.13", 13000},
	                {"libcublasLt.so.12", 12000},
	                {"libcublasLt.so.11", 11000}};
	bool tried = false;

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		void *handle = NULL;

		if (driver >= versions[i].cuda)
			handle = dlopen(versions[i].name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
		if (handle != NULL) {
			if (find_symbols(handle, versions[i].name, &ret->call, err) != 0)
				return -1;
			ret->version = (unsigned)ret->call.version();
			return 0;
		}
		/* What keeps the newest of them from being loaded. */
		if (driver >= versions[i].cuda && !tried)
			err_set(err, ERR_NOT_FOUND, "there is no cuBLASLt: %.300s", dlerror());
		tried = tried || driver >= versions[i].cuda;
	}
	return err_hint(err, "%s", bring);
}

/* cublas_api.h, cublasStatus_t. */
static const struct {
	int status;
	enum err_code code;
	const char *cause, *hint;
} meanings[] = {
	{1, ERR_UNSUPPORTED, "it could not begin on this GPU",
         "It needs memory of the GPU for itself, and a driver that is not older than it. Give "
         "--gemm own to do without it."},
	{3, ERR_MEMORY, "no memory left for it", "Give a smaller --batch_size, or --gemm own."},
	{8, ERR_UNSUPPORTED, "it has no kernels for this GPU",
         "Bring a version that knows the GPU, or give --gemm own."},
	{13, ERR_MACHINE, "the GPU failed at its kernel",
         "The run goes on from its last checkpoint in a new process. When it happens again, give "
         "--gemm own; when that fails, too, replace the node."},
	{15, ERR_UNSUPPORTED, "it has no product of this kind",
         "Give --gemm auto, which takes it where it can, or --gemm own."},
};

int cublaslt_failure(int status, const char *call, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
		if (meanings[i].status != status)
			continue;
		err_set(err, meanings[i].code, "cuBLASLt: %s (%s, %d)", meanings[i].cause, call,
		        status);
		return err_hint(err, "%s", meanings[i].hint);
	}
	err_set(err, ERR_UNSUPPORTED, "cuBLASLt refuses %s (%d)", call, status);
	return err_hint(err, "CUBLASLT_LOG_LEVEL=5 shows why; --gemm own does without it.");
}
