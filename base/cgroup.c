#include "base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/slurp.h"

enum { CGROUP_FILE_MAX = 64 << 10 };

/* Version 1 says "no limit" by a number near 2^63, rounded to pages. */
#define CGROUP_V1_NO_LIMIT ((int64_t)1 << 60)

struct group_files {
	const char *controller; /* in /proc/self/cgroup; "" is version 2's one hierarchy */
	const char *mount;
	const char *quota, *period; /* version 2 has both in one file: period NULL */
	const char *limit, *used;
};

static const struct group_files hierarchies[] = {
	{"", "/sys/fs/cgroup", "cpu.max", NULL, "memory.max", "memory.current"},
	{"cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL, NULL},
	{"memory", "/sys/fs/cgroup/memory", NULL, NULL, "memory.limit_in_bytes",
         "memory.usage_in_bytes"},
};

static int read_small(const char *root, const char *folder, const char *group, const char *name,
                      struct strbuf *sb)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	if (name == NULL ||
	    snprintf(path, sizeof(path), "%s%s%s/%s", root, folder, group, name) >= PATH_MAX)
		return -1;
	return slurp_file(path, CGROUP_FILE_MAX, sb, &ignored);
}

/* A whole number above 0, else 0: "max", -1 and what cannot be read. */
static int64_t number_in(const char *root, const char *folder, const char *group, const char *name)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	long long value;

	if (read_small(root, folder, group, name, &text) != 0)
		return 0;
	value = strtoll(strbuf_str(&text), NULL, 10);
	return value > 0 ? value : 0;
}

static unsigned cpus_in(const char *root, const struct group_files *f, const char *group)
{
	AUTO(strbuf) struct strbuf quota = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf period = STRBUF_INIT(0);
	char text[80];

	if (read_small(root, f->mount, group, f->quota, &quota) != 0)
		return 0;
	if (f->period == NULL)
		return cpus_of_quota(strbuf_str(&quota));
	if (strbuf_str(&quota)[0] == '-' ||
	    read_small(root, f->mount, group, f->period, &period) != 0)
		return 0;
	snprintf(text, sizeof(text), "%.20s %.20s", strbuf_str(&quota), strbuf_str(&period));
	return cpus_of_quota(text);
}

static void take(const char *root, const struct group_files *f, const char *group,
                 struct cgroup_limits *l)
{
	unsigned cpus = cpus_in(root, f, group);
	int64_t memory = number_in(root, f->mount, group, f->limit);

	if (cpus != 0 && (l->cpus == 0 || cpus < l->cpus))
		l->cpus = cpus;
	if (memory == 0 || memory >= CGROUP_V1_NO_LIMIT || (l->memory != 0 && memory >= l->memory))
		return;
	l->memory = memory;
	l->memory_used = number_in(root, f->mount, group, f->used);
}

/* Is `controller` one of a comma-separated list of `len` bytes? "" is the empty list. */
static int lists(const char *list, size_t len, const char *controller)
{
	size_t n = strlen(controller);

	if (n == 0)
		return len == 0;
	while (len >= n) {
		const char *comma = memchr(list, ',', len);
		size_t word = comma != NULL ? (size_t)(comma - list) : len;

		if (word == n && memcmp(list, controller, n) == 0)
			return 1;
		if (comma == NULL)
			return 0;
		list += word + 1;
		len -= word + 1;
	}
	return 0;
}

/* The process's group in a hierarchy, from the lines "ID:CONTROLLERS:/PATH"; "" for the root. In a
 * container the path may be the host's: then only the root is found below the mount. */
static void find_group(const char *text, const char *controller, char out[PATH_MAX])
{
	out[0] = '\0';
	for (const char *line = text; line != NULL && *line != '\0';) {
		size_t len = strcspn(line, "\n");
		const char *first = memchr(line, ':', len);
		const char *second =
			first != NULL ? memchr(first + 1, ':', len - (size_t)(first + 1 - line))
				      : NULL;

		if (second != NULL && lists(first + 1, (size_t)(second - first - 1), controller) &&
		    len - (size_t)(second + 1 - line) < PATH_MAX) {
			snprintf(out, PATH_MAX, "%.*s", (int)(len - (size_t)(second + 1 - line)),
			         second + 1);
			return;
		}
		line += len + (line[len] == '\n');
	}
}

struct cgroup_limits cgroup_limits_at(const char *root)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct cgroup_limits l = {0};
	char group[PATH_MAX];

	(void)read_small(root, "/proc/self", "", "cgroup", &text);
	for (size_t i = 0; i < ARRAY_LEN(hierarchies); i++) {
		find_group(strbuf_str(&text), hierarchies[i].controller, group);
		if (strstr(group, "..") != NULL)
			group[0] = '\0';
		for (;;) {
			char *slash = strrchr(group, '/');

			if (group[0] != '\0' && group[1] != '\0')
				take(root, &hierarchies[i], group, &l);
			if (slash == NULL)
				break;
			*slash = '\0';
		}
		take(root, &hierarchies[i], "", &l);
	}
	return l;
}
