/* What is in an image: databases, owners, the building machine's packages, links, documents. */
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/doc/json.h"
#include "base/fs.h"
#include "builder/sbom/database.h"
#include "builder/sbom/deb822.h"
#include "builder/sbom/document.h"
#include "builder/sbom/inventory_json.h"
#include "builder/sbom/links.h"
#include "builder/sbom/machine.h"
#include "builder/sbom/purl.h"
#include "builder/sbom/tree_scan.h"
#include "tests/harness.h"

/* ---- a file system of hand-made members ---- */

struct filesystem {
	struct arena arena;
	struct layer_scan scan;
	struct view view;
	struct inventory inv;
	struct err err;
};

static void filesystem_init(struct filesystem *s)
{
	*s = (struct filesystem){0};
	s->inv.arena = &s->arena;
	view_init(&s->view, &s->arena, NULL, NULL);
}

static void filesystem_done(struct filesystem *s)
{
	inventory_done(&s->inv);
	view_done(&s->view);
	layer_scan_done(&s->scan);
	arena_done(&s->arena);
}

static struct scan_member *add(struct filesystem *s, const char *path, enum member_type type)
{
	struct scan_member *m = arena_alloc(&s->arena, sizeof(*m));

	*m = (struct scan_member){.path = path, .type = type, .mode = 0644};
	vec_push(&s->scan.members, m);
	return m;
}

static void add_text(struct filesystem *s, const char *path, const char *text)
{
	struct scan_member *m = add(s, path, MEMBER_FILE);

	m->text = text;
	m->text_len = strlen(text);
	m->size = (int64_t)m->text_len;
}

static void add_elf(struct filesystem *s, const char *path, const char *soname, const char *needed)
{
	struct elf_info *elf = arena_alloc(&s->arena, sizeof(*elf));

	*elf = (struct elf_info){.machine = EM_X86_64,
	                         .bits = 64,
	                         .type = ET_DYN,
	                         .executable = soname == NULL,
	                         .soname = soname};
	if (needed != NULL) {
		elf->needed.at = arena_calloc(&s->arena, 1, sizeof(*elf->needed.at));
		elf->needed.at[elf->needed.n++] = needed;
	}
	add(s, path, MEMBER_FILE)->elf = elf;
}

static void read_system(struct filesystem *s)
{
	const struct inventory_opts opts = {0};

	CHECK_OK(view_apply(&s->view, &s->scan, 0, &s->err), &s->err);
	CHECK_OK(inventory_read(&s->inv, &s->view, &opts, &s->err), &s->err);
	inventory_sort(&s->inv);
}

/* "libc6=2.36 zlib1g=1.2" */
static const char *packages_of(struct filesystem *s)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	for (size_t i = 0; i < s->inv.packages.n; i++)
		strbuf_addf(&sb, "%s%s=%s", i > 0 ? " " : "", s->inv.packages.at[i]->name,
		            s->inv.packages.at[i]->version);
	return arena_strdup(&s->arena, strbuf_str(&sb));
}

#define LIBC                                                                                       \
	"Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nSource: glibc\n"       \
	"Version: 2.36-9+deb12u14\nDescription: C\n library\n"
#define ZLIB                                                                                       \
	"Package: zlib1g\nStatus: install ok installed\nArchitecture: amd64\n"                     \
	"Source: zlib (1:1.2.13.dfsg-1)\nVersion: 1:1.2.13.dfsg-1+b1\n"

/* ---- databases ---- */

static void lists_installed_packages(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add_text(&s, "var/lib/dpkg/status",
	         LIBC "\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n"
	              "Package: never\nStatus: unknown ok not-installed\nVersion: 1\n\n"
	              "Package: half\nStatus: install ok half-configured\nVersion: 3\n\n" ZLIB);
	read_system(&s);
	CHECK_STR(packages_of(&s), "half=3 libc6=2.36-9+deb12u14 zlib1g=1:1.2.13.dfsg-1+b1");
	CHECK_STR(s.inv.packages.at[1]->source, "glibc");
	CHECK(s.inv.packages.at[1]->source_version == NULL);
	CHECK_STR(s.inv.packages.at[2]->source, "zlib");
	CHECK_STR(s.inv.packages.at[2]->source_version, "1:1.2.13.dfsg-1");
	CHECK_STR(s.inv.packages.at[1]->database, "/var/lib/dpkg/status");
}

