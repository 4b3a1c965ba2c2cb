/*
 * Sections: lists, owners, one file system, stacking, order.
 */
#include "builder/sbom/inventory.h"

#include <elf.h>
#include <stdarg.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/elf/elf.h"
#include "builder/sbom/database.h"

/* ---- lists ---- */

void inventory_done(struct inventory *inv)
{
	vec_done(&inv->packages);
	vec_done(&inv->objects);
	vec_done(&inv->files);
	vec_done(&inv->gaps);
}

struct sbom_package *inventory_add(struct inventory *inv)
{
	vec_push(&inv->packages, arena_alloc(inv->arena, sizeof(struct sbom_package)));
	return inv->packages.at[inv->packages.n - 1];
}

void inventory_gap(struct inventory *inv, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = arena_vprintf(inv->arena, fmt, args);

	va_end(args);
	text_make_printable(text);
	vec_push(&inv->gaps, text);
}

bool inventory_keeps(const char *path)
{
	const struct database *row = database_find(path);

	return (row != NULL && row->gap == NULL) ||
	       (text_has_prefix(path, "var/lib/dpkg/info/") && text_has_suffix(path, ".list")) ||
	       (text_has_prefix(path, "var/lib/dpkg/status.d/") &&
	        text_has_suffix(path, ".md5sums")) ||
	       strcmp(path, "etc/os-release") == 0 || strcmp(path, "usr/lib/os-release") == 0;
}

/* ---- owners: which package a file of the view is of ---- */

struct owner {
	const struct view_node *node;
	const struct sbom_package *package;
};

struct inventory_reading {
	struct inventory *inv;
	const struct view *view;
	const struct inventory_opts *opts;
	VEC(struct owner) owners;              /* by node, between two walks */
	VEC(const struct sbom_package *) debs; /* that a database lists, by name */
	const struct sbom_package *package;    /* whose list is being read */
	size_t first; /* package of the inventory that is of this reading */
};

static int by_node(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct owner *)a)->node,
		  right = (uintptr_t)((const struct owner *)b)->node;

	return (left > right) - (left < right);
}

static const struct sbom_package *owner_of(const struct inventory_reading *r,
                                           const struct view_node *n)
{
	const struct owner key = {n, NULL};
	const struct owner *found =
		r->owners.n == 0 ? NULL
				 : bsearch(&key, r->owners.at, r->owners.n, sizeof(key), by_node);

	return found != NULL ? found->package : NULL;
}

static void add_owned(void *ctx, const struct sbom_package *package, const char *path, size_t len)
{
	struct inventory_reading *r = ctx;
	char text[VIEW_PATH_MAX + 1];

	if (len >= sizeof(text))
		return;
	memcpy(text, path, len);
	text[len] = '\0';
	const struct view_node *n = view_find(r->view, text, false);

	if (n != NULL && view_is_file(n))
		vec_push(&r->owners, ((struct owner){n, package}));
}

static void add_listed(void *ctx, const char *path, size_t len)
{
	const struct inventory_reading *r = ctx;

	add_owned(ctx, r->package, path, len);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct sbom_package *const *)a)->name,
	              (*(const struct sbom_package *const *)b)->name);
}

/* Between two walks: what the next one looks up. */
static void index_reading(struct inventory_reading *r)
{
	if (r->owners.n > 1)
		qsort(r->owners.at, r->owners.n, sizeof(*r->owners.at), by_node);
	if (r->debs.n > 0)
		return;
	for (size_t i = r->first; i < r->inv->packages.n; i++)
		if (r->inv->packages.at[i]->kind == PACKAGE_DEB)
			vec_push(&r->debs, r->inv->packages.at[i]);
	if (r->debs.n > 1)
		qsort(r->debs.at, r->debs.n, sizeof(*r->debs.at), by_name);
}

static bool fits(const char *wanted, const char *have)
{
	return wanted == NULL || have == NULL || strcmp(wanted, have) == 0;
}

