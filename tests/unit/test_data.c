/*
 * What programs need at run time and no header names: small images of made-up ELF files for
 * linux/amd64, each with all that the check must say of it.
 */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/text.h"
#include "builder/check/check.h"
#include "builder/layer/elf/elf_internal.h"
#include "tests/elf_make.h"
#include "tests/image_make.h"

#define LIB    "usr/lib/x86_64-linux-gnu/"
#define LOADER "/lib64/ld-linux-x86-64.so.2"

static const char loader_dirs[] = "\0/lib/x86_64-linux-gnu/\0/usr/lib/x86_64-linux-gnu/\0";

/* An image: libc, one program, what that loads and calls, and files and links beside it. */
struct image {
	const char *name;     /* of the case */
	const char *program;  /* NULL: usr/bin/p */
	const char *glibc;    /* its newest version; NULL: GLIBC_2.36 */
	const char *loads;    /* a library */
	const char *calls;    /* a symbol of libc */
	const char *via;      /* a library that calls instead of the program */
	const char *dlopen;   /* note of the program */
	const char *env;      /* JSON strings */
	const char *files[3]; /* empty files */
	const char *link[2];  /* path and target */
	bool is_not_entry;    /* another program is started */
	bool ranks_meet;      /* by a job of several nodes */
	const char *job;      /* the program that the job starts */
	const char *rule;     /* NULL: nothing is said */
	enum diag_severity severity;
	const char *says;
};

static void put_elf(struct image_make *m, const char *path, struct elf_make elf)
{
	unsigned char bytes[ELF_MAKE_MAX];

	elf.machine = EM_X86_64;
	tar_file(&m->layers[0].tar, path, 0755, bytes, elf_make(&elf, bytes));
}

static void put_program(struct image_make *m, const struct image *i)
{
	struct elf_make program = {
		.interpreter = LOADER, .needed = {"libc.so.6"}, .dlopen = i->dlopen};
	struct strbuf path = STRBUF_INIT(4096);
	size_t n = 1;

	if (i->loads != NULL)
		program.needed[n++] = i->loads;
	if (i->via != NULL)
		program.needed[n] = i->via;
	else
		program.undefined[0] = i->calls;
	put_elf(m, i->program != NULL ? i->program : "usr/bin/p", program);
	if (i->loads != NULL) {
		strbuf_addf(&path, LIB "%s", i->loads);
		put_elf(m, strbuf_str(&path), (struct elf_make){.soname = i->loads});
	}
	if (i->via != NULL) {
		path.len = 0;
		strbuf_addf(&path, LIB "%s", i->via);
		put_elf(m, strbuf_str(&path),
		        (struct elf_make){.soname = i->via,
		                          .needed = {"libc.so.6"},
		                          .undefined = {i->calls}});
	}
	strbuf_done(&path);
}

static void put_image(struct image_make *m, const struct image *i)
{
	put_elf(m, "lib64/ld-linux-x86-64.so.2",
	        (struct elf_make){.soname = "ld-linux-x86-64.so.2",
	                          .extra = loader_dirs,
	                          .extra_len = sizeof(loader_dirs)});
	put_elf(m, LIB "libc.so.6",
	        (struct elf_make){.soname = "libc.so.6",
	                          .exports = {i->calls},
	                          .defines = {i->glibc != NULL ? i->glibc : "GLIBC_2.36"}});
	put_program(m, i);
	if (i->is_not_entry)
		put_elf(m, "usr/bin/first",
		        (struct elf_make){.interpreter = LOADER, .needed = {"libc.so.6"}});
	for (size_t k = 0; k < ARRAY_LEN(i->files) && i->files[k] != NULL; k++)
		tar_text(&m->layers[0].tar, i->files[k], "");
	if (i->link[0] != NULL)
		tar_symlink(&m->layers[0].tar, i->link[0], i->link[1]);
}

struct outcome {
	struct arena arena;
	struct diags diags;
	struct check_report report;
	struct err err;
	int rc;
};

