#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>

static volatile sig_atomic_t requested;
static atomic_bool on_hold;

static void on_signal(int number)
{
	if (requested && number == SIGINT)
		_exit(128 + SIGINT);
	requested = 1;
}

void interrupt_install(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
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
