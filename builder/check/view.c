#include "builder/check/view.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"

enum { LINKS_MAX = 40 };

/* ---- nodes ---- */

static uint64_t hash_name(const struct view_node *parent, const char *name, size_t len)
{
	uint64_t h = 14695981039346656037u ^ (uint64_t)(uintptr_t)parent; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 1099511628211u;
	return h ^ h >> 29;
}

static struct view_node **slot_of(const struct view *v, const struct view_node *parent,
                                  const char *name, size_t len, uint64_t hash)
{
	for (size_t i = hash & (v->n_table - 1);; i = (i + 1) & (v->n_table - 1)) {
		struct view_node *n = v->table[i];

		if (n == NULL || (n->hash == hash && n->parent == parent &&
		                  strncmp(n->name, name, len) == 0 && n->name[len] == '\0'))
			return &v->table[i];
	}
}

static void grow_table(struct view *v)
{
	struct view_node **old = v->table;
	size_t n_old = v->n_table;

	v->n_table = n_old == 0 ? 1024 : n_old * 2;
	v->table = mem_calloc(v->n_table, sizeof(struct view_node *));
	budget_spend(v->budget, BUDGET_KEPT,
	             (int64_t)((v->n_table - n_old) * sizeof(struct view_node *)));
	for (size_t i = 0; i < n_old; i++)
		if (old[i] != NULL)
			*slot_of(v, old[i]->parent, old[i]->name, strlen(old[i]->name),
			         old[i]->hash) = old[i];
	free(old);
}

void view_init(struct view *v, struct arena *a, view_report *report, void *ctx)
{
	*v = (struct view){.arena = a, .report = report, .ctx = ctx, .arena_mark = a->bytes};
	grow_table(v);
	v->root = arena_alloc(a, sizeof(*v->root));
	v->root->name = "";
	v->root->alive = true;
}

void view_done(struct view *v)
{
	free(v->table);
	v->table = NULL;
}

static struct view_node *child(const struct view *v, const struct view_node *dir, const char *name,
                               size_t len)
{
	struct view_node *n = *slot_of(v, dir, name, len, hash_name(dir, name, len));

	return n != NULL && n->alive ? n : NULL;
}

/* The child, made alive as an unnamed folder when it is not there. */
static struct view_node *make_child(struct view *v, struct view_node *dir, const char *name,
                                    size_t len, size_t layer)
{
	uint64_t hash = hash_name(dir, name, len);
	struct view_node **slot = slot_of(v, dir, name, len, hash), *n = *slot;

	if (n == NULL) {
		n = arena_alloc(v->arena, sizeof(*n));
		*n = (struct view_node){.name = arena_strndup(v->arena, name, len),
		                        .parent = dir,
		                        .hash = hash,
		                        .path_len = dir->path_len + 1 + (uint32_t)len};
		*slot = n;
		if (++v->n_nodes * 2 > v->n_table)
			grow_table(v);
	}
	if (!n->alive) {
		n->alive = true;
		n->layer = layer;
		n->member = n->content = NULL;
		n->first_child = n->last_child = n->next_sibling = NULL;
		n->prev_sibling = dir->last_child;
		*(n->prev_sibling != NULL ? &n->prev_sibling->next_sibling : &dir->first_child) = n;
		dir->last_child = n;
	}
	return n;
}

/* Kills what is below a node. Not recursive: links let a hostile image nest without end. */
static void kill_below(struct view_node *top)
{
	struct view_node *n = top->first_child;

	while (n != NULL) {
		n->alive = false;
		if (n->first_child != NULL) {
			n = n->first_child;
			continue;
		}
		while (n != top && n->next_sibling == NULL)
			n = n->parent;
		n = n != top ? n->next_sibling : NULL;
	}
	top->first_child = top->last_child = NULL;
}

static void kill_node(struct view_node *n)
{
	*(n->prev_sibling != NULL ? &n->prev_sibling->next_sibling : &n->parent->first_child) =
		n->next_sibling;
	*(n->next_sibling != NULL ? &n->next_sibling->prev_sibling : &n->parent->last_child) =
		n->prev_sibling;
	kill_below(n);
	n->alive = false;
}

bool view_is_dir(const struct view_node *n)
{
	return n->member == NULL || n->member->type == MEMBER_DIR;
}

bool view_is_file(const struct view_node *n)
{
	return n->content != NULL && n->content->type == MEMBER_FILE;
}

