/* Certificate authorities, time zones and locales, from folders and from a package. */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/source/certificates.h"
#include "builder/layer/source/source_data.h"
#include "tests/harness.h"
#include "tests/tar_make.h"

enum { MAX = 16 << 20 };

static const struct srcpos here = {"s.yaml", 5, 9, 1};

struct fixture {
	struct arena arena;
	struct tree tree;
	struct diags diags;
	struct err err;
	char dir[4096];
	struct platform platform;
	struct layer_spec layer;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){.layer = {.name = "data"}};
	test_tmpdir(f->dir);
	tree_init(&f->tree, &f->arena, "data", 1000);
	CHECK_OK(platform_parse("linux/amd64", &f->platform, &f->err), &f->err);
}

static void fixture_done(struct fixture *f)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(f->dir, &err), &err);
	tree_done(&f->tree);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

static const char *in_dir(struct fixture *f, const char *path)
{
	return arena_printf(&f->arena, "%s/%s", f->dir, path);
}

static void put(struct fixture *f, const char *path, const char *text)
{
	char parent[PATH_MAX];

	fs_parent(in_dir(f, path), parent);
	CHECK_OK(fs_mkdirs(parent, &f->err), &f->err);
	CHECK_OK(fs_write_file(in_dir(f, path), text, strlen(text), 0640, &f->err), &f->err);
}

static void put_link(struct fixture *f, const char *path, const char *target)
{
	char parent[PATH_MAX];

	fs_parent(in_dir(f, path), parent);
	CHECK_OK(fs_mkdirs(parent, &f->err), &f->err);
	CHECK_INT(symlink(target, in_dir(f, path)), 0);
}

/* The tree without folders: "path=content" or "path>target", one after the other. */
static const char *listing(struct fixture *f)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(MAX);

	CHECK_OK(tree_finish(&f->tree, &f->diags, &f->err), &f->err);
	for (size_t i = 0; i < f->tree.n; i++) {
		const struct entry *e = &f->tree.at[i];
		AUTO(strbuf) struct strbuf content = STRBUF_INIT(MAX);
		struct source *in;

		CHECK(e->uid == 0 && e->gid == 0 && e->mtime <= 1000);
		if (e->type == ENTRY_DIR)
			continue;
		strbuf_addf(&all, "%s%s", all.len > 0 ? "|" : "", e->path);
		if (e->type == ENTRY_SYMLINK) {
			strbuf_addf(&all, ">%s", e->link);
			continue;
		}
		CHECK_INT(e->mode, 0644);
		CHECK_OK(tree_open_content(&f->tree, e, &in, &f->err), &f->err);
		CHECK_OK(stream_read_all(in, &content, &f->err), &f->err);
		source_close(in);
		strbuf_addf(&all, "=%s", strbuf_str(&content));
	}
	return arena_strdup(&f->arena, strbuf_str(&all));
}

static const char *problem(const struct fixture *f)
{
	CHECK_INT(f->diags.n_errors, 1);
	if (f->diags.n == 0)
		return "";
	CHECK_INT(f->diags.at[0].at.line, 5);
	CHECK(f->diags.at[0].hint != NULL);
	return f->diags.at[0].message;
}

/* ---- time zones ---- */

static void make_zones(struct fixture *f)
{
	put(f, "usr/share/zoneinfo/Europe/Berlin", "TZif Berlin");
	put(f, "usr/share/zoneinfo/Europe/Rome", "TZif Rome");
	put(f, "usr/share/zoneinfo/Etc/UTC", "TZif UTC");
	put(f, "usr/share/zoneinfo/tzdata.zi", "# table");
	put(f, "usr/share/zoneinfo/right/UTC", "TZif right");
	put(f, "usr/share/zoneinfo/posix/UTC", "TZif posix");
	put_link(f, "usr/share/zoneinfo/UTC", "Etc/UTC");
	put_link(f, "usr/share/zoneinfo/Europe/Vatican", "Rome");
	put_link(f, "usr/share/zoneinfo/Europe/Gone", "Nowhere");
	put_link(f, "usr/share/zoneinfo/localtime", "/etc/localtime");
}

