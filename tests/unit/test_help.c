/* Help, man pages and completion agree with the tables. */
#include "tests/harness.h"

#include "base/proc.h"
#include "builder/cli/command.h"

static void names_all(const struct option *rows, size_t n, const char *text, const char *prefix,
                      const char *where)
{
	for (size_t i = 0; i < n; i++) {
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
		names_all(c->options, c->n_options, strbuf_str(&sb), "--", c->name);
		names_all(common_options, n_common_options, strbuf_str(&sb), "--", c->name);
		CHECK(strstr(strbuf_str(&sb), c->summary) != NULL);
		CHECK(c->summary[strlen(c->summary) - 1] != '.');
		CHECK(command_find(c->name) == c);
	}
	CHECK(command_find("nonsense") == NULL);
}

static void option_names_are_unique(void)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct option_table tables[] = {
			{commands[i]->options, commands[i]->n_options},
			{common_options, n_common_options}};
		bool letters[256] = {0};

		for (size_t t = 0; t < 2; t++)
			for (size_t k = 0; k < tables[t].n; k++) {
				const struct option *o = &tables[t].at[k];

				CHECK(option_find(tables, 2, o->name, strlen(o->name)) == o);
				CHECK(o->letter == 0 || !letters[(unsigned char)o->letter]);
				letters[(unsigned char)o->letter] = true;
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

static void man_pages(void)
{
	AUTO(strbuf) struct strbuf program = STRBUF_INIT(1 << 20);

	help_man(NULL, &program);
	CHECK(strncmp(strbuf_str(&program), ".TH SLIPWAY 1", 13) == 0);
	for (size_t i = 0; commands[i] != NULL; i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

		help_man(commands[i], &sb);
		for (size_t k = 0; k < commands[i]->n_options; k++) {
			const char *dash = strchr(commands[i]->options[k].name, '-');
			size_t len =
				dash != NULL ? (size_t)(dash - commands[i]->options[k].name) : 99;
			char want[128];

			snprintf(want, sizeof(want), "\\-\\-%.*s", (int)len,
			         commands[i]->options[k].name);
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
			names_all(commands[k]->options, commands[k]->n_options, strbuf_str(&sb),
			          i == 2 ? "-l " : "--", shells[i]);
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
	TEST("help: man pages", man_pages);
	TEST("help: completion scripts are valid", completion_scripts);
	return test_done();
}
