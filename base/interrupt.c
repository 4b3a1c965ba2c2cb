#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/*
 * One request may come as several signals: timeout(1) sends one to the program and another to its
 * group, a shell and a terminal do alike.
 */
enum { SAME_REQUEST_MS = 200 };

static volatile sig_atomic_t requested;
static _Atomic int64_t requested_ms;
static atomic_bool on_hold;

/* clock_gettime and sigaction may be called in a handler (signal-safety(7)). */
static int64_t now_ms(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_signal(int number)
{
	const struct sigaction end = {.sa_handler = SIG_DFL};

	if (!requested) {
		requested_ms = now_ms();
		requested = 1;
	} else if (now_ms() - requested_ms > SAME_REQUEST_MS) {
		/* It is delivered again as soon as this handler returns. */
		sigaction(number, &end, NULL);
		raise(number);
	}
}

static bool is_ignored(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void interrupt_install(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!is_ignored(SIGHUP))
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

bool interrupt_requested(void)
{
	return requested != 0 && !on_hold;
}

int interrupt_check(struct err *err)
{
	return interrupt_requested() ? err_set(err, ERR_INTERRUPTED, "interrupted") : 0;
}

void interrupt_hold(bool held)
{
	on_hold = held;
}
