#include "base/cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPU_MAX_LINE = 80 };

unsigned cpus_of_quota(const char *cpu_max)
{
	char *end;
	unsigned long quota = strtoul(cpu_max, &end, 10);
	unsigned long period = end != cpu_max ? strtoul(end, NULL, 10) : 0;

	if (quota == 0 || period == 0)
		return 0;
	unsigned long cpus = quota / period + (quota % period != 0);

	return cpus < UINT_MAX ? (unsigned)cpus : UINT_MAX;
}

/* Of this process's cgroup; 0 when there is no quota. */
static unsigned quota_here(void)
{
	FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
	char line[CPU_MAX_LINE] = "";
	unsigned cpus = 0;

	if (file == NULL)
		return 0;
	if (fgets(line, sizeof(line), file) != NULL)
		cpus = cpus_of_quota(line);
	fclose(file);
	return cpus;
}

unsigned cpus_usable(void)
{
	cpu_set_t set;
	unsigned n = 1, quota = quota_here();

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		n = (unsigned)CPU_COUNT(&set);
	return quota != 0 && quota < n ? quota : n;
}
