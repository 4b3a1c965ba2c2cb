#include "builder/check/start.h"

#include <elf.h>
#include <stdarg.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/check/linkage.h"
#include "builder/check/script.h"
#include "builder/layer/elf/elf_search.h"

struct starter start_init(struct check_image *image, struct srcpos at)
{
	struct starter s = {.image = image, .at = at};

	s.cwd = view_find(&image->view, image->workdir != NULL ? image->workdir : "/", true);
	return s;
}

struct diag *start_problem(struct starter *s, const struct view_node *n, const char *fmt, ...)
{
	struct diag *diag;
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag = rule_report(s->image, RULE_ENTRYPOINT,
	                   n != NULL ? rule_place_of(s->image, n) : NO_PLACE, "%s", text);
	rule_at(diag, s->at);
	return diag;
}

/* ---- rights ---- */

static bool may(const struct starter *s, const struct view_node *n, enum user_right right)
{
	return s->image->user == NULL || user_may(s->image->user, n->member, right);
}

bool start_allowed(struct starter *s, struct view_node *n, enum user_right right)
{
	const struct image_user *user = s->image->user;
	const char *verb = right == USER_READ ? "read" : "execute";
	struct diag *diag;

	if (may(s, n, right))
		return true;
	if ((n->marks & MARK_RIGHTS_REPORTED) != 0)
		return false;
	n->marks |= MARK_RIGHTS_REPORTED;
	diag = rule_report(s->image, RULE_USER_RIGHTS, rule_place_of(s->image, n),
	                   "the image's user '%s' may not %s it, which starting takes (mode %04o, "
	                   "owner %u:%u; the user is %u:%u)",
	                   user->text, view_is_dir(n) ? "search" : verb, n->member->mode & 07777,
	                   n->member->uid, n->member->gid, user->uid, user->gid);
	rule_at(diag, s->image->run->opts->at.user);
	rule_hint(s->image, diag,
	          view_is_dir(n) ? "set its `mode:` (`dir_mode:` for what is copied) or `owner:`"
	                         : "set its `mode:` or `owner:` in `files:`");
	return false;
}

/* One walk: the first folder on the way that the user may not search. */
struct start_walk {
	struct starter *starter;
	struct view_node *closed;
};

static bool pass(void *ctx, struct view_node *dir)
{
	struct start_walk *walk = ctx;

	if (walk->closed == NULL && !may(walk->starter, dir, USER_SEARCH))
		walk->closed = dir;
	/* Asked for now and then; whoever called the check reports it. */
	if (++walk->starter->n_steps % 4096 == 0 && interrupt_requested())
		walk->starter->n_steps = START_STEPS_MAX;
	return walk->starter->n_steps <= START_STEPS_MAX;
}

static struct view_node *walk_to(struct starter *s, struct view_node *from, const char *path,
                                 struct view_node **ret_closed)
{
	struct start_walk walk = {.starter = s};
	struct view_node *n = view_walk(&s->image->view, from, path, true, pass, &walk);

	*ret_closed = walk.closed;
	return n;
}

/* The file at a path, with a report when a folder on the way is closed to the user. */
static struct view_node *reach(struct starter *s, struct view_node *from, const char *path)
{
	struct view_node *closed, *n = walk_to(s, from, path, &closed);

	if (n != NULL && closed != NULL)
		start_allowed(s, closed, USER_SEARCH);
	return n;
}

/* ---- finding ---- */

static struct view_node *find_in_path(struct starter *s, const char *command)
{
	const struct strlist folders = rule_search_path(s->image);
	struct view_node *there = NULL, *closed_there = NULL;

	for (size_t i = 0; i < folders.n; i++) {
		const char *file = arena_printf(s->image->run->arena, "%s%s%s", folders.at[i],
		                                folders.at[i][0] != '\0' ? "/" : "", command);
		struct view_node *from = file[0] == '/' ? s->image->view.root : s->cwd, *closed,
				 *n = from != NULL ? walk_to(s, from, file, &closed) : NULL;

		if (n == NULL || !view_is_file(n) || (n->member->mode & 0111) == 0)
			continue;
		if (closed == NULL && may(s, n, USER_EXECUTE))
			return n;
		if (there == NULL) {
			there = n;
			closed_there = closed;
		}
	}
	if (closed_there != NULL)
		start_allowed(s, closed_there, USER_SEARCH);
	return there;
}

struct view_node *start_find(struct starter *s, const char *command)
{
	if (strchr(command, '/') == NULL)
		return find_in_path(s, command);
	if (command[0] != '/' && s->cwd == NULL)
		return NULL;
	return reach(s, command[0] == '/' ? s->image->view.root : s->cwd, command);
}

