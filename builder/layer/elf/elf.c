#include "builder/layer/elf/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

bool elf_is_elf(const void *bytes, size_t len)
{
	return len >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

uint64_t elf_number(const struct elf_file *f, const unsigned char *p, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value = value << 8 | p[f->big_endian ? i : width - 1 - i];
	return value;
}

int elf_bytes(struct elf_file *f, uint64_t offset, void *buf, size_t len, const char *what,
              struct err *err)
{
	if (offset > f->size || len > f->size - offset)
		return err_set(err, ERR_FORMAT, "ELF %s lies outside the file", what);
	return f->read_at(f->ctx, offset, buf, len, err);
}

int elf_offset_of(const struct elf_file *f, uint64_t addr, uint64_t len, const char *what,
                  uint64_t *ret_offset, struct err *err)
{
	for (size_t i = 0; i < f->n_loads; i++) {
		const struct elf_segment *s = &f->loads[i];

		if (addr < s->addr || addr - s->addr >= s->size || len > s->size - (addr - s->addr))
			continue;
		/* offset + size was checked against the file when the segment was read. */
		*ret_offset = s->offset + (addr - s->addr);
		return 0;
	}
	return err_set(err, ERR_FORMAT, "ELF %s is in no loaded segment", what);
}

int elf_string_at(struct elf_file *f, uint64_t offset, uint64_t limit, const char *what,
                  const char **ret_text, struct err *err)
{
	char text[ELF_STRING_MAX];
	size_t len = 0;

	while (len < sizeof(text) && len < limit) {
		size_t step = sizeof(text) - len < 256 ? sizeof(text) - len : 256;

		if (step > limit - len)
			step = (size_t)(limit - len);
		if (offset + len < f->size && step > f->size - (offset + len))
			step = (size_t)(f->size - (offset + len));
		if (elf_bytes(f, offset + len, text + len, step, what, err) != 0)
			return -1;
		if (memchr(text + len, '\0', step) != NULL) {
			*ret_text = arena_strdup(f->arena, text);
			return 0;
		}
		len += step;
	}
	return err_set(err, ERR_FORMAT, "ELF %s is not terminated within %zu bytes", what, len);
}

int elf_dynstr(struct elf_file *f, uint64_t index, const char *what, const char **ret_text,
               struct err *err)
{
	if (index >= f->strtab_size)
		return err_set(err, ERR_FORMAT, "ELF %s is outside the string table", what);
	return elf_string_at(f, f->strtab + index, f->strtab_size - index, what, ret_text, err);
}

/* One program header, with the fields of both classes widened. */
struct phdr {
	uint64_t type, flags, offset, addr, filesz;
};

#define PHDR_FIELD(f, p, member)                                                                   \
	((f)->is64 ? elf_number((f), (p) + offsetof(Elf64_Phdr, member),                           \
	                        sizeof(((Elf64_Phdr *)NULL)->member))                              \
	           : elf_number((f), (p) + offsetof(Elf32_Phdr, member),                           \
	                        sizeof(((Elf32_Phdr *)NULL)->member)))

static struct phdr phdr_decode(const struct elf_file *f, const unsigned char *p)
{
	return (struct phdr){.type = PHDR_FIELD(f, p, p_type),
	                     .flags = PHDR_FIELD(f, p, p_flags),
	                     .offset = PHDR_FIELD(f, p, p_offset),
	                     .addr = PHDR_FIELD(f, p, p_vaddr),
	                     .filesz = PHDR_FIELD(f, p, p_filesz)};
}

/* Collects the PT_LOADs, whose address ranges all other tables are found through. */
static int add_load(struct elf_file *f, const struct phdr *h, struct err *err)
{
	if (h->filesz == 0)
		return 0;
	if (h->offset > f->size || h->filesz > f->size - h->offset)
		return err_set(err, ERR_FORMAT, "ELF segment lies outside the file (cut short?)");
	f->loads[f->n_loads++] = (struct elf_segment){h->addr, h->offset, h->filesz};
	return 0;
}

static int read_phdrs(struct elf_file *f, const unsigned char *table, size_t n, size_t entsize,
                      struct elf_info *info, struct phdr *ret_dynamic, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct phdr h = phdr_decode(f, table + i * entsize);

		if (h.type == PT_LOAD && add_load(f, &h, err) != 0)
			return -1;
		if (h.type == PT_INTERP && info->interpreter == NULL && h.filesz > 0 &&
		    elf_string_at(f, h.offset, h.filesz, "interpreter name", &info->interpreter,
		                  err) != 0)
			return -1;
		if (h.type == PT_GNU_STACK)
			info->exec_stack = (h.flags & PF_X) != 0;
		if (h.type == PT_NOTE || h.type == PT_GNU_PROPERTY)
			elf_read_note(f, h.offset, h.filesz, info);
		/* Files of debug information keep the header but no bytes (filesz 0). */
		if (h.type == PT_DYNAMIC && h.filesz > 0 && ret_dynamic->filesz == 0)
			*ret_dynamic = h;
	}
	return 0;
}

