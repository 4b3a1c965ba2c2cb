/* A glob over the final file system, one segment after another: what has no wildcard is looked up,
 * so that most globs look at few nodes. */
#include <string.h>

#include "base/text.h"
#include "builder/check/view.h"

enum { SEGMENTS_MAX = 16, SEGMENT_MAX = 256 };

struct view_pattern {
	const struct view *view;
	char at[SEGMENTS_MAX][SEGMENT_MAX];
	size_t n;
	size_t *steps;
};

/* What does not fit matches nothing. */
static bool split(struct view_pattern *g, const char *glob)
{
	for (const char *p = glob + strspn(glob, "/"); *p != '\0'; p += strspn(p, "/")) {
		size_t len = strcspn(p, "/");

		if (g->n == SEGMENTS_MAX || len >= SEGMENT_MAX)
			return false;
		memcpy(g->at[g->n], p, len);
		g->at[g->n++][len] = '\0';
		p += len;
	}
	return true;
}

static bool spend(struct view_pattern *g)
{
	if (*g->steps > 0)
		--*g->steps;
	return *g->steps > 0;
}

static bool is_link(const struct view_node *n)
{
	return n->member != NULL && n->member->type == MEMBER_SYMLINK;
}

/* The folders to look into next; each holds a place in the glob. */
struct view_place {
	struct view_node *dir;
	size_t segment;
};
typedef VEC(struct view_place) places;

static void push(places *todo, struct view_node *dir, size_t segment)
{
	const struct view_place p = {dir, segment};

	vec_push(todo, p);
}

/* A child that matches the segment: the end of the glob, or a place to go on from. */
static struct view_node *take(struct view_pattern *g, places *todo, struct view_node *n,
                              size_t segment)
{
	if (n == NULL || segment + 1 == g->n)
		return n;
	if (view_is_dir(n))
		push(todo, n, segment + 1);
	return NULL;
}

static struct view_node *match_children(struct view_pattern *g, places *todo, struct view_place p)
{
	for (struct view_node *n = p.dir->first_child; n != NULL && spend(g); n = n->next_sibling) {
		struct view_node *there = n, *found;

		if (!n->alive || !text_glob(g->at[p.segment], n->name))
			continue;
		if (is_link(n))
			there = view_find_at(g->view, p.dir, n->name, true);
		found = take(g, todo, there, p.segment);
		if (found != NULL)
			return found;
	}
	return NULL;
}

static void push_below(struct view_pattern *g, places *todo, struct view_place p)
{
	for (struct view_node *n = p.dir->first_child; n != NULL && spend(g); n = n->next_sibling)
		if (n->alive && view_is_dir(n))
			push(todo, n, p.segment);
	push(todo, p.dir, p.segment + 1);
}

struct view_node *view_glob(const struct view *v, struct view_node *dir, const char *glob,
                            size_t *steps)
{
	struct view_pattern g = {.view = v, .steps = steps};
	struct view_node *found = NULL;
	places todo = {0};

	if (split(&g, glob) && g.n > 0)
		push(&todo, dir, 0);
	while (todo.n > 0 && found == NULL && spend(&g)) {
		struct view_place p = todo.at[--todo.n];
		const char *segment = g.at[p.segment];

		if (strcmp(segment, "**") == 0 && p.segment + 1 < g.n)
			push_below(&g, &todo, p);
		else if (strpbrk(segment, "*?[") != NULL)
			found = match_children(&g, &todo, p);
		else
			found = take(&g, &todo, view_find_at(v, p.dir, segment, true), p.segment);
	}
	vec_done(&todo);
	return found;
}
