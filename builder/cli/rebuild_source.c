#include "builder/cli/rebuild_source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "builder/cli/shell.h"

enum { GIT_TEXT_MAX = 2 * PATH_MAX, GIT_TIMEOUT_MS = 60000 };

int rebuild_source_find(const char *dir, struct rebuild_source *s, struct err *err)
{
	struct stat st;

	if (realpath(dir, s->dir) == NULL || stat(s->dir, &st) != 0)
		return err_set(err, ERR_USAGE, "--source: there is no folder '%s'", dir);
	return S_ISDIR(st.st_mode) ? 0
	                           : err_set(err, ERR_USAGE, "--source: '%s' is not a folder", dir);
}

/* The repository's own folder, and where in it `dir` lies ("" or "sub/"); false without git. */
static bool find_repository(const char *dir, struct arena *a, const char **ret_top,
                            const char **ret_prefix)
{
	const char *const argv[] = {"git",           "-C", dir, "rev-parse", "--show-toplevel",
	                            "--show-prefix", NULL};
	struct proc_result r = {.out = STRBUF_INIT(GIT_TEXT_MAX),
	                        .err_text = STRBUF_INIT(GIT_TEXT_MAX)};
	struct err ignored = {0};
	bool found = proc_run(argv, NULL, GIT_TIMEOUT_MS, &r, &ignored) == 0 && r.exit_status == 0;
	const char *text = strbuf_str(&r.out);
	size_t top = strcspn(text, "\n");

	if (found) {
		*ret_top = arena_strndup(a, text, top);
		text += top + (text[top] == '\n');
		*ret_prefix = arena_strndup(a, text, strcspn(text, "\n"));
	}
	proc_result_done(&r);
	return found;
}

int rebuild_source_copy(struct rebuild_source *s, const char *scratch, struct arena *a,
                        struct err *err)
{
	const char *top = s->dir, *prefix = "";
	const char *copy = arena_printf(a, "%s/source", scratch);

	find_repository(s->dir, a, &top, &prefix);
	if (shell_copy_repository(top, copy, err) != 0)
		return -1;
	return fs_join(s->dir, copy, prefix, err);
}

int rebuild_source_enter(struct rebuild_source *s, struct err *err)
{
	s->home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->home < 0 || chdir(s->dir) != 0)
		return err_set(err, ERR_IO, "go into '%s'", s->dir);
	return 0;
}

void rebuild_source_done(struct rebuild_source *s)
{
	if (s->home < 0)
		return;
	/* Nothing that follows needs it: what was opened stays open. */
	if (fchdir(s->home) != 0)
		BUG("the folder of before cannot be gone back to");
	close(s->home);
	s->home = -1;
}
