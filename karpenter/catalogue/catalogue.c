#include "karpenter/catalogue/catalogue.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

/* ---- targets ---- */

#define NAME(id, name, doc) name,
const char *const fleet_target_names[] = {FLEET_TARGET_LIST(NAME) NULL};

/* ---- accelerators ---- */

/* What every row says; what only some have follows by name. */
#define ACCELERATOR(kind_, title_, maker_, driver_, resource_, colour_, plugin_, cpu, mib, ...)    \
	{                                                                                          \
		.kind = ACCELERATOR_##kind_, .title = "" title_, .maker = "" maker_,               \
		.driver = "" driver_, .resource = "" resource_, .colour = "" colour_,              \
		.plugin = {"" plugin_, (cpu), (mib)}, __VA_ARGS__                                  \
	}

/* In the enum's order, without designators: a row that is left out anywhere is missed below. */
const struct accelerator accelerators[] = {
	ACCELERATOR(NVIDIA, "NVIDIA", "NVIDIA", "NVIDIA's driver", "nvidia.com/gpu", "#4d7c0f",
                    "nvidia-device-plugin", 50, 100, .node_label = "nvidia.com/gpu.present",
                    .in_bottlerocket = true, .device_class = "gpu.nvidia.com", .nccl = true,
                    .trainer_device = "cuda",
                    /* Where the driver keeps what it compiled: a container that is started
                     * again in its pod does not wait for it again. /tmp is the pod's. */
                    .env = {{"NCCL_SOCKET_IFNAME", "^docker,lo,veth", true},
                            {"CUDA_CACHE_PATH", "/tmp/cuda-cache", false}},
                    .exporter = {"dcgm-exporter", 250, 256}, .idle_alarm = "IdleNvidia",
                    .idle_metric = "pod_gpu_utilization",
                    .torch_image = "763104351884.dkr.ecr.@region@.amazonaws.com/pytorch-training:"
                                   "2.6.0-gpu-py312-cu126-ubuntu22.04-ec2"),
	ACCELERATOR(NEURON, "AWS Neuron", "Neuron", "the Neuron driver", "aws.amazon.com/neuron",
                    "#c2570c", "neuron-device-plugin", 50, 100, .part_scheduler = "slipway-neuron",
                    .no_claims = "trn1 is not supported by Neuron's", .trainer_device = "neuron",
                    .compiler = "neuronx-cc", .cache_env = "NEURON_COMPILE_CACHE_URL",
                    .env = {{"CCOM_SOCKET_IFNAME", "eth0", true},
                            {"NEURON_RT_RESET_CORES", "1", false}},
                    .root_env = "NEURON_RT_ROOT_COMM_ID", .root_port = 63423,
                    .exporter = {"neuron-monitor", 250, 256}, .idle_alarm = "IdleNeuron",
                    .idle_metric = "pod_neuroncore_utilization",
                    .torch_image = "public.ecr.aws/neuron/pytorch-training-neuronx:2.6.0-neuronx-"
                                   "py310-sdk2.23.0-ubuntu22.04"),
};
_Static_assert(ARRAY_LEN(accelerators) == ACCELERATORS,
               "accelerators: one row per enum accelerator_kind");

#define EXPORTER_KEY(id, key, doc) key,
const char *const accelerator_exporter_keys[] = {ACCELERATOR_LIST(EXPORTER_KEY)};

/* ---- instances ---- */

/* clang-format off */
/* What all sizes of a family share: name, fleet target, architecture, level of the processor,
 * maker; device, MiB and Neuron cores of one, how many of these are one to a process; RDMA over EFA
 * (where the size has EFA), outlook.
 * Processors:
 * Ice Lake (trn1, trn1n), Sapphire Rapids (trn2, p5en), Cascade Lake (p4d, p4de): v4; Zen 2, EPYC
 * 7R32 (g5) and Zen 3, EPYC 7R13 (p5, p5e, g6, g6e): v3; Graviton2, Neoverse N1 (g5g): Armv8.2. */
