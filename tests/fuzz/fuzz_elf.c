/* Any bytes as an ELF file, and as a loader's configuration: no crash, bounded work. */
#include "builder/layer/elf/elf.h"
#include "builder/layer/elf/elf_search.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	const struct elf_tokens tokens = {.origin = "/o", .lib = "lib", .platform = "p"};
	struct strlist dirs = {0}, includes = {0};
	struct elf_info info;
	struct err err = {0};

	if (elf_parse_bytes(data, size, &a, &info, &err) == 0) {
		elf_search_path(info.rpath, &tokens, &a);
		elf_search_path(info.runpath, &tokens, &a);
	}
	elf_search_conf((const char *)data, size, &dirs, &includes, &a);
	return 0;
}
