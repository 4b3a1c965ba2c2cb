#include "k8s/fleet/pins.h"

#include "base/attr.h"

/* Everything that a row must say. */
#define PIN(repository_, version_, purpose_, source_, read_)                                       \
	{                                                                                          \
		.repository = "" repository_, .version = "" version_,                              \
		.image = repository_ ":" version_, .purpose = "" purpose_,                         \
		.source = "https://" source_, .read = "" read_                                     \
	}

#define CSI       "public.ecr.aws/csi-components/"
#define KARPENTER "public.ecr.aws/karpenter/karpenter"

const struct pin pins[] = {
	[PIN_NVIDIA_PLUGIN] =
		PIN("nvcr.io/nvidia/k8s-device-plugin", "v0.20.0", "NVIDIA's devices by count",
                    "github.com/NVIDIA/k8s-device-plugin/releases", "2026-11-21"),
	/* The version that eksctl 0.230 ships. */
	[PIN_NEURON_PLUGIN] = PIN("public.ecr.aws/neuron/neuron-device-plugin", "2.23.30.0",
                                  "Neuron's devices by count",
                                  "gallery.ecr.aws/neuron/neuron-device-plugin", "2026-11-21"),
	/* Chart v0.5.30. */
	[PIN_EFA_PLUGIN] =
		PIN("eks/aws-efa-k8s-device-plugin", "v0.5.20", "EFA interfaces by count",
                    "github.com/aws/eks-charts", "2026-11-21"),
	/* Chart 0.5.0. */
	[PIN_NVIDIA_DRA] = PIN("registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu", "v0.5.0",
                               "NVIDIA's devices by resource claims",
                               "github.com/kubernetes-sigs/dra-driver-nvidia-gpu", "2026-11-21"),
	[PIN_NEURON_SCHEDULER] = PIN("public.ecr.aws/neuron/neuron-scheduler", "2.22.4.0",
                                     "which Neuron devices are neighbours",
                                     "gallery.ecr.aws/neuron/neuron-scheduler", "2026-11-21"),
	[PIN_KUBE_SCHEDULER] = PIN("registry.k8s.io/kube-scheduler", "",
                                   "the scheduler that asks Neuron's extension: the first patch of "
                                   "the cluster's minor",
                                   "kubernetes.io/releases", "2026-11-21"),
	[PIN_FSX_DRIVER] =
		PIN("public.ecr.aws/fsx-csi-driver/aws-fsx-csi-driver", "v1.9.0",
                    "FSx for Lustre: controller and node plugin",
                    "github.com/kubernetes-sigs/aws-fsx-csi-driver/releases", "2026-11-21"),
	[PIN_CSI_PROVISIONER] =
		PIN(CSI "csi-provisioner", "v6.2.0-eksbuild.2", "volumes for claims",
                    "gallery.ecr.aws/csi-components/csi-provisioner", "2026-11-21"),
	[PIN_CSI_RESIZER] =
		PIN(CSI "csi-resizer", "v2.1.0-eksbuild.3", "volumes that grow with their claims",
                    "gallery.ecr.aws/csi-components/csi-resizer", "2026-11-21"),
	[PIN_CSI_PROBE] = PIN(CSI "livenessprobe", "v2.18.0-eksbuild.3", "whether a driver answers",
                              "gallery.ecr.aws/csi-components/livenessprobe", "2026-11-21"),
	[PIN_CSI_REGISTRAR] =
		PIN(CSI "csi-node-driver-registrar", "v2.16.0-eksbuild.3",
                    "a driver made known to its kubelet",
                    "gallery.ecr.aws/csi-components/csi-node-driver-registrar", "2026-11-21"),
	/* It and the next have amd64 and arm64. */
	[PIN_SHELL] = PIN("public.ecr.aws/docker/library/busybox", "1.37.0",
                          "a file system given to the job's user",
                          "gallery.ecr.aws/docker/library/busybox", "2026-11-21"),
	[PIN_AWS_CLI] = PIN("public.ecr.aws/aws-cli/aws-cli", "2.27.0", "data copied from S3",
                            "gallery.ecr.aws/aws-cli/aws-cli", "2026-11-21"),
	[PIN_CLOUDWATCH_AGENT] =
		PIN("public.ecr.aws/cloudwatch-agent/cloudwatch-agent", "1.300072.0b1766",
                    "Container Insights without the add-on",
                    "gallery.ecr.aws/cloudwatch-agent/cloudwatch-agent", "2026-11-21"),
	[PIN_DCGM_EXPORTER] = PIN("nvcr.io/nvidia/k8s/dcgm-exporter", "4.6.0-4.8.3-distroless",
                                  "metrics of NVIDIA's devices",
                                  "github.com/NVIDIA/dcgm-exporter/releases", "2026-11-21"),
	[PIN_NEURON_MONITOR] =
		PIN("public.ecr.aws/neuron/neuron-monitor", "1.11.0", "metrics of Neuron's devices",
                    "gallery.ecr.aws/neuron/neuron-monitor", "2026-11-21"),
	[PIN_KARPENTER_V1] = PIN(KARPENTER, "1.14.1", "the newest that serves v1",
                                 "github.com/aws/karpenter-provider-aws/releases", "2026-11-21"),
	[PIN_KARPENTER_V1BETA1] =
		PIN(KARPENTER, "0.37.8", "the newest that serves v1beta1 alone",
                    "github.com/aws/karpenter-provider-aws/releases", "2026-11-21"),
	[PIN_KARPENTER_V1ALPHA5] =
		PIN(KARPENTER, "0.31.5", "the newest that serves v1alpha5",
                    "github.com/aws/karpenter-provider-aws/releases", "2026-11-21"),
	[PIN_MPI_OPERATOR] =
		PIN("mpi-operator", "v0.8.0", "the release that MPIJobs are written for",
                    "github.com/kubeflow/mpi-operator/releases", "2026-11-21"),
};
_Static_assert(ARRAY_LEN(pins) == PINS, "pins has one row per enum pin_name");
