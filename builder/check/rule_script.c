/*
 * Commands that are scripts: their interpreter is there. Only a warning: nobody may ever start
 * them. What the image starts is followed further, by start.c, and left out here.
 */
#include <string.h>

#include "builder/check/script.h"
#include "builder/check/start.h"

static void report(struct check_image *image, const struct view_node *n, const char *hint,
                   const char *text)
{
	rule_hint(image,
	          rule_report(image, RULE_SCRIPT_INTERPRETER, rule_place_of(image, n), "%s", text),
	          hint);
}

static void check_script(struct check_image *image, const struct view_node *n)
{
	struct arena *a = image->run->arena;
	const struct scan_member *m = n->content;
	struct script_line line;

	if (script_read(m->head, m->head_len, a, &line) != SCRIPT_READ)
		return;
	if (line.carriage_return)
		report(image, n, "convert it with `sed -i 's/\\r$//' FILE`",
		       "is a script whose lines end with CR LF: its `#!` line names no file");
	else if (line.interpreter[0] == '/' &&
	         view_find(&image->view, line.interpreter, true) == NULL &&
	         !rule_provided(image, strrchr(line.interpreter, '/') + 1))
		report(image, n, "add the interpreter, or leave the script out",
		       arena_printf(a, "is a script whose interpreter '%s' is not in the image",
		                    line.interpreter));
}

static void check_folder(struct check_image *image, const struct view_node *dir)
{
	for (struct view_node *n = dir->first_child; n != NULL; n = n->next_sibling) {
		if (!view_is_file(n) || n->content->head_len == 0 ||
		    (n->marks & MARK_STARTED) != 0 || rule_layer_of_base(image, n->layer))
			continue;
		n->marks |= MARK_STARTED; /* PATH may lead to a folder twice */
		check_script(image, n);
	}
}

void rule_check_scripts(struct check_image *image)
{
	const char *path = start_search_path(image);

	while (*path != '\0') {
		size_t len = strcspn(path, ":");
		const struct view_node *dir =
			view_find(&image->view, arena_strndup(image->run->arena, path, len), true);

		if (path[0] == '/' && dir != NULL && view_is_dir(dir))
			check_folder(image, dir);
		path += len + (path[len] == ':');
	}
}
