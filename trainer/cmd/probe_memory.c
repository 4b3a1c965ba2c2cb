/*
 * Memory, its limit, NUMA nodes and huge pages.
 */
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/slurp.h"
#include "trainer/cmd/probe.h"

enum { PROBE_SMALL_FILE_MAX = 64 << 10 };

/* The whole number at the start of a small file, or `fallback`. */
static int64_t number_in(const char *root, const char *name, int64_t fallback)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PROBE_SMALL_FILE_MAX);
	struct err ignored = {0};
	char path[512], *end;

	snprintf(path, sizeof(path), "%s%s", root, name);
	if (slurp_file(path, PROBE_SMALL_FILE_MAX, &text, &ignored) != 0 || text.len == 0)
		return fallback;
	long long value = strtoll(strbuf_str(&text), &end, 10);

	return end != strbuf_str(&text) ? value : fallback;
}

/* "MemTotal:  123 kB" in bytes, 0 when absent. */
static int64_t meminfo(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line != NULL ? strtoll(line + strlen(key), NULL, 10) * 1024 : 0;
}

static unsigned count_nodes(const char *root)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PROBE_NODES_MAX; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%u", root, i);
		n += access(path, F_OK) == 0;
	}
	return n != 0 ? n : 1;
}

void probe_memory(const char *root, struct probe_memory *memory)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PROBE_SMALL_FILE_MAX);
	struct err ignored = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (slurp_file(path, PROBE_SMALL_FILE_MAX, &text, &ignored) == 0) {
		memory->total_bytes = meminfo(strbuf_str(&text), "MemTotal:");
		memory->available_bytes = meminfo(strbuf_str(&text), "MemAvailable:");
	}
	memory->limit_bytes = cgroup_limits_at(root).memory;
	if (memory->limit_bytes == 0)
		memory->limit_bytes = -1;
	memory->numa_nodes = count_nodes(root);
	memory->hugepages_2m =
		number_in(root, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", 0);
}
