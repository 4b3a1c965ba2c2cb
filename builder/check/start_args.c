/* What command lines start: the program itself, and what its arguments make it start or read. */
#include <string.h>

#include "base/text.h"
#include "builder/check/start.h"

#define SPACES " \t\n"

/* ---- what is not there ---- */

/* A file of this name that can be executed, wherever it is. */
static const struct view_node *find_anywhere(const struct check_image *image, const char *command)
{
	const char *slash = strrchr(command, '/'), *name = slash != NULL ? slash + 1 : command;

	for (const struct view_node *n = image->view.root; n != NULL; n = view_next(n))
		if (n->member != NULL && view_is_file(n) && strcmp(n->name, name) == 0 &&
		    (n->member->mode & 0111) != 0)
			return n;
	return NULL;
}

static const char *hint_for_missing(const struct check_image *image, const char *command)
{
	const struct view_node *other = find_anywhere(image, command);

	if (strpbrk(command, "$~`") != NULL)
		return "no shell reads it: write the path itself, or a list as in [/bin/sh, -c, "
		       "'exec $APP']";
	if (other != NULL && strchr(command, '/') == NULL)
		return arena_printf(image->run->arena,
		                    "the image has %s: write this path, or add its folder to PATH",
		                    view_path(&image->view, other));
	if (other != NULL)
		return arena_printf(image->run->arena, "the image has %s",
		                    view_path(&image->view, other));
	return "add it by `files:`, or correct `entrypoint:`";
}

/* One text where a list was meant. Its words may be secrets, so only the first is shown. */
static bool is_one_text(struct starter *s, const char *command, const char *role)
{
	struct arena *a = s->image->run->arena;
	const char *word = arena_strndup(a, command, strcspn(command, SPACES));
	struct starter quiet = *s;
	struct diag *diag;

	if (strlen(word) == strlen(command) || word[0] == '\0' || start_find(&quiet, word) == NULL)
		return false;
	diag = start_problem(s, NULL,
	                     "%s is written as one text with spaces, '%s ...': all of it is taken "
	                     "for the name of one file",
	                     role, word);
	rule_hint(s->image, diag,
	          arena_printf(a, "write a list with an item for each word: [%s, ...]", word));
	return true;
}

static void report_missing(struct starter *s, const char *command, const char *role)
{
	const struct view *v = &s->image->view;
	const struct view_node *link;
	const char *where = "is not in the image";

	if (is_one_text(s, command, role))
		return;
	link = strchr(command, '/') != NULL && (command[0] == '/' || s->cwd != NULL)
	               ? view_find_at(v, command[0] == '/' ? v->root : s->cwd, command, false)
	               : NULL;
	if (link != NULL && link->content != NULL && link->content->link != NULL) {
		rule_hint(s->image,
		          start_problem(s, link,
		                        "%s is a symbolic link to '%s', which is not there", role,
		                        link->content->link),
		          "add what it leads to, or correct the link");
		return;
	}
	if (strchr(command, '/') == NULL)
		where = rule_env(s->image, "PATH") != NULL
		                ? "is in no folder of the image's PATH"
		                : "is in no folder of the usual PATH, and the image sets none";
	rule_hint(s->image,
	          start_problem(s, NULL, "%s, '%.*s%s', %s", role, (int)strcspn(command, SPACES),
	                        command, strpbrk(command, SPACES) != NULL ? " ..." : "", where),
	          hint_for_missing(s->image, command));
}

/* ---- programs that start what their arguments name ---- */

/* They use execvp(3). What an option takes for itself is not known here, so that one with options
 * must have "--" before the command. */
static const char *const wrappers[] = {"tini",  "tini-static", "dumb-init", "catatonit",
                                       "nohup", "setsid",      "env"};

static bool is_wrapper(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (strcmp(wrappers[i], name) == 0)
			return true;
	return false;
}

/* The index of the command that a wrapper starts, args->n when it cannot be told. */
static size_t wrapped_command(const struct strlist *args, const char *wrapper)
{
	size_t i = 1;

	for (size_t k = 1; k < args->n; k++)
		if (strcmp(args->at[k], "--") == 0)
			return k + 1;
	if (strcmp(wrapper, "env") == 0)
		while (i < args->n && strchr(args->at[i], '=') != NULL &&
		       !text_has_prefix(args->at[i], "PATH="))
			i++;
	return i < args->n && args->at[i][0] != '-' && strchr(args->at[i], '=') == NULL ? i
	                                                                                : args->n;
}

