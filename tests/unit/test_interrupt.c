/* Asking to stop, the clock that listens to it, and progress that nobody watches. */
#include "tests/harness.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/progress.h"

static int64_t now(void)
{
	return clock_system()->now_ms(clock_system());
}

/* The flag is never taken back, so each case runs in a child of ours; returns its wait status. */
static int in_a_child(void (*what)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGHUP, SIG_DFL); /* whoever runs this may ignore it */
		interrupt_install();
		what();
		_exit(test_state.ok ? 0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static void stop_by(int number)
{
	struct err err = {0};

	CHECK(!interrupt_requested());
	CHECK_INT(interrupt_check(&err), 0);
	CHECK_INT(err.code, ERR_NONE);
	raise(number);
	CHECK(interrupt_requested());
	CHECK_INT(interrupt_check(&err), -1);
	CHECK_INT(err.code, ERR_INTERRUPTED);
}

static void by_int(void)
{
	stop_by(SIGINT);
}

static void by_term(void)
{
	stop_by(SIGTERM);
	raise(SIGTERM); /* timeout(1) sends it to the program, and again to its group */
	CHECK(interrupt_requested());
}

static void by_hup(void)
{
	stop_by(SIGHUP);
}

static void by_ignored_hup(void)
{
	signal(SIGHUP, SIG_IGN);
	interrupt_install();
	raise(SIGHUP);
	CHECK(!interrupt_requested());
}

static void by_pipe(void)
{
	raise(SIGPIPE);
	CHECK(!interrupt_requested());
}

static void signals_ask_to_stop(void)
{
	CHECK_INT(in_a_child(by_int), 0);
	CHECK_INT(in_a_child(by_term), 0);
	CHECK_INT(in_a_child(by_hup), 0);
	CHECK_INT(in_a_child(by_ignored_hup), 0);
	CHECK_INT(in_a_child(by_pipe), 0);
	CHECK(!interrupt_requested());
}

static void wait_a_moment(void)
{
	struct timespec left = {0, 300000000};

	while (nanosleep(&left, &left) != 0)
		continue;
}

static void int_twice(void)
{
	raise(SIGINT);
	wait_a_moment();
	raise(SIGINT);
}

static void int_then_term(void)
{
	raise(SIGINT);
	wait_a_moment();
	raise(SIGTERM);
}

static void term_twice_while_held(void)
{
	interrupt_hold(true);
	raise(SIGTERM);
	wait_a_moment();
	raise(SIGTERM);
}

static void a_second_signal_ends_the_process(void)
{
	int status = in_a_child(int_twice);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = in_a_child(int_then_term);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	status = in_a_child(term_twice_while_held);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void sleep_long(void)
{
	raise(SIGTERM);
	clock_system()->sleep_ms(clock_system(), 60000);
}

static void a_stop_ends_a_sleep(void)
{
	int64_t start = now();

	CHECK_INT(in_a_child(sleep_long), 0);
	CHECK(now() - start < 30000);
}

static void the_clock_runs(void)
{
	int64_t start = now();

	CHECK(start > INT64_C(1600000000) * 1000); /* milliseconds, not seconds */
	clock_system()->sleep_ms(clock_system(), 150);
	CHECK(now() - start >= 140 && now() - start < 30000);
	clock_system()->sleep_ms(clock_system(), -5);
}

static void the_running_clock_counts_nanoseconds(void)
{
	int64_t ns = clock_monotonic_ns();
	double s = clock_seconds();

	clock_system()->sleep_ms(clock_system(), 50);
	CHECK(clock_monotonic_ns() - ns >= 49000000 && clock_monotonic_ns() - ns < 30000000000);
	CHECK(clock_seconds() - s >= 0.049 && clock_seconds() - s < 30);
}

static int count(void *ctx, size_t i UNUSED, struct err *err UNUSED)
{
	++*(int *)ctx;
	return 0;
}

static void run_a_pool(void)
{
	struct err err = {0};
	int n = 0;

	raise(SIGINT);
	CHECK(pool_run(10, 1, count, &n, &err) != 0);
	CHECK_INT(err.code, ERR_INTERRUPTED);
	CHECK_INT(n, 0);
}

static void a_stop_starts_no_more_jobs(void)
{
	CHECK_INT(in_a_child(run_a_pool), 0);
}

/* A listener that writes down what it hears. */
struct listener {
	struct progress progress;
	char heard[256];
};

static void hear(struct progress *p, const char *text)
{
	struct listener *l = (struct listener *)p;
	size_t len = strlen(l->heard);

	snprintf(l->heard + len, sizeof(l->heard) - len, "%s;", text);
}

static unsigned on_start(struct progress *p, const char *label, int64_t total)
{
	hear(p, total == 5 ? label : "?");
	return 3;
}

static void on_advance(struct progress *p, unsigned id, int64_t bytes)
{
	hear(p, id == 3 && bytes == -2 ? "back" : "?");
}

static void on_finish(struct progress *p, unsigned id, const char *result)
{
	hear(p, id == 3 ? result : "?");
}

static void listeners_hear_everything(void)
{
	struct listener l = {.progress = {on_start, on_advance, on_finish, hear}};
	unsigned id = progress_start(&l.progress, "layer", 5);

	progress_advance(&l.progress, id, -2);
	progress_note(&l.progress, "server says '%s'", "a\033[2Jb\x7f");
	progress_finish(&l.progress, id, "done");
	CHECK_STR(l.heard, "layer;back;server says 'a?[2Jb?';done;");
}

static void nobody_needs_to_listen(void)
{
	CHECK_INT(progress_start(NULL, "x", -1), 0);
	progress_advance(NULL, 0, 1);
	progress_note(NULL, "%d", 1);
	progress_finish(NULL, 0, "done");
}

int main(void)
{
	TEST("interrupt: SIGINT, SIGTERM and a SIGHUP that nobody ignored ask to stop",
	     signals_ask_to_stop);
	TEST("interrupt: a second signal of any kind ends the process as if nothing caught it",
	     a_second_signal_ends_the_process);
	TEST("clock: runs in milliseconds", the_clock_runs);
	TEST("clock: the running clock counts nanoseconds, and seconds",
	     the_running_clock_counts_nanoseconds);
	TEST("clock: a stop ends a sleep", a_stop_ends_a_sleep);
	TEST("pool: a stop starts no more jobs", a_stop_starts_no_more_jobs);
	TEST("progress: a listener hears everything, free of control bytes",
	     listeners_hear_everything);
	TEST("progress: nobody needs to listen", nobody_needs_to_listen);
	return test_done();
}
