/* Vulnerabilities in databases that are files: names, records, waivers. */
#include <unistd.h>

#include "base/fs.h"
#include "builder/scan/ecosystem.h"
#include "builder/scan/scan.h"
#include "tests/harness.h"

/* ---- package URLs ---- */

static void takes_purls_apart(void)
{
	AUTO(arena) struct arena a = {0};
	struct purl p = {0};

	CHECK(purl_read(
		"pkg:deb/debian/libc6@2.36-9%2Bdeb12u4?arch=amd64&distro=debian-12&upstream="
		"glibc%402.36",
		&a, &p));
	CHECK_STR(p.type, "deb");
	CHECK_STR(p.vendor, "debian");
	CHECK_STR(p.name, "libc6");
	CHECK_STR(p.version, "2.36-9+deb12u4");
	CHECK_STR(strmap_get(&p.qualifiers, "upstream"), "glibc@2.36");
	CHECK(purl_read("pkg:npm/%40scope/x@1#sub/path", &a, &p));
	CHECK_STR(p.vendor, "@scope");
	CHECK_STR(p.name, "x");
	CHECK(purl_read("pkg:PyPI/django", &a, &p));
	CHECK_STR(p.type, "pypi");
	CHECK_STR(p.version, "");
	CHECK(!purl_read("deb/debian/x@1", &a, &p));
	CHECK(!purl_read("pkg:deb/debian/x@1%0", &a, &p));
	CHECK(!purl_read("pkg:deb/debian/x@1%00", &a, &p));
	CHECK(!purl_read("pkg:deb/debian/x@1%1b[31m", &a, &p));
	CHECK(!purl_read("pkg:deb", &a, &p));
	CHECK(!purl_read("pkg:deb/debian/x?arch", &a, &p));
}

static void a_purl_means_what_it_says_and_no_more(void)
{
	AUTO(arena) struct arena a = {0};
	struct purl it = {0}, p = {0};
	static const struct {
		const char *pattern;
		bool means;
	} cases[] = {{"pkg:deb/debian/x", true},
	             {"pkg:deb/debian/x@1", true},
	             {"pkg:deb/debian/x@1?arch=amd64", true},
	             {"pkg:deb/debian/x@2", false},
	             {"pkg:deb/debian/x@1?arch=arm64", false},
	             {"pkg:deb/debian/x?vers=1", false},
	             {"pkg:deb/ubuntu/x", false},
	             {"pkg:rpm/debian/x", false}};

	CHECK(purl_read("pkg:deb/debian/x@1?arch=amd64&distro=debian-12", &a, &it));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(purl_read(cases[i].pattern, &a, &p));
		CHECK_INT(purl_means(&p, &it), cases[i].means);
	}
}