static void lists_packages_of_images_without_dpkg(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add_text(&s, "var/lib/dpkg/status.d/libc6", LIBC);
	add_text(&s, "var/lib/dpkg/status.d/libc6.md5sums",
	         "0123456789abcdef0123456789abcdef  usr/lib/libc.so.6\n");
	add_elf(&s, "usr/lib/libc.so.6", "libc.so.6", NULL);
	add_text(&s, "usr/lib/os-release", "NAME=x\nID=debian\nVERSION_ID=\"12\"\n");
	add(&s, "etc", MEMBER_DIR);
	add(&s, "etc/os-release", MEMBER_SYMLINK)->link = "../usr/lib/os-release";
	read_system(&s);
	CHECK_STR(packages_of(&s), "libc6=2.36-9+deb12u14");
	CHECK_INT(s.inv.objects.n, 1);
	CHECK(s.inv.objects.at[0]->package == s.inv.packages.at[0]);
	CHECK_STR(s.inv.distro.id, "debian");
	CHECK_STR(s.inv.distro.version_id, "12");
}

static void lists_packages_of_alpine(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add_text(&s, "lib/apk/db/installed",
	         "C:Q1abc=\nP:musl\nV:1.2.5-r0\nA:x86_64\no:musl\nF:lib\nR:ld-musl-x86_64.so.1\n\n"
	         "P:busybox\nV:1.36.1-r29\nA:x86_64\no:busybox\nF:bin\nR:busybox\n\nP:broken\n\n");
	add_elf(&s, "lib/ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1", NULL);
	add_elf(&s, "bin/busybox", NULL, "libc.musl-x86_64.so.1");
	read_system(&s);
	CHECK_STR(packages_of(&s), "busybox=1.36.1-r29 musl=1.2.5-r0");
	CHECK_STR(s.inv.objects.at[0]->package->name, "busybox");
	CHECK_STR(s.inv.objects.at[1]->package->name, "musl");
}

static void lists_python_packages_once(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add_text(&s, "var/lib/dpkg/status", "Package: python3-six\nVersion: 1.16.0-4\n");
	add_text(&s, "var/lib/dpkg/info/python3-six.list",
	         "/.\n/usr\n/usr/lib/python3/dist-packages/six-1.16.0.egg-info/PKG-INFO\n");
	add_text(&s, "usr/lib/python3/dist-packages/six-1.16.0.egg-info/PKG-INFO",
	         "Metadata-Version: 1.2\nName: six\nVersion: 1.16.0\n");
	add_text(&s, "opt/venv/lib/Foo_Bar-2.0.dist-info/METADATA",
	         "Metadata-Version: 2.1\nName: Foo_Bar\nVersion: 2.0\n\nVersion: 9\n");
	read_system(&s);
	CHECK_STR(packages_of(&s), "python3-six=1.16.0-4 Foo_Bar=2.0");
}

static void says_what_it_cannot_read(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add(&s, "var/lib/rpm/rpmdb.sqlite", MEMBER_FILE)->size = 5;
	add(&s, "var/lib/dpkg/status", MEMBER_FILE)->size = 1 << 30;
	read_system(&s);
	CHECK_INT(s.inv.gaps.n, 2);
	CHECK_STR(s.inv.gaps.at[0], "/var/lib/dpkg/status: it is too large to be read");
	CHECK_STR(s.inv.gaps.at[1], "/var/lib/rpm/rpmdb.sqlite: it is too large to be read");
}

/* Merged /usr: the list says /lib, a link of the image leads on. */
static void finds_owners_through_links(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add(&s, "lib", MEMBER_SYMLINK)->link = "usr/lib";
	add_text(&s, "var/lib/dpkg/status", LIBC "\n" ZLIB);
	add_text(&s, "var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib\n/lib/libc.so.6\n");
	add_text(&s, "var/lib/dpkg/info/zlib1g:i386.list", "/lib/libz.so.1.2.13\n");
	add_elf(&s, "usr/lib/libc.so.6", "libc.so.6", NULL);
	add_elf(&s, "usr/lib/libz.so.1.2.13", "libz.so.1", "libc.so.6");
	read_system(&s);
	CHECK_STR(s.inv.objects.at[0]->package->name, "libc6");
	/* another architecture's list is not this package's */
	CHECK(s.inv.objects.at[1]->package == NULL);
}