static const char *link_target(const struct view_node *n)
{
	return n->content != NULL && n->content->type == MEMBER_SYMLINK ? n->content->link : NULL;
}

/* ---- look-up ---- */

/* One look-up: who is told of its folders, and the links that it followed. */
struct lookup {
	const struct view *view;
	view_passed *passed; /* may be NULL */
	void *ctx;
	unsigned links;
};

static struct view_node *find_from(struct lookup *l, struct view_node *at, const char *path,
                                   bool follow);

/* One segment from the folder `at` on; a link is followed when `follow`. */
static struct view_node *find_step(struct lookup *l, struct view_node *at, const char *name,
                                   size_t len, bool follow)
{
	struct view_node *next;
	const char *target;

	if (len == 0 || (len == 1 && name[0] == '.'))
		return at;
	if (l->passed != NULL && !l->passed(l->ctx, at))
		return NULL;
	if (len == 2 && name[0] == '.' && name[1] == '.')
		return at->parent != NULL ? at->parent : at;
	next = child(l->view, at, name, len);
	target = next != NULL ? link_target(next) : NULL;
	if (target == NULL || !follow)
		return next;
	if (++l->links > LINKS_MAX)
		return NULL;
	return find_from(l, at, target, true);
}

static struct view_node *find_from(struct lookup *l, struct view_node *at, const char *path,
                                   bool follow)
{
	int64_t steps = 0;

	if (path[0] == '/')
		at = l->view->root;
	for (; *path != '\0' && at != NULL; steps++) {
		size_t len = strcspn(path, "/");
		const char *rest = path + len + strspn(path + len, "/");

		at = find_step(l, at, path, len, follow || *rest != '\0');
		path = rest;
	}
	budget_spend(l->view->budget, BUDGET_STEPS, steps);
	return at;
}

struct view_node *view_walk(const struct view *v, struct view_node *dir, const char *path,
                            bool follow, view_passed *passed, void *ctx)
{
	return find_from(&(struct lookup){v, passed, ctx, 0}, dir, path, follow);
}

struct view_node *view_find_at(const struct view *v, struct view_node *dir, const char *path,
                               bool follow)
{
	return budget_exceeded(v->budget) ? NULL : view_walk(v, dir, path, follow, NULL, NULL);
}

struct view_node *view_find(const struct view *v, const char *path, bool follow)
{
	return view_find_at(v, v->root, path, follow);
}

char *view_path(const struct view *v, const struct view_node *n)
{
	size_t len = 0;
	char *out, *p;

	for (const struct view_node *i = n; i->parent != NULL; i = i->parent)
		len += strlen(i->name) + 1;
	out = arena_alloc(v->arena, len + 2);
	out[0] = '/';
	p = out + len;
	for (const struct view_node *i = n; i->parent != NULL; i = i->parent) {
		size_t part = strlen(i->name);

		p -= part;
		memcpy(p, i->name, part);
		*--p = '/';
	}
	return out;
}

struct view_node *view_next(const struct view_node *n)
{
	if (n->first_child != NULL)
		return n->first_child;
	while (n != NULL && n->next_sibling == NULL)
		n = n->parent;
	return n != NULL ? n->next_sibling : NULL;
}

/* ---- applying a layer ---- */

static void report_event(struct view *v, enum view_event event, size_t layer,
                         const struct scan_member *m, const char *detail)
{
	if (v->report != NULL)
		v->report(v->ctx, event, layer, m, detail);
}

/* The folder of a member, links on the way followed, missing folders made. */
static struct view_node *parent_of(struct view *v, const char *path, size_t layer,
                                   const char **ret_base)
{
	struct view_node *at = v->root;
	struct lookup l = {.view = v};
	int64_t steps = 0;

	for (size_t len = strcspn(path, "/"); path[len] == '/'; len = strcspn(path, "/"), steps++) {
		struct view_node *next = make_child(v, at, path, len, layer);

		if (link_target(next) != NULL) {
			struct view_node *real = find_from(&l, at, next->name, true);

			next = real != NULL ? real : next;
		}
		if (!view_is_dir(next)) {
			next->member = next->content = NULL;
			next->layer = layer;
		}
		at = next;
		path += len + 1;
	}
	budget_spend(v->budget, BUDGET_STEPS, steps);
	*ret_base = path;
	return at;
}

/* The folder of a path when it exists, for whiteouts: they make nothing. */
static struct view_node *existing_parent(struct view *v, const char *path, const char **ret_base)
{
	const char *slash = strrchr(path, '/');