static void names_packages_as_advisories_do(void)
{
	AUTO(arena) struct arena a = {0};
	struct scan_package p = {.source = "glibc", .source_version = "2.36-8"};
	struct advisory_name n;
	static const struct {
		const char *purl, *suite, *want_suite, *ecosystem;
	} cases[] = {{"pkg:deb/debian/x@1?distro=debian-12", NULL, "bookworm", "Debian:12"},
	             {"pkg:deb/debian/x@1?distro=debian-12.7", NULL, "bookworm", "Debian:12"},
	             {"pkg:deb/debian/x@1?distro=trixie", NULL, "trixie", "Debian:13"},
	             {"pkg:deb/debian/x@1?distro=debian", "sid", "sid", NULL},
	             {"pkg:deb/debian/x@1?distro=debian-12", "sid", "bookworm", "Debian:12"},
	             {"pkg:deb/ubuntu/x@1?distro=ubuntu-24.04", NULL, NULL, "Ubuntu:24.04"},
	             {"pkg:pypi/Flask_Login@1", NULL, NULL, "PyPI"},
	             {"pkg:apk/alpine/x@1?distro=alpine-3.20.1", NULL, NULL, "Alpine:v3.20"},
	             {"pkg:apk/wolfi/x@1?distro=wolfi-20230201", NULL, NULL, "Wolfi"},
	             {"pkg:rpm/almalinux/x@1-1?distro=almalinux-9.4", NULL, NULL, "AlmaLinux:9"},
	             {"pkg:rpm/rocky/x@1-1?distro=rocky-8.10", NULL, NULL, "Rocky Linux:8"},
	             {"pkg:rpm/rhel/x@1-1?distro=rhel-9.4", NULL, NULL,
	              "Red Hat:enterprise_linux:9"},
	             {"pkg:npm/x@1", NULL, NULL, "npm"},
	             {"pkg:golang/github.com/a/b@v1.0.0", NULL, NULL, "Go"}};
	static const char *const unknown[] = {"pkg:deb/debian/x@1?distro=debian-1",
	                                      "pkg:deb/debian/x@1", "pkg:deb/debian/x",
	                                      "pkg:rpm/amzn/x@1?distro=amzn-2023", "pkg:gem/x@1",
	                                      "pkg:apk/alpine/x@1?distro=alpine",
	                                      "pkg:apk/alpine/x@1?distro=alpine-edge",
	                                      "pkg:rpm/fedora/x@1?distro=fedora-41"};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		p.purl = (struct purl){0};
		CHECK(purl_read(cases[i].purl, &a, &p.purl));
		advisory_name(&p, cases[i].suite, &a, &n);
		CHECK(n.order != NULL);
		CHECK((n.suite == NULL) == (cases[i].want_suite == NULL));
		if (n.suite != NULL)
			CHECK_STR(n.suite, cases[i].want_suite);
		CHECK((n.ecosystem == NULL) == (cases[i].ecosystem == NULL));
		if (n.ecosystem != NULL)
			CHECK_STR(n.ecosystem, cases[i].ecosystem);
	}
	CHECK_STR(n.package, "github.com/a/b");
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		p.purl = (struct purl){0};
		CHECK(purl_read(unknown[i], &a, &p.purl));
		advisory_name(&p, NULL, &a, &n);
		CHECK(n.order == NULL);
	}
	CHECK(ecosystem_is("Ubuntu:22.04:LTS", "Ubuntu:22.04"));
	CHECK(!ecosystem_is("Ubuntu:Pro:22.04:LTS", "Ubuntu:22.04"));
	CHECK(!ecosystem_is("Debian:12", "Debian:1"));
	CHECK(ecosystem_is("Red Hat:enterprise_linux:9::appstream", "Red Hat:enterprise_linux:9"));
	CHECK(!ecosystem_is("Alpine:v3.20", "Alpine:v3.2"));
	CHECK_STR(ecosystem_spelling("PyPI", "A.-_b..C", &a), "a-b-c");
}

/* ---- whole scans ---- */

struct scan_case {
	struct arena arena;
	char dir[32];
	struct scan_image image;
	struct scan_result result;
	struct err err;
};

static void scan_case_done(struct scan_case *s)
{
	struct err ignored = {0};

	(void)!fs_remove_tree(s->dir, &ignored);
	arena_done(&s->arena);
}

static void begin(struct scan_case *s)
{
	*s = (struct scan_case){.dir = "/tmp/slipway-scan-XXXXXX"};
	CHECK(mkdtemp(s->dir) != NULL);
}

static const char *put(struct scan_case *s, const char *name, const char *text)
{
	const char *path = arena_printf(&s->arena, "%s/%s", s->dir, name);

	CHECK_OK(fs_write_file(path, text, strlen(text), 0600, &s->err), &s->err);
	return path;
}

#define COMPONENT(purl) "{\"type\":\"library\",\"name\":\"x\",\"purl\":\"" purl "\"}"
#define DEBIAN(name, version, more)                                                                \
	COMPONENT("pkg:deb/debian/" name "@" version "?arch=amd64&distro=debian-12" more)
#define DOCUMENT(components) "{\"bomFormat\":\"CycloneDX\",\"components\":[" components "]}"

