/*
 * bin/slipway of a release: starts the program with the loader and the libraries that lie beside
 * it, whatever libc the machine has. Linked statically; it reads no file.
 *
 *   bin/slipway                   this
 *   lib/slipway/slipway           the program
 *   lib/slipway/ld-linux-*.so.*   its loader, with its libraries
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGS_BEFORE = 6, ARGS_MAX = 64 << 10 };

static int fail(const char *what)
{
	const char *why = strerror(errno);

	if (write(STDERR_FILENO, "slipway: error: ", 16) < 0 ||
	    write(STDERR_FILENO, what, strlen(what)) < 0 || write(STDERR_FILENO, ": ", 2) < 0 ||
	    write(STDERR_FILENO, why, strlen(why)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		return 127;
	return 127;
}

/* "ROOT/TAIL" in a buffer; false if it does not fit. */
static int join(char path[PATH_MAX], const char *root, const char *tail)
{
	size_t root_len = strlen(root), tail_len = strlen(tail);

	if (root_len + tail_len + 2 > PATH_MAX)
		return 0;
	memcpy(path, root, root_len);
	path[root_len] = '/';
	memcpy(path + root_len + 1, tail, tail_len + 1);
	return 1;
}

/* The folder above bin/, through any symbolic link to this program. */
static int find_root(char root[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", root, PATH_MAX - 1);

	if (n <= 0)
		return 0;
	root[n] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(root, '/');

		if (slash == NULL)
			return 0;
		*slash = '\0';
	}
	return 1;
}

int main(int argc, char **argv)
{
	static char root[PATH_MAX], loader[PATH_MAX], libraries[PATH_MAX], program[PATH_MAX],
		certificates[PATH_MAX], self[PATH_MAX];
	static char *args[ARGS_BEFORE + ARGS_MAX + 2];
	int n = 0;

	if (!find_root(root))
		return fail("find its own folder by /proc/self/exe");
	if (!join(loader, root, "lib/slipway/" LOADER) || !join(libraries, root, "lib/slipway") ||
	    !join(program, root, "lib/slipway/slipway") || !join(self, root, "bin/slipway") ||
	    !join(certificates, root, "lib/slipway/ca-certificates.crt") || argc > ARGS_MAX) {
		errno = E2BIG;
		return fail("start the program");
	}
	args[n++] = loader;
	args[n++] = (char *)"--inhibit-cache";
	args[n++] = (char *)"--library-path";
	args[n++] = libraries;
	args[n++] = program;
	for (int i = 1; i < argc; i++)
		args[n++] = argv[i];
	args[n] = NULL;
	if (setenv("SLIPWAY_CA_DEFAULT", certificates, 0) != 0 ||
	    setenv("SLIPWAY_PROGRAM", self, 1) != 0)
		return fail("set a variable");
	execv(loader, args);
	return fail(loader);
}
