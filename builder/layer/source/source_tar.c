/* One item of `tar:`. */
#include <string.h>

#include "builder/layer/source/source_members.h"
#include "builder/layer/tar/unpack.h"

static const char *trim_target(struct arena *a, const char *to)
{
	size_t len;

	to += strspn(to, "/");
	len = strlen(to);
	while (len > 0 && to[len - 1] == '/')
		len--;
	return arena_strndup(a, to, len);
}

int source_tar_add(struct tree *t, const struct layer_tar *item, struct diags *d, struct err *err)
{
	const struct members_rules rules = {
		.name = arena_strdup(t->arena, item->from),
		.to = trim_target(t->arena, item->to),
		.strip = item->strip,
		.select = {.include = &item->include, .exclude = &item->exclude},
		.xattrs = &item->xattrs,
		.at = item->at,
	};
	struct source *in;
	int fd;

	if (archive_open(t, item->from, item->at, d, &fd) != 0)
		return 0;
	int rc = source_unpack(source_from_fd(fd), &in, err);

	if (rc == 0) {
		rc = members_add(t, in, &rules, d, err);
		source_close(in);
	} else if (archive_problem(t, item->from, item->at, d, err)) {
		rc = 0;
	}
	return rc == 0 ? 0 : err_wrap(err, "layer '%s': '%s'", t->label, item->from);
}
