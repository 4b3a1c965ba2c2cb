/*
 * The instance catalogue: every figure about an EC2 instance type that slipway uses, one row per
 * size; whose accelerators there are, one row per maker; and the fleet targets that sizes belong
 * to. Everybody asks the row: `target->accelerator->resource`. Not in it: prices, availability by
 * zone (ask EC2), types without an accelerator.
 *
 * Source: the tables of Karpenter's AWS provider 1.14 (types, devices, interfaces, and the
 * allocatable figures that it computes for AL2023 with its default reserves and 7.5 % of memory
 * withheld), and AWS's instance pages for NVMe, network and processors; read 2026-11-21. The levels
 * of x86-64 are those of its psABI: v4 asks for AVX-512, which AMD's processors have from Zen 4 on.
 * Thread rule: constant data.
 */
#ifndef SLIPWAY_KARPENTER_CATALOGUE_CATALOGUE_H
#define SLIPWAY_KARPENTER_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/doc/json.h"
#include "base/strbuf.h"

/*
 * What a spec may name below `fleet`, in the order of the reference: enumerator, name, description.
 * A name is also a family: without a list of instances, the target has every size of it.
 */
#define FLEET_TARGET_LIST(ROW)                                                                     \
	ROW(TRN1, "trn1", "AWS Trainium: trn1 and trn1n.")                                         \
	ROW(TRN2, "trn2", "AWS Trainium2 (in preview).")                                           \
	ROW(P4D, "p4d", "NVIDIA A100: p4d and p4de.")                                              \
	ROW(P5, "p5", "NVIDIA H100 and H200: p5, p5e and p5en (in preview).")                      \
	ROW(G5, "g5", "NVIDIA A10G: g5.")                                                          \
	ROW(G6, "g6", "NVIDIA L4 and L40S: g6 and g6e (in preview).")                              \
	ROW(G5G, "g5g", "NVIDIA T4G beside an arm64 processor: g5g.")

#define FLEET_TARGET_ENUMERATOR(id, name, doc) FLEET_TARGET_##id,
enum fleet_target_id { FLEET_TARGET_LIST(FLEET_TARGET_ENUMERATOR) FLEET_TARGETS };

extern const char *const fleet_target_names[]; /* FLEET_TARGETS of them, then NULL */

/* Whose device it is: enumerator, the key of its own exporter in the section monitoring, and that
 * key's description. */
#define ACCELERATOR_LIST(ROW)                                                                      \
	ROW(NVIDIA, "gpu",                                                                         \
	    "Metrics of NVIDIA devices; an exporter of our own without Container Insights.")       \
	ROW(NEURON, "neuron",                                                                      \
	    "Metrics of Neuron devices; a monitor of our own without Container Insights.")

#define ACCELERATOR_ENUMERATOR(id, key, doc) ACCELERATOR_##id,
enum accelerator_kind { ACCELERATOR_LIST(ACCELERATOR_ENUMERATOR) ACCELERATORS };

/* A DaemonSet on every node of a kind, and what it asks for there. */
struct node_daemon {
	const char *name; /* NULL = none */
	int64_t cpu_milli, memory_mib;
	int64_t limit_mib; /* of memory; 0 = what it asks for */
};

/* A variable of the job's environment; of each pod, or only where several nodes talk. */
struct accelerator_env {
	const char *name, *value;
	bool several_nodes;
};

struct accelerator {
	enum accelerator_kind kind; /* its place in the table */
	const char *title;          /* "AWS Neuron" */
	const char *maker;          /* before "devices" or "plugin": "Neuron" */
	const char *driver;         /* of the nodes' image: "the Neuron driver" */
	const char *resource;       /* that pods ask for: "aws.amazon.com/neuron" */
	const char *colour;         /* in the diagram: "#c2570c" */
	struct node_daemon plugin;  /* what offers the resource */

	/* What not every one has; NULL or false = it has not. */
	const char *node_label;   /* on its nodes, with the value true */
	bool in_bottlerocket;     /* Bottlerocket's image runs the plugin itself */
	const char *device_class; /* of whole devices, where claims may be made for them (DRA) */
	const char *no_claims;    /* why not, where they may not: "trn1 is not supported by ..." */
	/* schedulerName of pods with several but not all devices of a node: these must be
	 * neighbours, and the stock scheduler only counts. */
	const char *part_scheduler;
	bool nccl;                     /* its nodes can run the network test */
	const char *trainer_device;    /* slipway-trainer's --device there: "cuda" */
	const char *compiler;          /* the program that makes what it runs, ahead of a run */
	const char *cache_env;         /* names the compiler's cache to other programs */
	struct accelerator_env env[3]; /* up to the first without a name */
	/* The variable that says where rank 0 listens, HOST:root_port, when several nodes talk. */
	const char *root_env;
	int root_port;
	struct node_daemon exporter; /* of its metrics */
	const char *idle_alarm;      /* "IdleNvidia": logical name in CloudFormation */
	const char *idle_metric;     /* of Container Insights: utilisation of a pod's devices */
	const char *torch_image;     /* AWS's with PyTorch for it; @region@ stands for the region */
};

/* ACCELERATORS rows, by enum accelerator_kind; the keys of ACCELERATOR_LIST in the same order. */
extern const struct accelerator accelerators[];
extern const char *const accelerator_exporter_keys[];

struct instance {
	const char *type;   /* "trn1.32xlarge" */
	const char *family; /* "trn1n": what stands before the dot */
	const char *target; /* the fleet target it belongs to: "trn1" for trn1n, "p4d" for p4de */
	const char *arch;   /* "amd64", "arm64" */
	const char *isa;    /* the most that programs may be compiled for: "x86-64-v3" */
	int64_t vcpu, memory_mib;
	const struct accelerator *accelerator;
	const char *device;        /* as in Karpenter's labels: "trainium", "a100", "t4g" */
	int64_t devices;           /* per node */
	int64_t device_memory_mib; /* of one device */
	int64_t cores;             /* per node (NeuronCores); 0 = none */
	int64_t fused;             /* so many of them make the one that a process sees (LNC) */
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

/* The x86-64 level (1 to 4) that the processor has; 0 for other architectures. */
unsigned instance_x86_level(const struct instance *i);

/* How many processes of a job run on one device. */
int64_t instance_processes(const struct instance *i);

/* Of a fleet target's instances: a target has those of one maker. NULL if there are none. */
const struct accelerator *accelerator_of(const char *target);

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