	*ret_base = slash != NULL ? slash + 1 : path;
	if (slash == NULL)
		return v->root;
	return view_find(v, arena_strndup(v->arena, path, (size_t)(slash - path)), true);
}

/* Whiteouts hide only what lower layers brought, so they are applied before the layer's own
 * members. */
static void apply_whiteout(struct view *v, size_t layer, const struct scan_member *m)
{
	const char *base;
	struct view_node *dir = existing_parent(v, m->path, &base), *hidden;

	base += strlen(".wh.");
	if (strcmp(base, ".wh..opq") == 0) {
		if (dir != NULL)
			kill_below(dir);
		return;
	}
	if (base[0] == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0 ||
	    text_has_prefix(base, ".wh.") || m->size != 0) {
		report_event(v, VIEW_BAD_WHITEOUT, layer, m, NULL);
		return;
	}
	hidden = dir != NULL ? child(v, dir, base, strlen(base)) : NULL;
	if (hidden != NULL)
		kill_node(hidden);
	else
		report_event(v, VIEW_USELESS_WHITEOUT, layer, m, NULL);
}

static bool is_whiteout(const char *path)
{
	const char *slash = strrchr(path, '/');

	return text_has_prefix(slash != NULL ? slash + 1 : path, ".wh.");
}

static void check_replaced(struct view *v, size_t layer, const struct scan_member *m,
                           const struct view_node *n)
{
	const char *target = link_target(n);
	struct view_node *behind;

	if (n->member != NULL && n->layer == layer) {
		if (strcmp(n->member->path, m->path) == 0)
			report_event(v, VIEW_DUPLICATE, layer, m, NULL);
		return;
	}
	if (target == NULL || m->type != MEMBER_DIR)
		return;
	behind = view_find_at(v, n->parent, n->name, true);
	if (behind != NULL && view_is_dir(behind))
		report_event(v, VIEW_SHADOWED_LINK, layer, m, target);
}

static int apply_member(struct view *v, size_t layer, const struct scan_member *m, struct err *err)
{
	const char *base;
	struct view_node *dir = parent_of(v, m->path, layer, &base), *n, *target = NULL;

	if (base[0] == '\0' || strcmp(m->path, ".") == 0) {
		v->root->member = m; /* "./" */
		return 0;
	}
	if (dir->path_len + 1 + strlen(base) > VIEW_PATH_MAX)
		return err_set(err, ERR_LIMIT,
		               "a path of layer %zu is longer than %d bytes once its links are "
		               "followed: no runtime can unpack it",
		               layer + 1, VIEW_PATH_MAX);
	if (m->type == MEMBER_HARDLINK) {
		target = m->link != NULL ? view_find(v, m->link, false) : NULL;
		if (target == NULL || target->content == NULL) {
			report_event(v, VIEW_BAD_HARDLINK, layer, m, m->link);
			return 0;
		}
	}
	n = child(v, dir, base, strlen(base));
	if (n != NULL) {
		check_replaced(v, layer, m, n);
		if (m->type != MEMBER_DIR || !view_is_dir(n))
			kill_node(n);
	}
	n = make_child(v, dir, base, strlen(base), layer);
	n->layer = layer;
	n->member = target != NULL ? target->member : m;
	n->content = target != NULL ? target->content : m;
	return 0;
}

static int check_growth(struct view *v, struct err *err)
{
	if (v->n_nodes > VIEW_NODES_MAX)
		return err_set(err, ERR_LIMIT, "the file system has more than %d files and folders",
		               VIEW_NODES_MAX);
	budget_spend_arena(v->budget, v->arena, &v->arena_mark);
	return budget_check(v->budget, err) != 0 ? -1 : interrupt_check(err);
}

int view_apply(struct view *v, const struct layer_scan *scan, size_t layer, struct err *err)
{
	for (size_t i = 0; i < scan->members.n; i++) {
		if (is_whiteout(scan->members.at[i]->path))
			apply_whiteout(v, layer, scan->members.at[i]);
		if (check_growth(v, err) != 0)
			return -1;
	}
	for (size_t i = 0; i < scan->members.n; i++)
		if ((!is_whiteout(scan->members.at[i]->path) &&
		     apply_member(v, layer, scan->members.at[i], err) != 0) ||
		    check_growth(v, err) != 0)
			return -1;
	return 0;
}
