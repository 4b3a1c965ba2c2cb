/*
 * Neuron devices (/dev/neuronN, /sys/class/neuron_device) and EFA interfaces (RDMA devices whose
 * driver is "efa").
 */
#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/slurp.h"
#include "trainer/cmd/probe.h"

/* Adds the device's cores to the sum; once one is not known, neither is the sum. */
static void add_cores(const char *root, unsigned device, struct probe_neuron *neuron)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(64);
	struct err ignored = {0};
	char path[512];

	if (neuron->cores < 0)
		return;
	snprintf(path, sizeof(path), "%s/sys/class/neuron_device/neuron%u/core_count", root,
	         device);
	if (slurp_file(path, 64, &text, &ignored) == 0 && text.len > 0)
		neuron->cores += strtoll(strbuf_str(&text), NULL, 10);
	else
		neuron->cores = -1;
}

void probe_neuron(const char *root, struct probe_neuron *neuron)
{
	void *library = dlopen("libnrt.so.1", RTLD_LAZY | RTLD_LOCAL);

	for (unsigned i = 0; i < PROBE_DEVICES_MAX; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/dev/neuron%u", root, i);
		if (access(path, F_OK) != 0)
			continue;
		neuron->n_devices++;
		add_cores(root, i, neuron);
	}
	neuron->library = library != NULL;
	if (library != NULL)
		dlclose(library);
}

static bool is_efa(const char *root, const char *name)
{
	char path[512], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%.200s/device/driver", root, name);
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	return strcmp(basename(target), "efa") == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void probe_efa(const char *root, struct probe_efa *efa)
{
	char path[512];
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband", root);
	DIR *dir = opendir(path);

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL && efa->n < PROBE_DEVICES_MAX)
		if (entry->d_name[0] != '.' && is_efa(root, entry->d_name))
			snprintf(efa->names[efa->n++], sizeof(efa->names[0]), "%.31s",
			         entry->d_name);
	closedir(dir);
	qsort(efa->names, efa->n, sizeof(efa->names[0]), by_name);
}
