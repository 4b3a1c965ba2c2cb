/*
 * Notes. The property note (x86-64 psABI, "Program Property") says which of the levels of the
 * architecture a file needs: glibc refuses to start or load what needs more than the processor has.
 * The note of freedesktop.org says what a file loads on demand (elf_dlopen.c).
 */
#include <elf.h>
#include <string.h>

#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

enum {
	PROPERTY_BYTES_MAX = 4096,
	NOTE_DLOPEN = 0x407c0c0a,
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

/* The content of one note, whose name is one of four bytes. */
typedef void read_content(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info);

static void read_gnu(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info)
{
	unsigned char bytes[PROPERTY_BYTES_MAX];
	struct err ignored = {0};

	len = len < sizeof(bytes) ? len : sizeof(bytes);
	if (info->machine == EM_X86_64 && elf_bytes(f, offset, bytes, len, "note", &ignored) == 0)
		read_properties(f, bytes, len, info);
}

static void read_fdo(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info)
{
	AUTO_FREE char *text = NULL;
	struct err ignored = {0};

	if (len > ELF_DLOPEN_BYTES_MAX)
		return;
	text = mem_calloc(1, len + 1);
	if (elf_bytes(f, offset, text, len, "note", &ignored) == 0)
		elf_read_dlopen(f, text, strnlen(text, len), info);
}

static const struct {
	char name[4];
	uint32_t type;
	read_content *read;
} kinds[] = {
	{"GNU", NT_GNU_PROPERTY_TYPE_0, read_gnu},
	{"FDO", NOTE_DLOPEN, read_fdo},
};

/* The loader does not mind a bad note either: what is malformed ends the segment. */
void elf_read_note(struct elf_file *f, uint64_t offset, uint64_t size, struct elf_info *info)
{
	unsigned char head[NOTE_HEAD + 4];
	struct err ignored = {0};

	while (size >= sizeof(head) && f->n_notes++ < ELF_NOTES_MAX &&
	       elf_bytes(f, offset, head, sizeof(head), "note", &ignored) == 0) {
		uint64_t name = elf_number(f, head, 4), len = elf_number(f, head + 4, 4);
		uint64_t type = elf_number(f, head + 8, 4);
		uint64_t start = NOTE_HEAD + (name + 3) / 4 * 4;

		if (start > size || len > size - start)
			return;
		for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
			if (name == 4 && type == kinds[i].type &&
			    memcmp(head + NOTE_HEAD, kinds[i].name, 4) == 0)
				kinds[i].read(f, offset + start, (size_t)len, info);
		len = (len + 3) / 4 * 4;
		if (len > size - start)
			return;
		offset += start + len;
		size -= start + len;
	}
}