static void believes_the_note_of_a_file(void)
{
	AUTO(filesystem) struct filesystem s;
	static const struct elf_package note = {
		.type = "deb", .name = "tool", .version = "1.0-1", .architecture = "amd64"};

	filesystem_init(&s);
	add_elf(&s, "usr/bin/a", NULL, NULL);
	add_elf(&s, "usr/bin/b", NULL, NULL);
	for (size_t i = 0; i < 2; i++) {
		struct elf_info *elf =
			arena_memdup(&s.arena, s.scan.members.at[i]->elf, sizeof(*elf));

		elf->package = &note;
		s.scan.members.at[i]->elf = elf;
	}
	read_system(&s);
	CHECK_STR(packages_of(&s), "tool=1.0-1");
	CHECK(s.inv.objects.at[1]->package == s.inv.packages.at[0]);
}

/* ---- stacking ---- */

static bool hides(void *ctx, const char *path)
{
	return strcmp(ctx, path) == 0;
}

static void upper_layers_hide_lower_ones(void)
{
	AUTO(filesystem) struct filesystem lower, upper;

	filesystem_init(&lower);
	filesystem_init(&upper);
	add_text(&lower, "var/lib/dpkg/status", LIBC);
	add_text(&lower, "lib/apk/db/installed", "P:musl\nV:1\n");
	add_elf(&lower, "bin/a", NULL, NULL);
	read_system(&lower);
	add_text(&upper, "var/lib/dpkg/status", ZLIB);
	read_system(&upper);
	inventory_stack(&upper.inv, &lower.inv, hides, (char[]){"/var/lib/dpkg/status"});
	inventory_sort(&upper.inv);
	CHECK_STR(packages_of(&upper), "zlib1g=1:1.2.13.dfsg-1+b1 musl=1");
	CHECK_INT(upper.inv.objects.n, 1);
	CHECK_INT(upper.inv.packages.at[1]->number, 1);
}

/* ---- the cache's form ---- */

static void comes_back_from_json(void)
{
	AUTO(filesystem) struct filesystem s, back;
	AUTO(strbuf) struct strbuf first = STRBUF_INIT(0), second = STRBUF_INIT(0);
	struct err err = {0};

	filesystem_init(&s);
	filesystem_init(&back);
	add_text(&s, "var/lib/dpkg/status", LIBC "\n" ZLIB);
	add_text(&s, "var/lib/dpkg/info/zlib1g.list", "/usr/lib/libz.so.1\n");
	add_elf(&s, "usr/lib/libz.so.1", "libz.so.1", "libc.so.6");
	add(&s, "var/lib/rpm/Packages", MEMBER_FILE);
	read_system(&s);
	inventory_json(&s.inv, &first);
	CHECK_OK(inventory_parse(strbuf_str(&first), first.len, &back.inv, &err), &err);
	inventory_json(&back.inv, &second);
	CHECK_STR(strbuf_str(&second), strbuf_str(&first));
	CHECK(back.inv.objects.at[0]->package == back.inv.packages.at[1]);
	CHECK(inventory_parse("{\"packages\":[{\"kind\":9,\"name\":\"a\",\"version\":\"1\"}]}", 49,
	                      &back.inv, &err) != 0);
}

/* ---- the building machine ---- */

struct machine {
	struct arena arena;
	struct inventory inv;
	char dir[4096];
};

static void machine_init(struct machine *m)
{
	*m = (struct machine){.inv = {.arena = &m->arena}};
	test_tmpdir(m->dir);
}

static void machine_done(struct machine *m)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(m->dir, &err), &err);
	inventory_done(&m->inv);
	arena_done(&m->arena);
}

static void put(struct machine *m, const char *path, const char *text)
{
	const char *full = arena_printf(&m->arena, "%s/%s", m->dir, path);
	char parent[PATH_MAX];
	struct err err = {0};

	fs_parent(full, parent);
	CHECK_OK(fs_mkdirs(parent, &err), &err);
	CHECK_OK(fs_write_file(full, text, strlen(text), 0644, &err), &err);
}

