/*
 * The files that differ between two images: both final file systems are built and merged path by
 * path. Layers at the bottom that both have are left unread as long as the rest decides: only when
 * a path is on one side alone, or a whiteout or link reaches down, must they be known.
 */
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/check/diff_internal.h"
#include "builder/check/view.h"

struct side {
	const struct diff_image *image;
	struct layer_scan **layers; /* NULL where the layer is left unread */
	struct view view;
	struct view_node **nodes; /* sorted by path */
	char **paths;
	size_t n;
};

struct files_diff {
	struct diff_run *run;
	struct side a, b;
	bool reaches_down; /* the unread layers matter */
	cJSON *files;
	size_t arena_mark;
};

/* Of memory, besides the paths: a difference as JSON. */
enum { DIFFERENCE_BYTES = 2048 };

void diff_run_done(struct diff_run *run)
{
	for (size_t i = 0; i < run->scans.n; i++)
		layer_scan_done(run->scans.at[i]);
	vec_done(&run->scans);
}

static size_t common_bottom(const struct manifest *a, const struct manifest *b)
{
	size_t n = 0;

	while (n < a->n_layers && n < b->n_layers &&
	       digest_equal(&a->layers[n].digest, &b->layers[n].digest))
		n++;
	return n;
}

/* A layer that was read before; one with another size or type is another layer, to be refused. */
static struct layer_scan *find_scan(const struct diff_run *run, const struct descriptor *desc)
{
	for (size_t i = 0; i < run->scans.n; i++) {
		const struct descriptor *d = run->scans.at[i]->desc;

		if (digest_equal(&d->digest, &desc->digest) && d->size == desc->size &&
		    strcmp(d->media_type, desc->media_type) == 0)
			return run->scans.at[i];
	}
	return NULL;
}

static int scan_layer(struct diff_run *run, struct store *store, const struct descriptor *desc,
                      struct layer_scan **ret_scan, struct err *err)
{
	struct layer_scan *scan = find_scan(run, desc);
	char text[DIGEST_TEXT_MAX];

	if (scan != NULL) {
		*ret_scan = scan;
		return 0;
	}
	scan = arena_alloc(run->arena, sizeof(*scan));
	scan->desc = desc;
	vec_push(&run->scans, scan);
	if (layer_scan_run(store, SCAN_DIGESTS, run->budget, NULL, scan, err) != 0)
		return -1;
	if (scan->failure.code != ERR_NONE) {
		*err = scan->failure;
		return err_wrap(err, "layer %s", digest_text(&desc->digest, text));
	}
	*ret_scan = scan;
	return 0;
}

static void count_event(void *ctx, enum view_event event, size_t layer, const struct scan_member *m,
                        const char *detail)
{
	struct files_diff *c = ctx;

	(void)layer;
	(void)m;
	(void)detail;
	if (event == VIEW_USELESS_WHITEOUT || event == VIEW_BAD_HARDLINK)
		c->reaches_down = true;
}

struct node_at_path {
	char *path;
	struct view_node *node;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct node_at_path *)a)->path,
	              ((const struct node_at_path *)b)->path);
}

static int list_nodes(struct files_diff *c, struct side *s, struct err *err)
{
	VEC(struct node_at_path) pairs = {0};
	struct view_node *n = view_next(s->view.root);

	for (; n != NULL && !budget_exceeded(c->run->budget); n = view_next(n)) {
		struct node_at_path pair = {view_path(&s->view, n), n};

		vec_push(&pairs, pair);
		budget_spend_arena(c->run->budget, c->run->arena, &c->arena_mark);
	}
	if (pairs.n > 0)
		qsort(pairs.at, pairs.n, sizeof(*pairs.at), by_path);
	s->n = pairs.n;
	s->nodes = arena_calloc(c->run->arena, pairs.n + 1, sizeof(struct view_node *));
	s->paths = arena_calloc(c->run->arena, pairs.n + 1, sizeof(*s->paths));
	for (size_t i = 0; i < pairs.n; i++) {
		s->nodes[i] = pairs.at[i].node;
		s->paths[i] = pairs.at[i].path;
	}
	vec_done(&pairs);
	return budget_check(c->run->budget, err);
}

static bool has_opaque(const struct layer_scan *scan)
{
	for (size_t i = 0; i < scan->members.n; i++)
		if (text_has_suffix(scan->members.at[i]->path, ".wh..wh..opq"))
			return true;
	return false;
}

static int load_side(struct files_diff *c, struct side *s, size_t skip, struct err *err)
{
	const struct manifest *m = &s->image->manifest;

	s->layers = arena_calloc(c->run->arena, m->n_layers + 1, sizeof(struct layer_scan *));
	view_init(&s->view, c->run->arena, count_event, c);
	s->view.budget = c->run->budget;
	for (size_t i = skip; i < m->n_layers; i++) {
		if (scan_layer(c->run, s->image->store, &m->layers[i], &s->layers[i], err) != 0 ||
		    view_apply(&s->view, s->layers[i], i, err) != 0)
			return err_wrap(err, "%s", s->image->platform);
		c->reaches_down |= has_opaque(s->layers[i]);
	}
	c->arena_mark = s->view.arena_mark;
	return list_nodes(c, s, err);
}

/* True when every path is on both sides, so that nothing depends on the layers left unread. */
static bool same_paths(const struct side *a, const struct side *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->paths[i], b->paths[i]) != 0)
			return false;
	return true;
}

