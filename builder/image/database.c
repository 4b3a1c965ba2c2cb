/*
 * The layer that names the image's Debian packages in the image itself, for scanners that know no
 * more than its files: /var/lib/dpkg/status.d, a paragraph a package, as images without dpkg have
 * it; and of which system they are, where no other layer says so. Packages that a database in the
 * image lists already are left to it.
 */
#include <string.h>

#include "builder/image/builder.h"
#include "builder/layer/source/model.h"

/* The row of this layer among those of the spec. */
static const struct layer_spec database_layer = {.name = "packages"};

static int add_text(struct tree *t, const char *path, const struct strbuf *text, struct err *err)
{
	struct entry e = {.path = arena_strdup(t->arena, path),
	                  .type = ENTRY_FILE,
	                  .mode = 0644,
	                  .mtime = t->epoch,
	                  .size = (int64_t)text->len,
	                  .content = CONTENT_BYTES,
	                  .bytes = arena_memdup(t->arena, strbuf_str(text), text->len)};

	return tree_add(t, &e, err);
}

static void add_field(struct strbuf *sb, const char *key, const char *value)
{
	if (value != NULL)
		strbuf_addf(sb, "%s: %s\n", key, value);
}

static void print_package(const struct sbom_package *p, struct strbuf *sb)
{
	add_field(sb, "Package", p->name);
	add_field(sb, "Status", "install ok installed");
	add_field(sb, "Maintainer", p->maintainer);
	add_field(sb, "Architecture", p->architecture);
	if (p->source != NULL && p->source_version != NULL)
		strbuf_addf(sb, "Source: %s (%s)\n", p->source, p->source_version);
	else
		add_field(sb, "Source", p->source);
	add_field(sb, "Version", p->version);
}

/* A package of two architectures has two files. */
static const char *file_of(const struct inventory *inv, size_t i, struct arena *a)
{
	const struct sbom_package *p = inv->packages.at[i];
	bool again = i > 0 && strcmp(inv->packages.at[i - 1]->name, p->name) == 0;

	return again ? arena_printf(a, "var/lib/dpkg/status.d/%s_%zu", p->name, i)
	             : arena_printf(a, "var/lib/dpkg/status.d/%s", p->name);
}

/* A name from outside becomes a file's: Debian's own grammar alone (Debian policy, 5.6.1). */
static bool is_package_name(const char *name)
{
	return name[0] != '.' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.")] == '\0';
}

static int add_packages(struct tree *t, const struct inventory *inv, struct err *err)
{
	for (size_t i = 0; i < inv->packages.n; i++) {
		const struct sbom_package *p = inv->packages.at[i];
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(16 << 10);

		if (p->kind != PACKAGE_DEB || p->database != NULL || !is_package_name(p->name))
			continue;
		print_package(p, &text);
		if (add_text(t, file_of(inv, i, t->arena), &text, err) != 0)
			return -1;
	}
	return 0;
}

/* The system whose packages are named: the first of them that says so. */
static const struct sbom_distro *system_of(const struct inventory *inv)
{
	for (size_t i = 0; i < inv->packages.n; i++)
		if (inv->packages.at[i]->database == NULL && inv->packages.at[i]->distro != NULL)
			return inv->packages.at[i]->distro;
	return NULL;
}

static int add_system(struct tree *t, struct inventory *inv, struct err *err)
{
	const struct sbom_distro *d = inv->distro.id == NULL ? system_of(inv) : NULL;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(16 << 10);

	if (d == NULL || d->id == NULL)
		return 0;
	strbuf_addf(&text, "ID=%s\n", d->id);
	if (d->version_id != NULL)
		strbuf_addf(&text, "VERSION_ID=\"%s\"\n", d->version_id);
	if (d->codename != NULL)
		strbuf_addf(&text, "VERSION_CODENAME=%s\n", d->codename);
	if (d->name != NULL)
		strbuf_addf(&text, "PRETTY_NAME=\"%s\"\n", d->name);
	inv->distro = *d;
	if (add_text(t, "etc/os-release", &text, err) != 0)
		return -1;
	if (strcmp(d->id, "debian") != 0 || d->version_id == NULL)
		return 0;
	/* Some scanners ask for this one before they look for packages. */
	strbuf_reset(&text);
	strbuf_addf(&text, "%s\n", d->version_id);
	return add_text(t, "etc/debian_version", &text, err);
}

/* Made after the files were listed: its own are added to the list. */
static void list_files(const struct tree *t, size_t layer, struct inventory *inv)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->at[i];
		struct sbom_file *f;

		if (e->type != ENTRY_FILE)
			continue;
		f = arena_alloc(inv->arena, sizeof(*f));
		*f = (struct sbom_file){.path = arena_printf(inv->arena, "/%s", e->path),
		                        .size = e->size,
		                        .digest = digest_of(e->bytes, (size_t)e->size),
		                        .layer = layer,
		                        .source = "slipway"};
		vec_push(&inv->files, f);
	}
	inventory_sort(inv);
}

int builder_fill_database(struct image_builder *b, struct err *err)
{
	const size_t layer = b->opts->plan->spec->image.n_layers;

	if (layer == b->n_layers)
		return 0;
	tree_init(&b->shared[layer].tree, b->arena, database_layer.name, b->opts->epoch);
	for (size_t i = 0; i < b->n_images; i++) {
		struct layer_slot *s = builder_slot(b, layer, i);

		tree_init(&s->tree, b->arena, database_layer.name, b->opts->epoch);
		s->spec = &database_layer;
		if (add_packages(&s->tree, &b->contents[i], err) != 0 ||
		    add_system(&s->tree, &b->contents[i], err) != 0 ||
		    tree_finish(&s->tree, b->diags, err) != 0)
			return err_wrap(err, "layer '%s'", database_layer.name);
		if (b->opts->plan->spec->image.sbom.files)
			list_files(&s->tree, builder_base_layers(b, i) + 2 * layer + 1,
			           &b->contents[i]);
	}
	return 0;
}
