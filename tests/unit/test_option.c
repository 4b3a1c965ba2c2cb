/* Command-line options. */
#include "tests/harness.h"

#include "builder/cli/option.h"

struct shared {
	const char *file;
	struct strlist set;
};
#define SHARED(object, member) SHARED_IN(OPTION_MEMBER(object, member, struct shared))
#define SHARED_IN(base)                                                                            \
	TEXT_OPTION_IN(base, struct shared, file, "file", 'f', "FILE", "File",                     \
	               .fallback = "slipway.yaml"),                                                \
		LIST_OPTION_IN(base, struct shared, set, "set", 0, "PATH=VALUE", "Set")

struct values {
	bool quick, verify;
	struct shared shared;
	const char *format;
	int64_t jobs;
};

static const char *const formats[] = {"text", "json", NULL};
static const struct option rows[] = {
	FLAG_OPTION(struct values, quick, "quick", 'q', "Quick"),
	FLAG_OPTION(struct values, verify, "verify", 'v', "Verify"),
	SHARED(struct values, shared),
	TEXT_OPTION(struct values, format, "format", 0, "text|json", "Format",
                    .complete = COMPLETE_CHOICES, .choices = formats),
	NUMBER_OPTION(struct values, jobs, "jobs", 'j', "N", "Jobs"),
};
static const struct option_table table = OPTION_TABLE(struct values, rows);

/* The options that every command takes, in a struct beside the command's. */
struct common {
	const char *colour;
	bool help;
};
static const struct option common_rows[] = {
	FLAG_OPTION(struct common, help, "help", 'h', "Help"),
	TEXT_OPTION(struct common, colour, "colour", 0, "NAME", "Colour", .fallback = "red"),
};
static const struct option_table common_table = OPTION_TABLE(struct common, common_rows);

struct got {
	struct arena arena;
	struct values o;
	struct common common;
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
	const struct option_target targets[] = {{&table, &g->o}, {&common_table, &g->common}};

	return options_parse(targets, ARRAY_LEN(targets), argc, argv, &g->arena, &g->args, &g->err);
}

#define WORDS(...) ((const char *const[8]){__VA_ARGS__})

static void accepted_forms(void)
{
	AUTO(got) struct got g = {0};

	CHECK_INT(parse(&g, WORDS("--file", "a", "--jobs=4", "-qv", "x")), 0);
	CHECK(g.o.quick && g.o.verify && g.o.jobs == 4 && g.args.n == 1);
	CHECK_STR(g.o.shared.file, "a");
	CHECK_INT(parse(&g, WORDS("-fa", "-j", "2", "y")), 0);
	CHECK_STR(g.o.shared.file, "a");
	CHECK_INT(g.o.jobs, 2);
	CHECK_INT(parse(&g, WORDS("-qfa=b")), 0);
	CHECK_STR(g.o.shared.file, "a=b");
	CHECK_INT(parse(&g, WORDS("--file=", "--format=json")), 0);
	CHECK_STR(g.o.shared.file, "");
	CHECK_STR(g.o.format, "json");
	CHECK_INT(parse(&g, WORDS("--set=a=1", "x", "--set", "b=2", "--", "-q", "--file")), 0);
	CHECK(g.o.shared.set.n == 2 && g.args.n == 3 && !g.o.quick);
	CHECK_STR(g.o.shared.set.at[0], "a=1");
	CHECK_STR(g.o.shared.set.at[1], "b=2");
	CHECK_STR(g.args.at[1], "-q");
	CHECK_INT(parse(&g, WORDS("-")), 0);
	CHECK_STR(g.args.at[0], "-");
	CHECK_INT(parse(&g, WORDS(NULL)), 0);
	CHECK_STR(g.o.shared.file, "slipway.yaml"); /* the fallback */
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
		{{"--quick=1"},
	         "option --quick takes no value",
	         "write --quick alone, or leave it out"},
		{{"--file"}, "option --file needs a value: FILE", "write --file FILE"},
		{{"-qf"}, "option --file needs a value: FILE", "write --file FILE"},
		{{"--jobs", "many"},
	         "option --jobs: 'many' is not a whole number",
	         "write digits alone, as in --jobs=4"},
		{{"--jobs=-1"},
	         "option --jobs: '-1' is not a whole number",
	         "write digits alone, as in --jobs=4"},
		{{"--jobs="},
	         "option --jobs: '' is not a whole number",
	         "write digits alone, as in --jobs=4"},
		{{"--jobs=99999999999999999999"},
	         "option --jobs: '99999999999999999999' is not a whole number",
	         "write digits alone, as in --jobs=4"},
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

static void every_table_has_its_struct(void)
{
	AUTO(got) struct got g = {0};

	CHECK_INT(parse(&g, WORDS("-qh", "--colour=blue", "--set", "a=1")), 0);
	CHECK(g.o.quick && g.common.help && !g.o.verify);
	CHECK_STR(g.common.colour, "blue");
	CHECK_STR(g.o.shared.set.at[0], "a=1");
	CHECK_INT(parse(&g, WORDS("x")), 0);
	CHECK_STR(g.common.colour, "red");
	CHECK(parse(&g, WORDS("--colou=x")) != 0);
	CHECK_STR(g.err.hint, "did you mean --colour?");
}

static void rows_by_name(void)
{
	CHECK(option_find(&table, "file=x", 4) == &rows[2]);
	CHECK(option_find(&table, "fil", 3) == NULL);
}

int main(void)
{
	TEST("option: accepted forms", accepted_forms);
	TEST("option: refused forms, with the nearest name", refused_forms);
	TEST("option: every table fills a struct of its own", every_table_has_its_struct);
	TEST("option: rows by name", rows_by_name);
	return test_done();
}
