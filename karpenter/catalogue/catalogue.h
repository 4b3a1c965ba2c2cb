/*
 * The instance catalogue: every figure about an EC2 instance type that slipway uses, one row per
 * size. Not in it: prices, availability by zone (ask EC2), types without an accelerator.
 *
 * Source: the tables of Karpenter's AWS provider 1.14 (types, devices, interfaces, and the
 * allocatable figures that it computes for AL2023 with its default reserves and 7.5 % of memory
 * withheld), and AWS's instance pages for NVMe and network; read 2026-11-21.
 * Thread rule: constant data.
 */
#ifndef SLIPWAY_KARPENTER_CATALOGUE_CATALOGUE_H
#define SLIPWAY_KARPENTER_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/doc/json.h"
#include "base/strbuf.h"

/* Whose device it is: decides the plugin, the resource name, the image variant. */
enum accelerator { ACCELERATOR_NVIDIA, ACCELERATOR_NEURON };

struct instance {
	const char *type;   /* "trn1.32xlarge" */
	const char *family; /* "trn1n": what stands before the dot */
	const char *target; /* the fleet target it belongs to: "trn1" for trn1n, "p4d" for p4de */
	const char *arch;   /* "amd64", "arm64" */
	int64_t vcpu, memory_mib;
	enum accelerator accelerator;
	const char *device;        /* as in Karpenter's labels: "trainium", "a100", "t4g" */
	int64_t devices;           /* per node */
	int64_t device_memory_mib; /* of one device */
	int64_t neuron_cores;      /* per node; 0 on GPUs */
	int64_t efa;               /* EFA interfaces, one per network card; 0 = none */
	int64_t network_mbps;
	int64_t nvme_gb;                          /* local instance store in all; 0 = none */
	int64_t cpu_milli, allocatable_mib, pods; /* what Karpenter expects to be allocatable */
	bool rdma;                                /* GPUDirect or Neuron RDMA over EFA */
	bool outlook; /* in the table for what comes next: no target is proved on it */
};

extern const struct instance instances[];
extern const size_t n_instances;

/* The row of a type, NULL if unknown. The nearest known type's name for "did you mean", or NULL. */
const struct instance *instance_find(const char *type);
const char *instance_nearest(const char *type);

/* "NVIDIA" / "AWS Neuron"; "nvidia.com/gpu" / "aws.amazon.com/neuron". */
const char *accelerator_title(enum accelerator accelerator);
const char *accelerator_resource(enum accelerator accelerator);

/* What `slipway instances` shows; NULL or 0 = no filter. */
struct instance_filter {
	const char *target; /* or a family */
	const char *arch;
	const char *device;
	bool efa; /* only types with EFA */
};
bool instance_matches(const struct instance *i, const struct instance_filter *filter);

/* Appends the rows that match as a table with a head, or as a JSON array; both return how many
 * matched. */
size_t instances_text(const struct instance_filter *filter, struct strbuf *sb);
size_t instances_json(const struct instance_filter *filter, cJSON *array);

#endif
