/*
 * CPU architecture, model and the instruction sets that kernels are chosen by.
 */
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/slurp.h"
#include "trainer/cmd/probe.h"

enum { PROBE_FILE_MAX = 1 << 20 };

#if defined(__x86_64__)
static const char *const architecture = "amd64";
#elif defined(__aarch64__)
#include <asm/hwcap.h>
static const char *const architecture = "arm64";
#else
#error "the trainer runs on amd64 and arm64"
#endif

static void add_feature(struct probe_cpu *cpu, const char *name)
{
	if (cpu->n_features < PROBE_FEATURES_MAX)
		cpu->features[cpu->n_features++] = name;
}

#if defined(__x86_64__)
static void find_features(struct probe_cpu *cpu)
{
	__builtin_cpu_init();
	/* The builtin wants literals, so the answers stand in the table. */
	const struct {
		const char *name;
		int present;
	} rows[] = {
		{"sse4.2", __builtin_cpu_supports("sse4.2")},
		{"avx", __builtin_cpu_supports("avx")},
		{"avx2", __builtin_cpu_supports("avx2")},
		{"fma", __builtin_cpu_supports("fma")},
		{"avx512f", __builtin_cpu_supports("avx512f")},
		{"avx512bw", __builtin_cpu_supports("avx512bw")},
		{"avx512vl", __builtin_cpu_supports("avx512vl")},
		{"avx512vnni", __builtin_cpu_supports("avx512vnni")},
		{"avx512bf16", __builtin_cpu_supports("avx512bf16")},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].present)
			add_feature(cpu, rows[i].name);
}
#else
static void find_features(struct probe_cpu *cpu)
{
	static const struct {
		unsigned long bit;
		bool second; /* AT_HWCAP2 */
		const char *name;
	} rows[] = {
		{HWCAP_ASIMD, false, "neon"},      {HWCAP_ASIMDHP, false, "fp16"},
		{HWCAP_ASIMDDP, false, "dotprod"}, {HWCAP_ATOMICS, false, "lse"},
		{HWCAP_SVE, false, "sve"},         {HWCAP2_SVE2, true, "sve2"},
		{HWCAP2_BF16, true, "bf16"},       {HWCAP2_I8MM, true, "i8mm"},
	};
	unsigned long caps = getauxval(AT_HWCAP), caps2 = getauxval(AT_HWCAP2);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (((rows[i].second ? caps2 : caps) & rows[i].bit) != 0)
			add_feature(cpu, rows[i].name);
}
#endif

/* "model name : X" of /proc/cpuinfo (x86); Arm kernels give part numbers only. */
static void find_model(const char *root, struct probe_cpu *cpu)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PROBE_FILE_MAX);
	struct err ignored = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	if (slurp_file(path, PROBE_FILE_MAX, &text, &ignored) != 0)
		return;
	const char *line = strstr(strbuf_str(&text), "model name");
	const char *colon = line != NULL ? strchr(line, ':') : NULL;

	if (colon == NULL)
		return;
	snprintf(cpu->model, sizeof(cpu->model), "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
}

void probe_cpu(const char *root, struct probe_cpu *cpu)
{
	cpu_set_t set;

	cpu->architecture = architecture;
	cpu->cpus = 1;
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		cpu->cpus = (unsigned)CPU_COUNT(&set);
	find_model(root, cpu);
	find_features(cpu);
}
