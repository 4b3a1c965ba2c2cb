#include "builder/layer/source/base_files.h"

#include <string.h>

#include "builder/layer/source/link_walk.h"

static int read_base_link(void *ctx, const char *path, struct arena *a UNUSED,
                          const char **ret_target, struct err *err)
{
	struct base_files *b = ctx;
	struct base_entry entry;

	if (b->look(b, path, &entry, err) != 0)
		return -1;
	*ret_target = entry.kind == BASE_LINK ? entry.link : NULL;
	return 0;
}

static int resolve(struct base_files *b, const char *path, struct arena *a, const char **ret_path,
                   struct err *err)
{
	const struct link_reader links = {read_base_link, b};

	if (link_walk(&links, path, a, ret_path, err) != 0)
		return err_wrap(err, "base image '%s': '%s'", b->name, path);
	return 0;
}

int base_look(struct base_files *b, const char *path, struct arena *a, struct base_entry *ret_entry,
              const char **ret_path, struct err *err)
{
	const char *real;

	if (resolve(b, path, a, &real, err) != 0 || b->look(b, real, ret_entry, err) != 0)
		return -1;
	if (ret_path != NULL)
		*ret_path = real;
	return 0;
}

int base_text(struct base_files *b, const char *path, size_t max_bytes, struct strbuf *sb,
              struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *real;

	if (resolve(b, path, &a, &real, err) != 0)
		return -1;
	return b->read(b, real, max_bytes, sb, err);
}

int base_landing(struct base_files *b, const char *image_path, struct arena *a,
                 const char **ret_path, struct err *err)
{
	const char *slash = strrchr(image_path, '/'), *folder;

	*ret_path = image_path;
	if (slash == NULL)
		return 0;
	folder = arena_printf(a, "/%.*s", (int)(slash - image_path), image_path);
	if (resolve(b, folder, a, &folder, err) != 0)
		return -1;
	*ret_path = arena_printf(a, "%s%s", strcmp(folder, "/") == 0 ? "" : folder + 1,
	                         strcmp(folder, "/") == 0 ? slash + 1 : slash);
	return 0;
}
