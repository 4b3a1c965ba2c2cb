#include "base/cpus.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "base/cgroup.h"

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

unsigned cpus_usable(void)
{
	cpu_set_t set;
	unsigned n = 1, quota = cgroup_limits_at("").cpus;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		n = (unsigned)CPU_COUNT(&set);
	return quota != 0 && quota < n ? quota : n;
}