static void check(const struct image *i, const struct check_opts *opts, struct outcome *o)
{
	AUTO(strbuf) struct strbuf config = STRBUF_INIT(4096);
	struct image_make m = {.architecture = "amd64", .n_layers = 1};
	char dir[4096];
	struct err err = {0};
	struct layout *layout = NULL;
	struct descriptor desc;
	struct store *store;

	strbuf_addf(&config, "\"Entrypoint\":[\"/%s\"],\"Env\":[%s]",
	            i->is_not_entry      ? "usr/bin/first"
	            : i->program != NULL ? i->program
	                                 : "usr/bin/p",
	            i->env != NULL ? i->env : "");
	m.config = strbuf_str(&config);
	test_tmpdir(dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	put_image(&m, i);
	desc = image_make(&m, layout, &o->arena);
	desc = image_index(&desc, 1, layout);
	store = layout_store(layout);
	o->rc = check_image(store, &desc, opts, &o->arena, &o->report, &o->diags, &o->err);
	store_close(store);
	layout_close(layout);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void outcome_done(struct outcome *o)
{
	diags_done(&o->diags);
	arena_done(&o->arena);
}

#define SSL_DEFAULTS "SSL_CTX_set_default_verify_paths"
#define CA_BUNDLE    "etc/ssl/certs/ca-certificates.crt"
#define NOTE(priority)                                                                             \
	"[{\"feature\":\"zstd\",\"description\":\"Journals\",\"priority\":\"" priority             \
	"\",\"soname\":[\"libz1.so\",\"libz2.so\"]}]"

static const struct image images[] = {
	{.name = "a program that calls nothing"},
	/* elf-dlopen */
	{"dlopen: recommended", .dlopen = NOTE("recommended"), .rule = "elf-dlopen",
         .severity = DIAG_WARNING,
         .says = "'libz1.so' or 'libz2.so' (recommended for zstd: Journals)"},
	{"dlopen: required", .dlopen = NOTE("required"), .rule = "elf-dlopen",
         .severity = DIAG_WARNING, .says = "(required for zstd: Journals)"},
	{"dlopen: suggested", .dlopen = NOTE("suggested")},
	{"dlopen: one of two is there", .dlopen = NOTE("required"), .loads = "libz2.so"},
	{"dlopen: malformed", .dlopen = "[{\"soname\":[\"libz1.so\"]"},
	{"dlopen: no list", .dlopen = "{\"soname\":[\"libz1.so\"]}"},
	{"dlopen: names that are none", .dlopen = "[1,{\"soname\":[1,\"\"]},{\"soname\":\"x\"}]"},
	{"dlopen: for a terminal", .dlopen = "[{\"soname\":[\"a\\u001b[31m\\u009b\"]}]",
         .rule = "elf-dlopen", .severity = DIAG_WARNING, .says = "'a?[31m?' (recommended)"},
	/* ca-certificates */
	{"openssl's defaults", .calls = SSL_DEFAULTS, .rule = "ca-certificates",
         .severity = DIAG_WARNING, .says = "/usr/bin/p: calls SSL_CTX_set_default_verify_paths"},
	{"openssl's defaults by a library", .calls = SSL_DEFAULTS, .via = "libgit2.so.1",
         .rule = "ca-certificates", .severity = DIAG_WARNING,
         .says = "in /usr/lib/x86_64-linux-gnu/libgit2.so.1"},
	{"openssl itself", .calls = "X509_STORE_set_default_paths_ex", .via = "libssl.so.3",
         .rule = "ca-certificates", .severity = DIAG_NOTE, .says = "if it is a client of TLS"},
	{"openssl reads no such bundle", .calls = SSL_DEFAULTS, .files = {CA_BUNDLE},
         .rule = "ca-certificates", .severity = DIAG_WARNING, .says = "OpenSSL looks"},
	{"openssl's cert.pem", .calls = SSL_DEFAULTS, .files = {"usr/lib/ssl/cert.pem"}},
	{"openssl's hashed names", .calls = SSL_DEFAULTS, .files = {"etc/ssl/certs/4f316efb.0"}},
	{"a bundle that the environment names", .calls = SSL_DEFAULTS, .files = {"opt/ca.pem"},
         .env = "\"SSL_CERT_FILE=/opt/ca.pem\""},
	{"a bundle that is not there", .calls = SSL_DEFAULTS,
         .env = "\"SSL_CERT_FILE=/opt/ca.pem\"", .rule = "ca-certificates",
         .severity = DIAG_WARNING, .says = "no certificate can be verified"},
	{"curl", .loads = "libcurl.so.4", .rule = "ca-certificates", .severity = DIAG_WARNING,
         .says = "loads /usr/lib/x86_64-linux-gnu/libcurl.so.4"},
	{"curl with a bundle", .loads = "libcurl-gnutls.so.4", .files = {CA_BUNDLE}},
	{"gnutls", .calls = "gnutls_certificate_set_x509_system_trust", .rule = "ca-certificates",
         .severity = DIAG_WARNING, .says = "no bundle"},
	/* name-service */
	{"users", .calls = "getpwuid", .rule = "name-service", .severity = DIAG_WARNING,
         .says = "calls getpwuid, and the image has no /etc/passwd"},
	{"users by a library that is not the body", .calls = "getpwuid", .via = "libx.so"},
	{"users by libpython", .calls = "getpwnam_r", .via = "libpython3.so",
         .rule = "name-service", .severity = DIAG_WARNING, .says = "/etc/passwd"},
	{"users that are there", .calls = "getpwuid", .files = {"etc/passwd"}},
	{"groups", .calls = "getgrnam", .rule = "name-service", .severity = DIAG_WARNING,
         .says = "/etc/group"},
	{"users with an old C library", .calls = "getpwuid", .glibc = "GLIBC_2.31",
         .files = {"etc/passwd"}, .rule = "name-service", .severity = DIAG_WARNING,
         .says = "libnss_files.so.2"},
	{"the same with the plug-in", .calls = "getpwuid", .glibc = "GLIBC_2.31",
         .files = {"etc/passwd", LIB "libnss_files.so.2"}},
	{"hosts", .calls = "getaddrinfo"},
	{"hosts before 2.35", .calls = "getaddrinfo", .glibc = "GLIBC_2.34", .rule = "name-service",
         .severity = DIAG_WARNING, .says = "before /etc/hosts"},
	{"hosts before 2.35 with nsswitch.conf", .calls = "getaddrinfo", .glibc = "GLIBC_2.34",
         .files = {"etc/nsswitch.conf"}},
	{"hosts before 2.34", .calls = "getaddrinfo", .glibc = "GLIBC_2.31",
         .files = {"etc/nsswitch.conf"}, .rule = "name-service", .severity = DIAG_WARNING,
         .says = "libnss_dns.so.2"},
	/* timezone */
	{"a zone", .env = "\"TZ=Europe/Berlin\"", .rule = "timezone", .severity = DIAG_WARNING,
         .says = "TZ names the time zone 'Europe/Berlin'"},
	{"a zone that is there", .env = "\"TZ=:Europe/Berlin\"",
         .files = {"usr/share/zoneinfo/Europe/Berlin"}},
	{"a zone elsewhere", .env = "\"TZ=Europe/Berlin\",\"TZDIR=/tz\"",
         .files = {"tz/Europe/Berlin"}},
	{"a zone that is a rule", .env = "\"TZ=CET-1CEST,M3.5.0,M10.5.0/3\""},
	{"a zone that is a number", .env = "\"TZ=<+03>-3\""},
	{"a zone that is UTC", .env = "\"TZ=Etc/UTC\""},
	{"a broken bracket", .env = "\"TZ=<+03\"", .rule = "timezone", .severity = DIAG_WARNING,
         .says = "'<+03'"},
	{"localtime", .link = {"etc/localtime", "/usr/share/zoneinfo/Europe/Berlin"},
         .rule = "timezone", .severity = DIAG_WARNING,
         .says = "/etc/localtime: leads to /usr/share/zoneinfo/Europe/Berlin"},
	{"localtime is UTC", .link = {"etc/localtime", "/usr/share/zoneinfo/Etc/UTC"}},
	{"localtime is there", .link = {"etc/localtime", "/usr/share/zoneinfo/Europe/Berlin"},
         .files = {"usr/share/zoneinfo/Europe/Berlin"}},
	/* locale and gconv */
	{"a locale", .env = "\"LANG=de_DE.UTF-8\"", .rule = "locale", .severity = DIAG_WARNING,
         .says = "LANG names the locale 'de_DE.UTF-8'"},
	{"a locale by a name of its own", .env = "\"LANG=de_DE.UTF-8\"",
         .files = {"usr/lib/locale/de_DE.utf8/LC_CTYPE"}},
	{"a locale of the language", .env = "\"LANG=de_AT.UTF-8@euro\"",
         .files = {"usr/lib/locale/de/LC_CTYPE"}},
	{"locales in an archive", .env = "\"LANG=de_DE.UTF-8\"",
         .files = {"usr/lib/locale/locale-archive"}},
	{"C.UTF-8", .env = "\"LANG=C.UTF-8\",\"LC_TIME=C\",\"LC_CTYPE=POSIX\""},
	{"C.UTF-8 before 2.35", .env = "\"LANG=C.UTF-8\"", .glibc = "GLIBC_2.31", .rule = "locale",
         .severity = DIAG_WARNING, .says = "'C.UTF-8'"},
	{"LC_ALL comes first", .env = "\"LANG=de_DE.UTF-8\",\"LC_ALL=C\""},
	{"a part of the locale", .env = "\"LC_MESSAGES=fr_FR\"", .rule = "locale",
         .severity = DIAG_WARNING, .says = "LC_MESSAGES names the locale 'fr_FR'"},
	{"a character set", .env = "\"LANG=de_DE.ISO-8859-15\"",
         .files = {"usr/lib/locale/de_DE.iso885915/LC_CTYPE"}, .rule = "gconv",
         .severity = DIAG_WARNING, .says = "the character set ISO-8859-15"},
	{"a character set with conversions", .env = "\"LANG=de_DE.ISO-8859-15\"",
         .files = {"usr/lib/locale/de_DE.iso885915/LC_CTYPE", LIB "gconv/gconv-modules.cache"}},
	{"iconv", .program = "usr/bin/iconv", .rule = "gconv", .severity = DIAG_WARNING,
         .says = "no conversions"},
	/* terminfo */
	{"curses", .calls = "initscr", .rule = "terminfo", .severity = DIAG_WARNING,
         .says = "calls initscr"},
	{"a terminal", .loads = "libtinfo.so.6", .rule = "terminfo", .severity = DIAG_NOTE,
         .says = "without colours"},
	{"curses with terminals", .calls = "initscr", .files = {"lib/terminfo/x/xterm"}},
	/* interpreter-library */
	{"python", .program = "usr/bin/python3.11",
         .files = {"usr/lib/python3.11/lib-dynload/a.so"}, .rule = "interpreter-library",
         .severity = DIAG_ERROR, .says = "No module named 'encodings'"},
	{"python that is not started", .program = "usr/bin/python3.11", .is_not_entry = true,
         .files = {"usr/lib/python3.11/lib-dynload/a.so"}, .rule = "interpreter-library",
         .severity = DIAG_WARNING, .says = "No module named 'encodings'"},
	{"python with another's library", .program = "usr/bin/python3.11",
         .files = {"usr/lib/python3.12/encodings/__init__.py",
                   "usr/lib/python3.11/lib-dynload/a.so"},
         .rule = "interpreter-library", .severity = DIAG_ERROR, .says = "encodings"},
	{"python without compiled modules", .program = "opt/py/bin/python3.11",
         .files = {"opt/py/lib/python3.11/encodings/__init__.py"}, .rule = "interpreter-library",
         .severity = DIAG_WARNING, .says = "lib-dynload"},
	{"python under its short name", .program = "usr/bin/python3",
         .files = {"usr/lib/python3.11/encodings/__init__.py",
                   "usr/lib/python3.11/lib-dynload/a.so"}},
	{"python with a wrong home", .program = "usr/bin/python3.11",
         .env = "\"PYTHONHOME=/opt/py\"",
         .files = {"usr/lib/python3.11/encodings/__init__.py",
                   "opt/py/lib/python3.11/lib-dynload/a.so"},
         .rule = "interpreter-library", .severity = DIAG_ERROR, .says = "encodings"},
	{"perl", .loads = "libperl.so.5.36", .rule = "interpreter-library",
         .severity = DIAG_WARNING, .says = "Perl's own modules"},
	{"perl with modules", .program = "usr/bin/perl",
         .files = {"usr/share/perl/5.36.0/strict.pm"}},
	{"node", .loads = "libnode.so.115", .rule = "interpreter-library", .severity = DIAG_ERROR,
         .says = "externalized builtin"},
	/* program-data */
	{"postgres", .program = "usr/lib/postgresql/15/bin/postgres",
         .files = {"usr/lib/postgresql/15/lib/plpgsql.so", "usr/share/zoneinfo/UTC"},
         .rule = "program-data", .severity = DIAG_ERROR, .says = "timezonesets"},
	{"postgres with its data", .program = "usr/lib/postgresql/15/bin/postgres",
         .files = {"usr/lib/postgresql/15/lib/plpgsql.so", "usr/share/zoneinfo/UTC",
                   "usr/share/postgresql/15/timezonesets/Default"}},
	{"MPI of another maker", .calls = "MPI_Init"},
	{"Open MPI", .calls = "MPI_Init", .loads = "libopen-pal.so.40", .rule = "program-data",
         .severity = DIAG_ERROR, .says = "mca_*.so"},
	{"Open MPI that starts nothing", .loads = "libopen-pal.so.40"},
	{"a trainer of ranks", .program = "usr/bin/slipway-trainer", .ranks_meet = true,
         .rule = "program-data", .severity = DIAG_ERROR, .says = "libmpich.so.12"},
	{"a trainer alone", .program = "usr/bin/slipway-trainer"},
	{"a trainer of ranks with MPICH", .program = "usr/bin/slipway-trainer", .ranks_meet = true,
         .files = {LIB "libmpich.so.12"}},
	{"a trainer of ranks with Open MPI", .program = "usr/bin/slipway-trainer",
         .ranks_meet = true, .files = {LIB "libmpi.so.40"}, .rule = "program-data",
         .severity = DIAG_ERROR, .says = "libmpich.so.12"},
	{"a trainer of ranks that is not started", .program = "usr/bin/slipway-trainer",
         .ranks_meet = true, .is_not_entry = true, .rule = "program-data", .severity = DIAG_WARNING,
         .says = "libmpich.so.12"},
	{"a trainer of ranks that the job starts", .program = "usr/bin/slipway-trainer",
         .ranks_meet = true, .is_not_entry = true, .job = "/usr/bin/slipway-trainer",
         .rule = "program-data", .severity = DIAG_ERROR, .says = "libmpich.so.12"},
	{"the same by PATH", .program = "usr/bin/slipway-trainer", .ranks_meet = true,
         .is_not_entry = true, .job = "slipway-trainer", .rule = "program-data",
         .severity = DIAG_ERROR, .says = "libmpich.so.12"},
	{"git", .program = "usr/bin/git", .rule = "program-data", .severity = DIAG_WARNING,
         .says = "git-remote-https"},
};

static void complain(const struct image *i, const struct outcome *o)
{
	test_fail(__FILE__, __LINE__, i->name);
	for (size_t k = 0; k < o->diags.n; k++)
		printf("# %d [%s] %s\n", (int)o->diags.at[k].severity,
		       o->diags.at[k].rule != NULL ? o->diags.at[k].rule : "",
		       o->diags.at[k].message);
}

static bool is_as_wanted(const struct image *i, const struct outcome *o)
{
	const struct diag *d = o->diags.at;

	if (i->rule == NULL)
		return o->rc == 0 && o->diags.n == 0;
	return o->diags.n == 1 && strcmp(d->rule, i->rule) == 0 && d->severity == i->severity &&
	       strstr(d->message, i->says) != NULL && d->hint != NULL &&
	       (o->rc != 0) == (i->severity == DIAG_ERROR);
}

static struct check_opts opts_of(const struct image *i)
{
	return (struct check_opts){.threads = 1,
	                           .ranks_meet = i->ranks_meet,
	                           .program_elsewhere = i->job != NULL,
	                           .program = i->job};
}

static void says_exactly_this(void)
{
	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		const struct check_opts opts = opts_of(&images[i]);
		struct outcome o = {0};

		check(&images[i], &opts, &o);
		if (!is_as_wanted(&images[i], &o))
			complain(&images[i], &o);
		outcome_done(&o);
	}
}

static void can_be_turned_off(void)
{
	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		const char *rule = images[i].rule;
		struct check_opts opts = opts_of(&images[i]);
		struct outcome o = {0};

		if (rule == NULL)
			continue;
		opts.off = (struct strlist){&rule, 1};
		check(&images[i], &opts, &o);
		if (o.rc != 0 || o.diags.n != 0)
			complain(&images[i], &o);
		outcome_done(&o);
	}
}