static void knows_whose_files_they_are(void)
{
	AUTO(machine) struct machine m;
	struct machine_file files[] = {{.path = "/usr/lib/libc.so.6"},
	                               {.path = "/lib/libz.so.1.2.13"},
	                               {.path = "/usr/lib/mine.so"},
	                               {.path = "/usr/lib/libc.so.6"}};
	struct err err = {0};

	machine_init(&m);
	put(&m, "var/lib/dpkg/status", LIBC "\n" ZLIB);
	put(&m, "etc/os-release", "ID=debian\nVERSION_ID=12\n");
	put(&m, "var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib/libc.so.6\n");
	put(&m, "var/lib/dpkg/info/zlib1g:amd64.list", "/.\n/usr/lib/libz.so.1.2.13\n");
	CHECK_OK(machine_owners(&m.inv, m.dir, files, 4, &err), &err);
	CHECK_STR(files[0].package->name, "libc6");
	CHECK_STR(files[1].package->name, "zlib1g");
	CHECK(files[2].package == NULL);
	CHECK(files[3].package == files[0].package);
	CHECK_INT(m.inv.packages.n, 2);
	CHECK_STR(files[0].package->distro->id, "debian");
}

/* Advisories know glibc, not what dpkg-cross made of it. */
static void names_the_source_of_cross_packages(void)
{
	AUTO(machine) struct machine m;
	AUTO(strbuf) struct strbuf purl = STRBUF_INIT(0);
	struct machine_file files[] = {{.path = "/usr/aarch64-linux-gnu/lib/libc.so.6"},
	                               {.path = "/usr/aarch64-linux-gnu/lib/libgcc_s.so.1"}};
	struct err err = {0};

	machine_init(&m);
	put(&m, "var/lib/dpkg/status",
	    LIBC "\nPackage: libgcc-s1\nStatus: install ok installed\nSource: gcc-12\n"
	         "Version: 12.2.0-14\n\nPackage: libgcc-s1-arm64-cross\nArchitecture: all\n"
	         "Status: install ok installed\nSource: gcc-12-cross (9)\n"
	         "Version: 12.2.0-14cross1\n\nPackage: libc6-arm64-cross\nArchitecture: all\n"
	         "Status: install ok installed\nSource: cross-toolchain-base (66)\n"
	         "Version: 2.36-8cross1\n");
	put(&m, "var/lib/dpkg/info/libc6-arm64-cross.list",
	    "/usr/aarch64-linux-gnu/lib/libc.so.6\n");
	put(&m, "var/lib/dpkg/info/libgcc-s1-arm64-cross.list",
	    "/usr/aarch64-linux-gnu/lib/libgcc_s.so.1\n");
	CHECK_OK(machine_owners(&m.inv, m.dir, files, 2, &err), &err);
	CHECK_STR(files[1].package->source, "gcc-12");
	CHECK_STR(files[1].package->source_version, "12.2.0-14");
	purl_package(files[0].package, &m.inv.distro, &purl);
	CHECK_STR(strbuf_str(&purl), "pkg:deb/debian/libc6-arm64-cross@2.36-8cross1?arch=all&"
	                             "upstream=glibc%402.36-8");
}

static void a_machine_without_dpkg_knows_nothing(void)
{
	AUTO(machine) struct machine m;
	struct machine_file file = {.path = "/usr/lib/x"};
	struct err err = {0};

	machine_init(&m);
	CHECK_OK(machine_owners(&m.inv, m.dir, &file, 1, &err), &err);
	CHECK(file.package == NULL);
	CHECK_INT(m.inv.gaps.n, 0);
}

/* ---- links ---- */

static void links_go_to_the_file_the_loader_takes(void)
{
	AUTO(filesystem) struct filesystem s;
	size_t n;

	filesystem_init(&s);
	add_elf(&s, "usr/bin/app", NULL, "libx.so.1");
	add_elf(&s, "usr/lib/glibc-hwcaps/x86-64-v3/libx.so.1", "libx.so.1", NULL);
	add_elf(&s, "usr/lib/libx.so.1.2", "libx.so.1", "libcuda.so.1");
	read_system(&s);
	const struct sbom_links links = links_make(&s.inv, &s.arena);

	CHECK_INT(links.n_loose, 3);
	CHECK_INT(links.n, 1);
	CHECK_INT(links.at[0].from, 0);
	CHECK_INT(links.at[0].to, 2);
	CHECK(links_from(&links, 1, &n) == NULL && n == 0);
	CHECK(links_from(&links, 0, &n) != NULL && n == 1);
}

