#include "tests/harness.h"

#include "base/text.h"
#include "builder/layer/elf/elf_symbols.h"
#include "builder/layer/elf/elf_search.h"
#include "tests/elf_make.h"

#define CROSS_LIBC "/usr/aarch64-linux-gnu/lib/libc.so.6"

static bool has(const struct strlist *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->at[i], text) == 0)
			return true;
	return false;
}

static void parse_file(const char *path, struct arena *a, struct elf_info *info)
{
	struct err err = {0};
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK_OK(elf_parse_fd(fd, a, info, &err), &err);
}

static void reads_itself(void)
{
	AUTO(arena) struct arena a = {0};
	struct elf_info info = {0};

	parse_file("/proc/self/exe", &a, &info);
	CHECK(info.dynamic && info.executable);
	CHECK(info.interpreter != NULL && info.interpreter[0] == '/');
	CHECK(has(&info.needed, "libc.so.6"));
	CHECK(info.n_need > 0);
}

static void reads_foreign_libc(void)
{
	AUTO(arena) struct arena a = {0};
	struct elf_info info = {0};

	if (access(CROSS_LIBC, R_OK) != 0)
		SKIP("no arm64 C library here");
	parse_file(CROSS_LIBC, &a, &info);
	CHECK_INT(info.machine, EM_AARCH64);
	CHECK_INT(info.bits, 64);
	CHECK_STR(info.soname, "libc.so.6");
	CHECK(has(&info.defined, "GLIBC_2.17"));
	CHECK(!has(&info.defined, "libc.so.6"));
	CHECK(has(&info.needed, "ld-linux-aarch64.so.1"));
}

static bool file_defines(const struct elf_info *info, const char *name, const char *version)
{
	size_t steps = 0;

	return elf_defines(info, elf_symbol_hash(name, strlen(name)), version, &steps);
}

struct whole_file {
	unsigned char *bytes;
	size_t len;
};

static int whole_read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err)
{
	const struct whole_file *w = ctx;

	if (offset > w->len || len > w->len - offset)
		return err_set(err, ERR_FORMAT, "cut short");
	memcpy(buf, w->bytes + offset, len);
	return 0;
}

/* Real tables: versions, hidden versions, GNU's hash table. */
static void reads_symbols_of_a_libc(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO_FREE unsigned char *bytes = malloc(8 << 20);
	struct elf_room room = {0};
	struct elf_info info = {0};
	struct err err = {0};
	AUTO_CLOSE int fd = open(CROSS_LIBC, O_RDONLY | O_CLOEXEC);
	struct whole_file w = {bytes, 0};

	if (fd < 0)
		SKIP("no arm64 C library here");
	w.len = (size_t)read(fd, bytes, 8 << 20);
	CHECK_OK(elf_parse_symbols(whole_read_at, &w, w.len, &a, &room, &info, &err), &err);
	CHECK(info.symbols != NULL && info.symbols->n_defined > 2000);
	CHECK(file_defines(&info, "malloc", "GLIBC_2.17"));
	CHECK(!file_defines(&info, "malloc", "GLIBC_2.34"));
	CHECK(file_defines(&info, "malloc", NULL));
	CHECK(!file_defines(&info, "no_such_function", NULL));
	/* Two versions, of which the older one is hidden. */
	CHECK(file_defines(&info, "pthread_create", "GLIBC_2.17"));
	CHECK(file_defines(&info, "pthread_create", "GLIBC_2.34"));
	/* What it takes from its loader. */
	CHECK(info.symbols->n_needs > 0 && info.symbols->n_needs < 100);
	for (size_t i = 0; i < info.symbols->n_needs; i++) {
		const struct elf_version *v =
		    elf_version_at(&info, info.symbols->needs[i].version);

		CHECK(v != NULL && strcmp(v->library, "ld-linux-aarch64.so.1") == 0);
	}
	elf_room_done(&room);
}