/* Any byte of the note may be wrong: then it says less, and the file is read. */
static void survives_broken_notes(void)
{
	const struct elf_make m = {
		.machine = EM_X86_64, .soname = "libx.so", .dlopen = NOTE("required"), .isa = 0xf};
	unsigned char bytes[ELF_MAKE_MAX];
	const size_t len = elf_make(&m, bytes);

	for (size_t at = 7936; at < 8192; at++)
		for (unsigned flip = 1; flip < 256; flip <<= 1) {
			AUTO(arena) struct arena a = {0};
			struct elf_info info = {0};
			struct err err = {0};

			bytes[at] ^= (unsigned char)flip;
			CHECK_OK(elf_parse_bytes(bytes, len, &a, &info, &err), &err);
			CHECK(info.n_dlopen <= 1);
			bytes[at] ^= (unsigned char)flip;
		}
}

/* One note of many entries, and of more names and longer texts than anybody writes. */
static void keeps_little_of_a_large_note(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(64 << 10);
	AUTO(arena) struct arena a = {0};
	struct elf_info info = {0};
	struct elf_file f = {.arena = &a};

	for (int i = 0; i < 300; i++)
		strbuf_addf(&sb,
		            "%s{\"soname\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\","
		            "\"h\",\"i\"],\"feature\":\"%0200d\"}",
		            i > 0 ? "," : "[", i);
	strbuf_adds(&sb, "]");
	elf_read_dlopen(&f, strbuf_str(&sb), sb.len, &info);
	CHECK_INT(info.n_dlopen, 128);
	for (size_t i = 0; i < info.n_dlopen; i++) {
		CHECK_INT(info.dlopen[i].sonames.n, 8);
		CHECK_INT(strlen(info.dlopen[i].feature), 160);
		CHECK_INT(info.dlopen[i].priority, ELF_DLOPEN_RECOMMENDED);
	}
}

int main(void)
{
	TEST("data: each image is told what its program lacks, and no more", says_exactly_this);
	TEST("data: each rule can be turned off", can_be_turned_off);
	TEST("data: a note with a wrong byte says less, and harms nothing", survives_broken_notes);
	TEST("data: of a note made to be large little is kept", keeps_little_of_a_large_note);
	return test_done();
}
