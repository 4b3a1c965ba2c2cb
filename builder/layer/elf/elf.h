/*
 * Reading ELF files (gABI, "Object Files" and "Dynamic Linking"; GNU symbol versioning): just what
 * the dependency closure and the image check need. Works on any architecture from any machine, from
 * a bounded read callback, so that it serves files on disk and members of a layer alike. Every
 * offset and count is hostile until checked. Strings live in the arena.
 */
#ifndef SLIPWAY_BUILDER_LAYER_ELF_ELF_H
#define SLIPWAY_BUILDER_LAYER_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strlist.h"

/* Version names this file needs from one library: {"libc.so.6", {"GLIBC_2.17", "GLIBC_2.34"}}. */
struct elf_need_versions {
	const char *library;
	struct strlist versions;
};

/* A version of .gnu.version_r or .gnu.version_d by the index that symbols refer to it with. */
struct elf_version {
	uint16_t index;
	const char *name;
	const char *library; /* that must define it; NULL: the file itself does */
};

/* What a file loads on demand, and what it is for (UAPI group, "ELF dlopen Metadata"). Texts are
 * printable, and cut when long. */
enum elf_dlopen_priority { ELF_DLOPEN_REQUIRED, ELF_DLOPEN_RECOMMENDED, ELF_DLOPEN_SUGGESTED };

struct elf_dlopen {
	enum elf_dlopen_priority priority;
	const char *feature;     /* NULL: not said */
	const char *description; /* NULL: not said */
	struct strlist sonames;  /* any of them will do; at least one */
};

/*
 * The package a file was built for, as its linker was told (UAPI group, "Package Metadata for
 * Executable Files"). Texts are printable, and cut when long; NULL: not said.
 */
struct elf_package {
	const char *type; /* "deb", "rpm", ... */
	const char *os, *os_version;
	const char *name, *version, *architecture;
};

struct elf_symbols;

struct elf_info {
	uint16_t machine; /* e_machine: EM_X86_64, EM_AARCH64, ... */
	unsigned bits;    /* 32 or 64 */
	uint16_t type;    /* ET_EXEC, ET_DYN, ET_REL, ... */
	bool dynamic;     /* has PT_DYNAMIC */
	bool executable;  /* ET_EXEC, or ET_DYN with PT_INTERP or DF_1_PIE */
	/* DF_1_NODEFLIB: the loader's default folders are not searched for it */
	bool no_default_dirs;
	const char *interpreter;        /* PT_INTERP, NULL if none */
	const char *soname;             /* NULL if none */
	struct strlist needed;          /* DT_NEEDED in order */
	const char *rpath, *runpath;    /* raw text, NULL if none */
	struct elf_need_versions *need; /* .gnu.version_r, without the weak ones */
	size_t n_need;
	struct strlist defined; /* version names this library defines (.gnu.version_d) */

	bool bind_now;   /* DF_BIND_NOW, DF_1_NOW: functions too are bound before the start */
	bool textrel;    /* DT_TEXTREL, DF_TEXTREL: the loader writes to the code */
	bool exec_stack; /* PT_GNU_STACK with PF_X */
	bool filter;     /* DT_FILTER or DT_AUXILIARY: another file stands behind it */
	unsigned isa;    /* x86-64 level (1 to 4) that its property note needs; 0 = says nothing */

	const char *build_id;              /* NT_GNU_BUILD_ID in hex, NULL if none */
	const struct elf_package *package; /* .note.package, NULL if none */

	struct elf_dlopen *dlopen; /* .note.dlopen */
	size_t n_dlopen;

	/* By elf_parse_symbols alone (elf_symbols.h). */
	const struct elf_symbols *symbols;  /* NULL: unknown */
	const struct elf_version *versions; /* by index */
	size_t n_versions;
};

/* Reads exactly len bytes at offset into buf; -1 when they are not there. */
typedef int (*elf_read_at)(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err);

/* True when the first 4 bytes are the ELF magic. */
bool elf_is_elf(const void *bytes, size_t len);

/* ERR_FORMAT says which structure is broken. `size` is the file's length in bytes. */
int elf_parse(elf_read_at read_at, void *ctx, uint64_t size, struct arena *a,
              struct elf_info *ret_info, struct err *err) MUST_USE;

/* The same over bytes in memory and over an open file. */
int elf_parse_bytes(const void *bytes, size_t len, struct arena *a, struct elf_info *ret_info,
                    struct err *err) MUST_USE;
int elf_parse_fd(int fd, struct arena *a, struct elf_info *ret_info, struct err *err) MUST_USE;

/* "x86-64", "AArch64", ... of an e_machine, or "machine 123" in the arena. */
const char *elf_machine_name(uint16_t machine, struct arena *a);

#endif
