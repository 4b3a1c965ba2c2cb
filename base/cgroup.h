/*
 * What control groups leave a process, of version 2 and of version 1 (cgroups(7)): the strictest
 * limit between the process's own group and the root, as far as they are mounted here.
 */
#ifndef SLIPWAY_BASE_CGROUP_H
#define SLIPWAY_BASE_CGROUP_H

#include <stdint.h>

struct cgroup_limits {
	unsigned cpus;       /* of the quota, rounded up; 0: none */
	int64_t memory;      /* bytes; 0: none */
	int64_t memory_used; /* bytes charged to the group with that limit; 0: not known */
};

/* root: "" for this machine, or a folder in which /proc and /sys are found. */
struct cgroup_limits cgroup_limits_at(const char *root);

#endif