/* Any byte of the tables may be wrong: then the symbols are unknown, and the file is read. */
static void survives_broken_symbols(void)
{
	const struct elf_make m = {.machine = EM_X86_64,
				   .soname = "libx.so",
				   .exports = {"a", "b"},
				   .undefined = {"c", "d"},
				   .isa = 0xf};
	unsigned char bytes[ELF_MAKE_MAX];
	size_t len = elf_make(&m, bytes);

	for (size_t at = 1024; at < 8000; at += at < 1400 ? 1 : (at < 7168 ? 512 : 3)) {
		AUTO(arena) struct arena a = {0};
		struct elf_room room = {0};
		struct elf_info info = {0};
		struct err err = {0};
		unsigned char broken[ELF_MAKE_MAX];
		struct whole_file w = {broken, len};

		memcpy(broken, bytes, len);
		broken[at] ^= 0xff;
		if (elf_parse_symbols(whole_read_at, &w, len, &a, &room, &info, &err) != 0)
			CHECK_INT(err.code, ERR_FORMAT);
		else
			CHECK(info.symbols == NULL || info.symbols->n_needs <= 4);
		elf_room_done(&room);
	}
}

static const struct elf_make full = {
    .machine = EM_AARCH64,
    .interpreter = "/lib/ld.so.1",
    .soname = "libx.so.1",
    .rpath = "/r",
    .runpath = "$ORIGIN/../lib",
    .needed = {"liba.so.1", "libb.so.2"},
    .need_library = "liba.so.1",
    .need_version = "A_1.2",
    .defines = {"X_1", "X_2"},
    .flags_1 = DF_1_NODEFLIB,
};

static void reads_every_class(void)
{
	for (int i = 0; i < 4; i++) {
		AUTO(arena) struct arena a = {0};
		unsigned char bytes[ELF_MAKE_MAX];
		struct elf_make m = full;
		struct elf_info info = {0};
		struct err err = {0};

		m.is32 = (i & 1) != 0;
		m.big_endian = (i & 2) != 0;
		CHECK_OK(elf_parse_bytes(bytes, elf_make(&m, bytes), &a, &info, &err), &err);
		CHECK_INT(info.machine, EM_AARCH64);
		CHECK_INT(info.bits, m.is32 ? 32 : 64);
		CHECK_STR(info.interpreter, "/lib/ld.so.1");
		CHECK_STR(info.soname, "libx.so.1");
		CHECK_STR(info.rpath, "/r");
		CHECK_STR(info.runpath, "$ORIGIN/../lib");
		CHECK_INT(info.needed.n, 2);
		CHECK(has(&info.needed, "liba.so.1") && has(&info.needed, "libb.so.2"));
		CHECK_INT(info.n_need, 1);
		CHECK(info.n_need == 1 && has(&info.need[0].versions, "A_1.2"));
		CHECK_INT(info.defined.n, 2);
		CHECK(has(&info.defined, "X_1") && has(&info.defined, "X_2"));
		CHECK(info.no_default_dirs && info.executable && info.dynamic);
	}
}

static void knows_static(void)
{
	AUTO(arena) struct arena a = {0};
	unsigned char bytes[ELF_MAKE_MAX];
	const struct elf_make m = {.machine = EM_X86_64, .type = ET_EXEC, .is_static = true};
	const struct elf_make pie = {.machine = EM_X86_64, .flags_1 = DF_1_PIE};
	struct elf_info info = {0};
	struct err err = {0};

	CHECK_OK(elf_parse_bytes(bytes, elf_make(&m, bytes), &a, &info, &err), &err);
	CHECK(!info.dynamic && info.executable && info.interpreter == NULL);
	CHECK_OK(elf_parse_bytes(bytes, elf_make(&pie, bytes), &a, &info, &err), &err);
	CHECK(info.executable && info.interpreter == NULL);
}

/* One broken place in an otherwise good file. */
struct broken {
	const char *what;
	size_t at, width;
	uint64_t value;
	size_t len; /* 0 = the whole file */
	const char *message;
};

