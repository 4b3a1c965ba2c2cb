/* Looking a symbol up in one file (glibc, elf/dl-lookup.c). */
#include <string.h>

#include "builder/layer/elf/elf_internal.h"

const struct elf_version *elf_version_at(const struct elf_info *info, uint16_t index)
{
	size_t low = 0, high = info->n_versions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (info->versions[mid].index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low < info->n_versions && info->versions[low].index == index ? &info->versions[low]
	                                                                    : NULL;
}

/* The first definition of a name, n_defined when there is none. */
static size_t first_of(const struct elf_symbols *s, uint64_t hash)
{
	size_t low = 0, high = s->n_defined;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->defined[mid] < hash)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool version_matches(const struct elf_info *info, uint16_t entry, const char *version)
{
	const struct elf_version *have = elf_version_at(info, entry & ELF_VERSION_INDEX);

	/* What has no version of its own serves everybody. */
	if (have == NULL || have->library != NULL)
		return (entry & ELF_VERSION_HIDDEN) == 0;
	return strcmp(have->name, version) == 0;
}

bool elf_defines(const struct elf_info *info, uint64_t hash, const char *version, size_t *steps)
{
	const struct elf_symbols *s = info->symbols;
	size_t n_default = 0;

	for (size_t i = first_of(s, hash); i < s->n_defined && s->defined[i] >> 16 == hash >> 16;
	     i++, ++*steps) {
		uint16_t entry = (uint16_t)s->defined[i];

		if (version != NULL && version_matches(info, entry, version))
			return true;
		/* Without a version the base or the first one, else the only default. */
		if (version == NULL && (entry & ELF_VERSION_INDEX) < 3)
			return true;
		n_default += (entry & ELF_VERSION_HIDDEN) == 0;
	}
	return version == NULL && n_default == 1;
}
