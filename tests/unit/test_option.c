/* Command-line options. */
#include "tests/harness.h"

#include "builder/cli/option.h"

static const char *const formats[] = {"text", "json", NULL};
static const struct option rows[] = {
	FLAG_OPTION("quick", 'q', raw, "Quick"),
	FLAG_OPTION("verify", 'v', check, "Verify"),
	TEXT_OPTION("file", 'f', file, "FILE", "File", .fallback = "slipway.yaml"),
	TEXT_OPTION("format", 0, format, "text|json", "Format", .complete = COMPLETE_CHOICES,
                    .choices = formats),
	NUMBER_OPTION("jobs", 'j', jobs, "N", "Jobs"),
	LIST_OPTION("set", 0, sets, "PATH=VALUE", "Set"),
};
static const struct option_table table = {rows, ARRAY_LEN(rows)};

struct got {
	struct arena arena;
	struct options o;
	struct strlist args;
	struct err err;
};

static void got_done(struct got *g)
{
	arena_done(&g->arena);
}

/* Parses up to eight words; returns what options_parse does. */
static int parse(struct got *g, const char *const words[8])
{
	char *argv[9] = {0};
	int argc = 0;

	got_done(g);
	*g = (struct got){0};
	for (; argc < 8 && words[argc] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc];
	return options_parse(&table, 1, argc, argv, &g->arena, &g->o, &g->args, &g->err);
}

#define WORDS(...) ((const char *const[8]){__VA_ARGS__})

static void accepted_forms(void)
{
	AUTO(got) struct got g = {0};

	CHECK_INT(parse(&g, WORDS("--file", "a", "--jobs=4", "-qv", "x")), 0);
	CHECK(g.o.raw && g.o.check && g.o.jobs == 4 && g.args.n == 1);
	CHECK_STR(g.o.file, "a");
	CHECK_INT(parse(&g, WORDS("-fa", "-j", "2", "y")), 0);
	CHECK_STR(g.o.file, "a");
	CHECK_INT(g.o.jobs, 2);
	CHECK_INT(parse(&g, WORDS("-qfa=b")), 0);
	CHECK_STR(g.o.file, "a=b");
	CHECK_INT(parse(&g, WORDS("--file=", "--format=json")), 0);
	CHECK_STR(g.o.file, "");
	CHECK_STR(g.o.format, "json");
	CHECK_INT(parse(&g, WORDS("--set=a=1", "x", "--set", "b=2", "--", "-q", "--file")), 0);
	CHECK(g.o.sets.n == 2 && g.args.n == 3 && !g.o.raw);
	CHECK_STR(g.o.sets.at[0], "a=1");
	CHECK_STR(g.o.sets.at[1], "b=2");
	CHECK_STR(g.args.at[1], "-q");
	CHECK_INT(parse(&g, WORDS("-")), 0);
	CHECK_STR(g.args.at[0], "-");
	CHECK_INT(parse(&g, WORDS(NULL)), 0);
	CHECK_STR(g.o.file, "slipway.yaml"); /* the fallback */
}

static void refused_forms(void)
{
	static const struct {
		const char *words[8], *message, *hint;
	} cases[] = {
		{{"--fiel", "x"}, "unknown option --fiel", "did you mean --file?"},
		{{"--zzzzzzzz=1"}, "unknown option --zzzzzzzz", ""},
		{{"-x"}, "unknown option -x", ""},
		{{"-qx"}, "unknown option -x", ""},
		{{"--quick=1"}, "option --quick takes no value", ""},
		{{"--file"}, "option --file needs a value: FILE", ""},
		{{"-qf"}, "option --file needs a value: FILE", ""},
		{{"--jobs", "many"}, "option --jobs: 'many' is not a whole number", ""},
		{{"--jobs=-1"}, "option --jobs: '-1' is not a whole number", ""},
		{{"--jobs="}, "option --jobs: '' is not a whole number", ""},
		{{"--jobs=99999999999999999999"},
	         "option --jobs: '99999999999999999999' is not a whole number",
	         ""},
		{{"--format=jsn"},
	         "option --format: 'jsn' is not one of text|json",
	         "did you mean --format=json?"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(got) struct got g = {0};

		CHECK(parse(&g, cases[i].words) != 0);
		CHECK_INT(g.err.code, ERR_USAGE);
		CHECK_STR(g.err.msg, cases[i].message);
		CHECK_STR(g.err.hint, cases[i].hint);
	}
}

static void rows_by_name(void)
{
	CHECK(option_find(&table, 1, "file=x", 4) == &rows[2]);
	CHECK(option_find(&table, 1, "fil", 3) == NULL);
}

int main(void)
{
	TEST("option: accepted forms", accepted_forms);
	TEST("option: refused forms, with the nearest name", refused_forms);
	TEST("option: rows by name", rows_by_name);
	return test_done();
}