#define TRN1  "trn1", "trn1", "amd64", "x86-64-v4", NEURON, "trainium", 32768, 2, 1, true, false
#define TRN1N "trn1n", "trn1", "amd64", "x86-64-v4", NEURON, "trainium", 32768, 2, 1, true, false
#define TRN2  "trn2", "trn2", "amd64", "x86-64-v4", NEURON, "trainium2", 98304, 8, 2, true, true
#define P4D   "p4d", "p4d", "amd64", "x86-64-v4", NVIDIA, "a100", 40960, 0, 1, true, false
#define P4DE  "p4de", "p4d", "amd64", "x86-64-v4", NVIDIA, "a100", 81920, 0, 1, true, false
#define P5    "p5", "p5", "amd64", "x86-64-v3", NVIDIA, "h100", 81920, 0, 1, true, true
#define P5E   "p5e", "p5", "amd64", "x86-64-v3", NVIDIA, "h200", 144384, 0, 1, true, true
#define P5EN  "p5en", "p5", "amd64", "x86-64-v4", NVIDIA, "h200", 144384, 0, 1, true, true
#define G5    "g5", "g5", "amd64", "x86-64-v3", NVIDIA, "a10g", 22888, 0, 1, false, false
#define G6    "g6", "g6", "amd64", "x86-64-v3", NVIDIA, "l4", 22888, 0, 1, false, true
#define G6E   "g6e", "g6", "amd64", "x86-64-v3", NVIDIA, "l40s", 45776, 0, 1, false, true
#define G5G   "g5g", "g5g", "arm64", "armv8.2-a", NVIDIA, "t4g", 16384, 0, 1, false, false