/* One database, and a waiver or NULL. */
static int scan(struct scan_case *s, const char *document, const char *database, const char *vex)
{
	const char *db = put(s, "db.json", database);
	const char *waivers = vex != NULL ? put(s, "vex.json", vex) : NULL;
	const struct scan_opts opts = {.databases = {&db, 1},
	                               .waivers = {&waivers, waivers != NULL}};

	s->err = (struct err){0};
	s->image = (struct scan_image){.repository = "host/team/app"};
	return scan_read_document(document, strlen(document), &s->arena, &s->image, &s->err) != 0 ||
	                       scan_images(&s->image, 1, &opts, &s->arena, &s->result, &s->err) != 0
	               ? -1
	               : 0;
}

/* "NAME SEVERITY FIXED" of each, or "NAME waived WHY". */
static const char *found(struct scan_case *s)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	for (size_t i = 0; i < s->image.findings.n; i++) {
		const struct finding *f = &s->image.findings.at[i];

		strbuf_addf(&sb, "%s%s %s %s", i > 0 ? ", " : "", f->name,
		            f->waived != NULL ? "waived" : severity_name(f->severity),
		            f->waived != NULL ? f->waived : f->fixed_in);
	}
	return arena_strdup(&s->arena, strbuf_str(&sb));
}

#define TRACKER(source, releases)                                                                  \
	"{\"" source "\":{\"CVE-1\":{\"description\":\"x\",\"releases\":{" releases "}}}}"
#define RELEASE(suite, rest) "\"" suite "\":{" rest "}"
#define OPEN                 "\"status\":\"open\",\"urgency\":\"not yet assigned\""
#define RESOLVED(version)                                                                          \
	"\"status\":\"resolved\",\"fixed_version\":\"" version "\",\"urgency\":\"medium**\""

static void judges_by_the_tracker(void)
{
	static const struct {
		const char *releases, *want;
	} cases[] = {
		{RELEASE("bookworm", RESOLVED("2.36-8")), ""},
		{RELEASE("bookworm", RESOLVED("2.36-9+deb12u1")), "CVE-1 MEDIUM 2.36-9+deb12u1"},
		{RELEASE("bookworm", RESOLVED("0")), ""},
		{RELEASE("bookworm", OPEN), "CVE-1 UNDEFINED "},
		/* What is as new as sid's fixed version has its fix. */
		{RELEASE("bookworm", OPEN) "," RELEASE("sid", RESOLVED("2.36-9")), ""},
		{RELEASE("bookworm", OPEN) "," RELEASE("sid", RESOLVED("2.37-1")),
	         "CVE-1 UNDEFINED "},
		{RELEASE("bookworm", OPEN) "," RELEASE("sid", RESOLVED("0")), "CVE-1 UNDEFINED "},
		{RELEASE("bookworm", "\"status\":\"resolved\""), "CVE-1 UNDEFINED "},
		{RELEASE("bookworm", "\"status\":\"undetermined\",\"urgency\":\"unimportant\""),
	         "CVE-1 INFORMATIONAL "},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(scan_case) struct scan_case s;

		begin(&s);
		const char *db = arena_printf(
			&s.arena, "{\"glibc\":{\"CVE-1\":{\"releases\":{%s}}},\"other\":{}}",
			cases[i].releases);

		CHECK_OK(scan(&s, DOCUMENT(DEBIAN("libc6", "2.36-9", "&upstream=glibc")), db, NULL),
		         &s.err);
		CHECK_STR(found(&s), cases[i].want);
	}
}

static void the_source_decides_and_not_the_binary(void)
{
	AUTO(scan_case) struct scan_case s;

	begin(&s);
	/* A library for cross compilers has a version of its own. */
	CHECK_OK(
		scan(&s,
	             DOCUMENT(DEBIAN("libc6-arm64-cross", "9-8cross1", "&upstream=glibc%402.36-8")),
	             TRACKER("glibc", RELEASE("bookworm", RESOLVED("2.36-9"))), NULL),
		&s.err);
	CHECK_STR(found(&s), "CVE-1 MEDIUM 2.36-9");
	CHECK_STR(s.image.findings.at[0].package, "libc6-arm64-cross");
	CHECK_STR(s.image.findings.at[0].version, "9-8cross1");
	CHECK_STR(s.image.findings.at[0].uri, "https://security-tracker.debian.org/tracker/CVE-1");
}

