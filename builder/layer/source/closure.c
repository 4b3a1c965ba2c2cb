#include "builder/layer/source/closure.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

/* ---- the objects of one program ---- */

void closure_push_object(struct closure_run *run, const struct closure_object *o)
{
	vec_push(&run->objects, arena_memdup(run->arena, o, sizeof(*o)));
}

/* The loader compares the needed name with the names by which files were asked for, and with
 * sonames. */
static bool is_loaded(const struct closure_run *run, const char *needed)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		const struct closure_object *o = run->objects.at[i];

		if (!o->nameless && o->loader != NULL &&
		    (strcmp(o->name, needed) == 0 ||
		     (o->elf.soname != NULL && strcmp(o->elf.soname, needed) == 0)))
			return true;
	}
	return false;
}

static bool searched_by_default(const struct closure_run *run, const struct closure_dir *dir)
{
	if (dir->reason == CLOSURE_BY_PATH)
		return true;
	if (run->builtin.n == 0)
		return dir->reason == CLOSURE_BY_DEFAULT;
	for (size_t i = 0; i < run->builtin.n; i++)
		if (strcmp(run->builtin.at[i], dir->image) == 0)
			return true;
	return false;
}

/* A DT_NEEDED with a slash is a path and is not searched for. */
static bool find_by_path(struct closure_run *run, const char *needed,
                         struct closure_object *ret_object, struct closure_dir *ret_dir)
{
	const char *slash = strrchr(needed, '/'), *path;
	struct closure_object o = {0};

	if (needed[0] != '/' || !sysroot_is_file(&run->sysroot, needed, run->arena, &path))
		return false;
	o.label = sysroot_host_path(&run->sysroot, path, run->arena);
	o.dir = arena_strndup(run->arena, needed, (size_t)(slash - needed));
	o.image_dir = o.dir;
	if (!closure_fits(run, o.label, &o.elf))
		return false;
	*ret_object = o;
	*ret_dir = (struct closure_dir){o.dir, o.dir, CLOSURE_BY_PATH};
	return true;
}

static void add_needed(struct closure_run *run, const struct closure_object *from,
                       const char *needed)
{
	struct closure_object o = {0};
	struct closure_dir dir;
	const char *wrong = NULL, *slash = strrchr(needed, '/');
	bool found;

	if (needed[0] == '\0' || is_loaded(run, needed) ||
	    elf_search_is_loader(run->interpreter, needed) ||
	    (run->req->provided != NULL && elf_search_provided(run->req->provided, needed)))
		return;
	if (run->item->on == CLOSURE_ON_BASE && closure_find_in_base(run, from, needed, &o)) {
		o.name = needed;
		o.loader = from;
		closure_push_object(run, &o);
		return;
	}
	found = slash != NULL ? find_by_path(run, needed, &o, &dir)
	                      : closure_find(run, from, needed, &o, &dir, &wrong);
	if (!found) {
		closure_report_missing(run, from, needed, wrong);
		o.label = needed; /* remembered, so that it is reported once a program */
	}
	o.name = needed;
	o.loader = from;
	closure_push_object(run, &o);
	if (!found)
		return;
	if (dir.reason == CLOSURE_OUTSIDE) {
		closure_report_outside(run, from, needed, &dir);
		run->objects.at[run->objects.n - 1]->outside_dir = dir.path;
		run->objects.at[run->objects.n - 1]->dir = NULL;
		return;
	}
	if (!searched_by_default(run, &dir))
		closure_report_unsearched(run, from, needed, &dir);
	closure_add_library(run, &dir, slash != NULL ? slash + 1 : needed);
	if (slash == NULL)
		closure_add_variants(run, run->objects.at[run->objects.n - 1], &dir);
}

/* ---- programs ---- */

void closure_fail(struct closure_run *run, const struct err *err)
{
	if (run->failure.code == ERR_NONE)
		run->failure = *err;
}

/* Breadth first, as the loader goes, from the object `first` on: the list grows while it is
 * walked. */
