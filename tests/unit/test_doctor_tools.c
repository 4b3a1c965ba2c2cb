/* What doctor reads of the programs beside slipway. */
#include "tests/harness.h"

#include "builder/cli/doctor_tools.h"

static void versions_are_found(void)
{
	static const struct {
		const char *said, *text;
		int major, minor;
	} cases[] = {
		{"aws-cli/2.17.20 Python/3.11.7 Linux/6.1 botocore/1.43\n", "2.17.20", 2, 17},
		{"clientVersion:\n  buildDate: \"2025-05-15T20:09:34Z\"\n  gitVersion: v1.32.4-x\n",
	         "1.32.4", 1, 32},
		{"0.190.0-dev+5e1ab2f.2024-09-11\n", "0.190.0", 0, 190},
		{"v3.15.2+g1a500d5\n", "3.15.2", 3, 15},
		{"version 1.24.", "1.24", 1, 24},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[24];
		int major = -1, minor = -1;

		CHECK(doctor_version(cases[i].said, &major, &minor, text, sizeof(text)));
		CHECK_STR(text, cases[i].text);
		CHECK_INT(major, cases[i].major);
		CHECK_INT(minor, cases[i].minor);
	}
}

static void other_words_are_no_version(void)
{
	static const char *const said[] = {"", "v3", "1.", "12345678.1", "no digits", "9 . 1"};

	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		char text[24];
		int major, minor;

		CHECK(!doctor_version(said[i], &major, &minor, text, sizeof(text)));
	}
}

int main(void)
{
	TEST("doctor: the version is found in what each program says of itself",
	     versions_are_found);
	TEST("doctor: what is not a version is not taken for one", other_words_are_no_version);
	return test_done();
}
