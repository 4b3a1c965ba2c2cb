/* How many CPUs there are for us. */
#include "base/cgroup.h"
#include "base/cpus.h"
#include "base/fs.h"
#include "tests/harness.h"

static void quotas(void)
{
	static const struct {
		const char *text;
		unsigned cpus;
	} cases[] = {
		{"max 100000\n", 0},
		{"100000 100000\n", 1},
		{"150000 100000\n", 2},
		{"50000 100000\n", 1},
		{"400000 100000\n", 4},
		{"400001 100000", 5},
		{"0 100000\n", 0},
		{"100000 0\n", 0},
		{"100000\n", 0},
		{"", 0},
		{"\n", 0},
		{"many few\n", 0},
		{"18446744073709551615 1\n", 4294967295u},
		{"18446744073709551615 18446744073709551615\n", 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_INT(cpus_of_quota(cases[i].text), cases[i].cpus);
}

static void there_is_a_cpu(void)
{
	CHECK(cpus_usable() >= 1 && cpus_usable() < 65536);
}

static void put(const char *root, const char *path, const char *text)
{
	char file[8192], folder[4096];
	struct err err = {0};

	snprintf(file, sizeof(file), "%s%s", root, path);
	fs_parent(file, folder);
	CHECK_OK(fs_mkdirs(folder, &err), &err);
	CHECK_OK(fs_write_file(file, text, strlen(text), 0644, &err), &err);
}

#define V2 "/sys/fs/cgroup"

static void control_groups(void)
{
	static const struct {
		const char *files[5][2]; /* path, text */
		unsigned cpus;
		int64_t memory, used;
	} cases[] = {
		{{{NULL}}, 0, 0, 0},
		{{{V2 "/cpu.max", "max 100000\n"}, {V2 "/memory.max", "max\n"}}, 0, 0, 0},
		{{{V2 "/cpu.max", "150000 100000\n"},
	          {V2 "/memory.max", "1048576\n"},
	          {V2 "/memory.current", "4096\n"}},
	         2,
	         1048576,
	         4096},
		/* the strictest on the way up, wherever it stands */
		{{{"/proc/self/cgroup", "0::/a.slice/b\n"},
	          {V2 "/a.slice/b/cpu.max", "max 100000\n"},
	          {V2 "/a.slice/cpu.max", "300000 100000\n"},
	          {V2 "/a.slice/b/memory.max", "8192\n"},
	          {V2 "/a.slice/memory.max", "9000\n"}},
	         3,
	         8192,
	         0},
		/* version 1, in a container: the path is the host's */
		{{{"/proc/self/cgroup", "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n0::/\n"},
	          {V2 "/cpu/cpu.cfs_quota_us", "250000\n"},
	          {V2 "/cpu/cpu.cfs_period_us", "100000\n"},
	          {V2 "/memory/memory.limit_in_bytes", "65536\n"},
	          {V2 "/memory/memory.usage_in_bytes", "1234\n"}},
	         3,
	         65536,
	         1234},
		{{{"/proc/self/cgroup", "3:cpu,cpuacct:/docker/x\n"},
	          {V2 "/cpu/docker/x/cpu.cfs_quota_us", "100000\n"},
	          {V2 "/cpu/docker/x/cpu.cfs_period_us", "100000\n"}},
	         1,
	         0,
	         0},
		{{{V2 "/cpu/cpu.cfs_quota_us", "-1\n"},
	          {V2 "/cpu/cpu.cfs_period_us", "100000\n"},
	          {V2 "/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
	         0,
	         0,
	         0},
		{{{"/proc/self/cgroup", "0::/../../x\n"}, {V2 "/cpu.max", "200000 100000\n"}},
	         2,
	         0,
	         0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cgroup_limits l;
		struct err err = {0};
		char root[4096];

		test_tmpdir(root);
		for (size_t k = 0; k < 5 && cases[i].files[k][0] != NULL; k++)
			put(root, cases[i].files[k][0], cases[i].files[k][1]);
		l = cgroup_limits_at(root);
		CHECK_INT(l.cpus, cases[i].cpus);
		CHECK_INT(l.memory, cases[i].memory);
		CHECK_INT(l.memory_used, cases[i].used);
		CHECK_OK(fs_remove_tree(root, &err), &err);
	}
}

int main(void)
{
	TEST("cpus: a cgroup's quota is rounded up to whole CPUs; none is no limit", quotas);
	TEST("cpus: limits of control groups, of both versions, up to the root", control_groups);
	TEST("cpus: there is one", there_is_a_cpu);
	return test_done();
}