static void add_zones(struct fixture *f, const char *timezone, const char **globs, size_t n)
{
	f->layer.timezone = timezone;
	f->layer.timezone_at = here;
	f->layer.zones.from = f->dir;
	if (globs != NULL)
		f->layer.zones = (struct layer_zones){
			.at = here, .enabled = true, .from = f->dir, .zones = {globs, n}};
	CHECK_OK(source_zones_add(&f->tree, &f->layer, &f->platform, &f->diags, &f->err), &f->err);
}

static void a_zone_alone_is_one_file(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, "Europe/Vatican", NULL, 0);
	CHECK_STR(listing(&f),
	          "etc/localtime>/usr/share/zoneinfo/Europe/Vatican|etc/timezone=Europe/Vatican\n|"
	          "usr/share/zoneinfo/Europe/Vatican=TZif Rome");
	CHECK_INT(f.diags.n, 0);
}

static void all_zones_keep_their_links(void)
{
	AUTO(fixture) struct fixture f;
	const char *globs[] = {""};

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, "UTC", globs, 0);
	CHECK_STR(listing(&f),
	          "etc/localtime>/usr/share/zoneinfo/UTC|etc/timezone=UTC\n|"
	          "usr/share/zoneinfo/Etc/UTC=TZif UTC|"
	          "usr/share/zoneinfo/Europe/Berlin=TZif Berlin|"
	          "usr/share/zoneinfo/Europe/Rome=TZif Rome|"
	          "usr/share/zoneinfo/Europe/Vatican>Rome|"
	          "usr/share/zoneinfo/UTC>Etc/UTC|usr/share/zoneinfo/tzdata.zi=# table");
	CHECK_INT(f.diags.n, 0);
}

static void globs_choose_zones(void)
{
	AUTO(fixture) struct fixture f;
	const char *globs[] = {"Europe/V*", "UTC"};

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, NULL, globs, 2);
	/* "UTC" without '/' is a name at any depth. */
	CHECK_STR(listing(&f), "usr/share/zoneinfo/Etc/UTC=TZif UTC|"
	                       "usr/share/zoneinfo/Europe/Vatican=TZif Rome|"
	                       "usr/share/zoneinfo/UTC>Etc/UTC");
	CHECK_INT(f.diags.n, 0);
}

static void unknown_zones_are_problems(void)
{
	static const struct {
		const char *zone, *hint;
	} rows[] = {{"Europe/Berlim", "did you mean 'Europe/Berlin'?"},
	            {"tzdata.zi", NULL},
	            {"Europe/Gone", NULL},
	            {"Europe", NULL}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		make_zones(&f);
		add_zones(&f, rows[i].zone, NULL, 0);
		CHECK_STR(problem(&f),
		          arena_printf(
				  &f.arena,
				  "layer 'data': time zone '%s' is not in the tz database of '%s'",
				  rows[i].zone, f.dir));
		if (rows[i].hint != NULL && f.diags.n > 0)
			CHECK_STR(f.diags.at[0].hint, rows[i].hint);
	}
}

static void a_glob_without_a_match_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;
	const char *globs[] = {"Africa/*"};

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, NULL, globs, 1);
	CHECK(strstr(problem(&f), "matches 'Africa/*'") != NULL);
}

static void a_missing_database_names_the_package(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add_zones(&f, "UTC", NULL, 0);
	CHECK(strstr(problem(&f), "has no tz database") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "apt-get install tzdata") != NULL);
}