#define OSV(id, more, ecosystem, name, affected)                                                   \
	"{\"id\":\"" id "\",\"modified\":\"2026-01-02T03:04:05Z\"," more                           \
	"\"affected\":[{\"package\":{\"ecosystem\":\"" ecosystem "\",\"name\":\"" name             \
	"\"}," affected "}]}"
#define EVENTS(events)   "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[" events "]}]"
#define INTRODUCED(v)    "{\"introduced\":\"" v "\"}"
#define FIXED(v)         "{\"fixed\":\"" v "\"}"
#define LAST(v)          "{\"last_affected\":\"" v "\"}"
#define PYTHON(affected) OSV("PYSEC-1", "", "PyPI", "Some_Thing", affected)

#define RECORD(ecosystem, name, fixed)                                                             \
	OSV("X-1", "", ecosystem, name, EVENTS(INTRODUCED("0") "," FIXED(fixed)))

static void finds_packages_of_every_ecosystem(void)
{
	static const struct {
		const char *purl, *database, *want; /* "" = nothing is found */
	} cases[] = {
		{"pkg:apk/alpine/libcrypto3@3.3.0-r2?distro=alpine-3.20.1&upstream=openssl",
	         RECORD("Alpine:v3.20", "openssl", "3.3.0-r10"), "X-1 UNDEFINED 3.3.0-r10"},
		{"pkg:apk/alpine/libcrypto3@3.3.0-r10?distro=alpine-3.20.1&upstream=openssl",
	         RECORD("Alpine:v3.20", "openssl", "3.3.0-r10"), ""},
		/* Binary packages or their source: one finding, whichever is named. */
		{"pkg:rpm/almalinux/openssl-libs@3.0.7-5.el9?distro=almalinux-9.4&epoch=1&upstream="
	         "openssl-3.0.7-5.el9.src.rpm",
	         RECORD("AlmaLinux:9", "openssl-libs", "1:3.0.7-24.el9"),
	         "X-1 UNDEFINED 1:3.0.7-24.el9"},
		{"pkg:rpm/rocky/openssl-libs@3.0.7-5.el9?distro=rocky-9.4&epoch=1&upstream=openssl-"
	         "3.0.7-5.el9.src.rpm",
	         RECORD("Rocky Linux:9", "openssl", "1:3.0.7-24.el9"),
	         "X-1 UNDEFINED 1:3.0.7-24.el9"},
		{"pkg:rpm/rocky/openssl-libs@3.0.7-5.el9?distro=rocky-9.4&epoch=1&upstream=openssl-"
	         "3.0.7-5.el9.src.rpm",
	         "[" RECORD("Rocky Linux:9", "openssl", "1:3.0.7-24.el9") "," RECORD(
			 "Rocky Linux:9", "openssl-libs", "1:3.0.7-24.el9") "]",
	         "X-1 UNDEFINED 1:3.0.7-24.el9"},
		/* Without the epoch it would be the newer one. */
		{"pkg:rpm/rocky/openssl-libs@3.0.7-5.el9?distro=rocky-9.4&epoch=1",
	         RECORD("Rocky Linux:9", "openssl-libs", "9.0-1"), ""},
		{"pkg:npm/%40scope/x@1.10.0", RECORD("npm", "@scope/x", "1.9.0"), ""},
		{"pkg:npm/%40scope/x@1.9.0-rc.1", RECORD("npm", "@scope/x", "1.9.0"),
	         "X-1 UNDEFINED 1.9.0"},
		{"pkg:golang/github.com/a/b@v0.0.0-20200101000000-abcdef123456",
	         RECORD("Go", "github.com/a/b", "0.1.0"), "X-1 UNDEFINED 0.1.0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(scan_case) struct scan_case s;
		AUTO(strbuf) struct strbuf document = STRBUF_INIT(4096);

		strbuf_addf(&document,
		            "{\"bomFormat\":\"CycloneDX\",\"components\":[{\"purl\":\"%s\"}]}",
		            cases[i].purl);
		begin(&s);
		CHECK_OK(scan(&s, strbuf_str(&document), cases[i].database, NULL), &s.err);
		CHECK_STR(found(&s), cases[i].want);
	}
}

static void evaluates_osv_ranges(void)
{
	static const struct {
		const char *database, *want;
	} cases[] = {
		{PYTHON(EVENTS(INTRODUCED("0"))), "PYSEC-1 UNDEFINED "},
		{PYTHON(EVENTS(INTRODUCED("0") "," FIXED("1.5"))), ""},
		{PYTHON(EVENTS(FIXED("1.10") "," INTRODUCED("0"))), "PYSEC-1 UNDEFINED 1.10"},
		{PYTHON(EVENTS(INTRODUCED("1.5.1"))), ""},
		{PYTHON(EVENTS(INTRODUCED("1.5") "," LAST("1.5"))), "PYSEC-1 UNDEFINED "},
		{PYTHON(EVENTS(INTRODUCED("0") "," LAST("1.4"))), ""},
		{PYTHON(EVENTS(INTRODUCED("1.4") "," LAST("1.4"))), ""},
		{PYTHON(EVENTS(INTRODUCED("0") "," FIXED("1.0") "," INTRODUCED("1.2") "," FIXED(
			 "1.6") "," INTRODUCED("2") "," FIXED("2.1"))),
	         "PYSEC-1 UNDEFINED 1.6"},
		{PYTHON(EVENTS(INTRODUCED("0") "," FIXED("1.0") "," INTRODUCED("2"))), ""},
		{PYTHON("\"versions\":[\"1.4\",\"1.5.0\"]"), "PYSEC-1 UNDEFINED "},
		{PYTHON("\"versions\":[\"1.4\"]"), ""},
		{PYTHON("\"ranges\":[{\"type\":\"GIT\",\"events\":[" INTRODUCED("0") "]}]"), ""},
		{OSV("PYSEC-1", "\"withdrawn\":\"2026-01-01T00:00:00Z\",", "PyPI", "some.thing",
	             EVENTS(INTRODUCED("0"))) PYTHON("\"versions\":[]"),
	         ""},
		{OSV("GHSA-1",
	             "\"aliases\":[\"CVE-7\"],\"severity\":[{\"type\":\"CVSS_V3\",\"score\":\"CVSS:"
	             "3.1"
	             "/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H\"}],",
	             "PyPI", "some-thing", EVENTS(INTRODUCED("0"))),
	         "CVE-7 CRITICAL "},
		/* Two records of one vulnerability are one finding, with what either knows. */
		{OSV("GHSA-1",
	             "\"aliases\":[\"CVE-7\"],\"database_specific\":{\"severity\":\"MODERATE\"},",
	             "PyPI", "some-thing",
	             EVENTS(INTRODUCED("0"))) "\n" OSV("PYSEC-1", "\"aliases\":[\"CVE-7\"],",
	                                               "PyPI", "some-thing",
	                                               EVENTS(INTRODUCED("0") "," FIXED("2.0"))),
	         "CVE-7 MEDIUM 2.0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(scan_case) struct scan_case s;

		begin(&s);
		CHECK_OK(scan(&s, DOCUMENT(COMPONENT("pkg:pypi/some-thing@1.5")), cases[i].database,
		              NULL),
		         &s.err);
		CHECK_STR(found(&s), cases[i].want);
		if (s.result.n_databases == 1)
			CHECK_INT(s.result.databases[0].modified_ms, 1767323045000);
	}
}

#define GLIBC(id, more)                                                                            \
	OSV(id, more, "Debian:12", "glibc", EVENTS(INTRODUCED("0") "," FIXED("3-1")))

static void an_advisory_whose_vulnerabilities_are_listed_adds_nothing(void)
{
	AUTO(scan_case) struct scan_case s;
	static const char document[] = DOCUMENT(DEBIAN("libc6", "2.36-9", "&upstream=glibc"));

	begin(&s);
	CHECK_OK(scan(&s, document,
	              "[" GLIBC("DSA-1-1", "\"upstream\":[\"CVE-1\",\"CVE-2\"],") "," GLIBC(
			      "DEBIAN-CVE-1", "\"upstream\":[\"CVE-1\"],") "," GLIBC("DEBIAN-CVE-2",
	                                                                             "") "]",
	              NULL),
	         &s.err);
	CHECK_STR(found(&s), "CVE-1 UNDEFINED 3-1, CVE-2 UNDEFINED 3-1");
	CHECK_OK(scan(&s, document,
	              "[" GLIBC("DSA-1-1", "\"upstream\":[\"CVE-1\",\"CVE-2\"],") "," GLIBC(
			      "DEBIAN-CVE-1", "") "]",
	              NULL),
	         &s.err);
	CHECK_STR(found(&s), "CVE-1 UNDEFINED 3-1, DSA-1-1 UNDEFINED 3-1");
}

static void the_distributors_word_goes_before_a_score(void)
{
	AUTO(scan_case) struct scan_case s;

	begin(&s);
	CHECK_OK(scan(&s, DOCUMENT(DEBIAN("libc6", "2.36-9", "&upstream=glibc")),
	              OSV("DEBIAN-CVE-1",
	                  "\"severity\":[{\"type\":\"CVSS_V3\",\"score\":\"CVSS:3.1/AV:N/AC:L/PR:N/"
	                  "UI:N/S:U/C:H/I:H/A:H\"}],",
	                  "Debian:12", "glibc",
	                  EVENTS(INTRODUCED("0")) ",\"ecosystem_specific\":{\"urgency\":"
	                                          "\"unimportant\"}"),
	              NULL),
	         &s.err);
	CHECK_STR(found(&s), "CVE-1 INFORMATIONAL ");
}

/* ---- refusals ---- */

static void what_nobody_covers_is_refused(void)
{
	AUTO(scan_case) struct scan_case s;
	static const char tracker[] = TRACKER("x", RELEASE("bookworm", OPEN));

	begin(&s);
	CHECK(scan(&s, DOCUMENT(COMPONENT("pkg:deb/debian/a@1?distro=debian-13")), tracker, NULL) !=
	      0);
	CHECK_INT(s.err.code, ERR_NOT_FOUND);
	CHECK(strstr(s.err.msg, "Debian trixie (1 package") != NULL);
	CHECK(scan(&s, DOCUMENT(DEBIAN("a", "1", "") "," COMPONENT("pkg:pypi/b@1")), tracker,
	           NULL) != 0);
	CHECK(strstr(s.err.msg, "PyPI") != NULL);
	CHECK(scan(&s, DOCUMENT(DEBIAN("a", "1", "") "," COMPONENT("pkg:rpm/amzn/b@1")), tracker,
	           NULL) != 0);
	CHECK(strstr(s.err.msg, "rpm") != NULL);
	CHECK(scan(&s, DOCUMENT(DEBIAN("a", "1", "")), tracker, NULL) == 0);
	/* The image that the packages are in is none of them. */
	CHECK(scan(&s, DOCUMENT(COMPONENT("pkg:oci/app@sha256:00")), tracker, NULL) == 0);
	CHECK(scan(&s,
	           "{\"bomFormat\":\"CycloneDX\",\"compositions\":[{\"aggregate\":\"incomplete\"}]"
	           "}",
	           tracker, NULL) != 0);
	CHECK_INT(s.err.code, ERR_UNSUPPORTED);
	CHECK(scan(&s, "{\"SPDXID\":\"SPDXRef-DOCUMENT\",\"comment\":\"Not complete: why\"}",
	           tracker, NULL) != 0);
	CHECK_INT(s.err.code, ERR_UNSUPPORTED);
}

static void files_that_are_no_database_are_refused(void)
{
	static const char *const wrong[] = {"",
	                                    "x",
	                                    "{}",
	                                    "[]",
	                                    "{\"a\":1}",
	                                    "[{}]",
	                                    "{\"a\":{\"CVE-1\":{}}}",
	                                    "{\"a\":{\"CVE-1\":{\"releases\":{}}}",
	                                    "{\"a\":{}",
	                                    "{\"a\":{}} x",
	                                    "{\"a\":{},}",
	                                    "{\"a\" {}}",
	                                    "[1,2]",
	                                    "{\"a\":{\"CVE-1\":[]}}"};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO(scan_case) struct scan_case s;

		begin(&s);
		CHECK(scan(&s, DOCUMENT(""), wrong[i], NULL) != 0);
		CHECK_INT(s.err.code, ERR_FORMAT);
		CHECK(strstr(s.err.msg, "db.json") != NULL);
	}
}

static void documents_that_are_none_are_refused(void)
{
	static const char *const wrong[] = {"",
	                                    "{}",
	                                    "[]",
	                                    "{\"bomFormat\":\"X\"}",
	                                    "{\"bomFormat\":\"CycloneDX\",\"components\":{}}",
	                                    DOCUMENT(COMPONENT("x")),
	                                    DOCUMENT(COMPONENT("pkg:deb/a@%zz"))};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO(scan_case) struct scan_case s;

		begin(&s);
		CHECK(scan(&s, wrong[i], TRACKER("x", RELEASE("bookworm", OPEN)), NULL) != 0);
		CHECK_INT(s.err.code, ERR_FORMAT);
	}
}