#define ROW(family_, ...) SIZE(family_, __VA_ARGS__)
#define SIZE(family_, target_, arch_, isa_, maker, device_, device_mib, cores_, fused_, rdma_,     \
             outlook_, size, vcpu_, mib, n, efa_, mbps, nvme, cpu, allocatable, pods_)             \
	{                                                                                          \
		.type = family_ "." size, .family = (family_), .target = (target_),                \
		.arch = (arch_), .isa = (isa_), .vcpu = (vcpu_), .memory_mib = (mib),              \
		.accelerator = &accelerators[ACCELERATOR_##maker], .device = (device_),            \
		.devices = (n), .device_memory_mib = (device_mib), .cores = (n) * (cores_),        \
		.fused = (fused_),                                                                 \
		.efa = (efa_), .network_mbps = (mbps), .nvme_gb = (nvme), .cpu_milli = (cpu),      \
		.allocatable_mib = (allocatable), .pods = (pods_),                                 \
		.rdma = (rdma_) && (efa_) > 0, .outlook = (outlook_)                               \
	}

const struct instance instances[] = {
	/* size; vCPU, MiB; devices; EFA, Mbit/s, NVMe GB; allocatable milli-CPU, MiB, pods */
	ROW(TRN1, "2xlarge", 8, 32768, 1, 0, 3125, 474, 7910, 29317, 58),
	ROW(TRN1, "32xlarge", 128, 524288, 16, 8, 800000, 7600, 127610, 481894, 247),
	ROW(TRN1N, "32xlarge", 128, 524288, 16, 16, 1600000, 7600, 127610, 481894, 247),
	ROW(TRN2, "48xlarge", 192, 2097152, 16, 16, 3200000, 7600, 191450, 1938410, 100),
	ROW(P4D, "24xlarge", 96, 1179648, 8, 4, 400000, 8000, 95690, 1082712, 737),
	ROW(P4DE, "24xlarge", 96, 1179648, 8, 4, 400000, 8000, 95690, 1082712, 737),
	ROW(P5, "4xlarge", 16, 262144, 1, 1, 100000, 3800, 15890, 240830, 118),
	ROW(P5, "48xlarge", 192, 2097152, 8, 32, 3200000, 30400, 191450, 1938410, 100),
	ROW(P5E, "48xlarge", 192, 2097152, 8, 32, 3200000, 30400, 191450, 1938410, 100),
	ROW(P5EN, "48xlarge", 192, 2097152, 8, 16, 3200000, 30400, 191450, 1937332, 198),
	ROW(G5, "xlarge", 4, 16384, 1, 0, 2500, 250, 3920, 14162, 58),
	ROW(G5, "2xlarge", 8, 32768, 1, 0, 5000, 450, 7910, 29317, 58),
	ROW(G5, "4xlarge", 16, 65536, 1, 0, 10000, 600, 15890, 57691, 234),
	ROW(G5, "8xlarge", 32, 131072, 1, 1, 25000, 900, 31850, 118312, 234),
	ROW(G5, "12xlarge", 48, 196608, 4, 1, 40000, 3800, 47810, 173400, 737),
	ROW(G5, "16xlarge", 64, 262144, 1, 1, 25000, 1900, 63770, 239554, 234),
	ROW(G5, "24xlarge", 96, 393216, 4, 1, 50000, 3800, 95690, 355262, 737),
	ROW(G5, "48xlarge", 192, 786432, 8, 1, 100000, 7600, 191450, 723299, 345),
	ROW(G6, "xlarge", 4, 16384, 1, 0, 2500, 250, 3920, 14162, 58),
	ROW(G6, "2xlarge", 8, 32768, 1, 0, 5000, 450, 7910, 29317, 58),
	ROW(G6, "4xlarge", 16, 65536, 1, 0, 10000, 600, 15890, 57691, 234),
	ROW(G6, "8xlarge", 32, 131072, 1, 1, 25000, 900, 31850, 118312, 234),
	ROW(G6, "12xlarge", 48, 196608, 4, 1, 40000, 3760, 47810, 178933, 234),
	ROW(G6, "16xlarge", 64, 262144, 1, 1, 25000, 1880, 63770, 234021, 737),
	ROW(G6, "24xlarge", 96, 393216, 4, 1, 50000, 3760, 95690, 355262, 737),
	ROW(G6, "48xlarge", 192, 786432, 8, 1, 100000, 7520, 191450, 718987, 737),
	ROW(G6E, "xlarge", 4, 32768, 1, 0, 2500, 250, 3920, 29317, 58),
	ROW(G6E, "2xlarge", 8, 65536, 1, 0, 5000, 450, 7910, 59627, 58),
	ROW(G6E, "4xlarge", 16, 131072, 1, 0, 20000, 600, 15890, 118312, 234),
	ROW(G6E, "8xlarge", 32, 262144, 1, 1, 25000, 900, 31850, 239554, 234),
	ROW(G6E, "12xlarge", 48, 393216, 4, 1, 100000, 3800, 47810, 360157, 292),
	ROW(G6E, "16xlarge", 64, 524288, 1, 1, 35000, 1900, 63770, 476504, 737),
	ROW(G6E, "24xlarge", 96, 786432, 4, 2, 200000, 3800, 95690, 721682, 492),
	ROW(G6E, "48xlarge", 192, 1572864, 8, 4, 400000, 7600, 191450, 1449132, 492),
	ROW(G5G, "xlarge", 4, 8192, 1, 0, 1250, 0, 3920, 6525, 58),
	ROW(G5G, "2xlarge", 8, 16384, 1, 0, 2500, 0, 7910, 14103, 58),
	ROW(G5G, "4xlarge", 16, 32768, 1, 0, 5000, 0, 15890, 27322, 234),
	ROW(G5G, "8xlarge", 32, 65536, 1, 0, 12000, 0, 31850, 57632, 234),
	ROW(G5G, "16xlarge", 64, 131072, 2, 0, 25000, 0, 63770, 112720, 737),
	ROW(G5G, "metal", 64, 131072, 2, 0, 25000, 0, 63770, 112720, 737),
};
/* clang-format on */
const size_t n_instances = ARRAY_LEN(instances);

const struct instance *instance_find(const char *type)
{
	for (size_t i = 0; i < n_instances; i++)
		if (strcmp(instances[i].type, type) == 0)
			return &instances[i];
	return NULL;
}

const char *instance_nearest(const char *type)
{
	const char *names[ARRAY_LEN(instances)];

	for (size_t i = 0; i < n_instances; i++)
		names[i] = instances[i].type;
	return text_nearest(type, names, n_instances);
}

unsigned instance_x86_level(const struct instance *i)
{
	static const char prefix[] = "x86-64-v";

	return text_has_prefix(i->isa, prefix) ? (unsigned)(i->isa[strlen(prefix)] - '0') : 0;
}

int64_t instance_processes(const struct instance *i)
{
	return i->cores > 0 ? i->cores / i->devices / i->fused : 1;
}

const struct accelerator *accelerator_of(const char *target)
{
	for (size_t i = 0; i < n_instances; i++)
		if (strcmp(instances[i].target, target) == 0)
			return instances[i].accelerator;
	return NULL;
}

static bool same(const char *wanted, const char *value)
{
	return wanted == NULL || strcmp(wanted, value) == 0;
}

bool instance_matches(const struct instance *i, const struct instance_filter *filter)
{
	return (same(filter->target, i->target) || same(filter->target, i->family)) &&
	       same(filter->arch, i->arch) && same(filter->device, i->device) &&
	       (!filter->efa || i->efa > 0);
}

size_t instances_text(const struct instance_filter *filter, struct strbuf *sb)
{
	size_t n = 0;

	for (size_t k = 0; k < n_instances; k++) {
		const struct instance *i = &instances[k];

		if (!instance_matches(i, filter))
			continue;
		if (n++ == 0)
			strbuf_addf(sb, "%-14s %-6s %5s %9s  %-15s %9s %6s %4s %8s %8s %9s %10s\n",
			            "TYPE", "ARCH", "VCPU", "MEMORY", "DEVICES", "EACH", "CORES",
			            "EFA", "GBIT/S", "NVME", "FREE CPU", "FREE MEM");
		AUTO(strbuf) struct strbuf devices = STRBUF_INIT(64);

		strbuf_addf(&devices, "%lld x %s", (long long)i->devices, i->device);
		strbuf_addf(sb,
		            "%-14s %-6s %5lld %6lld Gi  %-15s %6.1f Gi %6lld %4lld %8.1f %5lld GB "
		            "%8lldm %7lld Mi\n",
		            i->type, i->arch, (long long)i->vcpu, (long long)(i->memory_mib / 1024),
		            strbuf_str(&devices), (double)i->device_memory_mib / 1024.0,
		            (long long)i->cores, (long long)i->efa,
		            (double)i->network_mbps / 1000.0, (long long)i->nvme_gb,
		            (long long)i->cpu_milli, (long long)i->allocatable_mib);
	}
	return n;
}

static void instance_json(const struct instance *i, cJSON *row)
{
	json_add_string(row, "type", i->type);
	json_add_string(row, "family", i->family);
	json_add_string(row, "target", i->target);
	json_add_string(row, "architecture", i->arch);
	json_add_string(row, "isa", i->isa);
	json_add_int(row, "vcpu", i->vcpu);
	json_add_int(row, "memory_mib", i->memory_mib);
	json_add_string(row, "accelerator", i->device);
	json_add_string(row, "resource", i->accelerator->resource);
	json_add_int(row, "devices", i->devices);
	json_add_int(row, "device_memory_mib", i->device_memory_mib);
	json_add_int(row, "neuron_cores", i->cores);
	json_add_int(row, "efa", i->efa);
	json_add_bool(row, "rdma", i->rdma);
	json_add_int(row, "network_mbps", i->network_mbps);
	json_add_int(row, "nvme_gb", i->nvme_gb);
	json_add_int(row, "allocatable_cpu_milli", i->cpu_milli);
	json_add_int(row, "allocatable_memory_mib", i->allocatable_mib);
	json_add_int(row, "pods", i->pods);
	json_add_bool(row, "outlook", i->outlook);
}

size_t instances_json(const struct instance_filter *filter, cJSON *array)
{
	size_t n = 0;

	for (size_t k = 0; k < n_instances; k++) {
		if (!instance_matches(&instances[k], filter))
			continue;
		cJSON *row = cJSON_CreateObject();

		instance_json(&instances[k], row);
		json_push(array, row);
		n++;
	}
	return n;
}
