#include "builder/layer/elf/elf_symbols.h"

#include <elf.h>
#include <string.h>

#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

enum {
	CHUNK = 256,            /* records read at once */
	STRINGS_KEPT = 4 << 20, /* a larger string table is read name by name */
};

/* How relocations refer to a symbol. */
enum { AT_START = 1 << 0, LAZY = 1 << 1, COPY = 1 << 2 };

/* The tools for one file. */
struct symbol_reader {
	struct elf_file *f;
	const struct elf_symbol_tables *t;
	struct elf_info *info;
	unsigned char *strings; /* DT_STRTAB, NULL when too large; owned */
	unsigned char window[ELF_STRING_MAX];
	unsigned char *refs; /* by symbol: how it is referred to; owned */
	size_t n_refs, cap_refs;
	size_t first, n_hashed; /* [first, n_hashed) can be found by others */
	VEC(uint64_t) defined;
	VEC(struct elf_symbol_need) needs;
};

/* ---- reading ---- */

static int load_strings(struct symbol_reader *r, struct err *err)
{
	struct elf_file *f = r->f;

	if (f->strtab_size > STRINGS_KEPT)
		return 0;
	r->strings = mem_calloc(1, (size_t)f->strtab_size + 1);
	return elf_bytes(f, f->strtab, r->strings, (size_t)f->strtab_size, "string table", err);
}

/* The name at `index` of a large table: most are short, so little is read at first. */
static int read_window(struct symbol_reader *r, uint64_t index, size_t *ret_len, struct err *err)
{
	static const size_t steps[] = {128, ELF_STRING_MAX};
	const uint64_t left = r->f->strtab_size - index;

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		size_t n = left < steps[i] ? (size_t)left : steps[i];

		if (elf_bytes(r->f, r->f->strtab + index, r->window, n, "string table", err) != 0)
			return -1;
		*ret_len = strnlen((const char *)r->window, n);
		if (*ret_len < n)
			break;
	}
	return 0;
}

/* A name of DT_STRTAB, of ELF_STRING_MAX bytes at most: of a longer one the beginning counts.
 * Valid until the next call. */
static int symbol_name(struct symbol_reader *r, uint64_t index, const char **ret_name,
                       size_t *ret_len, struct err *err)
{
	uint64_t left;

	if (index >= r->f->strtab_size)
		return err_set(err, ERR_FORMAT, "ELF symbol name is outside the string table");
	left = r->f->strtab_size - index;
	if (r->strings == NULL) {
		*ret_name = (const char *)r->window;
		if (read_window(r, index, ret_len, err) != 0)
			return -1;
	} else {
		*ret_name = (const char *)r->strings + index;
		*ret_len = strnlen(*ret_name, left < ELF_STRING_MAX ? left : ELF_STRING_MAX);
	}
	r->f->room->read_bytes += *ret_len;
	return 0;
}

/* Reads `n` records of `size` bytes at an address, CHUNK at a time, until `take` says no. */
typedef int take_record(struct symbol_reader *r, size_t i, const unsigned char *record, void *ctx,
                        struct err *err);

static int each_record(struct symbol_reader *r, uint64_t addr, uint64_t n, size_t size,
                       const char *what, take_record *take, void *ctx, struct err *err)
{
	unsigned char chunk[CHUNK * sizeof(Elf64_Rela)];
	uint64_t offset;

	if (n > r->f->size / size)
		return err_set(err, ERR_FORMAT, "ELF %s lies outside the file", what);
	if (n == 0)
		return 0;
	if (elf_offset_of(r->f, addr, n * size, what, &offset, err) != 0)
		return -1;
	for (uint64_t i = 0; i < n; i += CHUNK) {
		size_t k = n - i < CHUNK ? (size_t)(n - i) : CHUNK;

		if (elf_bytes(r->f, offset + i * size, chunk, k * size, what, err) != 0)
			return -1;
		for (size_t j = 0; j < k; j++)
			if (take(r, (size_t)i + j, chunk + j * size, ctx, err) != 0)
				return -1;
	}
	return 0;
}

