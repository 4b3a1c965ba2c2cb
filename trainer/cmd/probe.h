/*
 * What a node offers to training: CPU, memory, NVIDIA GPUs, Neuron devices, EFA interfaces, and
 * which backend would run. Reads /proc, /sys and /dev and asks the NVIDIA driver's library when it
 * is there; starts nothing, changes nothing, needs no privilege. `root` (normally "") is put before
 * every path, so that tests can show it another node.
 */
#ifndef SLIPWAY_TRAINER_CMD_PROBE_H
#define SLIPWAY_TRAINER_CMD_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jsonw.h"
#include "base/strbuf.h"
#include "trainer/device/devices.h"

enum { PROBE_NAME_MAX = 96, PROBE_DEVICES_MAX = 64, PROBE_FEATURES_MAX = 32, PROBE_NODES_MAX = 64 };

struct probe_cpu {
	const char *architecture;   /* "amd64", "arm64": what this binary was built for */
	char model[PROBE_NAME_MAX]; /* "AMD EPYC 7R13", empty when the kernel does not say */
	unsigned cpus;              /* this process may run on */
	const char *features[PROBE_FEATURES_MAX]; /* names that matter to the kernels, "avx512f",
	                                             "sve" */
	size_t n_features;
};

struct probe_memory {
	int64_t total_bytes, available_bytes;
	int64_t limit_bytes; /* the cgroup's, -1 = none */
	unsigned numa_nodes;
	int64_t hugepages_2m; /* configured pages of 2 MiB; Neuron needs them */
};

struct probe_gpu {
	char name[PROBE_NAME_MAX]; /* "NVIDIA A10G" */
	int64_t memory_bytes;
	int compute_major, compute_minor;
};

struct probe_nvidia {
	bool device_files;  /* /dev/nvidia0 is visible */
	bool library;       /* libcuda.so.1 could be loaded */
	int driver_version; /* CUDA version the driver supports: 12040 = 12.4; 0 = unknown */
	struct probe_gpu gpus[PROBE_DEVICES_MAX];
	size_t n_gpus;
	char problem[160]; /* why the GPUs cannot be used, empty if they can or there are none */
};

struct probe_neuron {
	size_t n_devices; /* /dev/neuronN */
	int64_t cores;    /* sum of core_count in sysfs, -1 = not known */
	bool library;     /* libnrt.so.1 could be loaded */
};

struct probe_efa {
	char names[PROBE_DEVICES_MAX][32]; /* "rdmap16s27" */
	size_t n;
};

struct probe {
	struct probe_cpu cpu;
	struct probe_memory memory;
	struct probe_nvidia nvidia;
	struct probe_neuron neuron;
	struct probe_efa efa;
	const char *best_device; /* "cpu", "cuda" or "neuron": the best that the node offers */
	/* what this program runs on here unless --device names another: "cpu:0" */
	char device[DEVICE_NAME_MAX];
};

/* Fills *p; whatever cannot be read is left at zero or "unknown", never an error. */
void probe_node(const char *root, struct probe *p);

/* The parts, for tests. */
void probe_cpu(const char *root, struct probe_cpu *cpu);
void probe_memory(const char *root, struct probe_memory *memory);
void probe_nvidia(const char *root, struct probe_nvidia *nvidia);
void probe_neuron(const char *root, struct probe_neuron *neuron);
void probe_efa(const char *root, struct probe_efa *efa);

/* Appends the result for people, or as one JSON object. */
void probe_text(const struct probe *p, struct strbuf *sb);
void probe_json(const struct probe *p, struct strbuf *sb);

#endif