static void a_link_out_of_the_folder_is_not_followed(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	put(&f, "secret", "TZif secret");
	put(&f, "root/usr/share/zoneinfo/UTC", "TZif UTC");
	put_link(&f, "root/usr/share/zoneinfo/Out", "../../../../secret");
	f.layer.timezone = "Out";
	f.layer.timezone_at = here;
	f.layer.zones.from = in_dir(&f, "root");
	CHECK_OK(source_zones_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK(strstr(problem(&f), "time zone 'Out' is not in the tz database") != NULL);
	CHECK(strstr(listing(&f), "secret") == NULL);
}

/* ---- locales ---- */

static void add_locales(struct fixture *f, const char *const *names, size_t n)
{
	f->layer.locales = arena_calloc(&f->arena, n, sizeof(*f->layer.locales));
	f->layer.n_locales = n;
	for (size_t i = 0; i < n; i++)
		f->layer.locales[i] =
			(struct layer_locale){.at = here, .name = names[i], .from = f->dir};
	CHECK_OK(source_locales_add(&f->tree, &f->layer, &f->platform, &f->diags, &f->err),
	         &f->err);
}

static void a_locale_is_its_folder_with_links_resolved(void)
{
	AUTO(fixture) struct fixture f;
	const char *const names[] = {"de_DE.UTF-8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/de_DE.utf8/LC_TIME", "time");
	put(&f, "usr/lib/locale/de_AT.utf8/LC_CTYPE", "types");
	put_link(&f, "usr/lib/locale/de_DE.utf8/LC_CTYPE", "../de_AT.utf8/LC_CTYPE");
	put(&f, "usr/lib/locale/de_DE.utf8/LC_MESSAGES/SYS_LC_MESSAGES", "yes");
	add_locales(&f, names, 1);
	CHECK_STR(listing(&f), "usr/lib/locale/de_DE.utf8/LC_CTYPE=types|"
	                       "usr/lib/locale/de_DE.utf8/LC_MESSAGES/SYS_LC_MESSAGES=yes|"
	                       "usr/lib/locale/de_DE.utf8/LC_TIME=time");
	CHECK_INT(f.diags.n, 0);
}

static void locales_are_found_as_glibc_names_them(void)
{
	static const struct {
		const char *name, *folder;
	} rows[] = {{"de_DE.UTF-8@euro", "de_DE.utf8@euro"},  {"de_DE", "de_DE"},
	            {"de_DE.8859-1", "de_DE.iso88591"},       {"de_DE@euro", "de_DE@euro"},
	            {"de_DE.ISO-8859-15", "de_DE.iso885915"}, {"de_DE.UTF-8", "de_DE.UTF-8"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		put(&f, arena_printf(&f.arena, "usr/lib/locale/%s/LC_CTYPE", rows[i].folder), "x");
		add_locales(&f, &rows[i].name, 1);
		CHECK_STR(listing(&f),
		          arena_printf(&f.arena, "usr/lib/locale/%s/LC_CTYPE=x", rows[i].folder));
	}
}

static void a_locale_is_listed_once(void)
{
	AUTO(fixture) struct fixture f;
	const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/de_DE.utf8/LC_CTYPE", "x");
	add_locales(&f, names, 2);
	CHECK_STR(problem(&f),
	          "layer 'data': locale 'de_DE.utf8' is listed twice (first in line 5)");
}

static void a_missing_locale_names_the_package(void)
{
	AUTO(fixture) struct fixture f;
	const char *const names[] = {"fr_FR.UTF-8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/locale-archive", "x");
	add_locales(&f, names, 1);
	CHECK(strstr(problem(&f), "locale 'fr_FR.UTF-8' is not in /usr/lib/locale of") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "locale-archive") != NULL);
}

static void a_locale_that_leads_nowhere_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;
	const char *const names[] = {"de_DE.UTF-8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/de_DE.utf8/LC_CTYPE", "x");
	put_link(&f, "usr/lib/locale/de_DE.utf8/LC_TIME", "../de_AT.utf8/LC_TIME");
	add_locales(&f, names, 1);
	CHECK(strstr(problem(&f), "leads to no file") != NULL);
}

/* ---- packages ---- */

