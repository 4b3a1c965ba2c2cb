/* Who the program runs as, and where. */
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"

/* The text of a file of users or groups; "" when there is none, NULL when it cannot be told. */
static const char *users_file(const struct check_image *image, const char *path)
{
	const struct view_node *n = view_find(&image->view, path, true);

	if (n == NULL)
		return "";
	return view_is_file(n) ? n->content->text : NULL;
}

static void report_unknown(struct check_image *image, const char *what, const char *name,
                           const char *path, const char *file)
{
	struct arena *a = image->run->arena;
	const struct strlist names = user_names(file, a);
	const char *nearest = text_nearest(name, names.at, names.n);
	bool there = view_find(&image->view, path, true) != NULL;
	struct diag *diag = rule_report(image, RULE_USER, NO_PLACE, "the %s '%s' is not in %s%s",
	                                what, name, there ? "" : "the image, which has no ", path);

	rule_at(diag, image->run->opts->at.user);
	rule_hint(image, diag,
	          nearest != NULL
	                  ? arena_printf(a, "did you mean '%s'?", nearest)
	                  : "write numbers, as in 65532:65532, or add the name to the file");
}

void rule_check_user(struct check_image *image)
{
	const char *passwd = users_file(image, "/etc/passwd");
	const char *group = users_file(image, "/etc/group");
	const char *text =
		image->has_config && image->config.user != NULL ? image->config.user : "";
	struct arena *a = image->run->arena;
	struct image_user *user = arena_alloc(a, sizeof(*user));
	const char *colon = strchr(text, ':');

	/* A list of users that is too large or lies elsewhere says nothing for certain. */
	if (!image->has_config || passwd == NULL || group == NULL)
		return;
	switch (user_resolve(text, passwd, group, a, user)) {
	case USER_FOUND:
		image->user = user;
		break;
	case USER_UNKNOWN:
		report_unknown(image, "user", arena_strndup(a, text, strcspn(text, ":")),
		               "/etc/passwd", passwd);
		break;
	case USER_NO_GROUP:
		report_unknown(image, "group", colon != NULL ? colon + 1 : "", "/etc/group", group);
		break;
	case USER_TOO_LARGE:
		rule_at(rule_report(image, RULE_USER, NO_PLACE,
		                    "the user '%s' has a number beyond 2147483647, which container "
		                    "runtimes refuse",
		                    text),
		        image->run->opts->at.user);
		break;
	}
}

/* Runtimes make a working folder that is not there, and enter it before they give up root's
 * rights: the program gets in, but cannot name a file there. */
void rule_check_workdir(struct check_image *image)
{
	struct view_node *n =
		image->workdir != NULL ? view_find(&image->view, image->workdir, true) : NULL;
	struct diag *diag = NULL;

	if (n == NULL)
		return;
	if (!view_is_dir(n)) {
		diag = rule_report(image, RULE_WORKDIR, rule_place_of(image, n),
		                   "the working folder is not a folder: no container starts in it");
		rule_hint(image, diag, "name the folder of the file in `workdir:`");
	} else if (image->user != NULL && !user_may(image->user, n->member, USER_SEARCH)) {
		diag = rule_report_as(
			image, RULE_WORKDIR, DIAG_WARNING, rule_place_of(image, n),
			arena_printf(image->run->arena,
		                     "is the working folder, and the image's user '%s' may not "
		                     "search it (mode %04o, owner %u:%u)",
		                     image->user->text, n->member->mode & 07777, n->member->uid,
		                     n->member->gid));
		rule_hint(image, diag, "set its `mode:` or `owner:`");
	}
	rule_at(diag, image->run->opts->at.workdir);
}
