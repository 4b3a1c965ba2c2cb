/* The first line of a script as the kernel reads it, and env's argument. */
#include "tests/harness.h"

#include "base/arena.h"
#include "builder/check/script.h"

static const struct line {
	const char *text;
	enum script_kind kind;
	const char *interpreter, *argument;
	bool carriage_return;
} lines[] = {
	{"#!/bin/sh\nexit\n", SCRIPT_READ, "/bin/sh", NULL, false},
	{"#!/bin/sh", SCRIPT_READ, "/bin/sh", NULL, false},
	{"#! \t/bin/sh \t\nx", SCRIPT_READ, "/bin/sh", NULL, false},
	{"#!/usr/bin/env  -S python3 -u \nx", SCRIPT_READ, "/usr/bin/env", "-S python3 -u", false},
	{"#!/bin/sh -e\r\n", SCRIPT_READ, "/bin/sh", "-e", true},
	{"#!/bin/sh\r\n", SCRIPT_READ, "/bin/sh", NULL, true},
	{"#!bin/sh\n", SCRIPT_READ, "bin/sh", NULL, false},
	{"#!\n/bin/sh\n", SCRIPT_NO_INTERPRETER, NULL, NULL, false},
	{"#!  \t \n", SCRIPT_NO_INTERPRETER, NULL, NULL, false},
	{"#!", SCRIPT_NO_INTERPRETER, NULL, NULL, false},
	{"#", SCRIPT_NONE, NULL, NULL, false},
	{"", SCRIPT_NONE, NULL, NULL, false},
	{" #!/bin/sh\n", SCRIPT_NONE, NULL, NULL, false},
	{"# !/bin/sh\n", SCRIPT_NONE, NULL, NULL, false},
};

static bool same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void reads_lines_as_the_kernel_does(void)
{
	struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct script_line got = {0};
		enum script_kind kind = script_read(lines[i].text, strlen(lines[i].text), &a, &got);

		if (kind != lines[i].kind || !same(got.interpreter, lines[i].interpreter) ||
		    !same(got.argument, lines[i].argument) ||
		    got.carriage_return != lines[i].carriage_return)
			test_fail(__FILE__, __LINE__, lines[i].text);
	}
	arena_done(&a);
}

/* A line of this many bytes before its newline, all of them the interpreter's path. */
static enum script_kind long_line(size_t len, bool with_argument, struct arena *a,
                                  struct script_line *ret_line)
{
	char text[2 * SCRIPT_HEAD_MAX];

	memset(text, 'x', sizeof(text));
	memcpy(text, "#!/", 3);
	if (with_argument)
		text[20] = ' ';
	text[len] = '\n';
	return script_read(text, script_head_kept(text, SCRIPT_HEAD_MAX), a, ret_line);
}

static void knows_where_the_kernel_stops_reading(void)
{
	struct arena a = {0};
	struct script_line line = {0};

	CHECK_INT(long_line(SCRIPT_HEAD_MAX - 1, false, &a, &line), SCRIPT_READ);
	CHECK_INT(strlen(line.interpreter), SCRIPT_HEAD_MAX - 3);
	CHECK(!line.cut);
	CHECK_INT(long_line(SCRIPT_HEAD_MAX, false, &a, &line), SCRIPT_TOO_LONG);
	CHECK_INT(long_line(SCRIPT_HEAD_MAX + 9, false, &a, &line), SCRIPT_TOO_LONG);
	CHECK_INT(long_line(SCRIPT_HEAD_MAX + 9, true, &a, &line), SCRIPT_READ);
	CHECK(line.cut);
	arena_done(&a);
}

static void keeps_little_of_other_files(void)
{
	char bytes[SCRIPT_HEAD_MAX] = {0};

	CHECK(script_head_kept(bytes, sizeof(bytes)) <= 64);
	CHECK_INT(script_head_kept("#!/bin/sh\nexit", 14), 10);
	CHECK_INT(script_head_kept("", 0), 0);
}

static void follows_env(void)
{
	static const struct {
		const char *argument, *command;
	} cases[] = {
		{"python3", "python3"},
		{"python3 -u", "python3 -u"}, /* one name, as env takes it */
		{"-S python3 -u", "python3"},
		{"-Spython3", "python3"},
		{"-S A=1 B=2 python3", "python3"},
		{"-S PATH=/x python3", NULL},
		{"-S -i python3", NULL},
		{"-S 'a b'", NULL},
		{"-S", NULL},
		{"-i", NULL},
		{"A=1", NULL},
	};
	struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (!same(script_env_command(cases[i].argument, &a), cases[i].command))
			test_fail(__FILE__, __LINE__, cases[i].argument);
	arena_done(&a);
}

static void tells_what_is_no_script(void)
{
	CHECK(strstr(script_looks_like("\xef\xbb\xbf#!/bin/sh\n", 13), "hides its `#!`") != NULL);
	CHECK(strstr(script_looks_like("\n\n#!/bin/sh", 11), "before its `#!`") != NULL);
	CHECK(strstr(script_looks_like("MZ\x90", 3), "Windows") != NULL);
	CHECK(script_looks_like("echo hello\n", 11) == NULL);
	CHECK(script_looks_like("", 0) == NULL);
	CHECK(script_looks_like("\n", 1) == NULL);
}

int main(void)
{
	TEST("script: first lines are read as the kernel reads them",
	     reads_lines_as_the_kernel_does);
	TEST("script: what is beyond 256 bytes is not there", knows_where_the_kernel_stops_reading);
	TEST("script: of other files only a few bytes are kept", keeps_little_of_other_files);
	TEST("script: env's argument is one name, or a line with -S", follows_env);
	TEST("script: files that look like scripts are told apart", tells_what_is_no_script);
	return test_done();
}