/* ---- waivers ---- */

#define VEX(statements)                                                                            \
	"{\"@context\":\"https://openvex.dev/ns/v0.2.0\",\"timestamp\":\"2026-01-01T00:00:00Z\","  \
	"\"statements\":[" statements "]}"
#define STATEMENT(vulnerability, product, rest)                                                    \
	"{\"vulnerability\":" vulnerability ",\"products\":[" product "]," rest "}"
#define NAMED(name)   "{\"name\":\"" name "\"}"
#define PRODUCT(purl) "{\"@id\":\"" purl "\"}"
#define NOT_PRESENT   "\"status\":\"not_affected\",\"justification\":\"vulnerable_code_not_present\""
#define LATER         "\"timestamp\":\"2026-02-01T00:00:00Z\","

static void waivers_waive_what_they_name(void)
{
	static const char why[] = "CVE-1 waived not_affected: vulnerable_code_not_present";
	static const char counts[] = "CVE-1 UNDEFINED ";
	static const struct {
		const char *vex, *want;
		size_t n_unused;
	} cases[] = {
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"), NOT_PRESENT), why, 0},
		{STATEMENT("\"CVE-1\"", "\"pkg:deb/debian/a@1\"", NOT_PRESENT), why, 0},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a@2"), NOT_PRESENT), counts, 1},
		{STATEMENT(NAMED("CVE-2"), PRODUCT("pkg:deb/debian/a"), NOT_PRESENT), counts, 1},
		{STATEMENT("{\"name\":\"X-1\",\"aliases\":[\"CVE-1\"]}",
	                   PRODUCT("pkg:deb/debian/a"),
	                   "\"status\":\"fixed\",\"status_notes\":\"patched\""),
	         "CVE-1 waived fixed: patched", 0},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"), "\"status\":\"affected\""),
	         counts, 0},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:oci/app"), NOT_PRESENT), why, 0},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:oci/app?repository_url=host/team/app"),
	                   NOT_PRESENT),
	         why, 0},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:oci/app?repository_url=host/other/app"),
	                   NOT_PRESENT),
	         counts, 1},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:oci/app@sha256%3A00"), NOT_PRESENT), counts,
	         1},
		{STATEMENT(NAMED("CVE-1"),
	                   "{\"@id\":\"pkg:oci/"
	                   "app\",\"subcomponents\":[{\"@id\":\"pkg:deb/debian/b\"}]}",
	                   NOT_PRESENT),
	         counts, 1},
		{STATEMENT(NAMED("CVE-1"),
	                   "{\"@id\":\"pkg:oci/"
	                   "app\",\"subcomponents\":[{\"@id\":\"pkg:deb/debian/a\"}]}",
	                   NOT_PRESENT),
	         why, 0},
		/* The latest word counts, wherever it stands. */
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"),
	                   LATER
	                   "\"status\":\"affected\"") "," STATEMENT(NAMED("CVE-1"),
	                                                            PRODUCT("pkg:deb/debian/a"),
	                                                            NOT_PRESENT),
	         counts, 1},
		{STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"),
	                   LATER NOT_PRESENT) "," STATEMENT(NAMED("CVE-1"),
	                                                    PRODUCT("pkg:deb/debian/a"),
	                                                    "\"status\":\"under_investigation\""),
	         why, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(scan_case) struct scan_case s;

		begin(&s);
		CHECK_OK(scan(&s, DOCUMENT(DEBIAN("a", "1", "")),
		              TRACKER("a", RELEASE("bookworm", OPEN)),
		              arena_printf(&s.arena, VEX("%s"), cases[i].vex)),
		         &s.err);
		CHECK_STR(found(&s), cases[i].want);
		CHECK_INT(s.result.unused.n, cases[i].n_unused);
		CHECK_INT(findings_refused(&s.image.findings, SEVERITY_UNDEFINED),
		          cases[i].want == counts);
	}
}

