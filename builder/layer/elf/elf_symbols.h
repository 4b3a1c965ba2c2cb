/*
 * The dynamic symbols of an ELF file as a loader binds them (gABI, "Symbol Table" and
 * "Relocation"; LSB Core, "Symbol Versioning"): which ones the file defines for others, and which
 * ones its relocations need from others. Nobody keeps the names that are only defined: a 48 bit
 * hash of each is enough to look one up. Ownership: tables and names live in the arena that
 * elf_parse was given; the room outlives nothing.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ELF_ELF_SYMBOLS_H
#define SLIPWAY_BUILDER_LAYER_ELF_ELF_SYMBOLS_H

#include "builder/layer/elf/elf.h"

/* What one file may have, and what all files of one room together may have. */
enum {
	ELF_SYMBOLS_MAX = 1 << 20,          /* of one file */
	ELF_ROOM_SYMBOLS_MAX = 4 << 20,     /* kept: at most 16 bytes each */
	ELF_ROOM_NAME_BYTES_MAX = 32 << 20, /* names that are needed, each once */
	ELF_ROOM_READ_BYTES_MAX = 256 << 20 /* names that are hashed */
};

/* A symbol that a relocation names and that the file itself does not provide. Weak ones, which may
 * stay undefined, are left out. */
struct elf_symbol_need {
	const char *name;
	uint16_t version; /* index among elf_info.versions; 0 and 1 = none */
	bool at_start;    /* bound before the first instruction; else when first called */
	bool elsewhere;   /* copied from another object: the file's own definition is the copy */
};

struct elf_symbols {
	uint64_t *defined; /* sorted: hash of the name, in the low 16 bits the version index */
	size_t n_defined;
	struct elf_symbol_need *needs;
	size_t n_needs;
};

/* The names that are needed, each kept once, and what is left of the caps. */
struct elf_room {
	const char **names; /* hash table; owned */
	size_t n_table, n_names;
	size_t symbols, name_bytes, read_bytes; /* used */
	size_t n_left_out;                      /* files whose symbols found no room */
};

void elf_room_done(struct elf_room *room);

/*
 * elf_parse, and the symbols into info->symbols. That is NULL when the file has none, when its
 * tables are malformed or not understood, or when the room is used up: then nothing can be said of
 * what it defines. Names go to the arena, which must be the same for all files of a room.
 */
int elf_parse_symbols(elf_read_at read_at, void *ctx, uint64_t size, struct arena *a,
                      struct elf_room *room, struct elf_info *ret_info, struct err *err) MUST_USE;

/* The hash that `defined` holds; its low 16 bits are 0. */
uint64_t elf_symbol_hash(const char *name, size_t len);

/* The version at an index of this file; NULL when there is none. */
const struct elf_version *elf_version_at(const struct elf_info *info, uint16_t index);

/*
 * Whether a loader that looks for a symbol in this file takes what it finds there (glibc,
 * elf/dl-lookup.c, check_match). `version` is NULL when none is asked for. *steps grows by the
 * definitions that were looked at: a file made to do harm has many of one name.
 */
bool elf_defines(const struct elf_info *info, uint64_t hash, const char *version, size_t *steps);

#endif
