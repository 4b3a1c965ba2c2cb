/* Calls of kubectl that are begun before their answers are needed. */
#include "k8s/deploy/ahead.h"

#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/fs.h"
#include "tests/harness.h"

/* A kubectl whose words are a shell's script; what is called the plain way is counted. */
struct shell {
	struct kubectl base;
	int calls;
};

static int call_shell(struct kubectl *base, const char *const *args, const char *input,
                      struct kubectl_reply *ret, struct err *err)
{
	const char *const argv[] = {"sh", "-c", args[0], NULL};
	struct proc_result r = {.out = STRBUF_INIT(1 << 20), .err_text = STRBUF_INIT(4096)};

	((struct shell *)base)->calls++;
	if (proc_run(argv, input, 5000, &r, err) != 0)
		return -1;
	*ret = (struct kubectl_reply){r.exit_status, r.out, r.err_text};
	return 0;
}

static int follow_shell(struct kubectl *base, const char *const *args, struct proc_child *ret,
                        struct err *err)
{
	const char *const argv[] = {"sh", "-c", args[0], NULL};

	(void)base;
	return proc_start(argv, ret, err);
}

static struct shell shell(void)
{
	return (struct shell){
		.base = {.call = call_shell, .clock = clock_system(), .follow = follow_shell}};
}

#define WORDS(text) ((const char *const[]){(text), NULL})

static void check_reply(struct kubectl_ahead *a, const char *const *words, int status,
                        const char *out, const char *err_text)
{
	struct kubectl_reply reply = {0};
	struct err err = {0};

	CHECK_INT(a->base.call(&a->base, words, NULL, &reply, &err), 0);
	CHECK_INT(reply.status, status);
	CHECK_STR(strbuf_str(&reply.out), out);
	CHECK_STR(strbuf_str(&reply.err_text), err_text);
	kubectl_reply_done(&reply);
}

static void answers_are_those_of_the_calls(void)
{
	struct shell k = shell();
	AUTO(kubectl_ahead) struct kubectl_ahead a = {0};

	kubectl_ahead_init(&a, &k.base);
	kubectl_ahead_begin(&a, WORDS("echo one"));
	kubectl_ahead_begin(&a, WORDS("echo two; echo sorry >&2; exit 3"));
	check_reply(&a, WORDS("echo two; echo sorry >&2; exit 3"), 3, "two\n", "sorry\n");
	check_reply(&a, WORDS("echo one"), 0, "one\n", "");
	CHECK_INT(k.calls, 0);
	/* Each answer is given once: a call that is made again is made. */
	check_reply(&a, WORDS("echo one"), 0, "one\n", "");
	check_reply(&a, WORDS("echo three"), 0, "three\n", "");
	CHECK_INT(k.calls, 2);
}

/* Each waits until all the others are there. */
static void calls_run_together(void)
{
	enum { ALL = AHEAD_MAX };
	struct shell k = shell();
	AUTO(kubectl_ahead) struct kubectl_ahead a = {0};
	char dir[4096], scripts[ALL][4500], said[ALL][8];
	struct err err = {0};

	test_tmpdir(dir);
	kubectl_ahead_init(&a, &k.base);
	for (int i = 0; i < ALL; i++) {
		snprintf(scripts[i], sizeof(scripts[i]),
		         "cd '%s'; : >%d; until [ -e 0 -a -e 1 -a -e 2 -a -e 3 ]; do sleep 0.01; "
		         "done; echo %d",
		         dir, i, i);
		snprintf(said[i], sizeof(said[i]), "%d\n", i);
		kubectl_ahead_begin(&a, WORDS(scripts[i]));
	}
	/* There is room for so many. */
	kubectl_ahead_begin(&a, WORDS("echo more"));
	for (int i = 0; i < ALL; i++)
		check_reply(&a, WORDS(scripts[i]), 0, said[i], "");
	CHECK_INT(k.calls, 0);
	check_reply(&a, WORDS("echo more"), 0, "more\n", "");
	CHECK_INT(k.calls, 1);
	CHECK_INT(fs_remove_tree(dir, &err), 0);
}

static void more_than_a_pipe_holds_is_read(void)
{
	struct shell k = shell();
	AUTO(kubectl_ahead) struct kubectl_ahead a = {0};
	struct kubectl_reply reply = {0};
	struct err err = {0};

	kubectl_ahead_init(&a, &k.base);
	kubectl_ahead_begin(&a, WORDS("seq 100000"));
	CHECK_INT(a.base.call(&a.base, WORDS("seq 100000"), NULL, &reply, &err), 0);
	CHECK_INT(reply.out.len, 588895);
	kubectl_reply_done(&reply);
}

static void what_nobody_asks_for_is_ended(void)
{
	struct shell k = shell();
	struct kubectl_ahead a = {0};
	double start = clock_seconds();

	kubectl_ahead_init(&a, &k.base);
	kubectl_ahead_begin(&a, WORDS("exec sleep 600"));
	kubectl_ahead_done(&a);
	CHECK(clock_seconds() - start < 300);
}

static void without_following_calls_are_made_when_asked_for(void)
{
	struct shell k = shell();
	AUTO(kubectl_ahead) struct kubectl_ahead a = {0};

	k.base.follow = NULL;
	kubectl_ahead_init(&a, &k.base);
	kubectl_ahead_begin(&a, WORDS("echo one"));
	check_reply(&a, WORDS("echo one"), 0, "one\n", "");
	CHECK_INT(k.calls, 1);
}

int main(void)
{
	TEST("ahead: each answer is that of its call, and given once",
	     answers_are_those_of_the_calls);
	TEST("ahead: calls run together", calls_run_together);
	TEST("ahead: more than a pipe holds is read", more_than_a_pipe_holds_is_read);
	TEST("ahead: what nobody asks for is ended", what_nobody_asks_for_is_ended);
	TEST("ahead: where calls cannot be followed, they are made when asked for",
	     without_following_calls_are_made_when_asked_for);
	return test_done();
}
