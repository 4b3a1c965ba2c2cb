/*
 * ${git:describe} and ${git:commit}: what the spec's repository says of itself (git-describe(1)).
 * Git is kept from running what a checkout's configuration may name for such a question: a file
 * system monitor, hooks, a pager; and from writing to the repository.
 */
#include <string.h>

#include "base/proc.h"
#include "base/text.h"
#include "builder/spec/spec_internal.h"

enum { GIT_TEXT_MAX = 4096, GIT_TIMEOUT_MS = 60000 };
#define DIRTY "-dirty"

/* Hashes are cut at a fixed length: git's own choice depends on the size of the clone. */
#define GIT_ABBREV "--abbrev=12"

static const struct {
	const char *name;
	const char *question[6]; /* arguments of git */
} variables[] = {
	{"git:describe", {"describe", "--tags", "--always", GIT_ABBREV, NULL}},
	/* Without any tag left, the commit itself, whole. */
	{"git:commit", {"describe", "--exclude=*", "--always", "--abbrev=64", NULL}},
};

/* As `git describe --dirty` has it; that writes the index, whatever --no-optional-locks says. */
static const char *const changes[] = {"status", "--porcelain", "--untracked-files=no", NULL};

bool git_variable(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (strcmp(variables[i].name, name) == 0)
			return true;
	return false;
}

/* The first line without git's "fatal: ". */
static int git_said(const char *text, struct err *err)
{
	const char *line = text_has_prefix(text, "fatal: ") ? text + 7 : text;

	err_set(err, ERR_IO, "git: %.*s", (int)strcspn(line, "\n"), line);
	if (strstr(text, "safe.directory") != NULL)
		return err_hint(err, "if you trust this repository: git config --global --add "
		                     "safe.directory FOLDER");
	if (strstr(text, "not a git repository") != NULL)
		return err_hint(err,
		                "build in a clone of the repository, or write the value itself");
	return err_hint(err, "the repository needs a commit that can be described");
}

/* An answer longer than is read is one, too: r->out.overflow. */
static int ask_git(const struct git_values *g, const char *const question[], struct proc_result *r,
                   struct err *err)
{
	const char *argv[24] = {"git",
	                        "--no-pager",
	                        "--no-optional-locks",
	                        "-c",
	                        "core.fsmonitor=false",
	                        "-c",
	                        "core.hooksPath=/dev/null",
	                        "-C",
	                        g->dir[0] != '\0' ? g->dir : "."};
	size_t n = 9;

	for (size_t i = 0; question[i] != NULL; i++)
		argv[n++] = question[i];
	if (proc_run(argv, NULL, GIT_TIMEOUT_MS, r, err) == 0)
		return r->exit_status == 0 ? 0 : git_said(strbuf_str(&r->err_text), err);
	if (r->out.overflow) {
		*err = (struct err){0};
		return 0;
	}
	return err->code == ERR_NOT_FOUND ? err_hint(err, "install git, or write the value itself")
	                                  : -1;
}

/* A name of git's may have what a tag of an image may not, as in v1+2 or release/1: each such byte
 * becomes '-', in labels too, so that all say the same. */
static const char *as_tag(const struct strbuf *text, const char *suffix, struct arena *a)
{
	size_t len = text->len;

	while (len > 0 && text->ptr[len - 1] == '\n')
		len--;
	char *value = arena_printf(a, "%.*s%s", (int)len, strbuf_str(text), suffix);

	for (char *c = value; *c != '\0'; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
		    !(*c >= '0' && *c <= '9') && strchr("._-", *c) == NULL)
			*c = '-';
	return value;
}

static struct proc_result no_answer(void)
{
	return (struct proc_result){.out = STRBUF_INIT(GIT_TEXT_MAX),
	                            .err_text = STRBUF_INIT(GIT_TEXT_MAX)};
}

/* Once. A list of changes that is too long to be read is one, too. */
static int find_suffix(struct git_values *g, struct err *err)
{
	struct proc_result r = no_answer();
	int result = g->suffix == NULL ? ask_git(g, changes, &r, err) : 0;

	if (result == 0 && g->suffix == NULL)
		g->suffix = r.out.len > 0 || r.out.overflow ? DIRTY : "";
	proc_result_done(&r);
	return result;
}

static int find_value(struct git_values *g, size_t i, struct arena *a, const char **ret_value,
                      struct err *err)
{
	struct proc_result r = no_answer();
	int result = ask_git(g, variables[i].question, &r, err);

	if (result == 0 && r.out.overflow)
		result = err_set(err, ERR_FORMAT, "git's description of the commit is too long");
	else if (result == 0 && (*strbuf_str(&r.out) == '\0' || *strbuf_str(&r.out) == '\n'))
		result = err_set(err, ERR_FORMAT, "git describes the commit by nothing");
	else if (result == 0 && (result = find_suffix(g, err)) == 0)
		*ret_value = as_tag(&r.out, g->suffix, a);
	proc_result_done(&r);
	return result;
}

int git_value(struct git_values *g, const char *name, struct arena *a, const char **ret_value,
              struct err *err)
{
	size_t i = 0;

	while (i < ARRAY_LEN(variables) && strcmp(variables[i].name, name) != 0)
		i++;
	if (i == ARRAY_LEN(variables))
		BUG("no variable '%s'", name);
	*ret_value = strmap_get(&g->known, name);
	if (*ret_value != NULL)
		return 0;
	if (g->failed.code == ERR_NONE && find_value(g, i, a, ret_value, &g->failed) == 0) {
		strmap_set(&g->known, a, name, *ret_value);
		return 0;
	}
	*err = g->failed;
	return -1;
}

void spec_commit(const struct spec *spec, struct arena *a, const char **ret_commit,
                 bool *ret_modified)
{
	struct git_values g = {.dir = spec->dir};
	struct err ignored = {0};
	const char *value = strmap_get(&spec->git, "git:commit");

	*ret_commit = NULL;
	if (value == NULL && git_value(&g, "git:commit", a, &value, &ignored) != 0)
		return;
	*ret_modified = text_has_suffix(value, DIRTY);
	*ret_commit = arena_strndup(a, value, strlen(value) - (*ret_modified ? strlen(DIRTY) : 0));
}
