#include "trainer/cmd/local_ranks.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/interrupt.h"
#include "base/run_exit.h"
#include "trainer/comm/comm.h"

enum { TICK_MS = 50, GRACE_S = 10, TOKEN_BYTES = 16 };

static const char *look_up(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

int local_ranks_wanted(unsigned asked, bool *ret, struct err *err)
{
	struct comm_place place;

	*ret = false;
	if (asked < 2)
		return 0;
	if (comm_place(look_up, NULL, &place, err) != 0)
		return -1;
	*ret = !place.counts_locals;
	return 0;
}

/* ---- their environment ---- */

static void set_number(const char *name, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	(void)setenv(name, text, 1);
}

/* One that nobody listens on now. */
static int free_port(unsigned *ret, struct err *err)
{
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &n) != 0)
		return err_set(err, ERR_IO, "find a port for the ranks of this node");
	*ret = ntohs(at.sin_port);
	return 0;
}

/* What only these ranks have. */
static int make_token(struct err *err)
{
	unsigned char bytes[TOKEN_BYTES];
	char text[2 * TOKEN_BYTES + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_set(err, ERR_IO, "draw a token for the ranks of this node");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	(void)setenv(COMM_TOKEN_VARIABLE, text, 1);
	return 0;
}

/* Ranks of one node meet on it; those of several where the job says. */
static int meet_here(struct err *err)
{
	unsigned port = 0;

	if (free_port(&port, err) != 0 || make_token(err) != 0)
		return -1;
	(void)setenv("MASTER_ADDR", "127.0.0.1", 1);
	set_number("MASTER_PORT", port);
	return 0;
}

static int set_environment(const struct local_ranks *l, unsigned *ret_first, struct err *err)
{
	struct comm_place node;

	if (comm_place(look_up, NULL, &node, err) != 0 ||
	    (node.n_ranks == 1 && meet_here(err) != 0))
		return -1;
	set_number("WORLD_SIZE", node.n_ranks * l->n);
	set_number("LOCAL_WORLD_SIZE", l->n);
	*ret_first = node.rank * l->n;
	return 0;
}

/* ---- processes ---- */

struct rank_process {
	pid_t pid; /* 0: it has ended */
	unsigned rank;
};

/* A group of its own: a terminal's Ctrl-C reaches it once, through this process. */
static void become_rank(pid_t parent, unsigned local, unsigned rank)
{
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(RUN_EXIT_RANK_LOST);
	set_number("RANK", rank);
	set_number("LOCAL_RANK", local);
}

static void tell(const struct rank_process *p, unsigned n, int signal)
{
	for (unsigned i = 0; i < n; i++)
		if (p[i].pid > 0)
			(void)kill(p[i].pid, signal);
}

/* Returns in each of them, too, and then with *ret_is_rank. */
static int start_all(const struct local_ranks *l, unsigned first, struct rank_process *p,
                     bool *ret_is_rank, struct err *err)
{
	pid_t parent = getpid();

	(void)fflush(NULL); /* or each would print what waits */
	for (unsigned i = 0; i < l->n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			become_rank(parent, i, first + i);
			*ret_is_rank = true;
			return 0;
		}
		if (pid < 0) {
			err_set(err, ERR_IO, "start rank %u", first + i);
			tell(p, i, SIGKILL);
			return -1;
		}
		p[i] = (struct rank_process){pid, first + i};
	}
	return 0;
}

/* ---- their end ---- */

struct watching {
	unsigned left;
	int status; /* the first cause; 0: none has failed */
	bool stop_sent, lost_any;
	double failed_at, told_at; /* seconds; 0: not yet */
};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note_end(struct watching *w, const struct rank_process *p, int how)
{
	int status = WIFEXITED(how) ? WEXITSTATUS(how) : RUN_EXIT_RANK_LOST;

	w->left--;
	if (WIFSIGNALED(how) && w->told_at == 0)
		fprintf(stderr, "slipway-trainer: rank %u was ended by signal %d\n", p->rank,
		        WTERMSIG(how));
	if (status == 0)
		return;
	/* Who stops as asked leaves the others the time that saving takes. */
	if (w->failed_at == 0 && status != RUN_EXIT_STOPPED)
		w->failed_at = now();
	w->lost_any = w->lost_any || status == RUN_EXIT_RANK_LOST;
	if (status != RUN_EXIT_RANK_LOST && w->status == 0)
		w->status = status;
}

static void collect(struct rank_process *p, unsigned n, struct watching *w)
{
	for (unsigned i = 0; i < n; i++) {
		int how = 0;

		if (p[i].pid == 0 || waitpid(p[i].pid, &how, WNOHANG) != p[i].pid)
			continue;
		p[i].pid = 0;
		note_end(w, &p[i], how);
	}
}

/* Ranks watch each other, and end when one is gone; what does not within its time is ended. */
static void press(const struct local_ranks *l, const struct rank_process *p, struct watching *w)
{
	if (interrupt_requested() && !w->stop_sent) {
		w->stop_sent = true;
		tell(p, l->n, SIGTERM);
	}
	if (w->failed_at == 0 || now() < w->failed_at + l->timeout_s)
		return;
	if (w->told_at == 0) {
		w->told_at = now();
		tell(p, l->n, SIGTERM);
	} else if (now() > w->told_at + GRACE_S) {
		tell(p, l->n, SIGKILL);
	}
}

static int wait_for_all(const struct local_ranks *l, struct rank_process *p)
{
	const struct timespec tick = {0, TICK_MS * 1000000L};
	struct watching w = {.left = l->n};

	while (w.left > 0) {
		collect(p, l->n, &w);
		press(l, p, &w);
		if (w.left > 0)
			(void)nanosleep(&tick, NULL);
	}
	if (w.status != 0)
		return w.status;
	return w.lost_any ? RUN_EXIT_RANK_LOST : RUN_EXIT_DONE;
}

int local_ranks_run(const struct local_ranks *l, bool *ret_is_rank, int *ret_status,
                    struct err *err)
{
	struct rank_process processes[LOCAL_RANKS_MAX] = {{0}};
	unsigned first = 0;

	*ret_is_rank = false;
	if (set_environment(l, &first, err) != 0 ||
	    start_all(l, first, processes, ret_is_rank, err) != 0)
		return -1;
	if (!*ret_is_rank)
		*ret_status = wait_for_all(l, processes);
	return 0;
}
