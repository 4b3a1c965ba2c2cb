/* What vulnerabilities are judged by: orders of versions, and scores. */
#include "base/mem.h"
#include "builder/scan/cvss.h"
#include "builder/scan/version.h"
#include "tests/harness.h"

/* ---- versions ---- */

/* Each line rises. */
static void check_rising(version_order *order, const char *const *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (order(at[i], at[k]) != (i > k) - (i < k)) {
				CHECK(!"order");
				printf("# %s, %s\n", at[i], at[k]);
			}
}

static void orders_debian_versions(void)
{
	static const char *const rising[] = {
		"1.0~~",  "1.0~~a",   "1.0~",          "1.0~rc1-1", "1.0",   "1.0-1~bpo12+1",
		"1.0-1",  "1.0-1+b1", "1.0-1+deb12u1", "1.0-1.1",   "1.0-2", "1.0a-1",
		"1.0+-1", "1.0.1",    "1.9",           "1.10",      "1:0.1", "10:0"};

	check_rising(version_deb, rising, ARRAY_LEN(rising));
	CHECK_INT(version_deb("0:1.0-0", "1.0"), 0);
	CHECK_INT(version_deb("1.000-01", "1.0-1"), 0);
	CHECK_INT(version_deb("99999999999999999999999", "99999999999999999999998"), 1);
}

static void orders_python_versions(void)
{
	static const char *const rising[] = {"not a version",
	                                     "1.0.dev456",
	                                     "1.0a1",
	                                     "1.0a2.dev456",
	                                     "1.0a12.dev456",
	                                     "1.0a12",
	                                     "1.0b1.dev456",
	                                     "1.0b2",
	                                     "1.0b2.post345.dev456",
	                                     "1.0b2.post345",
	                                     "1.0rc1.dev456",
	                                     "1.0rc1",
	                                     "1.0",
	                                     "1.0+abc.5",
	                                     "1.0+abc.7",
	                                     "1.0+5",
	                                     "1.0.post456.dev34",
	                                     "1.0.post456",
	                                     "1.0.15",
	                                     "1.1.dev1",
	                                     "1!0.1"};

	check_rising(version_pypi, rising, ARRAY_LEN(rising));
	CHECK_INT(version_pypi("v1.0.0", "1"), 0);
	CHECK_INT(version_pypi("1.0-ALPHA_1", "1.0a1"), 0);
	CHECK_INT(version_pypi("1.0-1", "1.0.post1"), 0);
}

static void orders_alpine_versions(void)
{
	static const char *const rising[] = {"2.34_alpha", "2.34_beta2", "2.34_rc3", "2.34",
	                                     "2.34-r0",    "2.34-r10",   "2.34_p1",  "2.34a",
	                                     "2.34.1",     "2.35",       "10"};

	check_rising(version_apk, rising, ARRAY_LEN(rising));
	CHECK_INT(version_apk("1.01", "1.1"), -1);
	CHECK_INT(version_apk("1.01", "1.0.1"), 1);
	CHECK_INT(version_apk("1.0.1", "1.0"), 1);
	CHECK_INT(version_apk("1.2.3-r4", "1.2.3-r4"), 0);
	CHECK_INT(version_apk("3.3.1-r0", "3.3.0-r11"), 1);
	CHECK_INT(version_apk("99999999999999999999", "1"), 1);
}

static void orders_rpm_versions(void)
{
	/* rpm-version(7): what it says of '~', '^', letters and numbers. */
	static const char *const rising[] = {"1.0~rc1-1", "1.0-1.el9", "1.0-1.el9_2", "1.0-2",
	                                     "1.0^git1-1", "1.0.a-1", "1.0.1-1", "1.0.10-1",
	                                     "2-1", "1:0.1-1", "2:0-1"};

	check_rising(version_rpm, rising, ARRAY_LEN(rising));
	CHECK_INT(version_rpm("0:1.0-1", "1.0-1"), 0);
	CHECK_INT(version_rpm("1.05-1", "1.5-1"), 0);
	CHECK_INT(version_rpm("1_0-1", "1.0-1"), 0);
	CHECK_INT(version_rpm("1.0", "1.0-1"), -1);
}

static void orders_semantic_versions(void)
{
	/* Items 9 to 11 of the specification. */
	static const char *const rising[] = {"not a version", "0.0.0-20200101000000-abcdef123456",
	                                     "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
	                                     "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
	                                     "1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0", "2.0.0-0",
	                                     "2.0.0", "11.0.0"};

	check_rising(version_semver, rising, ARRAY_LEN(rising));
	CHECK_INT(version_semver("v1.2.3", "1.2.3"), 0);
	CHECK_INT(version_semver("1.0.0+a", "1.0.0+b"), 0);
	CHECK_INT(version_semver("v2.0.0+incompatible", "2.0.0"), 0);
	CHECK_INT(version_semver("1.22", "1.22.0"), 0);
	CHECK_INT(version_semver("1..2", "0.0.1"), -1);
	CHECK_INT(version_semver("99999999999999999999.0.0", "99999999999999999998.0.0"), 1);
}

