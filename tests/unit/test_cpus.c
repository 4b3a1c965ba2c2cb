/* How many CPUs there are for us. */
#include "base/cpus.h"
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

int main(void)
{
	TEST("cpus: a cgroup's quota is rounded up to whole CPUs; none is no limit", quotas);
	TEST("cpus: there is one", there_is_a_cpu);
	return test_done();
}