static void wrong_waivers_are_refused_where_they_stand(void)
{
	static const struct {
		const char *vex;
		unsigned column;
	} wrong[] = {
		{"{}", 1},
		{VEX("1"), 94},
		{VEX(STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"), "\"status\":\"fine\"")),
	         177},
		{VEX(STATEMENT(NAMED("CVE-1"), PRODUCT("a"), NOT_PRESENT)), 140},
		{VEX(STATEMENT("{}", PRODUCT("pkg:deb/debian/a"), NOT_PRESENT)), 111},
		{VEX(STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"),
	                       "\"status\":\"not_affected\"")),
	         94},
		{VEX(STATEMENT(NAMED("CVE-1"), PRODUCT("pkg:deb/debian/a"),
	                       "\"status\":\"not_affected\",\"justification\":\"lazy\"")),
	         208},
		{VEX("{\"vulnerability\":\"CVE-1\"," NOT_PRESENT "}"), 94},
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO(scan_case) struct scan_case s;

		begin(&s);
		CHECK(scan(&s, DOCUMENT(DEBIAN("a", "1", "")),
		           TRACKER("a", RELEASE("bookworm", OPEN)), wrong[i].vex) != 0);
		CHECK_INT(s.err.code, ERR_FORMAT);
		CHECK(s.err.at.file != NULL);
		CHECK_INT(s.err.at.column, wrong[i].column);
	}
}

