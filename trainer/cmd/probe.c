#include "trainer/cmd/probe.h"

#include <string.h>

void probe_node(const char *root, struct probe *p)
{
	*p = (struct probe){0};
	probe_cpu(root, &p->cpu);
	probe_memory(root, &p->memory);
	probe_nvidia(root, &p->nvidia);
	probe_neuron(root, &p->neuron);
	probe_efa(root, &p->efa);
	p->best_device = p->neuron.n_devices > 0 ? "neuron" : p->nvidia.n_gpus > 0 ? "cuda" : "cpu";
	device_auto(p->device);
}

static double gib(int64_t bytes)
{
	return (double)bytes / (double)(1 << 30);
}

static void nvidia_text(const struct probe_nvidia *n, struct strbuf *sb)
{
	if (n->n_gpus == 0)
		strbuf_addf(sb, "nvidia:       none%s%s\n", n->problem[0] != '\0' ? ": " : "",
		            n->problem);
	for (size_t i = 0; i < n->n_gpus; i++)
		strbuf_addf(sb, "nvidia:       %s, %.1f GiB, compute capability %d.%d\n",
		            n->gpus[i].name, gib(n->gpus[i].memory_bytes), n->gpus[i].compute_major,
		            n->gpus[i].compute_minor);
	if (n->driver_version > 0)
		strbuf_addf(sb, "driver:       CUDA %d.%d\n", n->driver_version / 1000,
		            n->driver_version % 1000 / 10);
}

void probe_text(const struct probe *p, struct strbuf *sb)
{
	strbuf_addf(sb, "architecture: %s\n", p->cpu.architecture);
	strbuf_addf(sb, "cpu:          %s, %u usable\n",
	            p->cpu.model[0] != '\0' ? p->cpu.model : "unknown", p->cpu.cpus);
	strbuf_adds(sb, "features:    ");
	for (size_t i = 0; i < p->cpu.n_features; i++)
		strbuf_addf(sb, " %s", p->cpu.features[i]);
	strbuf_addf(sb, "\nmemory:       %.1f GiB, %.1f GiB available, %u NUMA node%s\n",
	            gib(p->memory.total_bytes), gib(p->memory.available_bytes),
	            p->memory.numa_nodes, p->memory.numa_nodes == 1 ? "" : "s");
	if (p->memory.limit_bytes >= 0)
		strbuf_addf(sb, "memory limit: %.1f GiB\n", gib(p->memory.limit_bytes));
	nvidia_text(&p->nvidia, sb);
	if (p->neuron.n_devices == 0)
		strbuf_adds(sb, "neuron:       none\n");
	else if (p->neuron.cores >= 0)
		strbuf_addf(sb, "neuron:       %zu devices, %lld cores, runtime %s\n",
		            p->neuron.n_devices, (long long)p->neuron.cores,
		            p->neuron.library ? "found" : "not found");
	else
		strbuf_addf(sb, "neuron:       %zu devices, runtime %s\n", p->neuron.n_devices,
		            p->neuron.library ? "found" : "not found");
	strbuf_addf(sb, "efa:          %zu interface%s", p->efa.n, p->efa.n == 1 ? "" : "s");
	for (size_t i = 0; i < p->efa.n; i++)
		strbuf_addf(sb, "%s%s", i == 0 ? ": " : ", ", p->efa.names[i]);
	strbuf_addf(sb, "\nbest device:  %s\nruns on:      %s\n", p->best_device, p->device);
}

static void cpu_json(const struct probe_cpu *cpu, struct jsonw *w)
{
	jsonw_key(w, "cpu");
	jsonw_begin_object(w);
	jsonw_key(w, "model");
	jsonw_string(w, cpu->model[0] != '\0' ? cpu->model : NULL);
	jsonw_key(w, "cpus");
	jsonw_int(w, cpu->cpus);
	jsonw_key(w, "features");
	jsonw_begin_array(w);
	for (size_t i = 0; i < cpu->n_features; i++)
		jsonw_string(w, cpu->features[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void memory_json(const struct probe_memory *memory, struct jsonw *w)
{
	jsonw_key(w, "memory");
	jsonw_begin_object(w);
	jsonw_key(w, "total_bytes");
	jsonw_int(w, memory->total_bytes);
	jsonw_key(w, "available_bytes");
	jsonw_int(w, memory->available_bytes);
	jsonw_key(w, "limit_bytes");
	if (memory->limit_bytes >= 0)
		jsonw_int(w, memory->limit_bytes);
	else
		jsonw_null(w);
	jsonw_key(w, "numa_nodes");
	jsonw_int(w, memory->numa_nodes);
	jsonw_key(w, "hugepages_2m");
	jsonw_int(w, memory->hugepages_2m);
	jsonw_end_object(w);
}

static void gpu_json(const struct probe_gpu *gpu, struct jsonw *w)
{
	char capability[32];

	snprintf(capability, sizeof(capability), "%d.%d", gpu->compute_major, gpu->compute_minor);
	jsonw_begin_object(w);
	jsonw_key(w, "name");
	jsonw_string(w, gpu->name);
	jsonw_key(w, "memory_bytes");
	jsonw_int(w, gpu->memory_bytes);
	jsonw_key(w, "compute_capability");
	jsonw_string(w, capability);
	jsonw_end_object(w);
}

static void nvidia_json(const struct probe_nvidia *n, struct jsonw *w)
{
	jsonw_key(w, "nvidia");
	jsonw_begin_object(w);
	jsonw_key(w, "library");
	jsonw_bool(w, n->library);
	jsonw_key(w, "driver_cuda_version");
	jsonw_int(w, n->driver_version);
	jsonw_key(w, "gpus");
	jsonw_begin_array(w);
	for (size_t i = 0; i < n->n_gpus; i++)
		gpu_json(&n->gpus[i], w);
	jsonw_end_array(w);
	jsonw_key(w, "problem");
	jsonw_string(w, n->problem[0] != '\0' ? n->problem : NULL);
	jsonw_end_object(w);
}

static void devices_json(const struct probe *p, struct jsonw *w)
{
	jsonw_key(w, "neuron");
	jsonw_begin_object(w);
	jsonw_key(w, "devices");
	jsonw_int(w, (int64_t)p->neuron.n_devices);
	jsonw_key(w, "cores");
	if (p->neuron.cores >= 0)
		jsonw_int(w, p->neuron.cores);
	else
		jsonw_null(w);
	jsonw_key(w, "library");
	jsonw_bool(w, p->neuron.library);
	jsonw_end_object(w);
	jsonw_key(w, "efa");
	jsonw_begin_array(w);
	for (size_t i = 0; i < p->efa.n; i++)
		jsonw_string(w, p->efa.names[i]);
	jsonw_end_array(w);
}

void probe_json(const struct probe *p, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "architecture");
	jsonw_string(&w, p->cpu.architecture);
	cpu_json(&p->cpu, &w);
	memory_json(&p->memory, &w);
	nvidia_json(&p->nvidia, &w);
	devices_json(p, &w);
	jsonw_key(&w, "best_device");
	jsonw_string(&w, p->best_device);
	jsonw_key(&w, "device");
	jsonw_string(&w, p->device);
	jsonw_end_object(&w);
}
