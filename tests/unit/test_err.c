/* Errors: order of contexts, hints, cleaning, cutting. */
#include "tests/harness.h"

#include <errno.h>

#include "base/err.h"

static void contexts_come_outermost_first(void)
{
	struct err err = {0};

	CHECK_INT(err_set(&err, ERR_FORMAT, "bad %s", "byte"), -1);
	CHECK_INT(err_wrap(&err, "blob %d", 7), -1);
	CHECK_INT(err_wrap(&err, "push '%s'", "x"), -1);
	CHECK_STR(err.msg, "push 'x': blob 7: bad byte");
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK_INT(err.os_errno, 0);
}

static void the_inner_hint_is_kept(void)
{
	struct err err = {0};

	err_set(&err, ERR_USAGE, "m");
	CHECK_INT(err_hint(&err, "inner %d", 1), -1);
	err_wrap(&err, "outer");
	err_hint(&err, "outer");
	CHECK_STR(err.hint, "inner 1");
	err_set(&err, ERR_USAGE, "another");
	CHECK_STR(err.hint, "");
}

static void errno_is_told_for_io_only(void)
{
	struct err err = {0};

	errno = ENOENT;
	err_set(&err, ERR_IO, "open 'f'");
	CHECK_STR(err.msg, "open 'f': No such file or directory");
	CHECK_INT(err.os_errno, ENOENT);
	errno = ENOENT;
	err_set(&err, ERR_FORMAT, "open 'f'");
	CHECK_STR(err.msg, "open 'f'");
	CHECK_INT(err.os_errno, 0);
	errno = 0;
	err_set(&err, ERR_IO, "plain");
	CHECK_STR(err.msg, "plain");
}

static void control_bytes_are_replaced(void)
{
	struct err err = {0};

	err_set(&err, ERR_SERVER, "a\033[2Jb\n%s\t\x7f", "\r\xc3\xa9");
	CHECK_STR(err.msg, "a?[2Jb??\xc3\xa9??");
	err_wrap(&err, "c\a");
	CHECK_STR(err.msg, "c?: a?[2Jb??\xc3\xa9??");
	err_hint(&err, "h\033");
	CHECK_STR(err.hint, "h?");
}

static void long_texts_are_cut(void)
{
	char big[3000];
	struct err err = {0};

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	errno = EIO;
	err_set(&err, ERR_IO, "%s", big);
	CHECK_INT(strlen(err.msg), ERR_MSG_MAX - 1);
	err_wrap(&err, "context");
	CHECK(strncmp(err.msg, "context: xxx", 12) == 0);
	CHECK_INT(strlen(err.msg), ERR_MSG_MAX - 1);
	err_wrap(&err, "%s", big);
	CHECK_INT(strlen(err.msg), ERR_MSG_MAX - 1);
	err_hint(&err, "%s", big);
	CHECK_INT(strlen(err.hint), ERR_HINT_MAX - 1);
}

static void positions(void)
{
	struct err err = {0};

	CHECK_INT(err_at(&err, ERR_SPEC, (struct srcpos){"f", 3, 4, 5}, "x"), -1);
	CHECK(strcmp(err.at.file, "f") == 0 && err.at.line == 3 && err.at.column == 4 &&
	      err.at.span == 5);
	err_wrap(&err, "y");
	CHECK_INT(err.at.line, 3);
}

static void code_names_are_distinct(void)
{
	for (int i = ERR_NONE; i <= ERR_INTERRUPTED; i++)
		for (int k = ERR_NONE; k < i; k++)
			CHECK(strcmp(err_code_name((enum err_code)i),
			             err_code_name((enum err_code)k)) != 0);
	CHECK_STR(err_code_name(ERR_NOT_FOUND), "not_found");
	CHECK_STR(err_code_name((enum err_code)99), "unknown");
}

int main(void)
{
	TEST("err: contexts come outermost first", contexts_come_outermost_first);
	TEST("err: the inner hint is kept", the_inner_hint_is_kept);
	TEST("err: errno is told for ERR_IO only", errno_is_told_for_io_only);
	TEST("err: control bytes are replaced", control_bytes_are_replaced);
	TEST("err: long texts are cut", long_texts_are_cut);
	TEST("err: positions", positions);
	TEST("err: every code has its own name", code_names_are_distinct);
	return test_done();
}
