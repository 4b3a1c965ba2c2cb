#include "builder/cli/shell.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/interrupt.h"

/*
 * A fresh checkout: what git would have, with what is not committed yet; without git, everything.
 * $1 is the tree, $2 the copy, which is there and empty.
 */
static const char copy_script[] =
	"set -e; cd \"$1\"\n"
	"if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then\n"
	"	git ls-files -z --cached --others --exclude-standard |\n"
	"	while IFS= read -r -d '' f; do\n"
	"		if [ -e \"$f\" ] || [ -L \"$f\" ]; then printf '%s\\0' \"$f\"; fi\n"
	"	done | tar -cf - --no-recursion --null -T - | tar -xf - -C \"$2\"\n"
	"else\n"
	"	tar -cf - --exclude=./.git . | tar -xf - -C \"$2\"\n"
	"fi\n";

/* The repository itself, so that git answers in the copy as it does in the tree. Git wants it to be
 * its user's own. */
static const char git_script[] = "set -e; cd \"$1\"\n"
				 "if [ -e .git ]; then\n"
				 "	tar -cf - .git | tar -xf - --no-same-owner -C \"$2\"\n"
				 "fi\n";

/* $1 is the folder; each further argument one command, all in one shell, as CodeBuild runs them. */
static const char step_script[] = "cd \"$1\" || exit; shift\n"
				  "for slipway_command do\n"
				  "	printf '+ %s\\n' \"$slipway_command\" >&2\n"
				  "	eval \"$slipway_command\" || exit\n"
				  "done\n";

/* The child gets the signals of a program of its own: ours are ignored or only noted. */
static int start_program(const char *const argv[], pid_t *ret_pid)
{
	posix_spawn_file_actions_t streams;
	posix_spawnattr_t attributes;
	sigset_t signals;

	posix_spawn_file_actions_init(&streams);
	posix_spawn_file_actions_adddup2(&streams, STDERR_FILENO, STDOUT_FILENO);
	posix_spawnattr_init(&attributes);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigaddset(&signals, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int result =
		posix_spawnp(ret_pid, argv[0], &streams, &attributes, (char *const *)argv, environ);

	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&streams);
	return result;
}

/* Runs argv with our streams, its results on standard error; *ret_status is its exit status. */
static int run_program(const char *const argv[], int *ret_status, struct err *err)
{
	int status = 0, result;
	pid_t pid;

	result = start_program(argv, &pid);
	if (result != 0) {
		errno = result;
		return err_set(err, ERR_IO, "run '%s'", argv[0]);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, ERR_IO, "wait for '%s'", argv[0]);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return interrupt_check(err);
}

int shell_set_variable(const char *name, const char *value, struct err *err)
{
	return setenv(name, value, 1) == 0 ? 0 : err_set(err, ERR_IO, "set the variable %s", name);
}

int shell_copy_tree(const char *tree, const char *to, struct err *err)
{
	const char *const argv[] = {"bash", "-c", copy_script, "slipway", tree, to, NULL};
	int status = -1;

	if (fs_mkdirs(to, err) != 0 || run_program(argv, &status, err) != 0)
		return -1;
	return status == 0 ? 0 : err_set(err, ERR_IO, "copy '%s'", tree);
}

int shell_copy_repository(const char *tree, const char *to, struct err *err)
{
	const char *const argv[] = {"bash", "-c", git_script, "slipway", tree, to, NULL};
	int status = -1;

	if (shell_copy_tree(tree, to, err) != 0 || run_program(argv, &status, err) != 0)
		return -1;
	return status == 0 ? 0 : err_set(err, ERR_IO, "copy the repository of '%s'", tree);
}

int shell_run(const char *dir, const struct strlist *commands, struct arena *a, struct err *err)
{
	const char **argv = arena_calloc(a, 6 + commands->n, sizeof(*argv));
	int status = -1;
	size_t n = 0;

	argv[n++] = "bash";
	argv[n++] = "-c";
	argv[n++] = step_script;
	argv[n++] = "slipway";
	argv[n++] = dir;
	for (size_t i = 0; i < commands->n; i++)
		argv[n++] = commands->at[i];
	if (run_program(argv, &status, err) != 0)
		return -1;
	if (status != 0)
		return err_set(err, ERR_SERVER, "a command ended with exit status %d", status);
	return 0;
}
