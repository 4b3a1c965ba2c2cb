/*
 * Notes. The property note (x86-64 psABI, "Program Property") says which of the levels of the
 * architecture a file needs: glibc refuses to start or load what needs more than the processor has.
 * The notes of freedesktop.org say what a file loads on demand (elf_dlopen.c) and of which package
 * it is (elf_package.c); GNU's build ID names one result of a linker.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

enum {
	PROPERTY_BYTES_MAX = 4096,
	NOTE_DLOPEN = 0x407c0c0a,
	NOTE_PACKAGE_BYTES_MAX = 4096,
	BUILD_ID_BYTES_MAX = 64,
	NOTE_HEAD = 12,   /* sizes of name and content, type */
	PROPERTY_HEAD = 8 /* type, size */
};
#define NOTE_PACKAGE     0xcafe1a7eu
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

/* Linkers write 16 or 20 bytes, and let the user choose any. */
static void read_build_id(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info)
{
	unsigned char bytes[BUILD_ID_BYTES_MAX];
	char hex[2 * BUILD_ID_BYTES_MAX + 1];
	struct err ignored = {0};

	if (info->build_id != NULL || len == 0 || len > sizeof(bytes) ||
	    elf_bytes(f, offset, bytes, len, "note", &ignored) != 0)
		return;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	info->build_id = arena_strdup(f->arena, hex);
}

/* What is done with the text of a note of FDO. */
typedef void read_text(struct elf_file *f, const char *text, size_t len, struct elf_info *info);

static void read_fdo(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info,
                     read_text *read)
{
	AUTO_FREE char *text = mem_calloc(1, len + 1);
	struct err ignored = {0};

	if (elf_bytes(f, offset, text, len, "note", &ignored) == 0)
		read(f, text, strnlen(text, len), info);
}

static void read_dlopen(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info)
{
	if (len <= ELF_DLOPEN_BYTES_MAX)
		read_fdo(f, offset, len, info, elf_read_dlopen);
}

static void read_package(struct elf_file *f, uint64_t offset, size_t len, struct elf_info *info)
{
	if (len <= NOTE_PACKAGE_BYTES_MAX && info->package == NULL)
		read_fdo(f, offset, len, info, elf_read_package);
}

static const struct {
	char name[4];
	uint32_t type;
	read_content *read;
} kinds[] = {
	{"GNU", NT_GNU_PROPERTY_TYPE_0, read_gnu},
	{"GNU", NT_GNU_BUILD_ID, read_build_id},
	{"FDO", NOTE_DLOPEN, read_dlopen},
	{"FDO", NOTE_PACKAGE, read_package},
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