/* ---- programs that read what their arguments name ---- */

/* The single-letter options that take no value, by which a script is still the next argument. */
static const struct reader {
	const char *name, *flags;
	bool searches_path; /* a name without '/' may be found by PATH, too */
} readers[] = {
	{"sh", "efuvx", true},
	{"bash", "efuvxlE", true},
	{"dash", "efuvx", true},
	{"ash", "efuvx", true},
	{"python", "bBdEIOqsSuv", false},
	{"python[23]*", "bBdEIOqsSuv", false},
	{"perl", "wWtTU", false},
	{"ruby", "wW", false},
};

static const struct reader *find_reader(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (text_glob(readers[i].name, name))
			return &readers[i];
	return NULL;
}

/* The script that an interpreter is to read, NULL when there is none or options decide. */
static const char *script_of(const struct reader *reader, const struct strlist *args)
{
	for (size_t i = 1; i < args->n; i++) {
		const char *arg = args->at[i];

		if (arg[0] != '-')
			return arg;
		if (arg[1] == '\0' || strspn(arg + 1, reader->flags) != strlen(arg + 1))
			return NULL;
	}
	return NULL;
}

/* What lies in other file systems when the program runs. */
static bool is_mounted(const struct check_image *image, const char *path)
{
	static const char *const mounts[] = {"/dev/", "/proc/", "/sys/", "/run/"};

	for (size_t i = 0; i < ARRAY_LEN(mounts); i++)
		if (text_has_prefix(path, mounts[i]))
			return true;
	for (size_t i = 0; i < image->volumes.n; i++)
		if (text_has_prefix(path, image->volumes.at[i]))
			return true;
	return false;
}

static void check_script_argument(struct starter *s, const struct reader *reader,
                                  const char *script)
{
	bool absolute = script[0] == '/';
	struct view_node *from = absolute ? s->image->view.root : s->cwd, *n = NULL;
	struct diag *diag;

	if (is_mounted(s->image, script))
		return;
	n = from != NULL ? view_find_at(&s->image->view, from, script, true) : NULL;
	if (n == NULL && reader->searches_path && strchr(script, '/') == NULL)
		n = start_find(s, script);
	if (n != NULL) {
		if (absolute)
			start_find(s, script); /* for its folders */
		if (view_is_file(n))
			start_allowed(s, n, USER_READ);
		return;
	}
	/* A volume that nobody declared may bring it. */
	diag = rule_report_as(s->image, RULE_ENTRYPOINT, DIAG_WARNING, NO_PLACE,
	                      arena_printf(s->image->run->arena,
	                                   "the script that %s is to read, '%.*s', is not in the "
	                                   "image",
	                                   reader->name, (int)strcspn(script, SPACES), script));
	rule_at(diag, s->at);
	rule_hint(s->image, diag, "add it by `files:`, unless it is mounted when the image runs");
}

/* ---- a command line ---- */

static void run_arguments(struct starter *s, const struct strlist *args)
{
	const char *slash = strrchr(args->at[0], '/');
	const char *name = slash != NULL ? slash + 1 : args->at[0], *script;
	const struct reader *reader = find_reader(name);

	if (is_wrapper(name) && ++s->execs <= START_EXECS_MAX) {
		size_t i = wrapped_command(args, name);
		if (i < args->n)
			start_command_line(s, &(struct strlist){args->at + i, args->n - i},
			                   arena_printf(s->image->run->arena,
			                                "the program that %s starts", name));
	}
	script = reader != NULL ? script_of(reader, args) : NULL;
	if (script != NULL)
		check_script_argument(s, reader, script);
}

void start_command_line(struct starter *s, const struct strlist *args, const char *role)
{
	const char *command = args->at[0];
	struct view_node *n;

	if (command[0] == '\0') {
		rule_hint(s->image, start_problem(s, NULL, "%s has an empty name", role),
		          "name the program, as in [/bin/app]");
		return;
	}
	n = start_find(s, command);
	if (n == NULL) {
		report_missing(s, command, role);
		return;
	}
	start_run(s, &(struct start_step){.node = n, .role = role, .shell_fallback = s->execs > 0});
	run_arguments(s, args);
}
