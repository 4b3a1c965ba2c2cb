#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/interrupt.h"

enum { END_MS = 2000 }; /* what a child gets to end by itself */

/* The parent's ends of a child's three streams, and its process. */
struct child {
	int in, out, err_text; /* -1 when closed */
	pid_t pid;
	const char *input;
	size_t left;
	const char *name; /* for messages */
	int timeout_ms;
	int64_t deadline; /* of now_ms(), when timeout_ms > 0 */
};

void proc_result_done(struct proc_result *r)
{
	strbuf_done(&r->out);
	strbuf_done(&r->err_text);
}

static void child_done(struct child *c)
{
	attr_close_fd(&c->in);
	attr_close_fd(&c->out);
	attr_close_fd(&c->err_text);
}

static int open_pipes(int pipes[3][2], struct err *err)
{
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0)
			return err_set(err, ERR_IO, "create a pipe");
	return 0;
}

static int spawn_with_pipes(const char *const argv[], const char *const env[], int pipes[3][2],
                            pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
	posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
	posix_spawnattr_init(&attributes);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attributes, &none);
	sigaddset(&none, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int result = posix_spawnp(ret_pid, argv[0], &actions, &attributes, (char *const *)argv,
	                          (char *const *)env);

	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return result;
}

static int start_child(const char *const argv[], const char *const env[], struct child *c,
                       struct err *err)
{
	int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
	int result = open_pipes(pipes, err) == 0 ? spawn_with_pipes(argv, env, pipes, &c->pid) : -1;

	attr_close_fd(&pipes[0][0]);
	attr_close_fd(&pipes[1][1]);
	attr_close_fd(&pipes[2][1]);
	c->in = pipes[0][1];
	c->out = pipes[1][0];
	c->err_text = pipes[2][0];
	if (result == -1)
		return -1;
	if (result == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "program '%s' is not installed", argv[0]);
	errno = result;
	if (result != 0)
		return err_set(err, ERR_IO, "start '%s'", argv[0]);
	fcntl(c->in, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Reads once into sb; closes the stream at its end. A full sb drops bytes and marks itself. */
static void drain(int *fd, struct strbuf *sb)
{
	char buf[8192];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0)
		strbuf_add(sb, buf, (size_t)n);
	else if (n == 0 || errno != EINTR)
		attr_close_fd(fd);
}

static void write_input(struct child *c)
{
	ssize_t n = c->left > 0 ? write(c->in, c->input, c->left) : 0;

	if (n > 0) {
		c->input += n;
		c->left -= (size_t)n;
	}
	if (c->left == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		attr_close_fd(&c->in);
}

static int64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

/* Moves what can be moved now; waits at most a tenth of a second. */
static int move_bytes(struct child *c, struct proc_result *r, struct err *err)
{
	struct pollfd fds[] = {{c->out, POLLIN, 0}, {c->err_text, POLLIN, 0}, {c->in, POLLOUT, 0}};

	if (poll(fds, ARRAY_LEN(fds), 100) < 0 && errno != EINTR)
		return err_set(err, ERR_IO, "wait for '%s'", c->name);
	if (c->out >= 0 && fds[0].revents != 0)
		drain(&c->out, &r->out);
	if (c->err_text >= 0 && fds[1].revents != 0)
		drain(&c->err_text, &r->err_text);
	if (c->in >= 0 && fds[2].revents != 0)
		write_input(c);
	if (r->out.overflow)
		return err_set(err, ERR_LIMIT, "'%s' printed more than %zu bytes", c->name,
		               r->out.max);
	return 0;
}

/* 0 while the child may go on. */
static int check_time(const struct child *c, struct err *err)
{
	if (interrupt_check(err) != 0)
		return -1;
	if (c->timeout_ms > 0 && now_ms() > c->deadline)
		return err_set(err, ERR_NETWORK, "'%s' did not finish in %d s", c->name,
		               (c->timeout_ms + 999) / 1000);
	return 0;
}

/* Moves bytes until the child closed its outputs. */
static int converse(struct child *c, struct proc_result *r, struct err *err)
{
	while (c->out >= 0 || c->err_text >= 0)
		if (move_bytes(c, r, err) != 0 || check_time(c, err) != 0)
			return -1;
	return 0;
}

/* A child that closed its outputs may still run: its time counts on. Leaves it to reap. */
static int await_end(struct child *c, struct err *err)
{
	attr_close_fd(&c->in);
	for (int pause_ms = 1;; pause_ms = pause_ms < 50 ? 2 * pause_ms : pause_ms) {
		siginfo_t info = {.si_pid = 0};

		/* An error is reap's to meet; EINTR leaves si_pid 0. */
		if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
		    errno != EINTR)
			return 0;
		if (info.si_pid != 0)
			return 0;
		if (check_time(c, err) != 0)
			return -1;
		poll(NULL, 0, pause_ms);
	}
}

static int reap_child(const struct child *c)
{
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int proc_run(const char *const argv[], const char *input, int timeout_ms, struct proc_result *r,
             struct err *err)
{
	return proc_run_env(argv, (const char *const *)environ, input, timeout_ms, r, err);
}

int proc_run_env(const char *const argv[], const char *const env[], const char *input,
                 int timeout_ms, struct proc_result *r, struct err *err)
{
	struct child c = {.in = -1,
	                  .out = -1,
	                  .err_text = -1,
	                  .input = input,
	                  .left = input != NULL ? strlen(input) : 0,
	                  .name = argv[0],
	                  .timeout_ms = timeout_ms,
	                  .deadline = now_ms() + timeout_ms};

	if (start_child(argv, env, &c, err) != 0) {
		child_done(&c);
		return -1;
	}
	int result = converse(&c, r, err);

	if (result == 0)
		result = await_end(&c, err);
	if (result != 0)
		kill(c.pid, SIGKILL);
	child_done(&c);
	r->exit_status = reap_child(&c);
	return result;
}

int proc_start(const char *const argv[], struct proc_child *ret, struct err *err)
{
	struct child c = {.in = -1, .out = -1, .err_text = -1};

	if (start_child(argv, (const char *const *)environ, &c, err) != 0) {
		child_done(&c);
		return -1;
	}
	attr_close_fd(&c.in);
	fcntl(c.out, F_SETFL, O_NONBLOCK);
	fcntl(c.err_text, F_SETFL, O_NONBLOCK);
	*ret = (struct proc_child){c.pid, c.out, c.err_text};
	return 0;
}

/* Waits for the end at most that long; the child is left to reap. */
static bool ends_within(pid_t pid, int ms)
{
	for (int waited = 0;; waited += 10) {
		siginfo_t info = {.si_pid = 0};

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
		    errno != EINTR)
			return true;
		if (info.si_pid != 0)
			return true;
		if (waited >= ms)
			return false;
		poll(NULL, 0, 10);
	}
}

int proc_end(struct proc_child *child, bool stop)
{
	struct child c = {
		.in = -1, .out = child->out, .err_text = child->err_text, .pid = child->pid};

	child_done(&c);
	child->out = child->err_text = -1;
	if (stop || !ends_within(c.pid, END_MS)) {
		kill(c.pid, SIGTERM);
		if (!ends_within(c.pid, END_MS))
			kill(c.pid, SIGKILL);
	}
	return reap_child(&c);
}
