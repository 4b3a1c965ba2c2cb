/*
 * How far a compile is, by its log, which may be anybody's.
 */
#include "k8s/deploy/compiling.h"

#include "tests/harness.h"

#define SAID "slipway-trainer: module "

static void reads_logs(void)
{
	static const struct {
		const char *log, *text;
	} rows[] = {
		{"", ""},
		{"compiling\n", ""},
		{SAID "1 of 3: step\n", "compiling 1 of 3"},
		{SAID "1 of 3: step\nslipway-trainer: compiling step for trn1: 30 s\n" SAID
	              "2 of 3: update\n",
	         "compiling 2 of 3"},
		{"x " SAID "1 of 3: step", ""},
		{SAID "1 of 3", ""},
		{SAID "one of 3: step", ""},
		{SAID "99999 of 3: step", ""},
		{SAID "1 of 99999999999999999999: step", ""},
		{SAID "-1 of 3: step", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[COMPILING_TEXT_MAX];

		compiling_text(rows[i].log, text);
		CHECK_STR(text, rows[i].text);
	}
}

int main(void)
{
	TEST("compiling: the last line that names a module counts, and nothing that only looks "
	     "like one",
	     reads_logs);
	return test_done();
}