static void ar_add(struct strbuf *ar, const char *name, const struct strbuf *part)
{
	strbuf_addf(ar, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", part->len);
	strbuf_add(ar, part->ptr, part->len);
	if (part->len % 2 == 1)
		strbuf_addc(ar, '\n');
}

/* A package of locales: a link, a hard link, and a file of somewhere else. */
static const char *make_deb(struct fixture *f)
{
	AUTO(strbuf) struct strbuf control = STRBUF_INIT(MAX), data = STRBUF_INIT(MAX);
	AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX), version = STRBUF_INIT(MAX);

	strbuf_adds(&version, "2.0\n");
	tar_make_file(&control, "./control",
	              "Package: locales-all\nVersion: 1\nArchitecture: all\n");
	tar_make_end(&control);
	tar_make_file(&data, "./usr/share/doc/x", "doc");
	tar_make_file(&data, "./usr/lib/locale/aa_DJ.utf8/LC_CTYPE", "types");
	tar_make_add(&data, &(struct tar_make){.name = "./usr/lib/locale/de_DE.utf8/LC_CTYPE",
	                                       .type = '2',
	                                       .link = "../aa_DJ.utf8/LC_CTYPE"});
	tar_make_add(&data, &(struct tar_make){.name = "./usr/lib/locale/de_DE.utf8/LC_TIME",
	                                       .type = '1',
	                                       .link = "./usr/lib/locale/aa_DJ.utf8/LC_CTYPE"});
	tar_make_end(&data);
	strbuf_adds(&deb, "!<arch>\n");
	ar_add(&deb, "debian-binary", &version);
	ar_add(&deb, "control.tar", &control);
	ar_add(&deb, "data.tar", &data);
	CHECK_OK(fs_write_file(in_dir(f, "x.deb"), deb.ptr, deb.len, 0644, &f->err), &f->err);
	return in_dir(f, "x.deb");
}

static void a_package_is_read_like_a_folder(void)
{
	AUTO(fixture) struct fixture f;
	struct layer_locale locale = {.at = here, .name = "de_DE.UTF-8"};

	fixture_init(&f);
	locale.from = make_deb(&f);
	f.layer.locales = &locale;
	f.layer.n_locales = 1;
	CHECK_OK(source_locales_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK_STR(listing(&f), "usr/lib/locale/de_DE.utf8/LC_CTYPE=types|"
	                       "usr/lib/locale/de_DE.utf8/LC_TIME=types");
	CHECK_INT(f.diags.n, 0);
}

static void a_package_without_the_data_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	f.layer.timezone = "UTC";
	f.layer.timezone_at = here;
	f.layer.zones.from = make_deb(&f);
	CHECK_OK(source_zones_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK(strstr(problem(&f), "x.deb' has no tz database") != NULL);
}

static void an_origin_that_is_not_there_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	f.layer.timezone = "UTC";
	f.layer.timezone_at = here;
	f.layer.zones.from = in_dir(&f, "nowhere");
	CHECK_OK(source_zones_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK(text_has_suffix(problem(&f), "nowhere' does not exist"));
}

/* ---- certificates ---- */

/* A self-signed certificate in PEM; days < 0: one that has expired. */
static const char *make_certificate(struct fixture *f, const char *name, int days, bool ca)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	BIO *out = BIO_new(BIO_s_mem());
	X509_EXTENSION *basic = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints,
	                                            ca ? "critical,CA:TRUE" : "CA:FALSE");
	char *text;

	X509_set_version(x, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), -864000L);
	X509_gmtime_adj(X509_getm_notAfter(x), days * 86400L);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
	                           (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	X509_set_pubkey(x, key);
	X509_add_ext(x, basic, -1);
	CHECK(X509_sign(x, key, EVP_sha256()) > 0 && PEM_write_bio_X509(out, x) == 1);
	long len = BIO_get_mem_data(out, &text);
	const char *pem = arena_strndup(&f->arena, text, (size_t)len);

	X509_EXTENSION_free(basic);
	BIO_free(out);
	X509_free(x);
	EVP_PKEY_free(key);
	return pem;
}

static const char *bundle_of(struct fixture *f, const char *text, bool own)
{
	struct certificates c = {0};
	const struct certificates_text in = {.name = "'ca.pem'",
	                                     .at = here,
	                                     .layer = "data",
	                                     .bytes = text,
	                                     .len = strlen(text),
	                                     .own = own};
	AUTO(strbuf) struct strbuf pem = STRBUF_INIT(MAX);

	certificates_add(&c, &in, &f->diags);
	certificates_pem(&c, &pem);
	certificates_done(&c);
	return arena_strdup(&f->arena, strbuf_str(&pem));
}

