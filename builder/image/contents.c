/*
 * What the images hold, from what the builder knows of its own layers and from what the bases say.
 * Sections: whose packages the files are, our layers, the base, all of it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "builder/image/base_view.h"
#include "builder/image/builder.h"
#include "builder/sbom/database.h"
#include "builder/sbom/inventory_json.h"
#include "builder/sbom/machine.h"
#include "builder/sbom/tree_scan.h"

/* ---- whose packages the files are ---- */

struct entry_owner {
	const struct entry *entry;
	const struct sbom_package *package;
};

/* A .deb of the spec, and the package it is in the inventory. */
struct deb_owner {
	const struct entry_package *deb;
	const struct sbom_package *package;
};

struct contents_listing {
	struct image_builder *builder;
	struct inventory *inv;
	struct arena arena; /* of the view */
	struct view view;
	struct layer_scan *scans;
	size_t n_scans;
	VEC(struct entry_owner) owners; /* by entry, once all are known */
	VEC(struct deb_owner) debs;
	/* the folder last resolved, as it was written and as it is */
	char dir[PATH_MAX], real_dir[PATH_MAX];
};

/* The files of one root of the building machine, and their entries. */
struct machine_files {
	VEC(struct machine_file) files;
	VEC(const struct entry *) entries;
};

/* The folder with its links followed; most files share one with the file before. "" when there is
 * none, or its name is too long. */
static const char *real_folder(struct contents_listing *l, const char *dir, size_t len)
{
	if (len >= sizeof(l->dir))
		return "";
	if (strncmp(l->dir, dir, len) == 0 && l->dir[len] == '\0')
		return l->real_dir;
	memcpy(l->dir, dir, len);
	l->dir[len] = '\0';
	if (realpath(l->dir, l->real_dir) == NULL)
		l->real_dir[0] = '\0';
	return l->real_dir;
}

/* A source's path with the links of its folder followed; NULL when there is no such folder. */
static const char *real_path(struct contents_listing *l, const char *source)
{
	const char *slash = strrchr(source, '/');
	const char *dir = slash == NULL     ? real_folder(l, ".", 1)
	                  : slash == source ? "/"
	                                    : real_folder(l, source, (size_t)(slash - source));

	if (dir[0] == '\0')
		return NULL;
	return arena_printf(&l->arena, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
	                    slash != NULL ? slash + 1 : source);
}

/* Folders in which distributions install. */
static bool is_system(const char *path)
{
	static const char *const tops[] = {"/usr/", "/lib", "/bin/", "/sbin/", "/opt/", "/etc/"};

	for (size_t i = 0; i < ARRAY_LEN(tops); i++)
		if (text_has_prefix(path, tops[i]))
			return true;
	return false;
}

/* Which of the tree's files may be of a package that dpkg installed below `root`. */
static void collect_files(struct contents_listing *l, const struct tree *t, const char *root,
                          struct machine_files *out)
{
	const size_t n = strlen(root);

	for (size_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->at[i];
		const char *path;

		if (e->type != ENTRY_FILE || e->content != CONTENT_PATH)
			continue;
		path = real_path(l, e->source);
		if (path == NULL || strncmp(path, root, n) != 0 || !is_system(path + n))
			continue;
		vec_push(&out->files, ((struct machine_file){.path = path + n}));
		vec_push(&out->entries, e);
	}
}

static int own_files(struct contents_listing *l, const struct tree *t, const char *root,
                     struct err *err)
{
	struct machine_files m = {0};
	int rc;

	collect_files(l, t, root, &m);
	rc = machine_owners(l->inv, root, m.files.at, m.files.n, err);
	for (size_t i = 0; rc == 0 && i < m.files.n; i++)
		if (m.files.at[i].package != NULL)
			vec_push(&l->owners,
			         ((struct entry_owner){m.entries.at[i], m.files.at[i].package}));
	vec_done(&m.files);
	vec_done(&m.entries);
	return rc;
}

