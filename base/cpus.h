/*
 * How many CPUs this process may keep busy: what its affinity mask and its cgroup leave it.
 */
#ifndef SLIPWAY_BASE_CPUS_H
#define SLIPWAY_BASE_CPUS_H

/* CPUs this process may run on: sched_getaffinity(2) and the quota of its control groups. At least
 * 1. */
unsigned cpus_usable(void);

/*
 * The quota that the text of a cgroup's cpu.max (version 2: "QUOTA PERIOD", microseconds both)
 * grants, in CPUs, rounded up; 0 when there is none ("max PERIOD") or the text is something else.
 */
unsigned cpus_of_quota(const char *cpu_max);

#endif
