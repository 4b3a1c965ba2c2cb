/*
 * Rules over permission bits in the final file system. What a base brought is left out: su and
 * mount of a distribution are as its makers want them.
 */
#include "builder/check/rules.h"

enum { SETUID = 04000, SETGID = 02000, STICKY = 01000, OTHERS_WRITE = 0002 };

void rule_check_setuid(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		uint32_t mode;
		struct diag *diag;

		if (n->member == NULL || !view_is_file(n) || rule_layer_of_base(image, n->layer))
			continue;
		mode = n->member->mode;
		if ((mode & (SETUID | SETGID)) != 0)
			diag = rule_report(image, RULE_SETUID, rule_place_of(image, n),
			                   "is %s (mode %04o, owner %u:%u)",
			                   (mode & SETUID) != 0 ? "setuid" : "setgid", mode & 07777,
			                   n->member->uid, n->member->gid);
		else if (n->member->capability)
			diag = rule_report(image, RULE_SETUID, rule_place_of(image, n),
			                   "has file capabilities");
		else
			continue;
		rule_hint(image, diag,
		          "a job rarely needs it: set `mode:`, or turn the rule off if it does");
	}
}

void rule_check_writable(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		const struct scan_member *m = n->member;
		bool dir = m != NULL && m->type == MEMBER_DIR;

		if (m == NULL || (m->mode & OTHERS_WRITE) == 0 || (!dir && !view_is_file(n)) ||
		    rule_layer_of_base(image, n->layer))
			continue;
		/* /tmp and its like: writable for all, and sticky. */
		if (dir && (m->mode & STICKY) != 0)
			continue;
		rule_report(image, RULE_WORLD_WRITABLE, rule_place_of(image, n),
		            "%s is writable by everybody (mode %04o)", dir ? "folder" : "file",
		            m->mode & 07777);
	}
}