/* A layer's own sysroot, and this machine. */
static int own_tree(struct contents_listing *l, const struct tree *t, const struct layer_spec *spec,
                    struct err *err)
{
	char root[PATH_MAX];

	if (spec->sysroot != NULL && realpath(spec->sysroot, root) != NULL &&
	    strcmp(root, "/") != 0 && own_files(l, t, root, err) != 0)
		return -1;
	return own_files(l, t, "", err);
}

static const struct sbom_package *package_of_deb(struct contents_listing *l,
                                                 const struct entry_package *deb)
{
	const char *slash = strrchr(deb->file, '/');
	struct sbom_package *p;

	for (size_t i = l->debs.n; i-- > 0;)
		if (l->debs.at[i].deb == deb)
			return l->debs.at[i].package;
	p = inventory_add(l->inv);
	*p = (struct sbom_package){.kind = PACKAGE_DEB,
	                           .name = deb->name,
	                           .version = deb->version,
	                           .architecture = deb->architecture,
	                           .maintainer = deb->maintainer,
	                           .from = slash != NULL ? slash + 1 : deb->file};
	if (deb->source != NULL)
		dpkg_set_source(p, deb->source, strlen(deb->source), l->inv->arena);
	vec_push(&l->debs, ((struct deb_owner){deb, p}));
	return p;
}

static int by_entry(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct entry_owner *)a)->entry,
		  right = (uintptr_t)((const struct entry_owner *)b)->entry;

	return (left > right) - (left < right);
}

static struct file_origin origin_of(void *ctx, const struct view_node *n)
{
	struct contents_listing *l = ctx;
	const struct entry *e = tree_scan_entry(n->content);
	const struct entry_owner key = {.entry = e}, *found;

	if (e->package != NULL)
		return (struct file_origin){package_of_deb(l, e->package), e->package->file};
	found = l->owners.n == 0 ? NULL
	                         : bsearch(&key, l->owners.at, l->owners.n, sizeof(key), by_entry);
	return (struct file_origin){found != NULL ? found->package : NULL, e->source};
}

/* ---- our layers ---- */

size_t builder_base_layers(const struct image_builder *b, size_t column)
{
	const struct base_image *base = &b->bases[column].image;

	return base->scratch ? 0 : base->parsed.n_layers;
}

const struct layer_slot *builder_tree(const struct image_builder *b, size_t column, size_t i)
{
	return i % 2 == 0 ? &b->shared[i / 2] : builder_slot(b, i / 2, column);
}

static int scan_slot(struct contents_listing *l, const struct layer_slot *s, size_t number,
                     struct err *err)
{
	struct layer_scan *scan = &l->scans[l->n_scans];

	if (s->spec == NULL || s->tree.n == 0)
		return 0;
	l->n_scans++;
	return own_tree(l, &s->tree, s->spec, err) != 0 ||
	                       tree_scan(&s->tree, l->builder->opts->plan->spec->image.sbom.files,
	                                 scan, err) != 0 ||
	                       view_apply(&l->view, scan, number, err) != 0
	               ? -1
	               : 0;
}

static int read_layers(struct contents_listing *l, size_t column, struct err *err)
{
	const struct image_builder *b = l->builder;
	const struct spec_image *image = &b->opts->plan->spec->image;
	const struct inventory_opts opts = {
		.files = image->sbom.files, .origin = origin_of, .ctx = l};

	l->scans = arena_calloc(&l->arena, 2 * image->n_layers, sizeof(*l->scans));
	for (size_t i = 0; i < 2 * image->n_layers; i++)
		if (scan_slot(l, builder_tree(b, column, i), i, err) != 0)
			return -1;
	if (l->owners.n > 1)
		qsort(l->owners.at, l->owners.n, sizeof(*l->owners.at), by_entry);
	return inventory_read(l->inv, &l->view, &opts, err);
}

/* ---- the base ---- */

/* Everything that the inventory of a base depends on. */
static struct digest base_key(const struct platform_base *base, const struct platform *platform)
{
	enum { INVENTORY_VERSION = 1 };
	AUTO(hasher) struct hasher h = {0};
	static const char kind[] = "inventory";
	const int64_t version = INVENTORY_VERSION;