/* The listed Debian package of a name; version and architecture NULL: any. */
static const struct sbom_package *find_deb(const struct inventory_reading *r, const char *name,
                                           const char *version, const char *architecture)
{
	size_t low = 0, high = r->debs.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		*(strcmp(r->debs.at[middle]->name, name) < 0 ? &low : &high) =
			strcmp(r->debs.at[middle]->name, name) < 0 ? middle + 1 : middle;
	}
	for (; low < r->debs.n && strcmp(r->debs.at[low]->name, name) == 0; low++)
		if (fits(version, r->debs.at[low]->version) &&
		    fits(architecture, r->debs.at[low]->architecture))
			return r->debs.at[low];
	return NULL;
}

/* ---- one file system ---- */

typedef int visit(struct inventory_reading *r, struct view_node *n, const char *path,
                  struct err *err);

/* The path of a node without leading '/', written into buf. */
static const char *path_of(const struct view_node *n, char buf[VIEW_PATH_MAX + 2])
{
	char *at = buf + n->path_len;

	*at = '\0';
	for (; n->parent != NULL; n = n->parent) {
		size_t len = strlen(n->name);

		at -= len;
		memcpy(at, n->name, len);
		*--at = '/';
	}
	return buf + 1;
}

/* Each regular file, with its path without leading '/'. */
static int walk(struct inventory_reading *r, visit *visit_file, struct err *err)
{
	char path[VIEW_PATH_MAX + 2];
	size_t seen = 0;

	for (struct view_node *n = r->view->root; n != NULL; n = (struct view_node *)view_next(n)) {
		if (n->parent == NULL || n->path_len > VIEW_PATH_MAX || !view_is_file(n))
			continue;
		if (++seen % 4096 == 0 && interrupt_check(err) != 0)
			return -1;
		if (visit_file(r, n, path_of(n, path), err) != 0)
			return -1;
	}
	return 0;
}

static int read_database(struct inventory_reading *r, const struct database *row,
                         const struct view_node *n, const char *path, struct err *err)
{
	const struct database_reader to = {.inv = r->inv,
	                                   .path = arena_printf(r->inv->arena, "/%s", path),
	                                   .owns = add_owned,
	                                   .ctx = r};

	/* A scan keeps no text of an empty file. */
	const bool is_empty = n->content->size == 0;
	const char *text = is_empty ? "" : n->content->text;

	if (row->gap != NULL || text == NULL) {
		inventory_gap(r->inv, "/%s: %s", path,
		              row->gap != NULL ? row->gap : "it is too large to be read");
		return 0;
	}
	row->read(&to, text, is_empty ? 0 : n->content->text_len);
	if (r->inv->packages.n > DATABASE_PACKAGES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d packages in the image",
		               DATABASE_PACKAGES_MAX);
	return 0;
}

static int visit_database(struct inventory_reading *r, struct view_node *n, const char *path,
                          struct err *err)
{
	const struct database *row = database_find(path);

	return row == NULL || row->of_files ? 0 : read_database(r, row, n, path, err);
}

static int visit_list(struct inventory_reading *r, struct view_node *n, const char *path,
                      struct err *err)
{
	const char *architecture, *name = dpkg_list_of(path, r->inv->arena, &architecture);

	(void)err;
	if (name == NULL || n->content->text == NULL)
		return 0;
	r->package = find_deb(r, name, NULL, architecture);
	if (r->package != NULL)
		dpkg_read_list(n->content->text, n->content->text_len, add_listed, r);
	return 0;
}

/* Metadata of what Debian packed is not a package of its own. */
static int visit_inner(struct inventory_reading *r, struct view_node *n, const char *path,
                       struct err *err)
{
	const struct database *row = database_find(path);

	if (row == NULL || !row->of_files || owner_of(r, n) != NULL ||
	    (r->opts->origin != NULL && r->opts->origin(r->opts->ctx, n).package != NULL))
		return 0;
	return read_database(r, row, n, path, err);
}

