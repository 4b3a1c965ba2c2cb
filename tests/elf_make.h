/*
 * Makes small ELF files for tests: header, program headers, dynamic section, symbol versions, in
 * either class and byte order. Addresses equal file offsets. Not for running.
 *
 *   struct elf_make m = {.machine = EM_AARCH64, .interpreter = "/lib/ld-x.so.1", .needed =
 * {"libc.so.6"}}; size_t len = elf_make(&m, bytes);
 */
#ifndef SLIPWAY_TESTS_ELF_MAKE_H
#define SLIPWAY_TESTS_ELF_MAKE_H

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"

enum { ELF_MAKE_MAX = 8192, ELF_MAKE_NEED_INDEX = 9 };

struct elf_make {
	uint16_t machine;
	bool is32, big_endian;
	uint16_t type; /* 0 = ET_DYN */
	const char *interpreter, *soname, *rpath, *runpath;
	const char *needed[6];
	const char *need_library, *need_version; /* one version need */
	const char *defines[4];                  /* version definitions */
	uint64_t flags_1, flags;
	const char *exports[4];   /* symbols that it defines; with versions, of the first one */
	const char *undefined[4]; /* symbols that its relocations need */
	bool lazy;                /* they are called, not read: bound when called first */
	bool need_versioned;      /* in need_version */
	bool copied;              /* its exports are copies of other objects' data */
	bool textrel, exec_stack;
	const char *dlopen; /* content of .note.dlopen, at most 200 bytes */
	unsigned isa;       /* bits of the property note; 0 = no note */
	bool is_static;     /* no dynamic section */
	const char
		*extra; /* a text placed in the file (a loader's list of folders), may hold NULs */
	size_t extra_len;
};

struct elf_out {
	unsigned char *bytes;
	const struct elf_make *m;
	size_t at; /* end of what is written */
	size_t strings, strings_len;
};

static inline void elf_put(struct elf_out *o, size_t at, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		o->bytes[at + (o->m->big_endian ? width - 1 - i : i)] =
			(unsigned char)(value >> (8 * i));
}

static inline void elf_word(struct elf_out *o, size_t *at, uint64_t value)
{
	size_t width = o->m->is32 ? 4 : 8;

	elf_put(o, *at, value, width);
	*at += width;
}

/* Adds to the string table (at its fixed place) and returns the offset in it. */
static inline size_t elf_string(struct elf_out *o, const char *text)
{
	size_t at = o->strings_len, len = strlen(text) + 1;

	memcpy(o->bytes + o->strings + at, text, len);
	o->strings_len += len;
	return at;
}

static inline void elf_phdr(struct elf_out *o, size_t *at, uint32_t type, uint64_t offset,
                            uint64_t size)
{
	elf_put(o, *at, type, 4);
	if (o->m->is32) {
		elf_put(o, *at + offsetof(Elf32_Phdr, p_offset), offset, 4);
		elf_put(o, *at + offsetof(Elf32_Phdr, p_vaddr), offset, 4);
		elf_put(o, *at + offsetof(Elf32_Phdr, p_filesz), size, 4);
		*at += sizeof(Elf32_Phdr);
		return;
	}
	elf_put(o, *at + offsetof(Elf64_Phdr, p_offset), offset, 8);
	elf_put(o, *at + offsetof(Elf64_Phdr, p_vaddr), offset, 8);
	elf_put(o, *at + offsetof(Elf64_Phdr, p_filesz), size, 8);
	*at += sizeof(Elf64_Phdr);
}

static inline void elf_header(struct elf_out *o, unsigned n_phdrs)
{
	const struct elf_make *m = o->m;

	memcpy(o->bytes, ELFMAG, SELFMAG);
	o->bytes[EI_CLASS] = m->is32 ? ELFCLASS32 : ELFCLASS64;
	o->bytes[EI_DATA] = m->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	o->bytes[EI_VERSION] = 1;
	elf_put(o, 16, m->type != 0 ? m->type : ET_DYN, 2);
	elf_put(o, 18, m->machine, 2);
	if (m->is32) {
		elf_put(o, offsetof(Elf32_Ehdr, e_phoff), 64, 4);
		elf_put(o, offsetof(Elf32_Ehdr, e_phentsize), sizeof(Elf32_Phdr), 2);
		elf_put(o, offsetof(Elf32_Ehdr, e_phnum), n_phdrs, 2);
	} else {
		elf_put(o, offsetof(Elf64_Ehdr, e_phoff), 64, 8);
		elf_put(o, offsetof(Elf64_Ehdr, e_phentsize), sizeof(Elf64_Phdr), 2);
		elf_put(o, offsetof(Elf64_Ehdr, e_phnum), n_phdrs, 2);
	}
}

