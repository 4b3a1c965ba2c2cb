/*
 * Commands that are scripts: their interpreter is there. Only a warning: nobody may ever start
 * them. What the image starts is followed further, by start.c, and left out here.
 */
#include <string.h>

#include "builder/check/rules.h"
#include "builder/check/script.h"

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

static void check_folder(struct check_image *image, struct view_node *dir)
{
	/* PATH may lead to it twice. */
	if ((dir->marks & MARK_SEARCHED) != 0)
		return;
	dir->marks |= MARK_SEARCHED;
	for (const struct view_node *n = dir->first_child; n != NULL; n = n->next_sibling)
		if (view_is_file(n) && n->content->head_len > 0 && (n->marks & MARK_STARTED) == 0 &&
		    !rule_layer_of_base(image, n->layer))
			check_script(image, n);
}

void rule_check_scripts(struct check_image *image)
{
	const struct strlist folders = rule_search_path(image);

	for (size_t i = 0; i < folders.n; i++) {
		struct view_node *dir = view_find(&image->view, folders.at[i], true);

		if (folders.at[i][0] == '/' && dir != NULL && view_is_dir(dir))
			check_folder(image, dir);
	}
}