static void refuses_broken(void)
{
	static const struct broken table[] = {
	    {"empty", 0, 0, 0, 1, "not an ELF"},
	    {"magic only", 0, 0, 0, 4, "outside the file"},
	    {"short header", 0, 0, 0, 60, "outside the file"},
	    {"class", EI_CLASS, 1, 9, 0, "class"},
	    {"byte order", EI_DATA, 1, 0, 0, "byte order"},
	    {"entry size", offsetof(Elf64_Ehdr, e_phentsize), 2, 8, 0, "program header size"},
	    {"headers beyond the end", offsetof(Elf64_Ehdr, e_phoff), 8, 1u << 20, 0,
	     "outside the file"},
	    {"header offset wraps", offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8, 0,
	     "outside the file"},
	    {"too many headers", offsetof(Elf64_Ehdr, e_phnum), 2, 0xfffe, 0, "program headers"},
	    {"segment beyond the end", 64 + 32, 8, 1u << 20, 0, "outside the file"},
	    {"segment offset wraps", 64 + 8, 8, UINT64_MAX, 0, "outside the file"},
	    {"interpreter beyond the end", 64 + 56 + 8, 8, 1u << 20, 0, "outside the file"},
	    {"interpreter not terminated", 64 + 56 + 32, 8, 3, 0, "not terminated"},
	    {"dynamic beyond the end", 64 + 112 + 8, 8, 1u << 20, 0, "outside the file"},
	    {"needed outside the strings", 1024 + 8, 8, 1u << 20, 0, "outside the string table"},
	    {"cut in the middle", 0, 0, 0, 2000, "outside the file"},
	    {"version needs unmapped", 2048 + 8, 4, 0xffffff00u, 0, "no loaded segment"},
	    {"version name outside", 2048 + 24, 4, 0xffffff, 0, "outside the string table"},
	    {"definition chain leaves", 2304 + 16, 4, 0x7fffffff, 0, "no loaded segment"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena) struct arena a = {0};
		unsigned char bytes[ELF_MAKE_MAX];
		struct elf_info info = {0};
		struct err err = {0};
		size_t len = elf_make(&full, bytes);

		for (size_t k = 0; k < table[i].width; k++)
			bytes[table[i].at + k] = (unsigned char)(table[i].value >> (8 * k));
		CHECK(elf_parse_bytes(bytes, table[i].len != 0 ? table[i].len : len, &a, &info,
				      &err) == -1);
		CHECK_INT(err.code, ERR_FORMAT);
		if (strstr(err.msg, table[i].message) == NULL)
			CHECK_STR(err.msg, table[i].what);
	}
}

/* Every truncation either parses or is refused, and never reads beyond. */
static void survives_truncation(void)
{
	unsigned char bytes[ELF_MAKE_MAX];
	size_t len = elf_make(&full, bytes);

	for (size_t n = 0; n < len; n += 7) {
		AUTO(arena) struct arena a = {0};
		struct elf_info info = {0};
		struct err err = {0};
		AUTO_FREE unsigned char *copy = malloc(n + 1);

		memcpy(copy, bytes, n);
		CHECK(elf_parse_bytes(copy, n, &a, &info, &err) == -1);
	}
}

static void names_machines(void)
{
	AUTO(arena) struct arena a = {0};

	CHECK_STR(elf_machine_name(EM_X86_64, &a), "x86-64");
	CHECK_STR(elf_machine_name(EM_AARCH64, &a), "AArch64");
	CHECK_STR(elf_machine_name(4711, &a), "machine 4711");
}

static void expands_paths(void)
{
	static const struct {
		const char *text, *want[3];
	} table[] = {
	    {"/a:/b", {"/a", "/b"}},
	    {"$ORIGIN/../lib", {"/opt/x/lib"}},
	    {"${ORIGIN}:$LIB", {"/opt/x/bin"}},
	    {"/usr/$LIB/$PLATFORM", {"/usr/lib64/x86_64"}},
	    {"rel:./x::", {NULL}},
	    {"/a//b/./c/../d/", {"/a/b/d"}},
	    {"/../..", {"/"}},
	    {"/$UNKNOWN", {"/$UNKNOWN"}},
	    {"/a:/a", {"/a"}},
	};
	const struct elf_tokens tokens = {
	    .origin = "/opt/x/bin", .lib = "lib64", .platform = "x86_64"};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(arena) struct arena a = {0};
		struct strlist dirs = elf_search_path(table[i].text, &tokens, &a);
		size_t n = 0;

		for (; n < 3 && table[i].want[n] != NULL; n++)
			if (n < dirs.n)
				CHECK_STR(dirs.at[n], table[i].want[n]);
		CHECK_INT(dirs.n, n);
	}
}

