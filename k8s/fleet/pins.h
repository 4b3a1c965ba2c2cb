/*
 * What slipway names of others by version: the images that its manifests run, and the releases that
 * they are written for. A version is raised in this table and nowhere else:
 *
 *   const struct workload_opts opts = {.image = pins[PIN_NVIDIA_PLUGIN].image, ...};
 *
 * Images that a spec may name have their defaults in its field tables. A pin is not checked against
 * a registry: `source` says where its versions are listed, `read` when
 * the version was read there.
 */
#ifndef SLIPWAY_K8S_FLEET_PINS_H
#define SLIPWAY_K8S_FLEET_PINS_H

#define PIN_CSI       "public.ecr.aws/csi-components/"
#define PIN_KARPENTER "public.ecr.aws/karpenter/karpenter"

/* clang-format off */
/* Enumerator; repository, version; what it is for, where its versions are listed, when they were
 * read there. */
#define PIN_LIST(PIN)                                                                              \
	PIN(NVIDIA_PLUGIN, "nvcr.io/nvidia/k8s-device-plugin", "v0.20.0",                          \
	    "NVIDIA's devices by count",                                                           \
	    "github.com/NVIDIA/k8s-device-plugin/releases", "2026-11-21")                          \
	/* The version that eksctl 0.230 ships. */                                                 \
	PIN(NEURON_PLUGIN, "public.ecr.aws/neuron/neuron-device-plugin", "2.23.30.0",              \
	    "Neuron's devices by count",                                                           \
	    "gallery.ecr.aws/neuron/neuron-device-plugin", "2026-11-21")                           \
	/* Chart v0.5.30. */                                                                       \
	PIN(EFA_PLUGIN, "eks/aws-efa-k8s-device-plugin", "v0.5.20",                                \
	    "EFA interfaces by count", "github.com/aws/eks-charts", "2026-11-21")                  \
	/* Chart 0.5.0. */                                                                         \
	PIN(NVIDIA_DRA, "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu", "v0.5.0",       \
	    "NVIDIA's devices by resource claims",                                                 \
	    "github.com/kubernetes-sigs/dra-driver-nvidia-gpu", "2026-11-21")                      \
	PIN(NEURON_SCHEDULER, "public.ecr.aws/neuron/neuron-scheduler", "2.22.4.0",                \
	    "which Neuron devices are neighbours",                                                 \
	    "gallery.ecr.aws/neuron/neuron-scheduler", "2026-11-21")                               \
	PIN(KUBE_SCHEDULER, "registry.k8s.io/kube-scheduler", "",                                  \
	    "the scheduler that asks Neuron's extension: the first patch of the cluster's minor",  \
	    "kubernetes.io/releases", "2026-11-21")                                                \
	PIN(FSX_DRIVER, "public.ecr.aws/fsx-csi-driver/aws-fsx-csi-driver", "v1.9.0",              \
	    "FSx for Lustre: controller and node plugin",                                          \
	    "github.com/kubernetes-sigs/aws-fsx-csi-driver/releases", "2026-11-21")                \
	PIN(CSI_PROVISIONER, PIN_CSI "csi-provisioner", "v6.2.0-eksbuild.2",                       \
	    "volumes for claims",                                                                  \
	    "gallery.ecr.aws/csi-components/csi-provisioner", "2026-11-21")                        \
	PIN(CSI_RESIZER, PIN_CSI "csi-resizer", "v2.1.0-eksbuild.3",                               \
	    "volumes that grow with their claims",                                                 \
	    "gallery.ecr.aws/csi-components/csi-resizer", "2026-11-21")                            \
	PIN(CSI_PROBE, PIN_CSI "livenessprobe", "v2.18.0-eksbuild.3",                              \
	    "whether a driver answers",                                                            \
	    "gallery.ecr.aws/csi-components/livenessprobe", "2026-11-21")                          \
	PIN(CSI_REGISTRAR, PIN_CSI "csi-node-driver-registrar", "v2.16.0-eksbuild.3",              \
	    "a driver made known to its kubelet",                                                  \
	    "gallery.ecr.aws/csi-components/csi-node-driver-registrar", "2026-11-21")              \
	/* It and the next have amd64 and arm64. */                                                \
	PIN(SHELL, "public.ecr.aws/docker/library/busybox", "1.37.0",                              \
	    "a file system given to the job's user",                                               \
	    "gallery.ecr.aws/docker/library/busybox", "2026-11-21")                                \
	PIN(AWS_CLI, "public.ecr.aws/aws-cli/aws-cli", "2.27.0",                                   \
	    "data copied from S3", "gallery.ecr.aws/aws-cli/aws-cli", "2026-11-21")                \
	PIN(CLOUDWATCH_AGENT, "public.ecr.aws/cloudwatch-agent/cloudwatch-agent",                  \
	    "1.300072.0b1766",                                                                     \
	    "Container Insights without the add-on",                                               \
	    "gallery.ecr.aws/cloudwatch-agent/cloudwatch-agent", "2026-11-21")                     \
	PIN(DCGM_EXPORTER, "nvcr.io/nvidia/k8s/dcgm-exporter", "4.6.0-4.8.3-distroless",           \
	    "metrics of NVIDIA's devices",                                                         \
	    "github.com/NVIDIA/dcgm-exporter/releases", "2026-11-21")                              \
	PIN(NEURON_MONITOR, "public.ecr.aws/neuron/neuron-monitor", "1.11.0",                      \
	    "metrics of Neuron's devices",                                                         \
	    "gallery.ecr.aws/neuron/neuron-monitor", "2026-11-21")                                 \
	PIN(KARPENTER_V1, PIN_KARPENTER, "1.14.1",                                                 \
	    "the newest that serves v1",                                                           \
	    "github.com/aws/karpenter-provider-aws/releases", "2026-11-21")                        \
	PIN(KARPENTER_V1BETA1, PIN_KARPENTER, "0.37.8",                                            \
	    "the newest that serves v1beta1 alone",                                                \
	    "github.com/aws/karpenter-provider-aws/releases", "2026-11-21")                        \
	PIN(KARPENTER_V1ALPHA5, PIN_KARPENTER, "0.31.5",                                           \
	    "the newest that serves v1alpha5",                                                     \
	    "github.com/aws/karpenter-provider-aws/releases", "2026-11-21")                        \
	PIN(MPI_OPERATOR, "mpi-operator", "v0.8.0",                                                \
	    "the release that MPIJobs are written for",                                            \
	    "github.com/kubeflow/mpi-operator/releases", "2026-11-21")
/* clang-format on */

#define PIN_ENUMERATOR(id, ...) PIN_##id,
enum pin_name { PIN_LIST(PIN_ENUMERATOR) PINS };

struct pin {
	/* Of an image, a chart or a release; without a registry: below the one that EKS has in the
	 * region (k8s/object/eks_registry.h). */
	const char *repository;
	const char *version; /* "" = the cluster's own: see `purpose` */
	const char *image;   /* repository:version */
	const char *purpose; /* what it is for */
	const char *source;  /* the page that lists its versions */
	const char *read;    /* "2026-11-21" */
};

extern const struct pin pins[]; /* PINS rows, by enum pin_name */

#endif
