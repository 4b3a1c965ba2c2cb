/*
 * The property note (x86-64 psABI, "Program Property"): which of the levels of the architecture a
 * file needs. glibc refuses to start or load what needs more than the processor has.
 */
#include <elf.h>
#include <string.h>

#include "builder/layer/elf/elf_internal.h"

enum {
	NOTE_BYTES_MAX = 4096,
	NOTE_HEAD = 12,   /* sizes of name and content, type */
	PROPERTY_HEAD = 8 /* type, size */
};
#define X86_ISA_1_NEEDED 0xc0008002u /* bit 0: baseline, bit 1: v2, bit 2: v3, bit 3: v4 */

static void read_properties(const struct elf_file *f, const unsigned char *p, size_t len,
                            struct elf_info *info)
{
	const size_t align = f->is64 ? 8 : 4;

	while (len >= PROPERTY_HEAD) {
		uint64_t type = elf_number(f, p, 4), size = elf_number(f, p + 4, 4), step;

		if (size > len - PROPERTY_HEAD)
			return;
		if (type == X86_ISA_1_NEEDED && size == 4)
			for (uint64_t bits = elf_number(f, p + PROPERTY_HEAD, 4) & 0xf, level = 1;
			     bits != 0; bits >>= 1, level++)
				if (level > info->isa)
					info->isa = (unsigned)level;
		step = PROPERTY_HEAD + (size + align - 1) / align * align;
		if (step > len)
			return;
		p += step;
		len -= (size_t)step;
	}
}

void elf_read_note(struct elf_file *f, uint64_t offset, uint64_t size, struct elf_info *info)
{
	unsigned char note[NOTE_BYTES_MAX];
	size_t len = size < sizeof(note) ? (size_t)size : sizeof(note), at = 0;
	struct err ignored = {0};

	/* The loader does not mind a bad note either. */
	if (info->machine != EM_X86_64 || elf_bytes(f, offset, note, len, "note", &ignored) != 0)
		return;
	while (len - at >= NOTE_HEAD + 4) {
		uint64_t name = elf_number(f, note + at, 4), desc = elf_number(f, note + at + 4, 4);
		uint64_t type = elf_number(f, note + at + 8, 4);
		uint64_t start = at + NOTE_HEAD + (name + 3) / 4 * 4;

		if (start > len || desc > len - start)
			return;
		if (type == NT_GNU_PROPERTY_TYPE_0 && name == 4 &&
		    memcmp(note + at + NOTE_HEAD, "GNU", 4) == 0)
			read_properties(f, note + start, (size_t)desc, info);
		desc = (desc + 3) / 4 * 4;
		if (desc > len - start)
			return;
		at = (size_t)(start + desc);
	}
}