static int read_program(struct elf_file *f, const unsigned char *ehdr, struct elf_info *info,
                        struct err *err)
{
	const size_t want = f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t phoff = f->is64 ? elf_number(f, ehdr + offsetof(Elf64_Ehdr, e_phoff), 8)
	                         : elf_number(f, ehdr + offsetof(Elf32_Ehdr, e_phoff), 4);
	size_t entsize = elf_number(f,
	                            ehdr + (f->is64 ? offsetof(Elf64_Ehdr, e_phentsize)
	                                            : offsetof(Elf32_Ehdr, e_phentsize)),
	                            2);
	size_t n = elf_number(
		f, ehdr + (f->is64 ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum)),
		2);
	struct phdr dynamic = {0};
	AUTO_FREE unsigned char *table = NULL;

	if (phoff == 0 || n == 0)
		return 0;
	if (entsize != want)
		return err_set(err, ERR_FORMAT, "ELF program header size %zu, expected %zu",
		               entsize, want);
	if (n > ELF_PHDRS_MAX)
		return err_set(err, ERR_FORMAT, "ELF has %zu program headers, at most %d are read",
		               n, ELF_PHDRS_MAX);
	if (phoff > f->size || n * entsize > f->size - phoff)
		return err_set(err, ERR_FORMAT, "ELF program headers lie outside the file");
	table = mem_calloc(n, entsize);
	f->loads = arena_calloc(f->arena, n, sizeof(*f->loads));
	if (elf_bytes(f, phoff, table, n * entsize, "program headers", err) != 0 ||
	    read_phdrs(f, table, n, entsize, info, &dynamic, err) != 0)
		return -1;
	if (dynamic.filesz == 0)
		return 0;
	info->dynamic = true;
	return elf_read_dynamic(f, dynamic.offset, dynamic.filesz, info, err);
}

int elf_parse(elf_read_at read_at, void *ctx, uint64_t size, struct arena *a,
              struct elf_info *ret_info, struct err *err)
{
	return elf_parse_symbols(read_at, ctx, size, a, NULL, ret_info, err);
}

int elf_parse_symbols(elf_read_at read_at, void *ctx, uint64_t size, struct arena *a,
                      struct elf_room *room, struct elf_info *ret_info, struct err *err)
{
	struct elf_file f = {
		.read_at = read_at, .ctx = ctx, .size = size, .arena = a, .room = room};
	struct elf_info info = {0};
	unsigned char ehdr[sizeof(Elf64_Ehdr)] = {0};

	if (size >= SELFMAG && elf_bytes(&f, 0, ehdr, SELFMAG, "magic", err) != 0)
		return -1;
	if (!elf_is_elf(ehdr, sizeof(ehdr)))
		return err_set(err, ERR_FORMAT, "not an ELF file");
	if (elf_bytes(&f, 0, ehdr, sizeof(Elf32_Ehdr), "header", err) != 0)
		return -1;
	if (ehdr[EI_CLASS] != ELFCLASS32 && ehdr[EI_CLASS] != ELFCLASS64)
		return err_set(err, ERR_FORMAT, "ELF class %u is not 32 or 64 bit", ehdr[EI_CLASS]);
	if (ehdr[EI_DATA] != ELFDATA2LSB && ehdr[EI_DATA] != ELFDATA2MSB)
		return err_set(err, ERR_FORMAT, "ELF byte order %u is unknown", ehdr[EI_DATA]);
	f.is64 = ehdr[EI_CLASS] == ELFCLASS64;
	f.big_endian = ehdr[EI_DATA] == ELFDATA2MSB;
	if (f.is64 && elf_bytes(&f, 0, ehdr, sizeof(Elf64_Ehdr), "header", err) != 0)
		return -1;
	info.bits = f.is64 ? 64 : 32;
	info.type = (uint16_t)elf_number(&f, ehdr + offsetof(Elf64_Ehdr, e_type), 2);
	info.machine = (uint16_t)elf_number(&f, ehdr + offsetof(Elf64_Ehdr, e_machine), 2);
	/* Relocatable objects and core files have no dynamic section that matters here. */
	if ((info.type == ET_EXEC || info.type == ET_DYN) &&
	    read_program(&f, ehdr, &info, err) != 0)
		return -1;
	if (info.type == ET_EXEC || (info.type == ET_DYN && info.interpreter != NULL))
		info.executable = true;
	*ret_info = info;
	return 0;
}

struct memory {
	const unsigned char *bytes;
	size_t len;
};

static int memory_read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err)
{
	const struct memory *m = ctx;

	if (offset > m->len || len > m->len - offset)
		return err_set(err, ERR_FORMAT, "ELF file is cut short");
	memcpy(buf, m->bytes + offset, len);
	return 0;
}

int elf_parse_bytes(const void *bytes, size_t len, struct arena *a, struct elf_info *ret_info,
                    struct err *err)
{
	struct memory m = {bytes, len};

	return elf_parse(memory_read_at, &m, len, a, ret_info, err);
}

static int fd_read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err)
{
	const int fd = *(const int *)ctx;
	size_t done = 0;

	while (done < len) {
		ssize_t n = fs_pread(fd, (char *)buf + done, len - done, (int64_t)(offset + done));

		if (n < 0)
			return err_set(err, ERR_IO, "read");
		if (n == 0)
			return err_set(err, ERR_FORMAT, "ELF file is cut short");
		done += (size_t)n;
	}
	return 0;
}

int elf_parse_fd(int fd, struct arena *a, struct elf_info *ret_info, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set(err, ERR_IO, "stat");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "not a regular file");
	return elf_parse(fd_read_at, &fd, (uint64_t)st.st_size, a, ret_info, err);
}

const char *elf_machine_name(uint16_t machine, struct arena *a)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
		{EM_X86_64, "x86-64"}, {EM_AARCH64, "AArch64"},
		{EM_386, "i386"},      {EM_ARM, "ARM"},
		{EM_RISCV, "RISC-V"},  {EM_PPC64, "PowerPC64"},
		{EM_PPC, "PowerPC"},   {EM_S390, "S/390"},
		{EM_MIPS, "MIPS"},     {EM_LOONGARCH, "LoongArch"},
		{EM_BPF, "BPF"},       {EM_CUDA, "CUDA"},
		{EM_IA_64, "Itanium"}, {EM_SPARCV9, "SPARC V9"},
		{EM_68K, "m68k"},      {EM_AMDGPU, "AMD GPU"},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return arena_printf(a, "machine %u", machine);
}
