/*
 * The unit test harness: TAP on standard output, one `static void test_x(void)` per behaviour.
 *
 *   static void rejects_upper_case(void) { CHECK(digest_parse(...) != 0); }
 *   int main(void)
 *   {
 *           TEST("digest: upper-case hex is refused", rejects_upper_case);
 *           return test_done();
 *   }
 *
 * A test fails when any CHECK in it fails; the following ones still run. Tests may print and exit.
 */
#ifndef SLIPWAY_TESTS_HARNESS_H
#define SLIPWAY_TESTS_HARNESS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"

struct test_state {
	unsigned n, failed;
	bool ok;
	const char *skip;
};

static struct test_state test_state UNUSED;

static inline void test_fail(const char *file, int line, const char *what)
{
	test_state.ok = false;
	printf("# %s:%d: %s\n", file, line, what);
}

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, "not true: " #cond);                         \
	} while (0)

static inline void test_check_str(const char *file, int line, const char *got, const char *want)
{
	if (got != NULL && want != NULL && strcmp(got, want) == 0)
		return;
	test_fail(file, line, "strings differ");
	printf("#   got:  %s\n#   want: %s\n", got ? got : "(null)", want ? want : "(null)");
}

static inline void test_check_int(const char *file, int line, long long got, long long want)
{
	if (got == want)
		return;
	test_fail(file, line, "numbers differ");
	printf("#   got:  %lld\n#   want: %lld\n", got, want);
}

#define CHECK_STR(got, want) test_check_str(__FILE__, __LINE__, (got), (want))
#define CHECK_INT(got, want) test_check_int(__FILE__, __LINE__, (long long)(got), (long long)(want))

/* A call that must succeed: CHECK_OK(f(..., &err), &err). Prints the message when it does not. */
#define CHECK_OK(call, errp)                                                                       \
	do {                                                                                       \
		if ((call) != 0) {                                                                 \
			test_fail(__FILE__, __LINE__, "failed: " #call);                           \
			printf("#   %s\n", (errp)->msg);                                           \
		}                                                                                  \
	} while (0)

/* Inside a test: report it as skipped, with the reason, and return. */
#define SKIP(reason)                                                                               \
	do {                                                                                       \
		test_state.skip = (reason);                                                        \
		return;                                                                            \
	} while (0)

static inline void test_run(const char *name, void (*fn)(void))
{
	test_state.ok = true;
	test_state.skip = NULL;
	fn();
	test_state.n++;
	if (!test_state.ok)
		test_state.failed++;
	printf("%sok %u - %s", test_state.ok ? "" : "not ", test_state.n, name);
	if (test_state.ok && test_state.skip != NULL)
		printf(" # SKIP %s", test_state.skip);
	printf("\n");
	fflush(stdout);
}

#define TEST(name, fn) test_run((name), (fn))

static inline int test_done(void)
{
	printf("1..%u\n", test_state.n);
	return test_state.failed != 0;
}

/* A fresh empty folder under $TMPDIR; the caller removes it (fs_remove_tree). Aborts on failure. */
static inline void test_tmpdir(char out[4096])
{
	const char *base = getenv("TMPDIR");

	snprintf(out, 4096, "%s/slipway-test-XXXXXX", base != NULL ? base : "/tmp");
	if (mkdtemp(out) == NULL)
		abort();
}

#endif
