#include "karpenter/catalogue/mig.h"

#include <string.h>

#include "base/attr.h"

static const struct mig_row {
	const char *device;
	int64_t memory_mib;
	const char *profile;
	int64_t parts;
} rows[] = {
	{"a100", 40960, "1g.5gb", 7},   {"a100", 40960, "1g.10gb", 4},
	{"a100", 40960, "2g.10gb", 3},  {"a100", 40960, "3g.20gb", 2},
	{"a100", 40960, "7g.40gb", 1},  {"a100", 81920, "1g.10gb", 7},
	{"a100", 81920, "1g.20gb", 4},  {"a100", 81920, "2g.20gb", 3},
	{"a100", 81920, "3g.40gb", 2},  {"a100", 81920, "7g.80gb", 1},
	{"h100", 81920, "1g.10gb", 7},  {"h100", 81920, "1g.20gb", 4},
	{"h100", 81920, "2g.20gb", 3},  {"h100", 81920, "3g.40gb", 2},
	{"h100", 81920, "7g.80gb", 1},  {"h200", 144384, "1g.18gb", 7},
	{"h200", 144384, "1g.35gb", 4}, {"h200", 144384, "2g.35gb", 3},
	{"h200", 144384, "3g.71gb", 2}, {"h200", 144384, "7g.141gb", 1},
};

static bool is_of(const struct mig_row *row, const struct instance *instance)
{
	return strcmp(row->device, instance->device) == 0 &&
	       row->memory_mib == instance->device_memory_mib;
}

int64_t mig_parts(const struct instance *instance, const char *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (is_of(&rows[i], instance) && strcmp(rows[i].profile, profile) == 0)
			return rows[i].parts;
	return 0;
}

void mig_profiles(const struct instance *instance, struct strbuf *sb)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (is_of(&rows[i], instance))
			strbuf_addf(sb, "%s%s", sb->len > 0 ? ", " : "", rows[i].profile);
}