static int add_all_needed(struct closure_run *run, size_t first, struct err *err)
{
	for (size_t i = first; i < run->objects.n; i++) {
		const struct closure_object *from = run->objects.at[i];

		if (run->objects.n > CLOSURE_OBJECTS_MAX)
			return err_set(err, ERR_LIMIT, "closure of '%s' has more than %d files",
			               run->objects.at[0]->name, CLOSURE_OBJECTS_MAX);
		if (interrupt_check(err) != 0)
			return -1;
		run->n_needed += from->elf.needed.n;
		if (run->n_needed > CLOSURE_NEEDED_MAX)
			return err_set(err, ERR_LIMIT,
			               "closure of '%s': its files name more than %d libraries",
			               run->objects.at[0]->name, CLOSURE_NEEDED_MAX);
		for (size_t k = 0; k < from->elf.needed.n && run->failure.code == ERR_NONE; k++)
			add_needed(run, from, from->elf.needed.at[k]);
		if (run->failure.code != ERR_NONE) {
			*err = run->failure;
			return -1;
		}
	}
	return 0;
}

/* Each plug-in with what it needs, before the next: problems stand at its own position. */
static int add_plugins(struct closure_run *run, const struct closure_matches *plugins,
                       struct err *err)
{
	for (size_t i = 0; i < plugins->n; i++) {
		size_t first = run->objects.n;

		run->at = plugins->at[i].at;
		closure_add_plugin(run, plugins->at[i].path);
		if (add_all_needed(run, first, err) != 0)
			return -1;
	}
	return 0;
}

static int add_program(struct closure_run *run, const char *path,
                       const struct closure_matches *plugins, struct err *err)
{
	struct closure_object o = {.label = path, .name = path};

	run->at = run->item->at;
	run->objects.n = run->n_needed = 0;
	run->builtin = (struct strlist){0};
	run->ground = (struct closure_ground){0};
	if (!closure_read_program(run, &o))
		return 0;
	run->interpreter = o.elf.interpreter;
	if (o.elf.interpreter == NULL && o.elf.needed.n == 0 && plugins->n == 0) {
		diags_add(run->diags, DIAG_NOTE, run->at,
		          "closure: program '%s' is static: nothing to pack", o.name);
		return 0;
	}
	if (o.elf.interpreter != NULL)
		closure_add_interpreter(run, &o);
	closure_push_object(run, &o);
	if (add_all_needed(run, 0, err) != 0 || add_plugins(run, plugins, err) != 0)
		return -1;
	run->at = run->item->at;
	closure_check_ground(run);
	if (run->failure.code != ERR_NONE)
		*err = run->failure;
	return run->failure.code != ERR_NONE ? -1 : 0;
}

static int add_item(struct closure_run *run, const struct layer_closure *item, struct err *err)
{
	struct closure_matches programs, plugins;

	run->item = item;
	run->at = item->at;
	if (item->on == CLOSURE_ON_BASE && run->req->base == NULL) {
		closure_report_no_base(run);
		return 0;
	}
	if (closure_programs(run, &programs, err) != 0 || closure_plugins(run, &plugins, err) != 0)
		return -1;
	for (size_t i = 0; i < programs.n; i++)
		if (add_program(run, programs.at[i].path, &plugins, err) != 0)
			return -1;
	return 0;
}

static int by_image(const void *a, const void *b)
{
	return strcmp(((const struct closure_file *)a)->image,
	              ((const struct closure_file *)b)->image);
}

int closure_compute(const struct closure_request *req, struct arena *a, struct closure *ret_closure,
                    struct diags *d, struct err *err)
{
	struct closure_run run = {.req = req, .arena = a, .diags = d};
	const struct platform_arch *arch = platform_arch_find(req->platform->architecture);
	int rc = 0;

	if (arch == NULL)
		return err_set(err, ERR_UNSUPPORTED, "closure: architecture '%s' is not known",
		               req->platform->architecture);
	if (sysroot_init(&run.sysroot, req->sysroot, arch, a, err) != 0)
		return err_wrap(err, "closure");
	for (size_t i = 0; rc == 0 && i < req->n_items; i++)
		rc = add_item(&run, &req->items[i], err);
	if (rc == 0) {
		ret_closure->n = run.files.n;
		ret_closure->files = NULL;
		if (run.files.n > 0) {
			qsort(run.files.at, run.files.n, sizeof(*run.files.at), by_image);
			ret_closure->files =
				arena_memdup(a, run.files.at, run.files.n * sizeof(*run.files.at));
		}
	}
	vec_done(&run.files);
	vec_done(&run.objects);
	return rc;
}
