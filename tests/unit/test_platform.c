/* Platforms: parsing, normalisation, matching, the table of architectures. */
#include "tests/harness.h"

#include "builder/oci/platform.h"

static void parses(void)
{
	static const struct {
		const char *text, *want; /* want NULL = refused */
	} cases[] = {
		{"linux/amd64", "linux/amd64"},
		{"linux/arm64", "linux/arm64"},
		{"linux/aarch64", "linux/arm64"},
		{"linux/x86_64", "linux/amd64"},
		{"linux/arm64/v8", "linux/arm64"},
		{"linux/arm64/8", "linux/arm64"},
		{"linux/arm64/v9", "linux/arm64/v9"},
		{"linux/amd64/v1", "linux/amd64"},
		{"linux/amd64/v3", "linux/amd64/v3"},
		{"linux/arm", "linux/arm/v7"},
		{"linux/arm/v6", "linux/arm/v6"},
		{"linux/i386", "linux/386"},
		{"", NULL},
		{"linux", NULL},
		{"linux/", NULL},
		{"/amd64", NULL},
		{"linux//v7", NULL},
		{"linux/arm/v7/x", NULL},
		{"linux/arm/", NULL},
		{"lin ux/arm", NULL},
		{"linux/\xc3\xa9", NULL},
		{"linux/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct platform p = {0};
		struct err err = {0};
		char text[PLATFORM_TEXT_MAX];
		int result = platform_parse(cases[i].text, &p, &err);

		CHECK_INT(result, cases[i].want != NULL ? 0 : -1);
		if (result == 0 && cases[i].want != NULL)
			CHECK_STR(platform_text(&p, text), cases[i].want);
		if (cases[i].want == NULL) {
			CHECK_INT(err.code, ERR_FORMAT);
			CHECK(err.hint[0] != '\0');
		}
	}
}

static void matches(void)
{
	static const struct {
		const char *want, *have;
		int worth;
	} cases[] = {
		{"linux/amd64", "linux/amd64", 2},     {"linux/amd64", "linux/arm64", 0},
		{"linux/amd64", "windows/amd64", 0},   {"linux/arm/v7", "linux/arm/v7", 2},
		{"linux/arm/v7", "linux/arm/v6", 1},   {"linux/arm/v6", "linux/arm/v7", 0},
		{"linux/amd64", "linux/amd64/v3", 0},  {"linux/amd64/v3", "linux/amd64", 1},
		{"linux/arm64", "linux/arm64/v8", 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct platform want, have;
		struct err err = {0};

		CHECK_OK(platform_parse(cases[i].want, &want, &err), &err);
		CHECK_OK(platform_parse(cases[i].have, &have, &err), &err);
		CHECK_INT(platform_match(&want, &have), cases[i].worth);
		CHECK_INT(platform_equal(&want, &have), cases[i].worth == 2);
	}
}

static void knows_elf_facts(void)
{
	const struct platform_arch *arm = platform_arch_find("arm64");

	CHECK(arm != NULL && arm->elf_machine == 183 && arm->elf_bits == 64);
	CHECK_STR(arm != NULL ? arm->multiarch : NULL, "aarch64-linux-gnu");
	CHECK(platform_arch_find("aarch64") == NULL);
	CHECK(platform_arch_find("") == NULL);
}

static void host_is_known(void)
{
	struct platform host = platform_host();

	CHECK_STR(host.os, "linux");
	CHECK(platform_arch_find(host.architecture) != NULL);
}

int main(void)
{
	TEST("platform: names are parsed and normalised, others refused with a hint", parses);
	TEST("platform: exact variants beat none and lower ones, others never match", matches);
	TEST("platform: ELF facts are found by Go's architecture name only", knows_elf_facts);
	TEST("platform: this machine's platform is in the table", host_is_known);
	return test_done();
}
