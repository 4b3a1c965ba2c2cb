/* Help, man pages and completion agree with the tables. */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/proc.h"
#include "builder/cli/command.h"
#include "builder/cli/habits.h"

static void names_all(const struct option_table *table, const char *text, const char *prefix,
                      const char *where)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++) {
		char want[128];

		snprintf(want, sizeof(want), "%s%.100s", prefix, rows[i].name);
		if (strstr(text, want) == NULL) {
			CHECK(!"the option is named");
			printf("#   %s of %s\n", want, where);
		}
		CHECK(rows[i].help != NULL && rows[i].help[0] != '\0');
		CHECK((rows[i].kind == OPTION_FLAG) == (rows[i].metavar == NULL));
		CHECK(rows[i].complete != COMPLETE_CHOICES || rows[i].choices != NULL);
	}
}

static void every_help_names_every_option(void)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
		const struct command *c = commands[i];

		help_command(c, &sb);
		names_all(&c->options, strbuf_str(&sb), "--", c->name);
		names_all(&common_options, strbuf_str(&sb), "--", c->name);
		CHECK(strstr(strbuf_str(&sb), c->summary) != NULL);
		CHECK(c->summary[strlen(c->summary) - 1] != '.');
		CHECK(command_find(c->name) == c);
	}
	CHECK(command_find("nonsense") == NULL);
}

static void option_names_are_unique(void)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct option_table *tables[] = {&commands[i]->options, &common_options};
		bool letters[256] = {0};

		for (size_t t = 0; t < 2; t++)
			for (size_t k = 0; k < tables[t]->n; k++) {
				const struct option *o = &tables[t]->at[k];
				size_t len = strlen(o->name);

				CHECK(option_find(tables[t], o->name, len) == o);
				CHECK(option_find(tables[1 - t], o->name, len) == NULL);
				CHECK(o->letter == 0 || !letters[(unsigned char)o->letter]);
				letters[(unsigned char)o->letter] = true;
			}
	}
}

static size_t member_size(enum option_kind kind)
{
	static const size_t sizes[] = {
		[OPTION_FLAG] = sizeof(bool),           [OPTION_TEXT] = sizeof(const char *),
		[OPTION_NUMBER] = sizeof(int64_t),      [OPTION_SIZE] = sizeof(int64_t),
		[OPTION_LIST] = sizeof(struct strlist),
	};

	return sizes[kind];
}

/* Rows of another command's struct, or two rows for one member, would write over what is there. */
static void options_have_members_of_their_own(void)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct option_table *t = &commands[i]->options;

		for (size_t k = 0; k < t->n; k++) {
			size_t end = t->at[k].offset + member_size(t->at[k].kind);

			CHECK(end <= t->size);
			for (size_t j = 0; j < t->n; j++)
				CHECK(j == k || t->at[j].offset >= end ||
				      t->at[j].offset + member_size(t->at[j].kind) <=
				              t->at[k].offset);
		}
	}
}

static void the_program_help_lists_commands(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	help_program(&sb);
	for (size_t i = 0; commands[i] != NULL; i++)
		CHECK(commands[i]->hidden || strstr(strbuf_str(&sb), commands[i]->summary) != NULL);
}

/* README.md has a row per status, as the table says it. */
static void exit_statuses_are_documented(void)
{
	AUTO(strbuf) struct strbuf help = STRBUF_INIT(1 << 20), man = STRBUF_INIT(1 << 20);
	AUTO(strbuf) struct strbuf readme = STRBUF_INIT(1 << 20);
	struct err err = {0};

	help_program(&help);
	help_man(NULL, &man);
	CHECK_OK(fs_read_file("README.md", 1 << 20, &readme, &err), &err);
	for (int i = 0; i < EXIT_STATUSES; i++) {
		const struct exit_status_row *row = &exit_statuses[i];
		char want[256];

		CHECK(row->name != NULL && row->meaning != NULL);
		CHECK(strstr(strbuf_str(&help), row->meaning) != NULL);
		snprintf(want, sizeof(want), ".B %d\n%s: ", i, row->name);
		CHECK(strstr(strbuf_str(&man), want) != NULL);
		snprintf(want, sizeof(want), "\n| %d | %s | %s |\n", i, row->name, row->meaning);
		if (strstr(strbuf_str(&readme), want) == NULL) {
			CHECK(!"README.md has the row");
			printf("#   %s", want + 1);
		}
	}
}

