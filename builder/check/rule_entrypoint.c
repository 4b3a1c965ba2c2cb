/* The program that the image starts: found as the runtime finds it, a file, executable. */
#include <string.h>

#include "builder/check/rules.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static struct view_node *find_in_path(struct check_image *image, const char *name)
{
	const char *path = rule_env(image, "PATH");

	path = path != NULL ? path : DEFAULT_PATH;
	while (true) {
		size_t len = strcspn(path, ":");
		char *file = arena_printf(image->run->arena, "%.*s/%s", (int)len, path, name);
		struct view_node *n = view_find(&image->view, file, true);

		if (n != NULL && view_is_file(n) && (n->member->mode & 0111) != 0)
			return n;
		if (path[len] == '\0')
			return NULL;
		path += len + 1;
	}
}

static struct view_node *find_program(struct check_image *image, const char *name)
{
	if (strchr(name, '/') == NULL)
		return find_in_path(image, name);
	if (name[0] != '/' && image->workdir != NULL)
		name = arena_printf(image->run->arena, "%s/%s", image->workdir, name);
	return view_find(&image->view, name, true);
}

void rule_check_entrypoint(struct check_image *image)
{
	const struct strlist *args =
		image->config.entrypoint.n > 0 ? &image->config.entrypoint : &image->config.cmd;
	struct view_node *n;

	/* Without either, whoever runs the image names the program. */
	if (!image->has_config || args->n == 0)
		return;
	n = find_program(image, args->at[0]);
	if (n == NULL) {
		rule_hint(image,
		          rule_report(image, RULE_ENTRYPOINT, NO_PLACE,
		                      "the program to start, '%s', is not in the "
		                      "image",
		                      args->at[0]),
		          "add it by `files:`, or correct `entrypoint:`");
		return;
	}
	if (!view_is_file(n))
		rule_report(image, RULE_ENTRYPOINT, rule_place_of(image, n),
		            "the program to start is not a file");
	else if ((n->member->mode & 0111) == 0)
		rule_hint(image,
		          rule_report(image, RULE_ENTRYPOINT, rule_place_of(image, n),
		                      "the program to start is not executable (mode %04o)",
		                      n->member->mode & 07777),
		          "set `mode: 0755`");
}
