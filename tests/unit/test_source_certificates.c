/* Certificate authorities: bundles, packages and files, and what becomes of them. */
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "builder/layer/source/certificates.h"
#include "builder/layer/source/source_data.h"
#include "tests/source_make.h"

/* A self-signed certificate in PEM; days < 0: one that has expired. */
static const char *make_certificate(struct source_fixture *f, const char *name, int days, bool ca)
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

static const char *bundle_of(struct source_fixture *f, const char *text, bool own)
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
	AUTO(fixture) struct source_fixture f;

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
	AUTO(fixture) struct source_fixture f;

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

static void damage_is_told_of_a_few_times(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < 1000; i++)
		strbuf_adds(&text, "-----BEGIN X-----\nMAA=\n-----END X-----\n");
	bundle_of(&f, strbuf_str(&text), true);
	CHECK_INT(f.diags.n_errors, 20);
	CHECK_STR(f.diags.at[19].message,
	          "layer 'data': 'ca.pem', line 58: a block is not a certificate");
}

static void chosen_ones_are_judged(void)
{
	AUTO(fixture) struct source_fixture f;

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

static void add_certificates(struct source_fixture *f, const char *from, const char *extra)
{
	struct layer_certificate one = {.at = here, .path = extra};
	const struct layer_certificates want = {
		.at = here, .enabled = true, .from = from, .extra = &one, .n_extra = extra != NULL};

	CHECK_OK(source_certificates_add(&f->tree, &want, &f->platform, NULL, &f->diags, &f->err),
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
	AUTO(fixture) struct source_fixture f;

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
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	add_certificates(&f, f.dir, NULL);
	CHECK(strstr(problem(&f), "has no certificate authorities") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "install ca-certificates") != NULL);
}

static void extra_files_are_added(void)
{
	AUTO(fixture) struct source_fixture f;

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
	TEST("certificates: a bundle has one order, and each certificate once",
	     a_bundle_has_one_order_and_each_once);
	TEST("certificates: damage, private keys and other blocks are problems with their line",
	     what_is_no_certificate_is_a_problem);
	TEST("certificates: of a text that is damaged everywhere a few problems are told",
	     damage_is_told_of_a_few_times);
	TEST("certificates: of chosen ones, expired and leaf certificates are warned of",
	     chosen_ones_are_judged);
	TEST("certificates: bundles of Debian and Fedora, packages and files are found",
	     bundles_and_packages_are_found);
	TEST("certificates: where there are none, the package is named",
	     a_missing_bundle_names_the_package);
	TEST("certificates: extra files are added", extra_files_are_added);
	return test_done();
}