/* ---- relocations ---- */

/* R_*_COPY of an architecture; the loader then takes the symbol from elsewhere. */
static uint64_t copy_type(uint16_t machine)
{
	static const struct {
		uint16_t machine, type;
	} types[] = {
		{EM_X86_64, R_X86_64_COPY}, {EM_AARCH64, R_AARCH64_COPY}, {EM_386, R_386_COPY},
		{EM_ARM, R_ARM_COPY},       {EM_RISCV, R_RISCV_COPY},     {EM_PPC64, R_PPC64_COPY},
		{EM_S390, R_390_COPY},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].machine == machine)
			return types[i].type;
	return UINT64_MAX;
}

static int take_relocation(struct symbol_reader *r, size_t i, const unsigned char *record,
                           void *ctx, struct err *err)
{
	const size_t width = r->f->is64 ? 8 : 4;
	uint64_t word = elf_number(r->f, record + width, width);
	uint64_t symbol = r->f->is64 ? ELF64_R_SYM(word) : ELF32_R_SYM(word);
	uint64_t type = r->f->is64 ? ELF64_R_TYPE(word) : ELF32_R_TYPE(word);
	const unsigned *how = ctx;

	(void)i;
	if (symbol == 0)
		return 0;
	if (symbol >= ELF_SYMBOLS_MAX)
		return err_set(err, ERR_LIMIT, "ELF has more than %d symbols", ELF_SYMBOLS_MAX);
	if (symbol >= r->cap_refs) {
		size_t cap = r->cap_refs == 0 ? 256 : r->cap_refs;

		while (cap <= symbol)
			cap *= 2;
		r->refs = mem_realloc(r->refs, cap, 1);
		memset(r->refs + r->cap_refs, 0, cap - r->cap_refs);
		r->cap_refs = cap;
	}
	if (symbol >= r->n_refs)
		r->n_refs = (size_t)symbol + 1;
	r->refs[symbol] |= (unsigned char)(type == copy_type(r->info->machine) ? COPY : *how);
	return 0;
}