static void files_of_one_package_need_no_link(void)
{
	AUTO(filesystem) struct filesystem s;

	filesystem_init(&s);
	add_text(&s, "var/lib/dpkg/status", LIBC);
	add_text(&s, "var/lib/dpkg/info/libc6.list", "/usr/lib/libc.so.6\n/usr/lib/libm.so.6\n");
	add_elf(&s, "usr/lib/libc.so.6", "libc.so.6", NULL);
	add_elf(&s, "usr/lib/libm.so.6", "libm.so.6", "libc.so.6");
	add_elf(&s, "usr/bin/app", NULL, "libm.so.6");
	read_system(&s);
	const struct sbom_links links = links_make(&s.inv, &s.arena);

	CHECK_INT(links.n, 1);
	CHECK_INT(links.at[0].from, 1);
	CHECK_INT(links.at[0].to, 0);
}

/* ---- purls ---- */

static void writes_purls(void)
{
	static const struct sbom_distro debian = {.id = "debian", .version_id = "12"};
	static const struct sbom_distro none = {0}, amazon = {.id = "amzn", .version_id = "2023"},
					alpine = {.id = "alpine", .version_id = "3.20.1"};
	static const struct {
		struct sbom_package package;
		const struct sbom_distro *distro;
		const char *want;
	} rows[] = {
		{{.kind = PACKAGE_DEB,
	          .name = "libstdc++6",
	          .version = "12.2.0-14+deb12u1",
	          .architecture = "amd64",
	          .source = "gcc-12"},
	         &debian,
	         "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12&"
	         "upstream=gcc-12"},
		{{.kind = PACKAGE_DEB, .name = "attr", .version = "1:2.4~rc1", .source = "attr"},
	         &none,
	         "pkg:deb/debian/attr@1:2.4~rc1"},
		{{.kind = PACKAGE_APK,
	          .name = "musl",
	          .version = "1.2.5-r0",
	          .architecture = "x86_64"},
	         &alpine,
	         "pkg:apk/alpine/musl@1.2.5-r0?arch=x86_64&distro=alpine-3.20.1"},
		{{.kind = PACKAGE_RPM,
	          .name = "vim-data",
	          .version = "2:9.0^git-1.amzn2023",
	          .architecture = "noarch",
	          .source = "vim-9.0-1.src.rpm"},
	         &amazon,
	         "pkg:rpm/amzn/vim-data@9.0%5Egit-1.amzn2023?arch=noarch&distro=amzn-2023&epoch=2&"
	         "upstream=vim-9.0-1.src.rpm"},
		{{.kind = PACKAGE_PYPI, .name = "Foo_Bar", .version = "2.0"},
	         &debian,
	         "pkg:pypi/foo-bar@2.0"},
	};
	const struct digest zero = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

		purl_package(&rows[i].package, rows[i].distro, &sb);
		CHECK_STR(strbuf_str(&sb), rows[i].want);
	}
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	purl_reference("localhost:5000/team/app:v1", &zero, "arm64", &sb);
	CHECK_STR(strbuf_str(&sb),
	          "pkg:oci/app@sha256%3A"
	          "0000000000000000000000000000000000000000000000000000000000000000?arch=arm64&"
	          "repository_url=localhost:5000%2Fteam%2Fapp");
}

/* ---- documents ---- */

static void print(struct filesystem *s, enum sbom_form form, struct strbuf *sb)
{
	const struct sbom_layer layer = {.name = "app"};
	const struct sbom_subject subject = {.name = "r.example.com/team/app",
	                                     .platform = {"linux", "amd64", ""},
	                                     .created = "1970-01-01T00:00:00Z",
	                                     .version = "1",
	                                     .layers = &layer,
	                                     .n_layers = 1};

	sbom_print(form, &subject, &s->inv, sb);
}

/* What an image calls things cannot leave the document's strings. */
static void documents_hold_hostile_names(void)
{
	for (unsigned form = 0; form < SBOM_FORMS; form++) {
		AUTO(filesystem) struct filesystem s;
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
		AUTO(json) cJSON *doc = NULL;
		struct err err = {0};

		filesystem_init(&s);
		add_text(&s, "var/lib/dpkg/status",
		         "Package: a\",\"x\":{\nVersion: \x1b[31m\xff\nMaintainer: \" < >\n");
		add_elf(&s, "usr/bin/\"\n\xfe", NULL, NULL);
		read_system(&s);
		print(&s, (enum sbom_form)form, &sb);
		CHECK_OK(json_parse("document", strbuf_str(&sb), sb.len, &doc, &err), &err);
		CHECK(strchr(strbuf_str(&sb), '\x1b') == NULL);
	}
}