/* ---- programs ---- */

static void ignore_missing(struct linkage *l, const struct link_missing *m, void *ctx)
{
	(void)l;
	(void)m;
	(void)ctx;
}

/* The loader opens libraries as the user does; that they are there is for other rules. */
static void check_library_rights(struct starter *s, struct view_node *program)
{
	struct check_image *image = s->image;
	struct linkage l;

	if (s->linkage_exhausted || image->user == NULL || image->user->uid == 0 ||
	    image->arch == NULL || !program->content->elf->dynamic ||
	    program->content->elf->machine != image->arch->elf_machine)
		return;
	linkage_init(&l, image);
	l.steps += s->linkage_steps;
	linkage_load(&l, program, ignore_missing, NULL);
	for (size_t i = 1; i < l.objects.n; i++) {
		const struct linked *o = &l.objects.at[i];

		reach(s, image->view.root,
		      arena_printf(image->run->arena, "%s/%s", o->origin, o->name));
		start_allowed(s, o->object->node, USER_READ);
	}
	s->linkage_steps = l.steps;
	s->linkage_exhausted |= l.exhausted;
	linkage_done(&l);
}

/* What is ELF and no program; NULL when it is one. */
static const char *no_program(const struct view_node *n)
{
	const struct elf_info *elf = n->content->elf;

	switch (elf->type) {
	case ET_REL:
		return "is an object file that was not linked";
	case ET_CORE:
		return "is a core dump";
	default:
		return !elf->executable && elf->interpreter == NULL && elf->soname != NULL &&
		                       !elf_search_is_loader(NULL, elf->soname)
		               ? "is a shared library"
		               : NULL;
	}
}

static void run_elf(struct starter *s, const struct start_step *step)
{
	const struct elf_info *elf = step->node->content->elf;
	const char *what = no_program(step->node);
	struct view_node *loader;

	if (what != NULL) {
		start_problem(s, step->node, "%s %s, not a program", step->role, what);
		return;
	}
	loader = elf->interpreter != NULL ? reach(s, s->image->view.root, elf->interpreter) : NULL;
	if (loader != NULL && view_is_file(loader) && (loader->member->mode & 0111) != 0)
		start_allowed(s, loader, USER_EXECUTE);
	check_library_rights(s, step->node);
}

/* ---- scripts ---- */

static void report_unstartable(struct starter *s, const struct start_step *step)
{
	const struct scan_member *m = step->node->content;
	const char *what = script_looks_like(m->head, m->head_len);
	struct diag *diag;

	if (m->size == 0)
		what = "is empty";
	diag = start_problem(s, step->node, "%s %s: starting it fails with 'exec format error'",
	                     step->role,
	                     what != NULL ? what : "is neither a program nor a script with `#!`");
	rule_hint(s->image, diag,
	          "a script begins with the bytes `#!/bin/sh`; what another program reads is "
	          "named behind that program, as in [java, -jar, /app.jar]");
}

/* The script's interpreter, or the command that env starts for it. */
static void run_next(struct starter *s, const struct start_step *script, struct view_node *n,
                     const char *what, unsigned depth)
{
	struct arena *a = s->image->run->arena;
	const struct start_step next = {
		.node = n,
		.role = arena_printf(a, "%s of the script %s", what,
	                             view_path(&s->image->view, script->node)),
		.depth = depth,
		.shell_fallback = depth == 0,
	};

	if (++s->execs > START_EXECS_MAX)
		start_problem(s, script->node,
		              "%s comes to no program: scripts start each other in a circle",
		              script->role);
	else
		start_run(s, &next);
}

static bool is_env(const char *path)
{
	return strcmp(path, "env") == 0 || text_has_suffix(path, "/env");
}

/* `#!/usr/bin/env NAME` */
static void run_env_command(struct starter *s, const struct start_step *step,
                            const struct script_line *line)
{
	const char *command = script_env_command(line->argument, s->image->run->arena);
	struct view_node *n = command != NULL ? start_find(s, command) : NULL;
	struct diag *diag;

	if (n != NULL) {
		run_next(s, step, n, "the command", 0);
		return;
	}
	if (command == NULL)
		return;
	diag = start_problem(s, step->node,
	                     "%s is a script for '%s', which env does not find in the image's PATH",
	                     step->role, command);
	rule_hint(s->image, diag,
	          strpbrk(command, " \t") != NULL
	                  ? "env takes all of it for one name: write `#!/usr/bin/env -S`"
	                  : "add the interpreter, or set PATH in `env:` so that it is found");
}

