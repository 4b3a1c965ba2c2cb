/*
 * What the three parts of the ELF reader share: a bounded view of the file (elf.c), the dynamic
 * section (elf_dynamic.c) and the symbol versions (elf_versions.c). Nobody else includes this.
 * Ownership: everything is borrowed from elf_parse's caller; strings go to the arena.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ELF_ELF_INTERNAL_H
#define SLIPWAY_BUILDER_LAYER_ELF_ELF_INTERNAL_H

#include "builder/layer/elf/elf.h"
#include "builder/layer/elf/elf_symbols.h"

/* Caps: far above what linkers write, low enough that a hostile file costs little. */
enum {
	ELF_PHDRS_MAX = 4096,
	ELF_DYNAMIC_MAX = 65536, /* entries */
	ELF_NEEDED_MAX = 4096,
	ELF_STRING_MAX = 4096,   /* bytes of one name */
	ELF_NOTES_MAX = 1024,    /* of one file */
	ELF_VERSIONS_MAX = 16384 /* names over all libraries */
};

/* An entry of DT_VERSYM. */
enum { ELF_VERSION_INDEX = 0x7fff, ELF_VERSION_HIDDEN = 0x8000 };

/* One PT_LOAD: which addresses come from which bytes of the file. */
struct elf_segment {
	uint64_t addr, offset, size;
};

struct elf_file {
	elf_read_at read_at;
	void *ctx;
	uint64_t size;
	struct arena *arena;
	bool is64, big_endian;
	struct elf_segment *loads;
	size_t n_loads;
	uint64_t strtab, strtab_size; /* file offset and bytes of DT_STRTAB */
	size_t n_notes;               /* read so far */
	struct elf_room *room;        /* NULL: symbols are not read */
};

/* What elf_dynamic.c finds for elf_versions.c: addresses and counts. */
struct elf_version_tables {
	uint64_t verneed, n_verneed;
	uint64_t verdef, n_verdef;
};

/* What it finds for elf_symbols.c: addresses and bytes; 0 = not there. */
struct elf_symbol_tables {
	uint64_t symtab, versym, hash, gnu_hash;
	uint64_t rela, relasz, relacount; /* the first relacount name no symbol */
	uint64_t rel, relsz, relcount;
	uint64_t jmprel, pltrelsz, pltrel; /* pltrel: DT_REL or DT_RELA */
};

/* The unsigned number of `width` (2, 4, 8) bytes at p in the file's byte order. */
uint64_t elf_number(const struct elf_file *f, const unsigned char *p, size_t width);

/* Reads len bytes at offset; ERR_FORMAT naming `what` when they lie outside the file. */
int elf_bytes(struct elf_file *f, uint64_t offset, void *buf, size_t len, const char *what,
              struct err *err) MUST_USE;

/* The file offset of an address with at least `len` bytes behind it in its segment. */
int elf_offset_of(const struct elf_file *f, uint64_t addr, uint64_t len, const char *what,
                  uint64_t *ret_offset, struct err *err) MUST_USE;

/* The NUL-terminated string at file offset, at most `limit` bytes with the NUL; copied to the
 * arena. */
int elf_string_at(struct elf_file *f, uint64_t offset, uint64_t limit, const char *what,
                  const char **ret_text, struct err *err) MUST_USE;

/* The string at `index` of DT_STRTAB. */
int elf_dynstr(struct elf_file *f, uint64_t index, const char *what, const char **ret_text,
               struct err *err) MUST_USE;

/* Reads PT_DYNAMIC (offset and bytes in the file) into info. */
int elf_read_dynamic(struct elf_file *f, uint64_t offset, uint64_t size, struct elf_info *info,
                     struct err *err) MUST_USE;

/* Reads .gnu.version_r and .gnu.version_d into info. */
int elf_read_versions(struct elf_file *f, const struct elf_version_tables *t, struct elf_info *info,
                      struct err *err) MUST_USE;

/* Reads a note segment (PT_NOTE, PT_GNU_PROPERTY): the x86-64 level that it needs, and what it
 * loads on demand. */
void elf_read_note(struct elf_file *f, uint64_t offset, uint64_t size, struct elf_info *info);

/* Adds what the content of a note of FDO says to info->dlopen (elf_dlopen.c); nothing when it is
 * malformed. */
enum { ELF_DLOPEN_BYTES_MAX = 16 << 10 };
void elf_read_dlopen(struct elf_file *f, const char *text, size_t len, struct elf_info *info);

/* Sets info->package from the content of such a note of FDO (elf_package.c), unless it is
 * malformed. */
void elf_read_package(struct elf_file *f, const char *text, size_t len, struct elf_info *info);

/* The room's one copy of a name, NULL when there is no room for it. */
const char *elf_room_name(struct elf_room *room, const char *name, size_t len, struct arena *a);

/* Reads the symbols into info->symbols, or leaves it NULL. */
void elf_read_symbols(struct elf_file *f, const struct elf_symbol_tables *t, struct elf_info *info);

#endif