/* As print_error says it: every code has a status of the table. */
static void every_error_has_a_status(void)
{
	for (int code = ERR_NONE; code <= ERR_INTERRUPTED; code++) {
		const struct err err = {.code = (enum err_code)code};
		enum exit_status status = exit_status_of(&err);

		CHECK((status == EXIT_OK) == (code == ERR_NONE));
		CHECK(status < EXIT_STATUSES);
	}
}

/* A word of another tool is none of ours: its hint would never be seen. */
static void habits_are_others(void)
{
	CHECK_STR(habit_of("apply"), "write `slipway deploy`");
	CHECK_STR(habit_of("--json"), "write --output json");
	CHECK(habit_of("--no-such-option") == NULL);
	for (size_t i = 0; commands[i] != NULL; i++) {
		CHECK(habit_of(commands[i]->name) == NULL);
		/* An option of one command may be missed in another. */
		CHECK(commands[i]->actions == NULL || commands[i]->arg_choices == NULL);
	}
	for (size_t i = 0; i < common_options.n; i++) {
		char word[64];

		snprintf(word, sizeof(word), "--%s", common_options.at[i].name);
		CHECK(habit_of(word) == NULL);
	}
}

static void the_nearest_command(void)
{
	CHECK_STR(command_nearest("biuld"), "build");
	CHECK_STR(command_nearest("hlep"), "help");
	CHECK(command_nearest("zzzzzzzzzzzz") == NULL);
}

static void man_pages(void)
{
	AUTO(strbuf) struct strbuf program = STRBUF_INIT(1 << 20);

	help_man(NULL, &program);
	CHECK(strncmp(strbuf_str(&program), ".TH SLIPWAY 1", 13) == 0);
	for (size_t i = 0; commands[i] != NULL; i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

		help_man(commands[i], &sb);
		for (size_t k = 0; k < commands[i]->options.n; k++) {
			const char *dash = strchr(commands[i]->options.at[k].name, '-');
			size_t len = dash != NULL ? (size_t)(dash - commands[i]->options.at[k].name)
			                          : 99;
			char want[128];

			snprintf(want, sizeof(want), "\\-\\-%.*s", (int)len,
			         commands[i]->options.at[k].name);
			CHECK(strstr(strbuf_str(&sb), want) != NULL);
		}
		CHECK(strstr(strbuf_str(&sb), ".SH OPTIONS\n") != NULL);
	}
}

static void completion_scripts(void)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
		AUTO(proc_result)
		struct proc_result r = {.out = STRBUF_INIT(1 << 16),
		                        .err_text = STRBUF_INIT(1 << 16)};
		const char *const argv[] = {shells[i], "-n", NULL};

		CHECK_OK(completion_script(shells[i], &sb, &err), &err);
		for (size_t k = 0; commands[k] != NULL; k++)
			names_all(&commands[k]->options, strbuf_str(&sb), i == 2 ? "-l " : "--",
			          shells[i]);
		if (proc_run(argv, strbuf_str(&sb), 20000, &r, &err) != 0 &&
		    err.code == ERR_NOT_FOUND)
			continue; /* bash is always there; the other shells where installed */
		CHECK_INT(r.exit_status, 0);
		CHECK_STR(strbuf_str(&r.err_text), "");
	}
	AUTO(strbuf) struct strbuf none = STRBUF_INIT(1 << 10);

	CHECK(completion_script("csh", &none, &err) != 0);
	CHECK_INT(err.code, ERR_USAGE);
}

int main(void)
{
	TEST("help: every command's help names every option", every_help_names_every_option);
	TEST("help: option names and letters are unique", option_names_are_unique);
	TEST("help: the program's help lists the commands", the_program_help_lists_commands);
	TEST("help: options have members of their own", options_have_members_of_their_own);
	TEST("help: exit statuses are documented", exit_statuses_are_documented);
	TEST("help: every error has an exit status", every_error_has_a_status);
	TEST("help: words of other tools are none of ours", habits_are_others);
	TEST("help: the nearest command", the_nearest_command);
	TEST("help: man pages", man_pages);
	TEST("help: completion scripts are valid", completion_scripts);
	return test_done();
}
