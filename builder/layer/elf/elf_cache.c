#include "builder/layer/elf/elf_cache.h"

#include <elf.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"

enum {
	OLD_HEAD = 16,  /* magic, padding, count */
	OLD_ENTRY = 12, /* flags, name, path */
	NEW_HEAD = 48,  /* magic, count, bytes of texts, flags, extensions, unused */
	NEW_ENTRY = 24, /* flags, name, path, system version, 8 bytes of capabilities */
	NEW_FLAGS = 28,
	TEXT_MAX = 4096,
	FLAGS_ENDIAN = 3 /* of the file: 2 = little, 3 = big, 0 = not said */
};

/* One table of entries; texts are counted from `base` on. */
struct table {
	const unsigned char *bytes, *base;
	size_t n, size, base_len;
	bool big_endian;
};

static uint32_t number(const struct table *t, const unsigned char *p)
{
	return t->big_endian
	               ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
	               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* What the entries of an architecture have in their flags: the ABI, beside "an ELF library for
 * glibc 2"; -1 = whatever they have. */
static int64_t wanted_flags(const struct platform_arch *arch)
{
	static const struct {
		uint16_t machine;
		int64_t flags;
	} table[] = {
		{EM_X86_64, 0x0303}, {EM_AARCH64, 0x0a03}, {EM_386, 0x0003},
		{EM_ARM, 0x0903},    {EM_S390, 0x0403},    {EM_PPC64, 0x0503},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].machine == arch->elf_machine)
			return table[i].flags;
	return -1;
}

static const char *text_at(const struct table *t, uint32_t offset)
{
	size_t left;

	if (offset >= t->base_len)
		return NULL;
	left = t->base_len - offset < TEXT_MAX ? t->base_len - offset : TEXT_MAX;
	if (memchr(t->base + offset, '\0', left) == NULL)
		return NULL;
	return (const char *)t->base + offset;
}

/* glibc-ld.so.cache1.1 at `bytes`; texts are counted from its magic. */
static bool open_new(const unsigned char *bytes, size_t len, bool big_endian,
                     struct table *ret_table)
{
	struct table t = {.size = NEW_ENTRY, .base = bytes, .base_len = len};

	if (len < NEW_HEAD || memcmp(bytes, NEW_MAGIC, strlen(NEW_MAGIC)) != 0)
		return false;
	t.big_endian = big_endian;
	if ((bytes[NEW_FLAGS] & FLAGS_ENDIAN) > 1 &&
	    ((bytes[NEW_FLAGS] & FLAGS_ENDIAN) == 3) != big_endian)
		return false;
	t.n = number(&t, bytes + strlen(NEW_MAGIC));
	t.bytes = bytes + NEW_HEAD;
	if (t.n > (len - NEW_HEAD) / NEW_ENTRY)
		return false;
	*ret_table = t;
	return true;
}

static bool open_table(const unsigned char *bytes, size_t len, bool big_endian,
                       struct table *ret_table)
{
	struct table t = {.size = OLD_ENTRY, .big_endian = big_endian};
	size_t end;

	if (open_new(bytes, len, big_endian, ret_table))
		return true;
	if (len < OLD_HEAD || memcmp(bytes, OLD_MAGIC, strlen(OLD_MAGIC)) != 0)
		return false;
	t.n = number(&t, bytes + OLD_HEAD - 4);
	if (t.n > (len - OLD_HEAD) / OLD_ENTRY)
		return false;
	end = OLD_HEAD + t.n * OLD_ENTRY;
	if (open_new(bytes + (end + 7) / 8 * 8,
	             (end + 7) / 8 * 8 < len ? len - (end + 7) / 8 * 8 : 0, big_endian, ret_table))
		return true;
	t.bytes = bytes + OLD_HEAD;
	t.base = bytes + end;
	t.base_len = len - end;
	*ret_table = t;
	return true;
}

static int entry_order(const void *a, const void *b)
{
	const struct elf_cache_entry *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	if (by_name != 0)
		return by_name;
	if (x->variant != y->variant)
		return x->variant ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

struct elf_cache elf_cache_read(const void *bytes, size_t len, const struct platform_arch *arch,
                                struct arena *a)
{
	const bool big_endian = arch->elf_machine == EM_S390;
	const int64_t wanted = wanted_flags(arch);
	struct elf_cache cache = {0};
	struct table t;

	if (len > ELF_CACHE_BYTES_MAX || !open_table(bytes, len, big_endian, &t))
		return cache;
	cache.at = arena_calloc(a, t.n, sizeof(*cache.at));
	for (size_t i = 0; i < t.n; i++) {
		const unsigned char *p = t.bytes + i * t.size;
		struct elf_cache_entry e = {.name = text_at(&t, number(&t, p + 4)),
		                            .path = text_at(&t, number(&t, p + 8)),
		                            .order = i};

		e.variant = t.size == NEW_ENTRY && !mem_is_zero(p + 16, 8);
		if (e.name != NULL && e.path != NULL &&
		    (wanted < 0 || number(&t, p) == (uint32_t)wanted))
			cache.at[cache.n++] = e;
	}
	if (cache.n > 0)
		qsort(cache.at, cache.n, sizeof(*cache.at), entry_order);
	return cache;
}

const char *elf_cache_find(const struct elf_cache *cache, const char *name)
{
	size_t low = 0, high = cache->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(cache->at[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < cache->n && strcmp(cache->at[low].name, name) == 0 ? cache->at[low].path
	                                                                : NULL;
}