static void documents_do_not_depend_on_order(void)
{
	AUTO(strbuf) struct strbuf first = STRBUF_INIT(0), second = STRBUF_INIT(0);

	for (int i = 0; i < 2; i++) {
		AUTO(filesystem) struct filesystem s;

		filesystem_init(&s);
		for (int k = 0; k < 2; k++)
			if (k == i)
				add_elf(&s, "usr/bin/a", NULL, "libb.so");
			else
				add_elf(&s, "usr/lib/libb.so", "libb.so", NULL);
		add_text(&s, "var/lib/dpkg/status", i == 0 ? LIBC "\n" ZLIB : ZLIB "\n" LIBC);
		read_system(&s);
		print(&s, SBOM_SPDX, i == 0 ? &first : &second);
		print(&s, SBOM_CYCLONEDX, i == 0 ? &first : &second);
	}
	CHECK_STR(strbuf_str(&first), strbuf_str(&second));
}

static void says_in_the_document_what_is_missing(void)
{
	AUTO(filesystem) struct filesystem s;
	AUTO(strbuf) struct strbuf spdx = STRBUF_INIT(0), cyclonedx = STRBUF_INIT(0);

	filesystem_init(&s);
	add(&s, "var/lib/rpm/Packages", MEMBER_FILE);
	read_system(&s);
	print(&s, SBOM_SPDX, &spdx);
	print(&s, SBOM_CYCLONEDX, &cyclonedx);
	CHECK(strstr(strbuf_str(&spdx), "Not complete: /var/lib/rpm/Packages") != NULL);
	CHECK(strstr(strbuf_str(&cyclonedx), "\"aggregate\":\"incomplete\"") != NULL);
}

/* ---- trees ---- */

static void scans_a_tree(void)
{
	AUTO(arena) struct arena a = {0};
	struct layer_scan scan = {0};
	struct tree t;
	struct diags d = {0};
	struct err err = {0};
	const struct entry text = {.path = "var/lib/dpkg/status",
	                           .mode = 0644,
	                           .size = 3,
	                           .content = CONTENT_BYTES,
	                           .bytes = "abc"};

	tree_init(&t, &a, "x", 0);
	CHECK_OK(tree_add(&t, &text, &err), &err);
	CHECK_OK(tree_finish(&t, &d, &err), &err);
	CHECK_OK(tree_scan(&t, true, &scan, &err), &err);
	CHECK_INT(scan.members.n, t.n);
	const struct scan_member *m = scan.members.at[scan.members.n - 1];

	CHECK_STR(m->text, "abc");
	CHECK(tree_scan_entry(m) == &t.at[t.n - 1]);
	const struct digest want = digest_of("abc", 3);

	CHECK(digest_equal(&m->content, &want));
	layer_scan_done(&scan);
	tree_done(&t);
	diags_done(&d);
}

int main(void)
{
	TEST("sbom: packages whose files are there are listed", lists_installed_packages);
	TEST("sbom: status.d names packages and their files",
	     lists_packages_of_images_without_dpkg);
	TEST("sbom: Alpine's packages are listed", lists_packages_of_alpine);
	TEST("sbom: a Python package of a Debian package is not another one",
	     lists_python_packages_once);
	TEST("sbom: what cannot be read is said", says_what_it_cannot_read);
	TEST("sbom: a list's paths are followed through links", finds_owners_through_links);
	TEST("sbom: a file's own note names its package", believes_the_note_of_a_file);
	TEST("sbom: a database that is replaced loses its packages", upper_layers_hide_lower_ones);
	TEST("sbom: an inventory comes back from the cache", comes_back_from_json);
	TEST("sbom: dpkg's lists say whose a file of the machine is", knows_whose_files_they_are);
	TEST("sbom: cross packages have the source of their native twin",
	     names_the_source_of_cross_packages);
	TEST("sbom: a machine without dpkg has no packages", a_machine_without_dpkg_knows_nothing);
	TEST("sbom: links skip variants for some processors",
	     links_go_to_the_file_the_loader_takes);
	TEST("sbom: links join packages, not files", files_of_one_package_need_no_link);
	TEST("sbom: purls are written as scanners read them", writes_purls);
	TEST("sbom: hostile names stay inside their strings", documents_hold_hostile_names);
	TEST("sbom: the order of files does not show", documents_do_not_depend_on_order);
	TEST("sbom: a document that is not complete says so", says_in_the_document_what_is_missing);
	TEST("sbom: a tree is read as a layer is", scans_a_tree);
	return test_done();
}