/* The package that a file says it is of, though no list has the file. */
static const struct sbom_package *package_of_note(struct inventory_reading *r,
                                                  const struct elf_info *elf)
{
	const struct elf_package *note = elf->package;
	const struct sbom_package *listed;
	struct arena *a = r->inv->arena;

	if (note == NULL || note->type == NULL || strcmp(note->type, "deb") != 0 ||
	    note->version == NULL)
		return NULL;
	listed = find_deb(r, note->name, note->version, note->architecture);
	if (listed != NULL)
		return listed;
	/* Added for each file: inventory_sort makes them one. */
	struct sbom_package *p = inventory_add(r->inv);

	*p = (struct sbom_package){.kind = PACKAGE_DEB,
	                           .name = arena_strdup(a, note->name),
	                           .version = arena_strdup(a, note->version),
	                           .architecture = arena_strdup(a, note->architecture),
	                           .from = "the package note of an ELF file"};
	return p;
}

static struct strlist copy_list(const struct strlist *list, struct arena *a)
{
	struct strlist out = {arena_calloc(a, list->n, sizeof(*out.at)), list->n};

	for (size_t i = 0; i < list->n; i++)
		out.at[i] = arena_strdup(a, list->at[i]);
	return out;
}

static const struct sbom_package *add_object(struct inventory_reading *r, const char *path,
                                             const struct elf_info *elf,
                                             const struct sbom_package *package)
{
	struct sbom_object *o = arena_alloc(r->inv->arena, sizeof(*o));
	struct arena *a = r->inv->arena;

	*o = (struct sbom_object){.path = path,
	                          .machine = elf->machine,
	                          .bits = elf->bits,
	                          .executable = elf->executable,
	                          .soname = arena_strdup(a, elf->soname),
	                          .needed = copy_list(&elf->needed, a),
	                          .build_id = arena_strdup(a, elf->build_id),
	                          .package = package != NULL ? package : package_of_note(r, elf)};
	vec_push(&r->inv->objects, o);
	return o->package;
}

static int visit_file(struct inventory_reading *r, struct view_node *n, const char *path,
                      struct err *err)
{
	const struct scan_member *m = n->content;
	struct file_origin from = {.package = owner_of(r, n)};
	const char *absolute = NULL;

	(void)err;
	if (from.package == NULL && r->opts->origin != NULL)
		from = r->opts->origin(r->opts->ctx, n);
	if (m->elf == NULL && !r->opts->files)
		return 0;
	absolute = arena_printf(r->inv->arena, "/%s", path);
	if (m->elf != NULL && (m->elf->type == ET_EXEC || m->elf->type == ET_DYN))
		from.package = add_object(r, absolute, m->elf, from.package);
	if (!r->opts->files)
		return 0;
	struct sbom_file *f = arena_alloc(r->inv->arena, sizeof(*f));

	*f = (struct sbom_file){.path = absolute,
	                        .size = m->size,
	                        .digest = m->content,
	                        .layer = r->opts->first_layer + n->layer,
	                        .source = from.source,
	                        .package = from.package};
	vec_push(&r->inv->files, f);
	return 0;
}

static void read_distro(struct inventory *inv, const struct view *v)
{
	static const char *const paths[] = {"etc/os-release", "usr/lib/os-release"};

	for (size_t i = 0; i < ARRAY_LEN(paths) && inv->distro.id == NULL; i++) {
		const struct view_node *n = view_find(v, paths[i], true);

		if (n != NULL && view_is_file(n) && n->content->text != NULL)
			distro_read(&inv->distro, n->content->text, n->content->text_len,
			            inv->arena);
	}
}

int inventory_read(struct inventory *inv, const struct view *v, const struct inventory_opts *opts,
                   struct err *err)
{
	static visit *const visits[] = {visit_database, visit_list, visit_inner, visit_file};
	struct inventory_reading r = {
		.inv = inv, .view = v, .opts = opts, .first = inv->packages.n};
	int rc = 0;

