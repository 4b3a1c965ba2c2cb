/*
 * What slipway names of others by version: the images that its manifests run, and the releases that
 * they are written for. A version is raised in this table and nowhere else:
 *
 *   const struct workload_opts opts = {.image = pins[PIN_NVIDIA_PLUGIN].image, ...};
 *
 * A pin is not checked against a registry: `source` says where its versions are listed, `read` when
 * the version was read there.
 */
#ifndef SLIPWAY_K8S_FLEET_PINS_H
#define SLIPWAY_K8S_FLEET_PINS_H

enum pin_name {
	PIN_NVIDIA_PLUGIN,
	PIN_NEURON_PLUGIN,
	PIN_EFA_PLUGIN,
	PIN_NVIDIA_DRA,
	PIN_NEURON_SCHEDULER,
	PIN_KUBE_SCHEDULER,
	PIN_FSX_DRIVER,
	PIN_CSI_PROVISIONER,
	PIN_CSI_RESIZER,
	PIN_CSI_PROBE,
	PIN_CSI_REGISTRAR,
	PIN_SHELL,
	PIN_AWS_CLI,
	PIN_CLOUDWATCH_AGENT,
	PIN_DCGM_EXPORTER,
	PIN_NEURON_MONITOR,
	PIN_KARPENTER_V1,
	PIN_KARPENTER_V1BETA1,
	PIN_KARPENTER_V1ALPHA5,
	PIN_MPI_OPERATOR,
	PINS
};

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