static void drops_unknown_origin(void)
{
	AUTO(arena) struct arena a = {0};
	struct strlist dirs =
	    elf_search_path("$ORIGIN/lib:/x", &(struct elf_tokens){.lib = "lib"}, &a);

	CHECK_INT(dirs.n, 1);
	CHECK(elf_search_has_origin("a:$ORIGIN/x") && elf_search_has_origin("${ORIGIN}"));
	CHECK(!elf_search_has_origin("$LIB:/ORIGIN"));
}

static void reads_loader_folders(void)
{
	static const char glibc[] =
	    "xx\0/lib/x86_64-linux-gnu/\0/usr/lib/x86_64-linux-gnu/\0/lib/\0/usr/lib/\0yy";
	static const char fedora[] = "\0/lib64/\0/usr/lib64/\0";
	static const char musl[] = "\0/lib:/usr/local/lib:/usr/lib\0";
	const struct platform_arch *arch = platform_arch_find("amd64");
	AUTO(arena) struct arena a = {0};
	struct strlist dirs = elf_search_builtin(glibc, sizeof(glibc), arch, &a);

	CHECK_INT(dirs.n, 4);
	CHECK(dirs.n == 4 && strcmp(dirs.at[1], "/usr/lib/x86_64-linux-gnu") == 0);
	dirs = elf_search_builtin(fedora, sizeof(fedora), arch, &a);
	CHECK(dirs.n == 2 && has(&dirs, "/lib64") && has(&dirs, "/usr/lib64"));
	dirs = elf_search_builtin(musl, sizeof(musl), arch, &a);
	CHECK(dirs.n == 3 && has(&dirs, "/usr/local/lib"));
	CHECK_INT(elf_search_builtin("nothing", 7, arch, &a).n, 0);
}

static void reads_ld_so_conf(void)
{
	static const char text[] =
	    "# comment\n/usr/local/lib\n include ld.so.conf.d/*.conf\nhwcap 0 nosegneg\n"
	    "/opt/a /opt/b # more\n/usr/local/lib";
	AUTO(arena) struct arena a = {0};
	struct strlist dirs = {0}, includes = {0};

	elf_search_conf(text, strlen(text), &dirs, &includes, &a);
	CHECK_INT(dirs.n, 3);
	CHECK(has(&dirs, "/opt/b"));
	CHECK(includes.n == 1 && strcmp(includes.at[0], "ld.so.conf.d/*.conf") == 0);
}

static void knows_the_loaders_own_names(void)
{
	CHECK(elf_search_is_loader("/lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2"));
	CHECK(!elf_search_is_loader("/lib64/ld-linux-x86-64.so.2", "libc.so.6"));
	CHECK(elf_search_is_loader("/lib/ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1"));
	CHECK(!elf_search_is_loader("/lib/ld-musl-x86_64.so.1", "libcurl.so.4"));
	CHECK(elf_search_is_loader(NULL, "ld-linux-aarch64.so.1"));
}

int main(void)
{
	TEST("elf: the running test program is read", reads_itself);
	TEST("elf: the arm64 C library is read on any machine", reads_foreign_libc);
	TEST("elf: the symbols of the arm64 C library are read, with their versions",
	     reads_symbols_of_a_libc);
	TEST("elf: broken tables of symbols never lead outside the file", survives_broken_symbols);
	TEST("elf: both classes and both byte orders give the same facts", reads_every_class);
	TEST("elf: static programs have no dynamic section or no interpreter", knows_static);
	TEST("elf: each broken structure is refused by name", refuses_broken);
	TEST("elf: a file cut anywhere is refused", survives_truncation);
	TEST("elf: machines have names", names_machines);
	TEST("elf_search: RPATH items are expanded and normalised", expands_paths);
	TEST("elf_search: an item with an unknown $ORIGIN is dropped", drops_unknown_origin);
	TEST("elf_search: a loader's own folders are read from its bytes", reads_loader_folders);
	TEST("elf_search: ld.so.conf lines, comments and includes", reads_ld_so_conf);
	TEST("elf_search: a loader answers to its own names", knows_the_loaders_own_names);
	return test_done();
}
