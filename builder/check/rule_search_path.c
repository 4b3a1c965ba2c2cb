/* The variable PATH: what a shell would have made of it, nobody does. */
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"

/* What runtimes set when the image has none. */
static const char *const usual[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                    "/usr/bin",        "/sbin",          "/bin"};

struct strlist rule_search_path(const struct check_image *image)
{
	struct arena *a = image->run->arena;
	const char *path = rule_env(image, "PATH");
	struct strlist list = {arena_calloc(a, PATH_FOLDERS_MAX, sizeof(*list.at)), 0};

	if (path == NULL)
		for (size_t i = 0; i < ARRAY_LEN(usual); i++)
			list.at[list.n++] = usual[i];
	for (bool more = path != NULL; more && list.n < PATH_FOLDERS_MAX;) {
		size_t len = strcspn(path, ":");

		list.at[list.n++] = arena_strndup(a, path, len);
		more = path[len] == ':';
		path += len + more;
	}
	return list;
}

static const char *fault_of(const char *folder)
{
	if (strchr(folder, '$') != NULL)
		return "is not expanded: no shell reads the variables of an image";
	if (folder[0] == '~')
		return "is not expanded: '~' is a folder of this name here";
	return folder[0] != '/' ? "is not absolute: it depends on the working folder" : NULL;
}

static void report_folder(struct check_image *image, const char *folder, const char *fault)
{
	struct diag *diag =
		rule_report(image, RULE_SEARCH_PATH, NO_PLACE, "PATH: '%s' %s", folder, fault);

	rule_at(diag, image->run->opts->at.env);
	rule_hint(image, diag, "write every folder of PATH in full, those of the base, too");
}

static bool is_usual(const char *folder)
{
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (strcmp(usual[i], folder) == 0)
			return true;
	return false;
}

void rule_check_search_path(struct check_image *image)
{
	const struct strlist folders = rule_search_path(image);
	size_t n_there = 0, n_own = 0;

	for (size_t i = 0; i < folders.n; i++) {
		const char *folder = folders.at[i];
		const char *fault = folder[0] != '\0' ? fault_of(folder) : NULL;

		if (fault != NULL)
			report_folder(image, folder, fault);
		n_own += !is_usual(folder) && fault == NULL;
		n_there += fault != NULL || view_find(&image->view, folder, true) != NULL;
	}
	/* The usual folders stand in the PATH of images that hold one program and no folder. */
	if (n_own > 0 && n_there == 0)
		rule_at(rule_report(image, RULE_SEARCH_PATH, NO_PLACE,
		                    "PATH: none of its folders is in the image"),
		        image->run->opts->at.env);
	if (folders.n == PATH_FOLDERS_MAX)
		rule_report(image, RULE_SEARCH_PATH, NO_PLACE,
		            "PATH: has %d folders or more; none beyond was looked at",
		            PATH_FOLDERS_MAX);
}
