/* The closure as a source of a layer's tree: files on this machine become entries of the image. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/timestamp.h"
#include "builder/layer/source/closure.h"
#include "builder/layer/source/sources.h"

/* Modes are ours (0755 for what may be executed, else 0644): the umask of an installation must not
 * show. */
static int add_file(struct tree *t, const struct closure_file *f, struct err *err)
{
	struct entry e = {.path = arena_strdup(t->arena, f->image), .at = f->at};
	struct stat st;

	if (f->link != NULL) {
		e.type = ENTRY_SYMLINK;
		e.mode = 0777;
		e.mtime = t->epoch;
		e.link = arena_strdup(t->arena, f->link);
		return tree_add(t, &e, err);
	}
	if (stat(f->source, &st) != 0)
		return err_set(err, ERR_IO, "stat '%s'", f->source);
	e.type = ENTRY_FILE;
	e.mode = f->interpreter || (st.st_mode & 0111) != 0 ? 0755 : 0644;
	e.mtime = st.st_mtim.tv_sec < t->epoch ? st.st_mtim.tv_sec : t->epoch;
	e.size = st.st_size;
	e.content = st.st_size > 0 ? CONTENT_PATH : CONTENT_NONE;
	e.source = arena_strdup(t->arena, f->source);
	e.stamp = (struct entry_stamp){.dev = (uint64_t)st.st_dev,
	                               .ino = (uint64_t)st.st_ino,
	                               .mtime_ns = timespec_ns(st.st_mtim),
	                               .ctime_ns = timespec_ns(st.st_ctim)};
	return tree_add(t, &e, err);
}

int source_closure_add(struct tree *t, const struct layer_spec *layer,
                       const struct platform *platform, struct base_files *base, struct diags *d,
                       struct err *err)
{
	const struct closure_request req = {
		.items = layer->closure,
		.n_items = layer->n_closure,
		.platform = platform,
		.provided = &layer->provided,
		.sysroot = layer->sysroot,
		.base = base,
	};
	struct closure closure;

	if (layer->n_closure == 0)
		return 0;
	if (closure_compute(&req, t->arena, &closure, d, err) != 0)
		return err_wrap(err, "layer '%s'", t->label);
	for (size_t i = 0; i < closure.n; i++)
		if (add_file(t, &closure.files[i], err) != 0)
			return err_wrap(err, "layer '%s': closure", t->label);
	return 0;
}