static void a_bundle_has_one_order_and_each_once(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	const char *a = make_certificate(&f, "A", 5, true), *b = make_certificate(&f, "B", 5, true);
	const char *one = bundle_of(&f, arena_printf(&f.arena, "# A\n%s%s", a, b), true);
	const char *two = bundle_of(&f, arena_printf(&f.arena, "%sword\n%s\n%s", b, a, b), true);

	CHECK_STR(two, one);
	CHECK_INT(strlen(one), strlen(a) + strlen(b));
	CHECK(strstr(one, a) != NULL && strstr(one, b) != NULL);
	CHECK_INT(f.diags.n, 0);
}

static void what_is_no_certificate_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	const char *good = make_certificate(&f, "A", 5, true);
	char *damaged = arena_strdup(&f.arena, good), *cut = arena_strdup(&f.arena, good);

	unsigned lines = 0;

	for (const char *c = good; *c != '\0'; c++)
		lines += *c == '\n';
	damaged[40] = '!';
	cut[strlen(cut) - 40] = '\0';
	const struct {
		const char *text, *message;
	} rows[] = {
		{"nothing\n", "layer 'data': 'ca.pem' holds no certificate"},
		{"", "layer 'data': 'ca.pem' holds no certificate"},
		{arena_printf(&f.arena, "%s%s", good, damaged),
	         arena_printf(&f.arena, "layer 'data': 'ca.pem', line %u: the PEM block is damaged",
	                      lines + 1)},
		{cut, "layer 'data': 'ca.pem', line 1: the PEM block is damaged"},
		{"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
	         "layer 'data': 'ca.pem', line 1: the certificate is damaged"},
		{"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
	         "layer 'data': 'ca.pem', line 1: a private key stands among the certificates"},
		{"\n-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n",
	         "layer 'data': 'ca.pem', line 2: a block is not a certificate"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		f.diags.n = f.diags.n_errors = 0;
		bundle_of(&f, rows[i].text, true);
		CHECK_INT(f.diags.n_errors, 1);
		if (f.diags.n_errors == 1)
			CHECK_STR(f.diags.at[0].message, rows[i].message);
	}
}

static void chosen_ones_are_judged(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	bundle_of(&f, make_certificate(&f, "Old", -1, true), true);
	bundle_of(&f, make_certificate(&f, "Leaf", 5, false), true);
	CHECK_INT(f.diags.n, 2);
	CHECK_INT(f.diags.n_errors, 0);
	if (f.diags.n != 2)
		return;
	CHECK_STR(f.diags.at[0].message, "layer 'data': 'ca.pem', line 1: 'Old' has expired");
	CHECK_STR(f.diags.at[1].message,
	          "layer 'data': 'ca.pem', line 1: 'Leaf' is not a certificate authority");
	f.diags.n = 0;
	bundle_of(&f, make_certificate(&f, "Old", -1, true), false);
	CHECK_INT(f.diags.n, 0);
}

static void add_certificates(struct fixture *f, const char *from, const char *extra)
{
	struct layer_certificate one = {.at = here, .path = extra};
	const struct layer_certificates want = {
		.at = here, .enabled = true, .from = from, .extra = &one, .n_extra = extra != NULL};

	CHECK_OK(source_certificates_add(&f->tree, &want, &f->platform, &f->diags, &f->err),
	         &f->err);
}

#define LINKS(before_pem)                                                                          \
	"etc/pki/tls/cert.pem>/etc/ssl/certs/ca-certificates.crt|"                                 \
	"etc/pki/tls/certs/ca-bundle.crt>/etc/ssl/certs/ca-certificates.crt|"                      \
	"etc/ssl/cert.pem>/etc/ssl/certs/ca-certificates.crt|"                                     \
	"etc/ssl/certs/ca-certificates.crt=" before_pem                                            \
	"|usr/lib/ssl/cert.pem>/etc/ssl/certs/ca-certificates.crt"