int main(void)
{
	TEST("scan: package URLs are taken apart, malformed ones refused", takes_purls_apart);
	TEST("scan: a package URL means what it says and no more",
	     a_purl_means_what_it_says_and_no_more);
	TEST("scan: packages are named as advisories name them", names_packages_as_advisories_do);
	TEST("scan: the tracker's verdict on a release decides", judges_by_the_tracker);
	TEST("scan: the source's name and version decide, not the binary package's",
	     the_source_decides_and_not_the_binary);
	TEST("scan: packages of every ecosystem are found, and ordered as it orders them",
	     finds_packages_of_every_ecosystem);
	TEST("scan: OSV's ranges and versions are evaluated as its schema says",
	     evaluates_osv_ranges);
	TEST("scan: an advisory whose vulnerabilities are listed adds nothing",
	     an_advisory_whose_vulnerabilities_are_listed_adds_nothing);
	TEST("scan: the distributor's word on a severity goes before a score",
	     the_distributors_word_goes_before_a_score);
	TEST("scan: a package that no database covers is refused", what_nobody_covers_is_refused);
	TEST("scan: a file that is not a database is refused",
	     files_that_are_no_database_are_refused);
	TEST("scan: a document that is not a bill of materials is refused",
	     documents_that_are_none_are_refused);
	TEST("scan: a waiver waives what it names, and an unused one is told",
	     waivers_waive_what_they_name);
	TEST("scan: a wrong waiver is refused with its position",
	     wrong_waivers_are_refused_where_they_stand);
	return test_done();
}