	hasher_init(&h);
	hasher_update(&h, kind, sizeof(kind));
	hasher_update(&h, &version, sizeof(version));
	hasher_update(&h, base->image.manifest.digest.bytes,
	              sizeof(base->image.manifest.digest.bytes));
	hasher_update(&h, platform->architecture, strlen(platform->architecture) + 1);
	return hasher_final(&h);
}

static bool remembered(struct layer_cache *cache, const struct digest *key, struct inventory *inv)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CACHE_FACTS_MAX);
	struct err ignored = {0};

	if (cache == NULL || !cache_find_facts(cache, key, &text))
		return false;
	if (inventory_parse(strbuf_str(&text), text.len, inv, &ignored) == 0)
		return true;
	struct arena *a = inv->arena;

	inventory_done(inv);
	*inv = (struct inventory){.arena = a};
	return false;
}

static int read_base_inventory(struct contents_listing *l, size_t column, struct inventory *lower,
                               struct err *err)
{
	const struct image_builder *b = l->builder;
	const struct platform_base *base = &b->bases[column];
	const struct digest key = base_key(base, &b->opts->plan->images[column].platform);
	const bool files = b->opts->plan->spec->image.sbom.files;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CACHE_FACTS_MAX);

	if (!files && remembered(b->opts->cache, &key, lower))
		return 0;
	if (base_view_inventory(base->view, lower, err) != 0)
		return -1;
	inventory_sort(lower);
	if (files || b->opts->cache == NULL)
		return 0;
	inventory_json(lower, &text);
	if (!text.overflow)
		cache_put_facts(b->opts->cache, &key, strbuf_str(&text));
	return 0;
}

static bool is_hidden(void *ctx, const char *path)
{
	const struct contents_listing *l = ctx;
	const struct view_node *n = view_find(&l->view, path, false);

	return n != NULL && !view_is_dir(n);
}

/* The layers of ours stand above those of the base. */
static void shift_files(struct inventory *inv, size_t by)
{
	for (size_t i = 0; i < inv->files.n; i++)
		inv->files.at[i]->layer += by;
}

static int stack_base(struct contents_listing *l, size_t column, struct err *err)
{
	const struct platform_base *base = &l->builder->bases[column];
	struct inventory lower = {.arena = l->builder->arena};
	int rc;

	if (base->image.scratch || !l->builder->opts->plan->spec->image.sbom.set)
		return 0;
	rc = read_base_inventory(l, column, &lower, err);
	if (rc == 0) {
		shift_files(l->inv, builder_base_layers(l->builder, column));
		inventory_stack(l->inv, &lower, is_hidden, l);
	}
	inventory_done(&lower);
	return rc;
}

/* ---- all of it ---- */

static int list_image(struct image_builder *b, size_t column, struct err *err)
{
	struct contents_listing l = {.builder = b, .inv = &b->contents[column]};
	int rc;

	view_init(&l.view, &l.arena, NULL, NULL);
	rc = read_layers(&l, column, err);
	if (rc == 0)
		rc = stack_base(&l, column, err);
	if (rc == 0)
		inventory_sort(l.inv);
	for (size_t i = 0; i < l.n_scans; i++)
		layer_scan_done(&l.scans[i]);
	view_done(&l.view);
	vec_done(&l.owners);
	vec_done(&l.debs);
	arena_done(&l.arena);
	return rc;
}

int builder_list_contents(struct image_builder *b, struct err *err)
{
	const struct spec_image *image = &b->opts->plan->spec->image;

	if (!image->sbom.set && !image->provenance)
		return 0;
	b->contents = arena_calloc(b->arena, b->n_images, sizeof(*b->contents));
	for (size_t i = 0; i < b->n_images; i++)
		b->contents[i].arena = b->arena;
	for (size_t i = 0; i < b->n_images; i++)
		if (list_image(b, i, err) != 0)
			return err_wrap(err, "list what is in the image");
	return 0;
}
