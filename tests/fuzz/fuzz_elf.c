/* Any bytes as an ELF file with its symbols, as a loader's configuration and as its cache: no crash,
 * bounded work. */
#include <string.h>

#include "builder/layer/elf/elf_cache.h"
#include "builder/layer/elf/elf_search.h"
#include "builder/layer/elf/elf_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *at;
	size_t len;
};

static int read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err)
{
	const struct bytes *b = ctx;

	if (offset > b->len || len > b->len - offset)
		return err_set(err, ERR_FORMAT, "cut short");
	memcpy(buf, b->at + offset, len);
	return 0;
}

static void look_up(const struct elf_info *info)
{
	const struct elf_symbols *s = info->symbols;
	size_t steps = 0;

	for (size_t i = 0; s != NULL && i < s->n_needs && i < 1000; i++) {
		const struct elf_version *v = elf_version_at(info, s->needs[i].version);
		uint64_t hash = elf_symbol_hash(s->needs[i].name, strlen(s->needs[i].name));

		elf_defines(info, hash, NULL, &steps);
		elf_defines(info, hash, v != NULL ? v->name : "", &steps);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	const struct elf_tokens tokens = {.origin = "/o", .lib = "lib", .platform = "p"};
	struct strlist dirs = {0}, includes = {0};
	struct elf_room room = {0};
	struct bytes bytes = {data, size};
	struct elf_cache cache;
	struct elf_info info;
	struct err err = {0};

	if (elf_parse_symbols(read_at, &bytes, size, &a, &room, &info, &err) == 0) {
		elf_search_path(info.rpath, &tokens, &a);
		elf_search_path(info.runpath, &tokens, &a);
		look_up(&info);
	}
	elf_room_done(&room);
	elf_search_conf((const char *)data, size, &dirs, &includes, &a);
	cache = elf_cache_read(data, size, platform_arch_find("amd64"), &a);
	elf_cache_find(&cache, "libc.so.6");
	return 0;
}