static inline void elf_tag(struct elf_out *o, size_t *at, uint64_t tag, uint64_t value)
{
	elf_word(o, at, tag);
	elf_word(o, at, value);
}

static inline void elf_versions(struct elf_out *o, size_t *dyn, size_t need_at, size_t def_at)
{
	const struct elf_make *m = o->m;
	unsigned n = 0;

	if (m->need_library != NULL) {
		elf_put(o, need_at, 1, 2);
		elf_put(o, need_at + 2, 1, 2); /* vn_cnt */
		elf_put(o, need_at + 4, elf_string(o, m->need_library), 4);
		elf_put(o, need_at + 8, 16, 4);                       /* vn_aux */
		elf_put(o, need_at + 16 + 6, ELF_MAKE_NEED_INDEX, 2); /* vna_other */
		elf_put(o, need_at + 16 + 8, elf_string(o, m->need_version), 4);
		elf_tag(o, dyn, DT_VERNEED, need_at);
		elf_tag(o, dyn, DT_VERNEEDNUM, 1);
	}
	for (size_t at = def_at; n < 4 && m->defines[n] != NULL; n++, at += 28) {
		bool last = n == 3 || m->defines[n + 1] == NULL;

		elf_put(o, at, 1, 2);
		elf_put(o, at + 4, 2 + n, 2); /* vd_ndx */
		elf_put(o, at + 6, 1, 2);     /* vd_cnt */
		elf_put(o, at + 12, 20, 4);   /* vd_aux */
		elf_put(o, at + 16, last ? 0 : 28, 4);
		elf_put(o, at + 20, elf_string(o, m->defines[n]), 4);
	}
	if (n > 0) {
		elf_tag(o, dyn, DT_VERDEF, def_at);
		elf_tag(o, dyn, DT_VERDEFNUM, n);
	}
}

/* One symbol with its version; returns its number. */
static inline unsigned elf_symbol(struct elf_out *o, unsigned i, const char *name, bool defined,
                                  unsigned version)
{
	const bool is32 = o->m->is32;
	size_t at = 7168 + i * (is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym));

	elf_put(o, at, elf_string(o, name), 4);
	elf_put(o, at + (is32 ? 12 : 4), STB_GLOBAL << 4 | STT_FUNC, 1);
	elf_put(o, at + (is32 ? 14 : 6), defined ? 1 : SHN_UNDEF, 2);
	elf_put(o, at + (is32 ? 4 : 8), defined ? 64 : 0, is32 ? 4 : 8);
	elf_put(o, 7680 + 2 * i, version, 2);
	return i;
}

static inline void elf_relocation(struct elf_out *o, unsigned n, unsigned symbol, unsigned type)
{
	const size_t width = o->m->is32 ? 4 : 8;
	size_t at = 7488 + n * 3 * width + width;

	elf_put(o, at, (uint64_t)symbol << (o->m->is32 ? 8 : 32) | type, width);
}

/* Symbols, their hash table (one bucket, no chain: nobody looks up by it), relocations. */
static inline void elf_symbols(struct elf_out *o, size_t *dyn)
{
	const struct elf_make *m = o->m;
	unsigned n = 1, relocations = 0;
	const uint64_t copy = m->machine == EM_X86_64 ? R_X86_64_COPY : R_AARCH64_COPY;

	for (size_t i = 0; i < 4 && m->exports[i] != NULL; i++) {
		elf_symbol(o, n, m->exports[i], true, m->defines[0] != NULL ? 2 : 1);
		if (m->copied)
			elf_relocation(o, relocations++, n, (unsigned)copy);
		n++;
	}
	for (size_t i = 0; i < 4 && m->undefined[i] != NULL; i++) {
		elf_symbol(o, n, m->undefined[i], false,
		           m->need_versioned ? ELF_MAKE_NEED_INDEX : 1);
		elf_relocation(o, relocations++, n++, R_X86_64_64);
	}
	elf_put(o, 7424, 1, 4);
	elf_put(o, 7428, n, 4);
	elf_tag(o, dyn, DT_SYMTAB, 7168);
	elf_tag(o, dyn, DT_HASH, 7424);
	elf_tag(o, dyn, DT_VERSYM, 7680);
	elf_tag(o, dyn, m->lazy ? DT_JMPREL : DT_RELA, 7488);
	elf_tag(o, dyn, m->lazy ? DT_PLTRELSZ : DT_RELASZ, relocations * (m->is32 ? 12 : 24));
	if (m->lazy)
		elf_tag(o, dyn, DT_PLTREL, DT_RELA);
	if (m->textrel)
		elf_tag(o, dyn, DT_TEXTREL, 0);
	elf_tag(o, dyn, DT_FLAGS, m->flags);
}

