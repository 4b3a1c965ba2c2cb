/* The variable PATH: what a shell would have made of it, nobody does. */
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"

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
	static const char *const usual[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
	                                    "/usr/bin",        "/sbin",          "/bin"};

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (strcmp(usual[i], folder) == 0)
			return true;
	return false;
}

void rule_check_search_path(struct check_image *image)
{
	const char *path = rule_env(image, "PATH");
	size_t n_there = 0, n_own = 0, n_faults = 0;

	for (const char *p = path; p != NULL && *p != '\0';) {
		size_t len = strcspn(p, ":");
		const char *folder = arena_strndup(image->run->arena, p, len);
		const char *fault = len > 0 ? fault_of(folder) : NULL;

		if (fault != NULL)
			report_folder(image, folder, fault);
		n_faults += fault != NULL;
		n_own += !is_usual(folder);
		n_there += len > 0 && view_find(&image->view, folder, true) != NULL;
		p += len + (p[len] == ':');
	}
	/* The usual folders stand in the PATH of images that hold one program and no folder. */
	if (n_own == 0 || n_there > 0 || n_faults > 0)
		return;
	rule_at(rule_report(image, RULE_SEARCH_PATH, NO_PLACE,
	                    "PATH: none of its folders is in the image (%s)", path),
	        image->run->opts->at.env);
}