static int read_relocations(struct symbol_reader *r, struct err *err)
{
	const struct elf_symbol_tables *t = r->t;
	const size_t word = r->f->is64 ? 8 : 4;
	const struct {
		uint64_t addr, bytes, skip;
		size_t size;
		unsigned how;
	} tables[] = {
		{t->rela, t->relasz, t->relacount, 3 * word, AT_START},
		{t->rel, t->relsz, t->relcount, 2 * word, AT_START},
		{t->jmprel, t->pltrelsz, 0, (t->pltrel == DT_REL ? 2 : 3) * word, LAZY},
	};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		uint64_t n = tables[i].bytes / tables[i].size, skip = tables[i].skip;
		unsigned how = tables[i].how;

		if (skip < n &&
		    each_record(r, tables[i].addr + skip * tables[i].size, n - skip, tables[i].size,
		                "relocations", take_relocation, &how, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- how many symbols others can find ---- */

static int word_at(struct symbol_reader *r, uint64_t addr, uint64_t *ret_word, struct err *err)
{
	unsigned char bytes[4];
	uint64_t offset;

	if (elf_offset_of(r->f, addr, 4, "hash table", &offset, err) != 0 ||
	    elf_bytes(r->f, offset, bytes, 4, "hash table", err) != 0)
		return -1;
	*ret_word = elf_number(r->f, bytes, 4);
	return 0;
}

static int take_bucket(struct symbol_reader *r, size_t i, const unsigned char *record, void *ctx,
                       struct err *err)
{
	uint64_t *most = ctx, value = elf_number(r->f, record, 4);

	(void)i;
	(void)err;
	*most = value > *most ? value : *most;
	return 0;
}

/* The last chain of DT_GNU_HASH ends with the last symbol. */
static int count_gnu_hash(struct symbol_reader *r, struct err *err)
{
	uint64_t at = r->t->gnu_hash, n_buckets, first, bloom, last = 0, hash = 0;

	if (word_at(r, at, &n_buckets, err) != 0 || word_at(r, at + 4, &first, err) != 0 ||
	    word_at(r, at + 8, &bloom, err) != 0)
		return -1;
	at += 16 + bloom * (r->f->is64 ? 8 : 4);
	if (each_record(r, at, n_buckets, 4, "hash table", take_bucket, &last, err) != 0)
		return -1;
	if (last == 0 || last < first)
		return 0;
	for (at += n_buckets * 4; (hash & 1) == 0; last++) {
		if (last >= ELF_SYMBOLS_MAX)
			return err_set(err, ERR_LIMIT, "ELF has more than %d symbols",
			               ELF_SYMBOLS_MAX);
		if (word_at(r, at + (last - first) * 4, &hash, err) != 0)
			return -1;
	}
	r->first = (size_t)first;
	r->n_hashed = (size_t)last;
	return 0;
}

static int count_symbols(struct symbol_reader *r, struct err *err)
{
	uint64_t n;

	if (r->t->gnu_hash != 0)
		return count_gnu_hash(r, err);
	if (r->t->hash == 0)
		return 0;
	/* The only one whose words have 8 bytes (s390x ABI supplement). */
	if (r->info->machine == EM_S390 && r->f->is64)
		return err_set(err, ERR_UNSUPPORTED, "ELF hash table of s390x");
	if (word_at(r, r->t->hash + 4, &n, err) != 0)
		return -1;
	if (n > ELF_SYMBOLS_MAX)
		return err_set(err, ERR_LIMIT, "ELF has more than %d symbols", ELF_SYMBOLS_MAX);
	r->n_hashed = (size_t)n;
	return 0;
}

/* ---- the symbols ---- */

struct symbol {
	uint64_t name, value, section;
	unsigned bind, type;
};

#define SYM_FIELD(f, p, member)                                                                    \
	((f)->is64 ? elf_number((f), (p) + offsetof(Elf64_Sym, member),                            \
	                        sizeof(((Elf64_Sym *)NULL)->member))                               \
	           : elf_number((f), (p) + offsetof(Elf32_Sym, member),                            \
	                        sizeof(((Elf32_Sym *)NULL)->member)))

static struct symbol symbol_decode(const struct elf_file *f, const unsigned char *p)
{
	const unsigned info = (unsigned)SYM_FIELD(f, p, st_info);

	return (struct symbol){.name = SYM_FIELD(f, p, st_name),
	                       .value = SYM_FIELD(f, p, st_value),
	                       .section = SYM_FIELD(f, p, st_shndx),
	                       .bind = info >> 4,
	                       .type = info & 0xf};
}

/* What a loader takes for a definition (glibc, elf/dl-lookup.c, check_match). */
static bool is_definition(const struct symbol *s)
{
	const unsigned types = 1u << STT_NOTYPE | 1u << STT_OBJECT | 1u << STT_FUNC |
	                       1u << STT_COMMON | 1u << STT_TLS | 1u << STT_GNU_IFUNC;

	return s->section != SHN_UNDEF && (types >> s->type & 1) != 0 &&
	       (s->value != 0 || s->section == SHN_ABS || s->type == STT_TLS) &&
	       (s->bind == STB_GLOBAL || s->bind == STB_WEAK || s->bind == STB_GNU_UNIQUE);
}

static int version_of(struct symbol_reader *r, size_t i, uint16_t *ret_version, struct err *err)
{
	unsigned char bytes[2];
	uint64_t offset;

	*ret_version = VER_NDX_GLOBAL;
	if (r->t->versym == 0)
		return 0;
	if (elf_offset_of(r->f, r->t->versym + 2 * i, 2, "symbol versions", &offset, err) != 0 ||
	    elf_bytes(r->f, offset, bytes, 2, "symbol versions", err) != 0)
		return -1;
	*ret_version = (uint16_t)elf_number(r->f, bytes, 2);
	return 0;
}

static int no_room(struct symbol_reader *r, struct err *err)
{
	r->f->room->n_left_out++;
	return err_set(err, ERR_LIMIT, "the symbols of all files take too much room");
}

static int keep_need(struct symbol_reader *r, const char *name, size_t len, unsigned refs,
                     uint16_t version, struct err *err)
{
	struct elf_symbol_need need = {.version = version & ELF_VERSION_INDEX,
	                               .at_start = (refs & (AT_START | COPY)) != 0,
	                               .elsewhere = (refs & COPY) != 0};

	need.name = elf_room_name(r->f->room, name, len, r->f->arena);
	if (need.name == NULL)
		return no_room(r, err);
	vec_push(&r->needs, need);
	return 0;
}

static int take_symbol(struct symbol_reader *r, size_t i, const unsigned char *record, void *ctx,
                       struct err *err)
{
	const struct symbol s = symbol_decode(r->f, record);
	const unsigned refs = i < r->n_refs ? r->refs[i] : 0;
	const bool defines = i >= r->first && i < r->n_hashed && is_definition(&s);
	const bool needs = s.bind != STB_LOCAL && s.bind != STB_WEAK &&
	                   ((refs != 0 && s.section == SHN_UNDEF) || (refs & COPY) != 0);
	struct elf_room *room = r->f->room;
	const char *name = NULL;
	uint16_t version;
	size_t len = 0;

	(void)ctx;
	if (!defines && !needs)
		return 0;
	if (++room->symbols > ELF_ROOM_SYMBOLS_MAX || room->read_bytes > ELF_ROOM_READ_BYTES_MAX)
		return no_room(r, err);
	if (version_of(r, i, &version, err) != 0 || symbol_name(r, s.name, &name, &len, err) != 0)
		return -1;
	if (defines)
		vec_push(&r->defined, elf_symbol_hash(name, len) | version);
	return needs ? keep_need(r, name, len, refs, version, err) : 0;
}

static int number_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int read_all(struct symbol_reader *r, struct err *err)
{
	size_t n, size = r->f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	/* Relocations of 64 bit MIPS are laid out otherwise. */
	if (r->info->machine == EM_MIPS)
		return err_set(err, ERR_UNSUPPORTED, "ELF relocations of MIPS");
	if (read_relocations(r, err) != 0 || count_symbols(r, err) != 0 ||
	    load_strings(r, err) != 0)
		return -1;
	n = r->n_hashed > r->n_refs ? r->n_hashed : r->n_refs;
	if (each_record(r, r->t->symtab, n, size, "symbols", take_symbol, NULL, err) != 0)
		return -1;
	if (r->defined.n > 0)
		qsort(r->defined.at, r->defined.n, sizeof(*r->defined.at), number_order);
	return 0;
}

void elf_read_symbols(struct elf_file *f, const struct elf_symbol_tables *t, struct elf_info *info)
{
	struct symbol_reader r = {.f = f, .t = t, .info = info};
	struct elf_symbols *s;
	struct err ignored = {0};

	if (f->room == NULL || t->symtab == 0 || f->strtab_size == 0)
		return;
	/* A loader does not look at tables before it needs them: what is malformed here is unknown,
	 * not wrong. */
	if (read_all(&r, &ignored) == 0) {
		s = arena_alloc(f->arena, sizeof(*s));
		s->n_defined = r.defined.n;
		s->defined =
			arena_memdup(f->arena, r.defined.at, r.defined.n * sizeof(*s->defined));
		s->n_needs = r.needs.n;
		s->needs = arena_memdup(f->arena, r.needs.at, r.needs.n * sizeof(*s->needs));
		info->symbols = s;
	}
	vec_done(&r.defined);
	vec_done(&r.needs);
	free(r.strings);
	free(r.refs);
}
