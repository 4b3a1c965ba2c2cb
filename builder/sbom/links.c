#include "builder/sbom/links.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 64 /* files of one name that are looked at */ };

struct provider {
	const char *name;
	const struct sbom_object *object;
	size_t part;
};

struct linking {
	const struct inventory *inv;
	struct provider *providers;
	size_t n;
	VEC(struct sbom_link) links;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool is_variant(const struct sbom_object *o)
{
	return strstr(o->path, "/glibc-hwcaps/") != NULL;
}

/* By name, then the likelier first. */
static int by_provider(const void *a, const void *b)
{
	const struct provider *left = a, *right = b;
	int order = strcmp(left->name, right->name);
	size_t left_len = strlen(left->object->path), right_len = strlen(right->object->path);

	order = order != 0 ? order : is_variant(left->object) - is_variant(right->object);
	order = order != 0 ? order : (left_len > right_len) - (left_len < right_len);
	return order != 0 ? order : strcmp(left->object->path, right->object->path);
}

static void index_providers(struct linking *l, const size_t *parts)
{
	const struct inventory *inv = l->inv;

	l->providers = mem_calloc(2 * inv->objects.n + 1, sizeof(*l->providers));
	for (size_t i = 0; i < inv->objects.n; i++) {
		const struct sbom_object *o = inv->objects.at[i];
		const char *name = base_name(o->path);

		l->providers[l->n++] = (struct provider){name, o, parts[i]};
		if (o->soname != NULL && strcmp(o->soname, name) != 0)
			l->providers[l->n++] = (struct provider){o->soname, o, parts[i]};
	}
	qsort(l->providers, l->n, sizeof(*l->providers), by_provider);
}

static bool same_folder(const char *a, const char *b)
{
	size_t n = (size_t)(base_name(a) - a);

	return n == (size_t)(base_name(b) - b) && memcmp(a, b, n) == 0;
}

static const struct provider *find_provider(const struct linking *l, const struct sbom_object *from,
                                            const char *name)
{
	const struct provider *best = NULL;
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool less = strcmp(l->providers[middle].name, name) < 0;

		*(less ? &low : &high) = less ? middle + 1 : middle;
	}
	for (size_t i = low; i < l->n && i - low < CANDIDATES_MAX; i++) {
		const struct provider *p = &l->providers[i];

		if (strcmp(p->name, name) != 0)
			break;
		if (p->object->machine != from->machine || p->object->bits != from->bits)
			continue;
		if (same_folder(p->object->path, from->path))
			return p;
		best = best != NULL ? best : p;
	}
	return best;
}

static int by_link(const void *a, const void *b)
{
	const struct sbom_link *left = a, *right = b;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (left->to > right->to) - (left->to < right->to);
}

static void add_links(struct linking *l, const size_t *parts)
{
	for (size_t i = 0; i < l->inv->objects.n; i++) {
		const struct sbom_object *o = l->inv->objects.at[i];

		for (size_t k = 0; k < o->needed.n; k++) {
			const struct provider *p = find_provider(l, o, base_name(o->needed.at[k]));

			if (p != NULL && p->part != parts[i])
				vec_push(&l->links, ((struct sbom_link){parts[i], p->part}));
		}
	}
}

static void keep_links(struct linking *l, struct sbom_links *out, struct arena *a)
{
	if (l->links.n == 0)
		return;
	qsort(l->links.at, l->links.n, sizeof(*l->links.at), by_link);
	out->at = arena_calloc(a, l->links.n, sizeof(*out->at));
	for (size_t i = 0; i < l->links.n; i++)
		if (out->n == 0 || by_link(&out->at[out->n - 1], &l->links.at[i]) != 0)
			out->at[out->n++] = l->links.at[i];
}

struct sbom_links links_make(const struct inventory *inv, struct arena *a)
{
	struct linking l = {.inv = inv};
	struct sbom_links out = {0};
	AUTO_FREE size_t *parts = mem_calloc(inv->objects.n + 1, sizeof(*parts));

	out.loose = arena_calloc(a, inv->objects.n, sizeof(*out.loose));
	for (size_t i = 0; i < inv->objects.n; i++) {
		const struct sbom_object *o = inv->objects.at[i];

		parts[i] = o->package != NULL ? o->package->number : inv->packages.n + out.n_loose;
		if (o->package == NULL)
			out.loose[out.n_loose++] = o;
	}
	index_providers(&l, parts);
	add_links(&l, parts);
	keep_links(&l, &out, a);
	vec_done(&l.links);
	free(l.providers);
	return out;
}

const struct sbom_link *links_from(const struct sbom_links *l, size_t from, size_t *ret_n)
{
	size_t low = 0, high = l->n, n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool less = l->at[middle].from < from;

		*(less ? &low : &high) = less ? middle + 1 : middle;
	}
	while (low + n < l->n && l->at[low + n].from == from)
		n++;
	*ret_n = n;
	return n > 0 ? &l->at[low] : NULL;
}
