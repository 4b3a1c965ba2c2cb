#include <elf.h>
#include <string.h>

#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

/* Values of the dynamic section that are string offsets until DT_STRTAB is known. */
struct dynamic {
	VEC(uint64_t) needed;
	uint64_t soname, rpath, runpath; /* UINT64_MAX = none */
	uint64_t strtab, strsz, flags, flags_1;
	bool has_strtab, bind_now, textrel, filter;
	struct elf_version_tables versions;
	struct elf_symbol_tables symbols;
};

/* Entries whose value is kept as it is. */
static const struct {
	uint64_t tag;
	size_t offset;
} values[] = {
	{DT_SONAME, offsetof(struct dynamic, soname)},
	{DT_RPATH, offsetof(struct dynamic, rpath)},
	{DT_RUNPATH, offsetof(struct dynamic, runpath)},
	{DT_STRTAB, offsetof(struct dynamic, strtab)},
	{DT_STRSZ, offsetof(struct dynamic, strsz)},
	{DT_FLAGS, offsetof(struct dynamic, flags)},
	{DT_FLAGS_1, offsetof(struct dynamic, flags_1)},
	{DT_VERNEED, offsetof(struct dynamic, versions.verneed)},
	{DT_VERNEEDNUM, offsetof(struct dynamic, versions.n_verneed)},
	{DT_VERDEF, offsetof(struct dynamic, versions.verdef)},
	{DT_VERDEFNUM, offsetof(struct dynamic, versions.n_verdef)},
	{DT_SYMTAB, offsetof(struct dynamic, symbols.symtab)},
	{DT_VERSYM, offsetof(struct dynamic, symbols.versym)},
	{DT_HASH, offsetof(struct dynamic, symbols.hash)},
	{DT_GNU_HASH, offsetof(struct dynamic, symbols.gnu_hash)},
	{DT_RELA, offsetof(struct dynamic, symbols.rela)},
	{DT_RELASZ, offsetof(struct dynamic, symbols.relasz)},
	{DT_RELACOUNT, offsetof(struct dynamic, symbols.relacount)},
	{DT_REL, offsetof(struct dynamic, symbols.rel)},
	{DT_RELSZ, offsetof(struct dynamic, symbols.relsz)},
	{DT_RELCOUNT, offsetof(struct dynamic, symbols.relcount)},
	{DT_JMPREL, offsetof(struct dynamic, symbols.jmprel)},
	{DT_PLTRELSZ, offsetof(struct dynamic, symbols.pltrelsz)},
	{DT_PLTREL, offsetof(struct dynamic, symbols.pltrel)},
};

/* Entries that say something by being there. */
static const struct {
	uint64_t tag;
	size_t offset;
} marks[] = {
	{DT_STRTAB, offsetof(struct dynamic, has_strtab)},
	{DT_BIND_NOW, offsetof(struct dynamic, bind_now)},
	{DT_TEXTREL, offsetof(struct dynamic, textrel)},
	{DT_FILTER, offsetof(struct dynamic, filter)},
	{DT_AUXILIARY, offsetof(struct dynamic, filter)},
};

static int dynamic_entry(struct dynamic *d, uint64_t tag, uint64_t value, struct err *err)
{
	if (tag == DT_NEEDED) {
		if (d->needed.n >= ELF_NEEDED_MAX)
			return err_set(err, ERR_FORMAT, "ELF needs more than %d libraries",
			               ELF_NEEDED_MAX);
		vec_push(&d->needed, value);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (values[i].tag == tag)
			memcpy((char *)d + values[i].offset, &value, sizeof(value));
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (marks[i].tag == tag)
			*(bool *)((char *)d + marks[i].offset) = true;
	return 0;
}

/* Reads entries up to DT_NULL or the end of the segment, 64 at a time. */
static int read_entries(struct elf_file *f, uint64_t offset, uint64_t size, struct dynamic *d,
                        struct err *err)
{
	const size_t width = f->is64 ? 8 : 4, step = 2 * width;
	uint64_t n = size / step;
	unsigned char chunk[64 * 16];

	if (n > ELF_DYNAMIC_MAX)
		return err_set(err, ERR_FORMAT, "ELF dynamic section has more than %d entries",
		               ELF_DYNAMIC_MAX);
	while (n > 0) {
		size_t k = n < 64 ? (size_t)n : 64;

		if (elf_bytes(f, offset, chunk, k * step, "dynamic section", err) != 0)
			return -1;
		for (size_t i = 0; i < k; i++) {
			uint64_t tag = elf_number(f, chunk + i * step, width);

			if (tag == DT_NULL)
				return 0;
			if (dynamic_entry(d, tag, elf_number(f, chunk + i * step + width, width),
			                  err) != 0)
				return -1;
		}
		offset += k * step;
		n -= k;
	}
	return 0;
}

static int optional_string(struct elf_file *f, uint64_t index, const char *what,
                           const char **ret_text, struct err *err)
{
	return index == UINT64_MAX ? 0 : elf_dynstr(f, index, what, ret_text, err);
}

static int resolve_strings(struct elf_file *f, struct dynamic *d, struct elf_info *info,
                           struct err *err)
{
	if (!d->has_strtab || d->strsz == 0) {
		if (d->needed.n > 0)
			return err_set(err, ERR_FORMAT,
			               "ELF needs libraries but has no string table");
		return 0;
	}
	if (elf_offset_of(f, d->strtab, d->strsz, "string table", &f->strtab, err) != 0)
		return -1;
	f->strtab_size = d->strsz;
	info->needed.at = arena_calloc(f->arena, d->needed.n, sizeof(*info->needed.at));
	for (size_t i = 0; i < d->needed.n; i++) {
		if (elf_dynstr(f, d->needed.at[i], "name of a needed library", &info->needed.at[i],
		               err) != 0)
			return -1;
		info->needed.n++;
	}
	if (optional_string(f, d->soname, "DT_SONAME", &info->soname, err) != 0 ||
	    optional_string(f, d->rpath, "DT_RPATH", &info->rpath, err) != 0 ||
	    optional_string(f, d->runpath, "DT_RUNPATH", &info->runpath, err) != 0)
		return -1;
	return elf_read_versions(f, &d->versions, info, err);
}

/* What the loader does with the file, which no table says. */
static void take_flags(const struct dynamic *d, struct elf_info *info)
{
	if (info->type == ET_DYN && (d->flags_1 & DF_1_PIE) != 0)
		info->executable = true;
	info->no_default_dirs = (d->flags_1 & DF_1_NODEFLIB) != 0;
	info->bind_now =
		d->bind_now || (d->flags & DF_BIND_NOW) != 0 || (d->flags_1 & DF_1_NOW) != 0;
	info->textrel = d->textrel || (d->flags & DF_TEXTREL) != 0;
	info->filter = d->filter;
}

int elf_read_dynamic(struct elf_file *f, uint64_t offset, uint64_t size, struct elf_info *info,
                     struct err *err)
{
	struct dynamic d = {.soname = UINT64_MAX, .rpath = UINT64_MAX, .runpath = UINT64_MAX};
	int rc = read_entries(f, offset, size, &d, err);

	if (rc == 0)
		rc = resolve_strings(f, &d, info, err);
	if (rc == 0) {
		take_flags(&d, info);
		elf_read_symbols(f, &d.symbols, info);
	}
	vec_done(&d.needed);
	return rc;
}