static void bundles_and_packages_are_found(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	const char *a = make_certificate(&f, "A", 5, true), *b = make_certificate(&f, "B", 5, true);

	put(&f, "debian/etc/ssl/certs/ca-certificates.crt", a);
	put(&f, "fedora/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", a);
	put_link(&f, "fedora/etc/pki/tls/certs/ca-bundle.crt",
	         "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem");
	put(&f, "package/usr/share/ca-certificates/mozilla/A.crt", a);
	put(&f, "package/usr/share/ca-certificates/mozilla/B.crt", b);
	put(&f, "package/etc/ca-certificates.conf", "mozilla/A.crt\n!mozilla/B.crt\n");
	put(&f, "a.pem", a);
	static const char *const froms[] = {"debian", "fedora", "package", "a.pem"};
	const char *want = arena_printf(&f.arena, LINKS("%s"), a);

	for (size_t i = 0; i < ARRAY_LEN(froms); i++) {
		f.tree.n = 0;
		add_certificates(&f, in_dir(&f, froms[i]), NULL);
		CHECK_STR(listing(&f), want);
		CHECK_INT(f.diags.n, 0);
	}
}

static void a_missing_bundle_names_the_package(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add_certificates(&f, f.dir, NULL);
	CHECK(strstr(problem(&f), "has no certificate authorities") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "install ca-certificates") != NULL);
}

static void extra_files_are_added(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	put(&f, "a.pem", make_certificate(&f, "A", 5, true));
	const char *extra = make_certificate(&f, "B", 5, true);

	put(&f, "b.pem", extra);
	add_certificates(&f, in_dir(&f, "a.pem"), in_dir(&f, "b.pem"));
	CHECK(strstr(listing(&f), extra) != NULL);
	CHECK_INT(f.diags.n, 0);
	f.tree.n = 0;
	add_certificates(&f, in_dir(&f, "a.pem"), in_dir(&f, "nowhere.pem"));
	CHECK(strstr(problem(&f), "nowhere.pem") != NULL);
}

int main(void)
{
	TEST("data: a time zone alone is one file, also where it is a link",
	     a_zone_alone_is_one_file);
	TEST("data: all zones keep their links; posix, right and localtime stay out",
	     all_zones_keep_their_links);
	TEST("data: globs choose zones, and a link to what is not chosen becomes a file",
	     globs_choose_zones);
	TEST("data: an unknown time zone is a problem, and a near one is named",
	     unknown_zones_are_problems);
	TEST("data: a glob without a match is a problem", a_glob_without_a_match_is_a_problem);
	TEST("data: a missing tz database names the package", a_missing_database_names_the_package);
	TEST("data: a link out of the folder is not followed",
	     a_link_out_of_the_folder_is_not_followed);
	TEST("data: a locale is its folder, links to other locales resolved",
	     a_locale_is_its_folder_with_links_resolved);
	TEST("data: locales are found as glibc names their folders",
	     locales_are_found_as_glibc_names_them);
	TEST("data: two names of one locale are a problem", a_locale_is_listed_once);
	TEST("data: a missing locale names the package, and says what locale-archive is",
	     a_missing_locale_names_the_package);
	TEST("data: a locale with a link to nothing is a problem",
	     a_locale_that_leads_nowhere_is_a_problem);
	TEST("data: a package is read like a folder", a_package_is_read_like_a_folder);
	TEST("data: a package without the data is a problem",
	     a_package_without_the_data_is_a_problem);
	TEST("data: an origin that is not there is a problem",
	     an_origin_that_is_not_there_is_a_problem);
	TEST("certificates: a bundle has one order, and each certificate once",
	     a_bundle_has_one_order_and_each_once);
	TEST("certificates: damage, private keys and other blocks are problems with their line",
	     what_is_no_certificate_is_a_problem);
	TEST("certificates: of chosen ones, expired and leaf certificates are warned of",
	     chosen_ones_are_judged);
	TEST("certificates: bundles of Debian and Fedora, packages and files are found",
	     bundles_and_packages_are_found);
	TEST("certificates: where there are none, the package is named",
	     a_missing_bundle_names_the_package);
	TEST("certificates: extra files are added", extra_files_are_added);
	return test_done();
}
