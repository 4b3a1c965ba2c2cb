/* See source_data.h. */
#include <string.h>

#include "builder/layer/source/source_data.h"

/* A folder of the image, and where it lands; neighbours ask for the same one. */
struct landing {
	const char *folder; /* NULL = none yet */
	size_t len;
	const char *lands;
};

static int land(struct entry *e, struct base_files *base, struct landing *last, struct arena *a,
                struct err *err)
{
	const char *slash = strrchr(e->path, '/'), *path;
	size_t len = slash != NULL ? (size_t)(slash - e->path) : 0;

	if (slash == NULL)
		return 0;
	if (last->folder == NULL || len != last->len || strncmp(last->folder, e->path, len) != 0) {
		if (base_landing(base, e->path, a, &path, err) != 0)
			return -1;
		slash = strrchr(path, '/');
		*last = (struct landing){
			e->path, len,
			slash != NULL ? arena_strndup(a, path, (size_t)(slash - path)) : ""};
	}
	e->path = arena_printf(a, "%s%s%s", last->lands, last->lands[0] != '\0' ? "/" : "",
	                       e->path + len + 1);
	return 0;
}

int data_land(struct tree *t, size_t first, struct base_files *base, struct err *err)
{
	struct landing last = {0};

	for (size_t i = first; base != NULL && i < t->n; i++)
		if (land(&t->at[i], base, &last, t->arena, err) != 0)
			return err_wrap(err, "layer '%s'", t->label);
	return 0;
}
