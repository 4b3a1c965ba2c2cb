/*
 * slipway-prepare, which links the decoders that this program does not: in this process's place, or
 * beside it.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/proc.h"
#include "trainer/cmd/cmd.h"

enum { TICK_MS = 200 };

static int not_there(const char *why, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "cannot run slipway-prepare: %s", why);
	return err_hint(err,
	                "It needs FFmpeg's libraries and is not in the training image: build it "
	                "with `make all` and run it where the videos are.");
}

/* Beside this program, else wherever PATH says. */
static const char *find_program(char room[PATH_MAX + sizeof("slipway-prepare")])
{
	ssize_t n = readlink("/proc/self/exe", room, PATH_MAX - 1);
	char *slash;

	if (n > 0) {
		room[n] = '\0';
		slash = strrchr(room, '/');
		memcpy(slash + 1, "slipway-prepare", sizeof("slipway-prepare"));
		if (access(room, X_OK) == 0)
			return room;
	}
	return "slipway-prepare";
}

void cmd_become_prepare(char **words, struct err *err)
{
	char room[PATH_MAX + sizeof("slipway-prepare")];

	execvp(find_program(room), words);
	not_there(strerror(errno), err);
}

/* Passes on what has come; closes the stream at its end. */
static void relay(int *fd)
{
	char buf[4096];
	ssize_t n = fs_read(*fd, buf, sizeof(buf));

	if (n > 0)
		fwrite(buf, 1, (size_t)n, stderr);
	else if (n == 0 || errno != EAGAIN)
		attr_close_fd(fd);
}

static int wait_for(struct proc_child *child, struct err *err)
{
	while (child->out >= 0 || child->err_text >= 0) {
		struct pollfd fds[] = {{child->out, POLLIN, 0}, {child->err_text, POLLIN, 0}};

		if (interrupt_check(err) != 0)
			return -1;
		poll(fds, ARRAY_LEN(fds), TICK_MS);
		if (child->out >= 0 && fds[0].revents != 0)
			relay(&child->out);
		if (child->err_text >= 0 && fds[1].revents != 0)
			relay(&child->err_text);
	}
	return 0;
}

int cmd_run_prepare(const char *const words[], struct err *err)
{
	char room[PATH_MAX + sizeof("slipway-prepare")];
	const char *argv[CMD_PREPARE_WORDS] = {find_program(room)};
	struct proc_child child;
	int rc, status;

	for (size_t i = 1; words[i - 1] != NULL && i + 1 < ARRAY_LEN(argv); i++)
		argv[i] = words[i - 1];
	if (proc_start(argv, &child, err) != 0)
		return err->code == ERR_NOT_FOUND ? not_there("it is not installed", err) : -1;
	rc = wait_for(&child, err);
	status = proc_end(&child, rc != 0);
	if (rc == 0 && status != 0)
		rc = err_set(err, ERR_JOB, "slipway-prepare ended with status %d", status);
	return rc;
}