enum { TEXT_LETTERS = 10 };

/* A text of pieces that versions are made of; the state is the next one's seed. */
static void any_version(unsigned *state, char out[TEXT_LETTERS * 4])
{
	static const char *const pieces[] = {"0", "1", "12", "00", ".", "-", "_", "+", "~", "^",
	                                     "a", "-r", "rc", "_p", "_rc", ":", "v", "Z", ""};

	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < TEXT_LETTERS; i++) {
		*state = *state * 1103515245u + 12345u;
		n += (size_t)snprintf(out + n, TEXT_LETTERS * 4 - n, "%s",
		                      pieces[(*state >> 16) % ARRAY_LEN(pieces)]);
	}
}

/* Hostile texts as well: a sort with an order that is none may never end. */
static void every_order_is_total(void)
{
	static version_order *const orders[] = {version_deb, version_rpm, version_apk, version_semver,
	                                        version_pypi};
	unsigned state = 7;
	char a[TEXT_LETTERS * 4], b[TEXT_LETTERS * 4], c[TEXT_LETTERS * 4];

	for (unsigned i = 0; i < 20000; i++) {
		any_version(&state, a);
		any_version(&state, b);
		any_version(&state, c);
		for (size_t k = 0; k < ARRAY_LEN(orders); k++) {
			bool wrong = orders[k](a, a) != 0 || orders[k](a, b) != -orders[k](b, a) ||
			             (orders[k](a, b) <= 0 && orders[k](b, c) <= 0 &&
			              orders[k](a, c) > 0);

			CHECK(!wrong);
			if (wrong)
				printf("# order %zu: '%s', '%s', '%s'\n", k, a, b, c);
		}
	}
}

/* ---- scores ---- */

static void scores_vectors(void)
{
	static const struct {
		const char *vector;
		int tenths;
	} known[] = {{"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 98},
	             {"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 64},
	             {"CVSS:3.0/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N/E:P", 18},
	             {"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0},
	             {"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 100},
	             {"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:U", 93},
	             {"CVSS:4.0/AV:N/AC:L/AT:P/PR:L/UI:A/VC:L/VI:H/VA:L/SC:N/SI:L/SA:L", 58},
	             {"CVSS:4.0/AV:P/AC:H/AT:P/PR:L/UI:A/VC:N/VI:N/VA:H/SC:H/SI:H/SA:N", 58},
	             {"CVSS:4.0/AV:A/AC:H/AT:P/PR:L/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:L", 21},
	             {"CVSS:4.0/AV:A/AC:H/AT:N/PR:N/UI:A/VC:L/VI:H/VA:L/SC:H/SI:H/SA:N", 71},
	             {"CVSS:4.0/AV:L/AC:L/AT:N/PR:N/UI:A/VC:H/VI:N/VA:N/SC:L/SI:L/SA:L", 67},
	             {"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N", 0},
	             {"AV:N/AC:L/Au:N/C:N/I:N/A:C", 78},
	             {"AV:L/AC:H/Au:N/C:C/I:C/A:C", 62}};
	int tenths = 0;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		CHECK(cvss_base_score(known[i].vector, &tenths));
		CHECK_INT(tenths, known[i].tenths);
	}
	CHECK(!cvss_base_score("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H", &tenths));
	CHECK(!cvss_base_score("CVSS:4.1/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", &tenths));
	CHECK(!cvss_base_score("CVSS:3.1/AV:N/AC:L", &tenths));
	CHECK(!cvss_base_score("", &tenths));
	CHECK_INT(cvss_severity(90), SEVERITY_CRITICAL);
	CHECK_INT(cvss_severity(89), SEVERITY_HIGH);
	CHECK_INT(cvss_severity(39), SEVERITY_LOW);
	CHECK_INT(cvss_severity(0), SEVERITY_INFORMATIONAL);
}

int main(void)
{
	TEST("scan: Debian's versions are ordered as dpkg orders them", orders_debian_versions);
	TEST("scan: Python's versions are ordered as PEP 440 says", orders_python_versions);
	TEST("scan: Alpine's versions are ordered as apk orders them", orders_alpine_versions);
	TEST("scan: RPM's versions are ordered as rpm orders them", orders_rpm_versions);
	TEST("scan: semantic versions are ordered as their specification says",
	     orders_semantic_versions);
	TEST("scan: any texts are ordered, one way and all of them", every_order_is_total);
	TEST("scan: vectors of CVSS 4, 3 and 2 give their base scores", scores_vectors);
	return test_done();
}
