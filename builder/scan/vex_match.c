/* Which statement says what of a finding. */
#include <string.h>

#include "builder/scan/vex.h"

/* A statement by one of its names. */
struct vex_name {
	const char *name;
	size_t statement;
};

void vex_done(struct vex *v)
{
	vec_done(&v->statements);
	free(v->index);
	*v = (struct vex){0};
}

static int by_name(const void *a, const void *b)
{
	const struct vex_name *p = a, *q = b;
	int order = strcmp(p->name, q->name);

	return order != 0 ? order : (p->statement > q->statement) - (p->statement < q->statement);
}

void vex_index(struct vex *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->statements.n; i++)
		n += v->statements.at[i].names.n;
	free(v->index);
	v->index = mem_calloc(n + 1, sizeof(*v->index));
	v->n_index = 0;
	for (size_t i = 0; i < v->statements.n; i++)
		for (size_t k = 0; k < v->statements.at[i].names.n; k++)
			v->index[v->n_index++] =
				(struct vex_name){v->statements.at[i].names.at[k], i};
	if (n > 1)
		qsort(v->index, n, sizeof(*v->index), by_name);
}

static size_t first_of(const struct vex *v, const char *name)
{
	size_t low = 0, high = v->n_index;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(v->index[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- products ---- */

static const char *last_segment(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* A digest says which image; without one, the repository does, and nothing else may be asked. */
static bool means_image(const struct purl *p, const struct scan_image *image)
{
	char digest[DIGEST_TEXT_MAX];

	if (strcmp(p->type, "oci") != 0 || image->repository == NULL)
		return false;
	for (size_t i = 0; i < image->n_digests; i++)
		if (strcmp(p->version, digest_text(&image->digests[i], digest)) == 0)
			return true;
	if (p->version[0] != '\0' || strcmp(p->name, last_segment(image->repository)) != 0)
		return false;
	for (size_t i = 0; i < p->qualifiers.n; i++)
		if (strcmp(p->qualifiers.at[i].key, "repository_url") != 0 ||
		    strcmp(p->qualifiers.at[i].value, image->repository) != 0)
			return false;
	return true;
}

static bool means(const struct vex_product *product, const struct scan_image *image,
                  const struct scan_package *package)
{
	if (purl_means(&product->purl, &package->purl))
		return true;
	if (!means_image(&product->purl, image))
		return false;
	for (size_t i = 0; i < product->n_parts; i++)
		if (purl_means(&product->parts[i].purl, &package->purl))
			return true;
	return product->n_parts == 0;
}

static bool is_about(const struct vex_statement *s, const struct scan_image *image,
                     const struct scan_package *package)
{
	for (size_t i = 0; i < s->n_products; i++)
		if (means(&s->products[i], image, package))
			return true;
	return false;
}

/* ---- asking ---- */

static bool is_later(const struct vex_statement *a, const struct vex_statement *b)
{
	return a->time_ms != b->time_ms ? a->time_ms > b->time_ms : a->order > b->order;
}

const char *vex_waives(struct vex *v, const struct scan_image *image,
                       const struct scan_package *package, const struct strlist *names)
{
	struct vex_statement *last = NULL;

	for (size_t i = 0; i < names->n; i++)
		for (size_t at = first_of(v, names->at[i]);
		     at < v->n_index && strcmp(v->index[at].name, names->at[i]) == 0; at++) {
			struct vex_statement *s = &v->statements.at[v->index[at].statement];

			if ((last == NULL || is_later(s, last)) && is_about(s, image, package))
				last = s;
		}
	if (last == NULL)
		return NULL;
	last->used = true;
	return last->waives;
}

struct strlist vex_unused(const struct vex *v)
{
	struct strlist unused = {arena_calloc(v->arena, v->statements.n + 1, sizeof(*unused.at)),
	                         0};

	for (size_t i = 0; i < v->statements.n; i++) {
		const struct vex_statement *s = &v->statements.at[i];

		if (s->waives != NULL && !s->used)
			unused.at[unused.n++] =
				arena_printf(v->arena, "%s: %s", s->place, s->names.at[0]);
	}
	return unused;
}