static inline void elf_property(struct elf_out *o)
{
	static const unsigned words[] = {4, 16, NT_GNU_PROPERTY_TYPE_0, 0x554e47, 0xc0008002, 4};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		elf_put(o, 7936 + 4 * i, words[i], 4);
	elf_put(o, 7936 + 4 * ARRAY_LEN(words), o->m->isa, 4);
}

static inline void elf_dlopen_note(struct elf_out *o)
{
	const size_t len = strlen(o->m->dlopen) + 1;

	elf_put(o, 7972, 4, 4);
	elf_put(o, 7976, len, 4);
	elf_put(o, 7980, 0x407c0c0a, 4);
	memcpy(o->bytes + 7984, "FDO", 4);
	memcpy(o->bytes + 7988, o->m->dlopen, len);
}

/* Places: headers 0, dynamic 1024, version needs 2048, definitions 2304, strings 3072, extra 6144,
 * symbols 7168, hash table 7424, relocations 7488, symbols' versions 7680, notes 7936 and 7972. */
static inline size_t elf_make(const struct elf_make *m, unsigned char bytes[ELF_MAKE_MAX])
{
	struct elf_out o = {.bytes = bytes, .m = m, .strings = 3072, .strings_len = 1};
	size_t phdr = 64, dyn = 1024;
	unsigned n_phdrs = 1;

	memset(bytes, 0, ELF_MAKE_MAX);
	elf_phdr(&o, &phdr, PT_LOAD, 0, ELF_MAKE_MAX);
	if (m->interpreter != NULL) {
		size_t at = elf_string(&o, m->interpreter);

		elf_phdr(&o, &phdr, PT_INTERP, o.strings + at, strlen(m->interpreter) + 1);
		n_phdrs++;
	}
	if (!m->is_static) {
		elf_phdr(&o, &phdr, PT_DYNAMIC, 1024, 1024);
		n_phdrs++;
		for (size_t i = 0; i < ARRAY_LEN(m->needed) && m->needed[i] != NULL; i++)
			elf_tag(&o, &dyn, DT_NEEDED, elf_string(&o, m->needed[i]));
		if (m->soname != NULL)
			elf_tag(&o, &dyn, DT_SONAME, elf_string(&o, m->soname));
		if (m->rpath != NULL)
			elf_tag(&o, &dyn, DT_RPATH, elf_string(&o, m->rpath));
		if (m->runpath != NULL)
			elf_tag(&o, &dyn, DT_RUNPATH, elf_string(&o, m->runpath));
		elf_tag(&o, &dyn, DT_FLAGS_1, m->flags_1);
		elf_versions(&o, &dyn, 2048, 2304);
		elf_symbols(&o, &dyn);
		elf_tag(&o, &dyn, DT_STRTAB, o.strings);
		elf_tag(&o, &dyn, DT_STRSZ, o.strings_len);
	}
	if (m->exec_stack) {
		elf_put(&o,
		        phdr + (m->is32 ? offsetof(Elf32_Phdr, p_flags)
		                        : offsetof(Elf64_Phdr, p_flags)),
		        PF_R | PF_W | PF_X, 4);
		elf_phdr(&o, &phdr, PT_GNU_STACK, 0, 0);
		n_phdrs++;
	}
	if (m->isa != 0) {
		elf_property(&o);
		elf_phdr(&o, &phdr, PT_GNU_PROPERTY, 7936, 32);
		n_phdrs++;
	}
	if (m->dlopen != NULL) {
		elf_dlopen_note(&o);
		elf_phdr(&o, &phdr, PT_NOTE, 7972, 16 + strlen(m->dlopen) + 1);
		n_phdrs++;
	}
	if (m->extra != NULL)
		memcpy(bytes + 6144, m->extra, m->extra_len);
	elf_header(&o, n_phdrs);
	return ELF_MAKE_MAX;
}

/* Writes the file; aborts when it cannot. */
static inline void elf_make_file(const struct elf_make *m, const char *path)
{
	unsigned char bytes[ELF_MAKE_MAX];
	size_t len = elf_make(m, bytes);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) != 0)
		abort();
}

#endif