	read_distro(inv, v);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(visits); i++) {
		rc = walk(&r, visits[i], err);
		index_reading(&r);
	}
	vec_done(&r.owners);
	vec_done(&r.debs);
	if (rc == 0)
		rc = budget_check(v->budget, err);
	return rc;
}

/* ---- stacking ---- */

void inventory_stack(struct inventory *inv, const struct inventory *lower, sbom_hidden *hidden,
                     void *ctx)
{
	if (inv->distro.id == NULL)
		inv->distro = lower->distro;
	for (size_t i = 0; i < lower->packages.n; i++) {
		const char *database = lower->packages.at[i]->database;

		if (database == NULL || !hidden(ctx, database))
			vec_push(&inv->packages, lower->packages.at[i]);
	}
	for (size_t i = 0; i < lower->objects.n; i++)
		if (!hidden(ctx, lower->objects.at[i]->path))
			vec_push(&inv->objects, lower->objects.at[i]);
	for (size_t i = 0; i < lower->files.n; i++)
		if (!hidden(ctx, lower->files.at[i]->path))
			vec_push(&inv->files, lower->files.at[i]);
	for (size_t i = 0; i < lower->gaps.n; i++)
		vec_push(&inv->gaps, lower->gaps.at[i]);
}

/* ---- order ---- */

static int compare_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int compare_packages(const struct sbom_package *a, const struct sbom_package *b)
{
	int order = ((int)a->kind > (int)b->kind) - ((int)a->kind < (int)b->kind);

	order = order != 0 ? order : strcmp(a->name, b->name);
	order = order != 0 ? order : strcmp(a->version, b->version);
	return order != 0 ? order : compare_text(a->architecture, b->architecture);
}

/* What a database lists comes before what files tell. */
static int by_package(const void *a, const void *b)
{
	const struct sbom_package *left = *(struct sbom_package *const *)a,
				  *right = *(struct sbom_package *const *)b;
	int order = compare_packages(left, right);

	order = order != 0 ? order : (left->database == NULL) - (right->database == NULL);
	order = order != 0 ? order : compare_text(left->database, right->database);
	return order != 0 ? order : compare_text(left->from, right->from);
}

static int by_object(const void *a, const void *b)
{
	return strcmp((*(struct sbom_object *const *)a)->path,
	              (*(struct sbom_object *const *)b)->path);
}

static int by_file(const void *a, const void *b)
{
	return strcmp((*(struct sbom_file *const *)a)->path, (*(struct sbom_file *const *)b)->path);
}

/* The one of the sorted list that stands for this package. */
static const struct sbom_package *the_one(const struct inventory *inv, const struct sbom_package *p)
{
	size_t low = 0, high = inv->packages.n;

	while (p != NULL && low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_packages(inv->packages.at[middle], p);

		if (order == 0)
			return inv->packages.at[middle];
		*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
	}
	return p;
}

static void drop_doubles(struct inventory *inv)
{
	size_t n = 0;

	for (size_t i = 0; i < inv->packages.n; i++)
		if (n == 0 || compare_packages(inv->packages.at[n - 1], inv->packages.at[i]) != 0)
			inv->packages.at[n++] = inv->packages.at[i];
	inv->packages.n = n;
	for (size_t i = 0; i < n; i++)
		inv->packages.at[i]->number = i;
}

#define SORT(list, order)                                                                          \
	do {                                                                                       \
		if ((list).n > 1)                                                                  \
			qsort((list).at, (list).n, sizeof(*(list).at), order);                     \
	} while (0)

void inventory_sort(struct inventory *inv)
{
	SORT(inv->packages, by_package);
	drop_doubles(inv);
	SORT(inv->objects, by_object);
	SORT(inv->files, by_file);
	SORT(inv->gaps, text_compare);
	for (size_t i = 0; i < inv->objects.n; i++)
		inv->objects.at[i]->package = the_one(inv, inv->objects.at[i]->package);
	for (size_t i = 0; i < inv->files.n; i++)
		inv->files.at[i]->package = the_one(inv, inv->files.at[i]->package);
}
