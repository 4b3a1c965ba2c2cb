#include "builder/layer/source/link_walk.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { TODO_MAX = 4 * PATH_MAX };

/* What is resolved so far, and what is still to do. */
struct link_path {
	struct strbuf done, todo;
	unsigned links;
};

static void drop_last(struct strbuf *done)
{
	while (done->len > 0 && done->ptr[--done->len] != '/')
		;
	if (done->ptr != NULL)
		done->ptr[done->len] = '\0';
}

/* Puts a link's target before the rest of the path. */
static int take_link(struct link_path *w, const char *target, const char *rest, struct err *err)
{
	AUTO(strbuf) struct strbuf todo = STRBUF_INIT(TODO_MAX);

	if (++w->links > LINK_WALK_MAX)
		return err_set(err, ERR_FORMAT, "more than %d symbolic links", LINK_WALK_MAX);
	strbuf_addf(&todo, "%s/%s", target, rest);
	if (todo.overflow)
		return err_set(err, ERR_LIMIT, "path is too long");
	drop_last(&w->done);
	if (target[0] == '/')
		strbuf_reset(&w->done);
	strbuf_reset(&w->todo);
	strbuf_adds(&w->todo, strbuf_str(&todo));
	return 0;
}

/* One segment of the path; `rest` is what follows it. */
static int walk_step(const struct link_reader *r, struct link_path *w, const char *segment,
                     const char *rest, struct arena *a, struct err *err)
{
	const char *target = NULL;
	size_t before = w->done.len;

	if (strcmp(segment, "..") == 0)
		drop_last(&w->done);
	else if (segment[0] != '\0' && strcmp(segment, ".") != 0)
		strbuf_addf(&w->done, "/%s", segment);
	if (w->done.len > before && r->read(r->ctx, strbuf_str(&w->done), a, &target, err) != 0)
		return -1;
	if (target != NULL)
		return take_link(w, target, rest, err);
	/* `rest` points into todo: copied before todo is emptied. */
	AUTO_FREE char *copy = mem_strdup(rest);
	strbuf_reset(&w->todo);
	strbuf_adds(&w->todo, copy);
	return 0;
}

int link_walk(const struct link_reader *reader, const char *path, struct arena *a,
              const char **ret_path, struct err *err)
{
	struct link_path w = {.done = STRBUF_INIT(PATH_MAX), .todo = STRBUF_INIT(TODO_MAX)};
	int rc = 0;

	strbuf_adds(&w.todo, path);
	while (rc == 0 && w.todo.len > 0) {
		size_t len = strcspn(w.todo.ptr, "/");
		AUTO_FREE char *segment = mem_strndup(w.todo.ptr, len);

		rc = walk_step(reader, &w, segment, w.todo.ptr + len + (w.todo.ptr[len] == '/'), a,
		               err);
		if (rc == 0 && (w.done.overflow || w.todo.overflow))
			rc = err_set(err, ERR_LIMIT, "path is too long");
	}
	if (rc == 0)
		*ret_path = w.done.len > 0 ? arena_strdup(a, strbuf_str(&w.done)) : "/";
	strbuf_done(&w.done);
	strbuf_done(&w.todo);
	return rc;
}