static void report_carriage_return(struct starter *s, const struct start_step *step,
                                   const struct script_line *line)
{
	const char *last = line->argument != NULL ? line->argument : line->interpreter;
	struct diag *diag =
		start_problem(s, step->node,
	                      "%s has lines that end with CR LF, so its `#!` line asks for '%s\\r'",
	                      step->role, last);

	rule_hint(s->image, diag,
	          "convert it with `sed -i 's/\\r$//' FILE`, and keep it so by `* text eol=lf` in "
	          ".gitattributes");
}

static void run_interpreter(struct starter *s, const struct start_step *step,
                            const struct script_line *line)
{
	const char *base = strrchr(line->interpreter, '/');
	struct view_node *n;

	if (rule_provided(s->image, base != NULL ? base + 1 : line->interpreter))
		return;
	/* The kernel knows no PATH: without '/' it is a file of the working folder. */
	n = line->interpreter[0] == '/' ? reach(s, s->image->view.root, line->interpreter)
	    : s->cwd != NULL            ? reach(s, s->cwd, line->interpreter)
	                                : NULL;
	if (n == NULL) {
		rule_hint(s->image,
		          start_problem(s, step->node,
		                        "%s is a script whose interpreter '%s' is not in the "
		                        "image: starting it fails with 'no such file or "
		                        "directory'",
		                        step->role, line->interpreter),
		          "add the interpreter by `files:` and `closure:`, or use a base image "
		          "that has it");
		return;
	}
	run_next(s, step, n, "the interpreter", step->depth + 1);
	if (line->argument != NULL && is_env(line->interpreter))
		run_env_command(s, step, line);
}

static void run_script_line(struct starter *s, const struct start_step *step,
                            const struct script_line *line)
{
	start_allowed(s, step->node, USER_READ);
	if (step->depth >= SCRIPT_DEPTH_MAX)
		start_problem(s, step->node,
		              "%s is a script, too: the kernel follows %d interpreters that are "
		              "scripts, and no more",
		              step->role, SCRIPT_DEPTH_MAX - 1);
	else if (line->carriage_return)
		report_carriage_return(s, step, line);
	else
		run_interpreter(s, step, line);
	if (line->cut)
		start_problem(s, step->node,
		              "%s has a `#!` line longer than %d bytes, whose end is cut off",
		              step->role, SCRIPT_HEAD_MAX - 1);
}

static void run_by_shell(struct starter *s, const struct start_step *step)
{
	const struct script_line line = {.interpreter = "/bin/sh"};

	run_script_line(s, step, &line);
}

static void run_script(struct starter *s, const struct start_step *step)
{
	const struct scan_member *m = step->node->content;
	struct script_line line;

	switch (script_read(m->head, m->head_len, s->image->run->arena, &line)) {
	case SCRIPT_READ:
		run_script_line(s, step, &line);
		break;
	case SCRIPT_NO_INTERPRETER:
		start_problem(s, step->node, "%s names no interpreter behind its `#!`", step->role);
		break;
	case SCRIPT_TOO_LONG:
		start_problem(s, step->node,
		              "%s has a `#!` line whose interpreter ends beyond the %d bytes that "
		              "the kernel reads",
		              step->role, SCRIPT_HEAD_MAX);
		break;
	case SCRIPT_NONE:
		if (step->shell_fallback && script_looks_like(m->head, m->head_len) == NULL)
			run_by_shell(s, step);
		else
			report_unstartable(s, step);
		break;
	}
}

/* ---- both ---- */

static bool is_startable(struct starter *s, const struct start_step *step)
{
	const struct view_node *n = step->node;

	if (!view_is_file(n)) {
		start_problem(s, n, "%s is %s", step->role,
		              view_is_dir(n) ? "a folder, not a file" : "not a file");
		return false;
	}
	if ((n->member->mode & 0111) == 0) {
		rule_hint(s->image,
		          start_problem(s, n, "%s is not executable (mode %04o)", step->role,
		                        n->member->mode & 07777),
		          "set `mode: 0755`");
		return false;
	}
	return true;
}

void start_run(struct starter *s, const struct start_step *step)
{
	struct view_node *n = step->node;

	if (!is_startable(s, step))
		return;
	n->marks |= MARK_STARTED;
	start_allowed(s, n, USER_EXECUTE);
	/* A broken ELF file is for the rule elf-machine. */
	if (n->content->elf != NULL)
		run_elf(s, step);
	else if (n->content->elf_error == NULL)
		run_script(s, step);
}
