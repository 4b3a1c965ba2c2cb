/*
 * slipway: finds the command, parses its options, runs it, and says on standard error what went
 * wrong. The only main() of the tool.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto/memory.h"
#include "base/doc/diag_json.h"
#include "base/doc/json.h"
#include "base/fds.h"
#include "base/interrupt.h"
#include "builder/cli/command.h"
#include "builder/cli/habits.h"
#include "builder/cli/os_hint.h"
#include "builder/cli/progress_view.h"
#include "builder/cli/terminal.h"

static int usage_error(const char *name)
{
	const char *near = command_nearest(name), *habit = habit_of(name);

	fprintf(stderr, "slipway: error: unknown command '%s'\n", name);
	if (habit != NULL) {
		fprintf(stderr, "  hint: %s\n", habit);
		return EXIT_USAGE;
	}
	if (name[0] == '-') {
		fputs("  hint: options follow the command, as in `slipway build --quiet`\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (near != NULL)
		fprintf(stderr, "  hint: did you mean `slipway %s`?\n", near);
	else
		fprintf(stderr, "  hint: `slipway help` lists the commands\n");
	return EXIT_USAGE;
}

/* Warnings and notes are for who did not ask for quiet. */
static void keep_errors(struct diags *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->at[i].severity == DIAG_ERROR)
			d->at[n++] = d->at[i];
	d->n = n;
}

static void print_diags(struct cli *cli, bool colour)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (cli->common.quiet)
		keep_errors(&cli->diags);
	if (cli->diags.n == 0)
		return;
	diags_text(&cli->diags, colour, &text);
	fputs(strbuf_str(&text), stderr);
}

static void print_error(const struct err *err, bool colour)
{
	const char *on = colour ? "\033[1;31m" : "", *off = colour ? "\033[0m" : "";

	if (err->at.file != NULL)
		fprintf(stderr, "%s:%u:%u: ", err->at.file, err->at.line, err->at.column);
	else
		fprintf(stderr, "slipway: ");
	fprintf(stderr, "%serror:%s %s\n", on, off, err->msg);
	if (err->hint[0] != '\0')
		fprintf(stderr, "  hint: %s\n", err->hint);
}

/*
 * A JSON caller gets failures on standard output too, unless the command printed its own document.
 */
static void print_error_json(struct cli *cli, const struct err *err)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *error = json_add_object(doc, "error");

	json_add_string(error, "code", err_code_name(err->code));
	json_add_string(error, "message", err->msg);
	if (err->hint[0] != '\0')
		json_add_string(error, "hint", err->hint);
	if (err->http_status != 0)
		json_add_int(error, "http_status", err->http_status);
	if (cli->diags.n > 0)
		diags_json(&cli->diags, json_add_array(doc, "problems"));
	cli_print_json(cli, doc);
}

/* Only a pipe that nobody reads any more has this. */
static bool reader_is_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

/* 0, or why standard output could not be written. */
static int flush_errno(const struct cli *cli)
{
	errno = 0;
	if (fflush(cli->out) == 0 && fflush(cli->bytes) == 0 && !ferror(cli->out) &&
	    !ferror(cli->bytes))
		return 0;
	if (cli->out_errno != 0)
		return cli->out_errno;
	if (reader_is_gone())
		return EPIPE;
	return errno != 0 ? errno : EIO;
}

/* As every filter ends whose reader has had enough: `slipway schema | head` did not fail. */
static void end_by_pipe(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}

static int flush_output(struct cli *cli, struct err *err)
{
	int why = flush_errno(cli);

	if (why == 0)
		return 0;
	if (why == EPIPE)
		end_by_pipe();
	errno = why;
	return err_set(err, ERR_IO, "write standard output");
}

static enum exit_status finish_command(struct cli *cli, int result, struct err *err)
{
	bool colour = progress_colour(stderr);

	print_diags(cli, colour);
	if (result == 0)
		result = flush_output(cli, err);
	if (result == 0)
		return cli->verdict;
	if (os_hint(err->os_errno) != NULL)
		err_hint(err, "%s", os_hint(err->os_errno));
	print_error(err, colour);
	if (cli_json(cli) && !cli->json_printed)
		print_error_json(cli, err);
	fflush(cli->out);
	enum exit_status status = exit_status_of(err);

	return status == EXIT_FAILED && cli->verdict != EXIT_OK ? cli->verdict : status;
}

static int parse_arguments(struct cli *cli, int argc, char **argv, struct err *err)
{
	struct common_options common = {0};
	void *options = arena_calloc(&cli->arena, 1, cli->command->options.size);
	const struct option_target targets[] = {{&cli->command->options, options},
	                                        {&common_options, &common}};

	if (options_parse(targets, ARRAY_LEN(targets), argc, argv, &cli->arena, &cli->args, err) !=
	    0)
		return err->hint[0] != '\0' ? -1
		                            : err_hint(err, "`slipway %s --help` lists its options",
		                                       cli->command->name);
	cli->common = common;
	cli->options = options;
	if (common.help)
		return 0;
	if (common.quiet && common.verbose) {
		err_set(err, ERR_USAGE, "options --quiet and --verbose contradict each other");
		return err_hint(err, "leave one of them out");
	}
	return command_check_arguments(cli, err);
}

static struct progress_view *open_view(const struct common_options *o)
{
	return progress_view_new(o->quiet ? "none" : o->progress, o->verbose, stderr);
}

static enum exit_status run_command(const struct command *command, int argc, char **argv)
{
	struct cli cli = {.command = command};
	struct err err = {0};
	int result;

	cli.out = terminal_filter(stdout, &cli.out_errno);
	if (cli.out == NULL) {
		fputs("slipway: error: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	cli.bytes = isatty(STDOUT_FILENO) ? cli.out : stdout;
	result = parse_arguments(&cli, argc, argv, &err);

	if (result == 0 && cli.common.help) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

		help_command(command, &text);
		fputs(strbuf_str(&text), cli.out);
	} else if (result == 0) {
		struct progress_view *view = open_view(&cli.common);

		cli.progress = progress_view_progress(view);
		cli.live = progress_view_live(view) && isatty(STDOUT_FILENO);
		result = command->run(&cli, &err);
		progress_view_free(view);
	}

	enum exit_status status = finish_command(&cli, result, &err);

	fclose(cli.out);
	diags_done(&cli.diags);
	arena_done(&cli.arena);
	return status;
}

int main(int argc, char **argv)
{
	if (fds_secure() != 0)
		return EXIT_FAILED;
	json_use_mem();
	crypto_use_mem();
	interrupt_install();
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

		help_program(&text);
		fputs(strbuf_str(&text), argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_USAGE : EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0)
		return (int)run_command(command_find("version"), 0, argv);

	const struct command *command = command_find(argv[1]);

	if (command == NULL)
		return usage_error(argv[1]);
	return (int)run_command(command, argc - 2, argv + 2);
}