static const char *type_name(const struct view_node *n)
{
	static const char *const names[] = {
		[MEMBER_FILE] = "file",
		[MEMBER_DIR] = "folder",
		[MEMBER_SYMLINK] = "symlink",
		[MEMBER_HARDLINK] = "file",
		[MEMBER_CHAR] = "character device",
		[MEMBER_BLOCK] = "block device",
		[MEMBER_FIFO] = "fifo",
		[MEMBER_OTHER] = "other",
	};

	return view_is_dir(n) ? "folder" : names[n->content->type];
}

static void describe_side(cJSON *item, const char *key, const struct side *s,
                          const struct view_node *n)
{
	const struct scan_member *m = n->member;
	cJSON *o = json_add_object(item, key);
	char text[DIGEST_TEXT_MAX];
	const char *layer = n->layer < s->image->manifest.n_layers
	                            ? strmap_get(&s->image->manifest.layers[n->layer].annotations,
	                                         ANNOTATION_LAYER_NAME)
	                            : NULL;

	json_add_string(o, "type", type_name(n));
	if (m != NULL) {
		snprintf(text, sizeof(text), "%04o", m->mode & 07777);
		json_add_string(o, "mode", text);
		json_add_int(o, "uid", m->uid);
		json_add_int(o, "gid", m->gid);
		json_add_int(o, "mtime", m->mtime);
	}
	if (view_is_file(n)) {
		json_add_int(o, "size", n->content->size);
		json_add_string(o, "digest", digest_text(&n->content->content, text));
	}
	if (m != NULL && m->type == MEMBER_SYMLINK)
		json_add_string(o, "link", m->link);
	json_add_int(o, "layer", (int64_t)n->layer + 1);
	json_add_string(o, "layerName", layer);
}

/* Names of what differs into the array. */
static void differences(const struct view_node *a, const struct view_node *b, cJSON *what)
{
	const struct scan_member *x = a->member, *y = b->member;

	if (strcmp(type_name(a), type_name(b)) != 0)
		json_push_string(what, "type");
	else if (view_is_file(a) && !digest_equal(&a->content->content, &b->content->content))
		json_push_string(what, "content");
	/* A folder that no layer names has no metadata to compare. */
	if (x == NULL || y == NULL)
		return;
	if ((x->mode & 07777) != (y->mode & 07777) && x->type != MEMBER_SYMLINK)
		json_push_string(what, "mode");
	if (x->uid != y->uid || x->gid != y->gid)
		json_push_string(what, "owner");
	if (x->type == MEMBER_SYMLINK && y->type == MEMBER_SYMLINK && strcmp(x->link, y->link) != 0)
		json_push_string(what, "link");
	if (!digest_equal(&x->xattrs, &y->xattrs))
		json_push_string(what, "xattrs");
	if (x->mtime != y->mtime)
		json_push_string(what, "mtime");
}

static void emit_change(struct files_diff *c, const char *path, const struct view_node *a,
                        const struct view_node *b)
{
	cJSON *item = cJSON_CreateObject();

	json_add_string(item, "path", path);
	json_add_string(item, "change", a == NULL ? "added" : b == NULL ? "removed" : "changed");
	if (a != NULL && b != NULL) {
		cJSON *what = json_add_array(item, "what");

		differences(a, b, what);
		if (cJSON_GetArraySize(what) == 0) {
			cJSON_Delete(item);
			return;
		}
	}
	if (a != NULL)
		describe_side(item, "a", &c->a, a);
	if (b != NULL)
		describe_side(item, "b", &c->b, b);
	json_push(c->files, item);
	budget_spend(c->run->budget, BUDGET_KEPT, (int64_t)strlen(path) + DIFFERENCE_BYTES);
}

static int compare_sides(struct files_diff *c, struct err *err)
{
	size_t i = 0, k = 0;

	while ((i < c->a.n || k < c->b.n) && !budget_exceeded(c->run->budget)) {
		int order = i >= c->a.n   ? 1
		            : k >= c->b.n ? -1
		                          : strcmp(c->a.paths[i], c->b.paths[k]);

		if (order < 0)
			emit_change(c, c->a.paths[i], c->a.nodes[i], NULL);
		else if (order > 0)
			emit_change(c, c->b.paths[k], NULL, c->b.nodes[k]);
		else
			emit_change(c, c->a.paths[i], c->a.nodes[i], c->b.nodes[k]);
		i += order <= 0;
		k += order >= 0;
	}
	return budget_check(c->run->budget, err) != 0 ? -1 : interrupt_check(err);
}

static int load_sides(struct files_diff *c, size_t skip, struct err *err)
{
	c->reaches_down = false;
	if (load_side(c, &c->a, skip, err) != 0)
		return -1;
	return load_side(c, &c->b, skip, err);
}

int diff_files(struct diff_run *run, const struct diff_image *a, const struct diff_image *b,
               cJSON *files, struct err *err)
{
	struct files_diff c = {.run = run, .a.image = a, .b.image = b, .files = files};
	size_t skip = common_bottom(&a->manifest, &b->manifest);
	int rc = 0;

	if (skip == a->manifest.n_layers && skip == b->manifest.n_layers)
		return 0;
	rc = load_sides(&c, skip, err);
	if (rc == 0 && skip > 0 && (c.reaches_down || !same_paths(&c.a, &c.b))) {
		view_done(&c.a.view);
		view_done(&c.b.view);
		rc = load_sides(&c, 0, err);
	}
	if (rc == 0)
		rc = compare_sides(&c, err);
	view_done(&c.a.view);
	view_done(&c.b.view);
	return rc;
}
