/* Child programs: streams, caps, time-outs. */
#include "tests/harness.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include "base/proc.h"

#define RESULT(max_)                                                                               \
	{                                                                                          \
		.out = STRBUF_INIT(max_), .err_text = STRBUF_INIT(max_)                            \
	}
#define SH(text) ((const char *const[]){"sh", "-c", (text), NULL})

static void streams_and_status(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(1000);
	struct err err = {0};

	CHECK_OK(proc_run(SH("cat; echo no >&2; exit 7"), "in put", 0, &r, &err), &err);
	CHECK_STR(strbuf_str(&r.out), "in put");
	CHECK_STR(strbuf_str(&r.err_text), "no\n");
	CHECK_INT(r.exit_status, 7);
}

static void without_input_stdin_is_empty(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(1000);
	struct err err = {0};

	CHECK_OK(proc_run(SH("wc -c"), NULL, 5000, &r, &err), &err);
	CHECK_INT(strtol(strbuf_str(&r.out), NULL, 10), 0);
}

static void large_input_does_not_block(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(1 << 20);
	AUTO_FREE char *big = malloc(300001);
	struct err err = {0};

	memset(big, 'x', 300000);
	big[300000] = '\0';
	CHECK_OK(proc_run((const char *const[]){"cat", NULL}, big, 20000, &r, &err), &err);
	CHECK_INT(r.out.len, 300000);
	strbuf_reset(&r.out);
	signal(SIGPIPE, SIG_IGN);
	CHECK_OK(proc_run((const char *const[]){"true", NULL}, big, 20000, &r, &err), &err);
	CHECK_INT(r.exit_status, 0);
}

static void arguments_reach_no_shell(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(1000);
	struct err err = {0};

	CHECK_OK(proc_run((const char *const[]){"printf", "%s|", "$HOME", "a b", "`x`;", NULL},
	                  NULL, 0, &r, &err),
	         &err);
	CHECK_STR(strbuf_str(&r.out), "$HOME|a b|`x`;|");
}

static void output_is_capped(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(10000);
	struct err err = {0};

	CHECK(proc_run((const char *const[]){"yes", NULL}, NULL, 20000, &r, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	CHECK(r.out.len <= 10000);
	CHECK_INT(r.exit_status, 128 + 9);
}

static void time_runs_out(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(100);
	struct err err = {0};
	time_t start = time(NULL);

	CHECK(proc_run((const char *const[]){"sleep", "60", NULL}, NULL, 300, &r, &err) != 0);
	CHECK_INT(err.code, ERR_NETWORK);
	CHECK(time(NULL) - start < 30);
	CHECK_INT(r.exit_status, 128 + 9);
}

static void closed_outputs_stop_no_clock(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(100);
	struct err err = {0};
	time_t start = time(NULL);

	CHECK(proc_run(SH("exec >&- 2>&-; exec sleep 60"), NULL, 300, &r, &err) != 0);
	CHECK_INT(err.code, ERR_NETWORK);
	CHECK(time(NULL) - start < 30);
	CHECK_INT(r.exit_status, 128 + 9);
	err = (struct err){0};
	CHECK_OK(proc_run(SH("exec >&- 2>&-; sleep 0.2; exit 3"), NULL, 20000, &r, &err), &err);
	CHECK_INT(r.exit_status, 3);
	CHECK_OK(proc_run(SH("exec >&- 2>&-; cat; exit 4"), "in", 20000, &r, &err), &err);
	CHECK_INT(r.exit_status, 4);
}

static void a_signal_is_a_status(void)
{
	AUTO(proc_result) struct proc_result r = RESULT(100);
	struct err err = {0};

	CHECK_OK(proc_run(SH("kill -TERM $$"), NULL, 0, &r, &err), &err);
	CHECK_INT(r.exit_status, 128 + 15);
}

/* valgrind turns posix_spawn's vfork into a fork, and then nobody tells the parent that exec failed. */
static bool spawn_is_emulated(void)
{
	const char *wrapper = getenv("WRAPPER");

	return wrapper != NULL && strstr(wrapper, "valgrind") != NULL;
}

static void missing_programs(void)
{
	if (spawn_is_emulated())
		SKIP("posix_spawn cannot report a missing program here");
	AUTO(proc_result) struct proc_result r = RESULT(100);
	struct err err = {0};

	CHECK(proc_run((const char *const[]){"slipway-no-such-program", NULL}, NULL, 0, &r, &err) !=
	      0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.msg, "slipway-no-such-program") != NULL);
	CHECK(proc_run((const char *const[]){"/etc", NULL}, NULL, 0, &r, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
}

static void no_descriptor_leaks(void)
{
	if (spawn_is_emulated())
		SKIP("posix_spawn cannot report a missing program here");
	int before = open("/dev/null", O_RDONLY), after;
	struct err err = {0};

	for (int i = 0; i < 5; i++) {
		AUTO(proc_result) struct proc_result r = RESULT(100);

		CHECK_OK(proc_run((const char *const[]){"true", NULL}, NULL, 0, &r, &err), &err);
		CHECK(proc_run((const char *const[]){"slipway-none", NULL}, NULL, 0, &r, &err) !=
		      0);
	}
	after = open("/dev/null", O_RDONLY);
	CHECK_INT(after, before + 1);
	close(before);
	close(after);
}

int main(void)
{
	TEST("proc: stdin, stdout, stderr and the status", streams_and_status);
	TEST("proc: without input stdin is empty", without_input_stdin_is_empty);
	TEST("proc: large input does not block", large_input_does_not_block);
	TEST("proc: arguments reach no shell", arguments_reach_no_shell);
	TEST("proc: output is capped", output_is_capped);
	TEST("proc: time runs out", time_runs_out);
	TEST("proc: closed outputs do not stop the clock", closed_outputs_stop_no_clock);
	TEST("proc: a signal is a status", a_signal_is_a_status);
	TEST("proc: a missing program", missing_programs);
	TEST("proc: no descriptor leaks", no_descriptor_leaks);
	return test_done();
}
