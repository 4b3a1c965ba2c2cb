#include "trainer/cuda/nccl_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/attr.h"

static const char name[] = "libnccl.so.2";

#define NCCL_SYMBOL(member, name, parameters) {#name, offsetof(struct nccl_calls, member)},
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {NCCL_CALLS(NCCL_SYMBOL){"ncclGetErrorString", offsetof(struct nccl_calls, error)}};

static int find_symbols(void *handle, struct nccl_calls *ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *at = dlsym(handle, symbols[i].name);

		if (at == NULL)
			return err_set(err, ERR_UNSUPPORTED, "%s has no function %s", name,
			               symbols[i].name);
		memcpy((char *)ret + symbols[i].offset, &at, sizeof(at));
	}
	return 0;
}

static int check_version(struct nccl_library *l, struct err *err)
{
	int result = l->call.version(&l->version);

	if (result != 0)
		return nccl_failure(l, result, "ncclGetVersion", err);
	if (l->version >= NCCL_OLDEST)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "%s is NCCL of version number %d, older than 2.14",
	               name, l->version);
}

int nccl_library_open(struct nccl_library *ret, struct err *err)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL) {
		err_set(err, ERR_NOT_FOUND, "there is no NCCL: %.300s", dlerror());
		return err_hint(err, "The image's base or a layer brings it (NVIDIA's package "
		                     "libnccl2), where LD_LIBRARY_PATH finds it. Without it: "
		                     "--collective host.");
	}
	if (find_symbols(handle, &ret->call, err) == 0 && check_version(ret, err) == 0)
		return 0;
	return err_hint(err, "Bring NCCL 2.14 or newer in the image, or give --collective host.");
}

/* nccl.h, ncclResult_t. */
static const struct {
	int result;
	enum err_code code;
	const char *cause, *hint;
} meanings[] = {
	{1, ERR_MACHINE, "a GPU failed under it",
         "The run goes on from its last checkpoint in a new process. When it happens again on "
         "this node, replace the node."},
	{2, ERR_NETWORK, "the ranks' nodes could not be connected",
         "NCCL_DEBUG=INFO shows what it tried. Between pods it needs every port, or EFA with its "
         "plugin; within one, memory in /dev/shm. --collective host goes by MPI."},
	{5, ERR_UNSUPPORTED, "it is used in a way that it refuses",
         "Each rank needs a GPU of its own. --collective host also works without."},
	{6, ERR_NETWORK, "another rank is gone",
         "The last checkpoint is intact: start the job again with --resume."},
	{8, ERR_NETWORK, "another rank has not come in time",
         "The last checkpoint is intact: start the job again with --resume."},
};

int nccl_failure(const struct nccl_library *l, int result, const char *call, struct err *err)
{
	const char *said = l->call.error(result);

	for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
		if (meanings[i].result != result)
			continue;
		err_set(err, meanings[i].code, "NCCL: %s (%s: %.100s)", meanings[i].cause, call,
		        said);
		return err_hint(err, "%s", meanings[i].hint);
	}
	err_set(err, ERR_MACHINE, "NCCL refuses %s (%.100s, %d)", call, said, result);
	return err_hint(err, "NCCL_DEBUG=INFO shows why; --collective host goes by MPI.");
}
