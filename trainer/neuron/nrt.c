#include "trainer/neuron/nrt.h"

#include <dlfcn.h>
#include <string.h>

#include "base/attr.h"

#define NRT_SYMBOL(member, name, parameters) {#name, offsetof(struct nrt, member)},
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {NRT_CALLS(NRT_SYMBOL){"nrt_tensor_free", offsetof(struct nrt, tensor_free)},
               {"nrt_destroy_tensor_set", offsetof(struct nrt, set_free)},
               {"nrt_close", offsetof(struct nrt, close)},
               {"nrt_get_status_as_str", offsetof(struct nrt, status_name)}};

static int find_symbols(void *handle, const char *path, struct nrt *to, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (symbol == NULL) {
			err_set(err, ERR_UNSUPPORTED, "%s has no function %s", path,
			        symbols[i].name);
			return err_hint(err, "Update aws-neuronx-runtime-lib.");
		}
		memcpy((char *)to + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

int nrt_open(const char *path, struct nrt *ret, struct err *err)
{
	struct nrt all = {0};
	void *handle;

	if (path == NULL)
		path = "libnrt.so.1";
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (handle == NULL) {
		err_set(err, ERR_NOT_FOUND, "there is no Neuron runtime: %.300s", dlerror());
		return err_hint(err,
		                "It is in the package aws-neuronx-runtime-lib; an image for "
		                "Trainium brings it, with LD_LIBRARY_PATH=/opt/aws/neuron/lib.");
	}
	if (find_symbols(handle, path, &all, err) != 0)
		return -1;
	*ret = all;
	return 0;
}

static const char again[] =
	"The run goes on from its last checkpoint in a new process. When it happens "
	"again on this node, replace the node.";
static const char replace[] = "This node's device is broken: let the job start again on another "
			      "node, and replace this one.";
static const char compile_anew[] = "Compile the modules again for this runtime and this device: "
				   "slipway-trainer compile --target.";

/* By nrt_status.h's NRT_STATUS. */
static const struct {
	int status;
	enum err_code code;
	const char *cause, *hint;
} meanings[] = {
	{2, ERR_UNSUPPORTED, "the runtime does not take what it was given", compile_anew},
	{3, ERR_UNSUPPORTED, "the runtime does not know a handle", again},
	{4, ERR_MEMORY, "the device has no memory left", "Give a smaller --batch_size."},
	{5, ERR_MACHINE, "the device did not answer in time", again},
	{6, ERR_MACHINE, "the device has a hardware error", replace},
	{7, ERR_NETWORK, "the device's queue is full", again},
	{9, ERR_NOT_FOUND, "there are not enough NeuronCores for the module",
         "Start as many ranks on a node as NEURON_RT_NUM_CORES says."},
	{10, ERR_FORMAT, "the runtime does not take this version of a NEFF", compile_anew},
	{13, ERR_UNSUPPORTED, "the runtime was not started", again},
	{14, ERR_UNSUPPORTED, "the runtime is closed", again},
	{101, ERR_MACHINE, "an engine of the device cannot go on", replace},
	{1002, ERR_FORMAT, "the device refuses its input", compile_anew},
	{1004, ERR_MACHINE, "the device ended with an error", again},
	{1005, ERR_CONFLICT, "another process has this NeuronCore",
         "A core belongs to one process until it ends."},
	{1006, ERR_MACHINE, "the device reached beyond its memory", again},
	{1100, ERR_NETWORK, "a collective operation is still under way", again},
	{1200, ERR_MACHINE, "a collective operation has a hardware error", replace},
	{1201, ERR_MACHINE, "the device's memory has an error that cannot be corrected", replace},
	{1202, ERR_MACHINE, "a NeuronCore has an error that cannot be corrected", replace},
	{1203, ERR_MACHINE, "the device's DMA was aborted", replace},
	{1204, ERR_MACHINE, "the device's notifications overflowed", again},
	{1205, ERR_MACHINE, "the device's memory has an error that a restart repairs", again},
	{1206, ERR_NETWORK, "the network between the devices failed", again},
};

int nrt_failure(const struct nrt *nrt, int status, const char *call, struct err *err)
{
	const char *name = nrt->status_name(status);

	if (name == NULL)
		name = "unknown";
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
		if (meanings[i].status != status)
			continue;
		err_set(err, meanings[i].code, "%s: %s (%s, %d)", call, meanings[i].cause, name,
		        status);
		return err_hint(err, "%s", meanings[i].hint);
	}
	err_set(err, ERR_MACHINE, "%s failed: %s, status %d", call, name, status);
	return err_hint(err, "%s", again);
}
