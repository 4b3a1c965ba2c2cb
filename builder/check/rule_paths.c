/* Rules that show while layers are put on top of each other. */
#include "builder/check/rules.h"

static void whiteout(struct check_image *image, enum diag_severity severity,
                     struct rule_place place, const char *text)
{
	rule_report_as(image, RULE_WHITEOUT, severity, place, text);
}

void rule_view_event(void *ctx, enum view_event event, size_t layer, const struct scan_member *m,
                     const char *detail)
{
	struct check_image *image = ctx;
	struct rule_place place = {layer, m->path};
	bool reported = image->layers[layer]->reported;
	struct diag *diag;

	switch (event) {
	case VIEW_DUPLICATE:
		/* A property of the layer alone: reported once, for the first such platform. */
		if (!reported)
			rule_report(image, RULE_DUPLICATE_PATH, place,
			            "is in this layer more than once");
		break;
	case VIEW_SHADOWED_LINK:
		diag = rule_report(image, RULE_SHADOWED_SYMLINK, place,
		                   "is a folder here, but a lower layer has a symbolic link to "
		                   "'%s' there: what is "
		                   "behind it disappears on the node",
		                   detail);
		rule_hint(image, diag,
		          "put the files at the link's target instead, as in /usr/lib for /lib");
		break;
	case VIEW_BAD_WHITEOUT:
		if (!reported)
			whiteout(image, DIAG_ERROR, place,
			         "is a malformed whiteout: '.wh.' needs a file name, and the "
			         "file must be empty");
		break;
	case VIEW_USELESS_WHITEOUT:
		whiteout(image, DIAG_WARNING, place, "is a whiteout that hides nothing");
		break;
	case VIEW_BAD_HARDLINK:
		rule_report(image, RULE_HARD_LINK, place,
		            "is a hard link to '%s', which is not there",
		            detail != NULL ? detail : "");
		break;
	}
}
