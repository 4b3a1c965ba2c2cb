#include "trainer/cuda/failure.h"

#include "base/attr.h"

static const char restart[] =
	"The GPU's work is lost; the run goes on from its last checkpoint in a "
	"new process. When it happens again on this node, replace the node.";
static const char replace[] = "This node's GPU is broken: let the job start again on another node, "
			      "and replace this one.";
static const char old_driver[] =
	"Update the node's NVIDIA driver: slipway needs CUDA 11.4 or newer "
	"(R470).";

/* By the CUDA driver API's enum CUresult. */
static const struct {
	int result;
	enum err_code code;
	const char *cause, *hint;
} meanings[] = {
	{2, ERR_MEMORY, "the GPU has no memory left", "Give a smaller --batch_size."},
	{3, ERR_UNSUPPORTED, "the driver is not initialised", restart},
	{34, ERR_NOT_FOUND, "libcuda.so.1 is a stub without a driver",
         "Run in a container that has GPUs: on EKS, a pod that asks for nvidia.com/gpu."},
	{46, ERR_MACHINE, "the GPU is not available", "Another process may have it for itself."},
	{100, ERR_NOT_FOUND, "there is no GPU",
         "Run where there is one: on EKS, a pod that asks for nvidia.com/gpu."},
	{101, ERR_NOT_FOUND, "there is no GPU of that number",
         "nvidia-smi -L lists the GPUs; numbers begin with 0."},
	{209, ERR_UNSUPPORTED, "the GPU is too old for the kernels",
         "It needs compute capability 7.5 or newer: T4, A10G, A100, L4, H100."},
	{214, ERR_MACHINE, "the GPU's memory has an error that cannot be corrected", replace},
	{218, ERR_UNSUPPORTED, "the driver cannot compile the kernels", old_driver},
	{220, ERR_MACHINE, "NVLink has an error that cannot be corrected", replace},
	{221, ERR_UNSUPPORTED, "the driver's compiler is missing",
         "libnvidia-ptxjitcompiler.so.1 belongs to the driver: mount it into the container, "
         "with NVIDIA_DRIVER_CAPABILITIES=compute,utility."},
	{222, ERR_UNSUPPORTED, "the driver is too old for the kernels", old_driver},
	{223, ERR_UNSUPPORTED, "the driver is told to compile nothing",
         "Unset CUDA_DISABLE_PTX_JIT: the kernels are PTX, which the driver compiles."},
	{700, ERR_MACHINE, "a kernel used memory that it does not have", restart},
	{702, ERR_MACHINE, "a kernel did not end in time", restart},
	{714, ERR_MACHINE, "a kernel's stack is broken", restart},
	{715, ERR_MACHINE, "a kernel had an instruction that the GPU does not know", restart},
	{716, ERR_MACHINE, "a kernel used an address that is not aligned", restart},
	{717, ERR_MACHINE, "a kernel used an address of another kind of memory", restart},
	{718, ERR_MACHINE, "a kernel left its instructions", restart},
	{719, ERR_MACHINE, "a kernel failed", restart},
	{802, ERR_MACHINE, "the node's GPUs are not connected yet",
         "The fabric manager has not started: wait for it, or replace the node."},
	{803, ERR_UNSUPPORTED, "libcuda.so.1 and the kernel's driver differ",
         "The image must not bring a libcuda.so.1 of its own: the node's is mounted."},
	{804, ERR_UNSUPPORTED, "the driver's compatibility package does not know this GPU",
         "Remove the package cuda-compat from the image."},
};

int cuda_failure(struct err *err, int result, const char *call, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
		if (meanings[i].result != result)
			continue;
		err_set(err, meanings[i].code, "%s (%s: %s, %d)", meanings[i].cause, call, name,
		        result);
		return err_hint(err, "%s", meanings[i].hint);
	}
	err_set(err, ERR_MACHINE, "the GPU's driver refuses %s (%s, %d)", call, name, result);
	return err_hint(err, "%s", restart);
}
