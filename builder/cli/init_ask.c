/*
 * The questions of `slipway init`: one for each option that is open, with an answer proposed. An
 * answer that the option would refuse is asked for again.
 */
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/cli/init_request.h"
#include "builder/cli/terminal.h"
#include "builder/init/look.h"

enum { ANSWER_MAX = 512 };

struct init_question {
	const char *text;
	const char *proposal;       /* what an empty answer means; NULL = nothing */
	bool needed;                /* nothing is no answer */
	const char *const *choices; /* NULL = `check` says what is right */
	int (*check)(const char *answer, struct arena *a, struct err *err);
};

static int check_image(const char *answer, struct arena *a, struct err *err)
{
	const char *repository, *tag;

	return init_parse_image(answer, a, &repository, &tag, err);
}

static int check_fleet(const char *answer, struct arena *a, struct err *err)
{
	struct strlist one = {&answer, 1}, targets;

	return init_split_fleet(&one, a, &targets, err);
}

static int check_answer(const struct init_question *q, const char *answer, struct arena *a,
                        struct err *err)
{
	if (q->choices == NULL)
		return q->check(answer, a, err);
	for (size_t i = 0; q->choices[i] != NULL; i++)
		if (strcmp(q->choices[i], answer) == 0)
			return 0;
	return err_set(err, ERR_USAGE, "'%s' is none of these", answer);
}

static void show(const char *text)
{
	FILE *shown = terminal_filter(stderr, NULL);

	if (shown == NULL)
		return;
	fputs(text, shown);
	fclose(shown);
	fflush(stderr);
}

static void show_question(const struct init_question *q, struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);

	strbuf_adds(&text, q->text);
	for (size_t i = 0; q->choices != NULL && q->choices[i] != NULL; i++)
		strbuf_addf(&text, "%s%s", i > 0 ? ", " : " ", q->choices[i]);
	if (q->proposal != NULL)
		strbuf_addf(&text, " [%s]", q->proposal);
	else if (!q->needed)
		strbuf_adds(&text, " [none]");
	strbuf_adds(&text, ": ");
	show(arena_strdup(a, strbuf_str(&text)));
}

/* A line without the space around it, NULL at the end of the input. */
static char *read_line(char buf[ANSWER_MAX])
{
	char *text = fgets(buf, ANSWER_MAX, stdin);

	if (text == NULL)
		return NULL;
	text += strspn(text, " \t");
	text[strcspn(text, "\r\n")] = '\0';
	for (size_t len = strlen(text); len > 0 && strchr(" \t", text[len - 1]) != NULL; len--)
		text[len - 1] = '\0';
	return text;
}

static int ask(struct cli *cli, const struct init_question *q, const char **ret_answer,
               struct err *err)
{
	char buf[ANSWER_MAX];

	for (;;) {
		struct err wrong = {0};

		show_question(q, &cli->arena);
		char *answer = read_line(buf);

		if (interrupt_check(err) != 0)
			return -1;
		if (answer == NULL)
			return err_set(err, ERR_USAGE, "no answer; nothing was written");
		if (*answer == '\0' && (q->proposal != NULL || !q->needed)) {
			*ret_answer = q->proposal;
			return 0;
		}
		if (check_answer(q, answer, &cli->arena, &wrong) == 0) {
			*ret_answer = arena_strdup(&cli->arena, answer);
			return 0;
		}
		show(arena_printf(&cli->arena, "%s%s%s\n", wrong.msg,
		                  wrong.hint[0] != '\0' ? "; " : "", wrong.hint));
	}
}

static int nobody_answers(const struct init_seen *seen, struct err *err)
{
	err_set(err, ERR_USAGE, "init asks its questions on a terminal, and this is none");
	return err_hint(err,
	                "pass --kind %s%s; and, as needed, --image HOST/NAME, --fleet g5,trn1 "
	                "and --ci github",
	                seen->project != NULL ? seen->project->kind
	                                      : "c|c++|go|rust|python|pytorch",
	                seen->project != NULL ? ", which is what the folder looks like" : "");
}

int init_ask(struct cli *cli, struct init_options *o, struct err *err)
{
	struct init_question kind = {
		.text = "What is in this folder?", .needed = true, .choices = init_kinds};
	const struct init_question image = {
		.text = "Where is the image pushed, as in ghcr.io/team/app?", .check = check_image};
	const struct init_question fleet = {.text = "On which machines does it run, as in g5,trn1?",
	                                    .check = check_fleet};
	const struct init_question ci = {.text = "Which CI builds it?", .choices = init_ci_names};
	const char *targets = NULL;
	struct init_seen seen;

	if (o->kind != NULL)
		return 0;
	if (init_look(o->dir, NULL, &cli->arena, &seen, err) != 0)
		return -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return nobody_answers(&seen, err);
	kind.proposal = seen.project != NULL ? seen.project->kind : NULL;
	if (ask(cli, &kind, &o->kind, err) != 0 ||
	    (o->image == NULL && ask(cli, &image, &o->image, err) != 0))
		return -1;
	if (o->image != NULL && o->fleet.n == 0 && ask(cli, &fleet, &targets, err) != 0)
		return -1;
	if (targets != NULL) {
		o->fleet = (struct strlist){arena_calloc(&cli->arena, 1, sizeof(char *)), 1};
		o->fleet.at[0] = targets;
	}
	return o->image != NULL && o->ci == NULL ? ask(cli, &ci, &o->ci, err) : 0;
}
