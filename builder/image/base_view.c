#include "builder/image/base_view.h"

#include <string.h>

#include "base/cpus.h"
#include "base/pool.h"
#include "base/text.h"
#include "builder/check/view.h"
#include "builder/image/image.h"
#include "builder/layer/tar/reader.h"

enum { SCAN_THREADS_MAX = 4, NAMES_MAX = 65536, READ_BYTES = 64 << 10 };

struct base_view {
	struct base_files files;
	const struct build_opts *opts;
	const struct plan_image *image;
	const struct base_image *base;
	struct arena arena;
	bool is_read;
	struct layer_scan *scans; /* of the layers, bottom first */
	size_t n_scans;
	struct view view;
	struct budget budget; /* of reading all layers */
	struct image from;    /* where the layers come from when the layout leaves them out */
	struct store *store;  /* the layout, or that of `from` */
	struct store *own;    /* to be closed; NULL = none */
};

/* ---- reading all layers ---- */

static int open_store(struct base_view *v, struct err *err)
{
	if (!v->opts->sparse) {
		v->store = v->own = layout_store(v->opts->layout);
		return 0;
	}
	if (image_open(v->opts->remote, v->image->base, &v->arena, &v->from, err) != 0)
		return -1;
	v->store = v->from.store;
	return 0;
}

static int scan_one(void *ctx, size_t i, struct err *err)
{
	struct base_view *v = ctx;

	const unsigned files = v->opts->plan->spec->image.sbom.files ? SCAN_DIGESTS : 0;

	return layer_scan_run(v->store, SCAN_ELF | files, &v->budget, v->opts->progress,
	                      &v->scans[i], err);
}

static int scan_all(struct base_view *v, struct err *err)
{
	const struct manifest *m = &v->base->parsed;
	unsigned threads = cpus_usable();

	v->scans = arena_calloc(&v->arena, m->n_layers, sizeof(*v->scans));
	for (size_t i = 0; i < m->n_layers; i++)
		if (media_is_layer(m->layers[i].media_type))
			v->scans[v->n_scans++] = (struct layer_scan){
				.desc = &m->layers[i],
				.task = "read base layer",
				.arch = platform_arch_find(v->image->platform.architecture),
				.keep = v->opts->plan->spec->image.sbom.set ? inventory_keeps
			                                                    : NULL};
	return pool_run(v->n_scans, threads < SCAN_THREADS_MAX ? threads : SCAN_THREADS_MAX,
	                scan_one, v, err);
}

static int apply_all(struct base_view *v, struct err *err)
{
	view_init(&v->view, &v->arena, NULL, NULL);
	v->view.budget = &v->budget;
	for (size_t i = 0; i < v->n_scans; i++) {
		if (v->scans[i].failure.code != ERR_NONE) {
			*err = v->scans[i].failure;
			return err_wrap(err, "layer %zu", i);
		}
		if (view_apply(&v->view, &v->scans[i], i, err) != 0)
			return -1;
	}
	return 0;
}

static int read_base(struct base_view *v, struct err *err)
{
	if (v->is_read)
		return 0;
	if (open_store(v, err) != 0 || scan_all(v, err) != 0 || apply_all(v, err) != 0)
		return err_wrap(err, "read the base image '%s'", v->files.name);
	v->is_read = true;
	return 0;
}

/* ---- questions ---- */

static enum base_kind kind_of(const struct view_node *n)
{
	if (n == NULL)
		return BASE_NOTHING;
	if (view_is_dir(n))
		return BASE_FOLDER;
	if (view_is_file(n))
		return BASE_FILE;
	return n->content != NULL && n->content->type == MEMBER_SYMLINK ? BASE_LINK : BASE_OTHER;
}

static int view_look(struct base_files *files, const char *path, struct base_entry *ret_entry,
                     struct err *err)
{
	struct base_view *v = (struct base_view *)files;
	const struct view_node *n;

	if (read_base(v, err) != 0)
		return -1;
	n = view_find(&v->view, path, false);
	*ret_entry = (struct base_entry){.kind = kind_of(n)};
	if (ret_entry->kind == BASE_LINK)
		ret_entry->link = n->content->link;
	if (ret_entry->kind != BASE_FILE || n->content->elf == NULL || !n->content->elf->dynamic)
		return 0;
	ret_entry->elf = n->content->elf;
	ret_entry->loader_dirs = n->content->loader_dirs;
	return 0;
}

static int view_names(struct base_files *files, const char *path, struct strlist *ret_names,
                      struct err *err)
{
	struct base_view *v = (struct base_view *)files;
	const struct view_node *dir;
	struct strlist out = {0};
	size_t n = 0;

	if (read_base(v, err) != 0)
		return -1;
	dir = view_find(&v->view, path, false);
	if (dir != NULL && view_is_dir(dir))
		for (const struct view_node *c = dir->first_child; c != NULL; c = c->next_sibling)
			n++;
	if (n > NAMES_MAX)
		return err_set(err, ERR_LIMIT, "base image '%s': more than %d names in '%s'",
		               files->name, NAMES_MAX, path);
	out.at = arena_calloc(&v->arena, n, sizeof(*out.at));
	for (const struct view_node *c = n > 0 ? dir->first_child : NULL; c != NULL;
	     c = c->next_sibling)
		out.at[out.n++] = c->name;
	if (n > 0)
		qsort(out.at, out.n, sizeof(*out.at), text_compare);
	*ret_names = out;
	return 0;
}

/* ---- the content of one file: its layer is read once more, up to it ---- */

/* The layer and the place in it of a member. */
static bool find_member(const struct base_view *v, const struct scan_member *m, size_t *ret_layer,
                        size_t *ret_place)
{
	for (size_t i = 0; i < v->n_scans; i++)
		for (size_t k = 0; k < v->scans[i].members.n; k++)
			if (v->scans[i].members.at[k] == m) {
				*ret_layer = i;
				*ret_place = k;
				return true;
			}
	return false;
}

static int read_member(struct layer_reader *reader, size_t place, struct strbuf *sb,
                       struct err *err)
{
	char buf[READ_BYTES];
	struct member member;
	bool more = true;
	size_t n = 1;

	for (size_t i = 0; i <= place; i++) {
		if (layer_reader_next(reader, &member, &more, err) != 0)
			return -1;
		if (!more)
			return err_set(err, ERR_FORMAT, "the layer changed while it was read");
	}
	while (n > 0) {
		if (layer_reader_read(reader, buf, sizeof(buf), &n, err) != 0)
			return -1;
		strbuf_add(sb, buf, n);
	}
	return 0;
}

static int read_content(struct base_view *v, const struct scan_member *m, struct strbuf *sb,
                        struct err *err)
{
	struct layer_reader *reader = NULL;
	struct source *blob = NULL;
	size_t layer, place;
	int rc;

	if (!find_member(v, m, &layer, &place))
		return err_set(err, ERR_NOT_FOUND, "no layer has '%s'", m->path);
	if (store_open(v->store, v->scans[layer].desc, &blob, err) != 0 ||
	    layer_reader_open(blob, v->scans[layer].desc->media_type, &reader, err) != 0)
		return -1;
	rc = read_member(reader, place, sb, err);
	layer_reader_close(reader);
	return rc;
}

static int view_read(struct base_files *files, const char *path, size_t max_bytes,
                     struct strbuf *sb, struct err *err)
{
	struct base_view *v = (struct base_view *)files;
	const struct view_node *n;
	const struct scan_member *m;

	strbuf_reset(sb);
	if (read_base(v, err) != 0)
		return -1;
	n = view_find(&v->view, path, false);
	if (kind_of(n) != BASE_FILE)
		return err_set(err, ERR_NOT_FOUND, "base image '%s' has no file '%s'", files->name,
		               path);
	m = n->content;
	if (m->size < 0 || (uint64_t)m->size > max_bytes)
		return err_set(err, ERR_LIMIT, "base image '%s': '%s' has more than %zu bytes",
		               files->name, path, max_bytes);
	if (m->text != NULL && strlen(m->text) == (size_t)m->size)
		strbuf_adds(sb, m->text);
	else if (read_content(v, m, sb, err) != 0)
		return err_wrap(err, "base image '%s': '%s'", files->name, path);
	if (sb->overflow)
		return err_set(err, ERR_LIMIT, "base image '%s': '%s' is too long", files->name,
		               path);
	return 0;
}

int base_view_inventory(struct base_files *files, struct inventory *inv, struct err *err)
{
	struct base_view *v = (struct base_view *)files;
	const struct inventory_opts opts = {.files = v->opts->plan->spec->image.sbom.files};

	if (read_base(v, err) != 0)
		return -1;
	return inventory_read(inv, &v->view, &opts, err) == 0
	               ? 0
	               : err_wrap(err, "base image '%s'", files->name);
}

/* ---- life ---- */

struct base_files *base_view_open(const struct build_opts *opts, const struct plan_image *image,
                                  const struct base_image *base)
{
	struct base_view *v = mem_zalloc(sizeof(*v));

	v->files = (struct base_files){image->base, view_look, view_names, view_read};
	v->opts = opts;
	v->budget.max_unpacked = opts->plan->spec->image.check.max_unpacked;
	v->image = image;
	v->base = base;
	return &v->files;
}

void base_view_close(struct base_files *files)
{
	struct base_view *v = (struct base_view *)files;

	if (v == NULL)
		return;
	for (size_t i = 0; i < v->n_scans; i++)
		layer_scan_done(&v->scans[i]);
	view_done(&v->view);
	store_close(v->own);
	image_done(&v->from);
	arena_done(&v->arena);
	free(v);
}
