/* What files say in .note.dlopen that they load on demand: looked for as the loader would, from the
 * file that says so. */
#include <string.h>

#include "builder/check/rule_data.h"

static bool is_there(struct linkage *l, const struct linked *o, const struct elf_dlopen *entry)
{
	for (size_t i = 0; i < entry->sonames.n; i++) {
		const char *name = entry->sonames.at[i];

		if (linkage_find(l, name) != NULL || rule_provided(l->image, name) ||
		    linkage_search(l, o, name).state == LINK_FOUND)
			return true;
	}
	return false;
}

static void add_missing(struct strbuf *sb, const struct elf_dlopen *entry)
{
	if (sb->len > 0)
		strbuf_adds(sb, "; ");
	for (size_t i = 0; i < entry->sonames.n; i++)
		strbuf_addf(sb, "%s'%s'", i > 0 ? " or " : "", entry->sonames.at[i]);
	strbuf_addf(sb, " (%s",
	            entry->priority == ELF_DLOPEN_REQUIRED ? "required" : "recommended");
	if (entry->feature != NULL)
		strbuf_addf(sb, " for %s", entry->feature);
	if (entry->description != NULL)
		strbuf_addf(sb, ": %s", entry->description);
	strbuf_adds(sb, ")");
}

static void check_object(struct linkage *l, const struct linked *o)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(8 << 10);
	struct check_image *image = l->image;
	const struct elf_info *elf = o->object->elf;

	for (size_t i = 0; i < elf->n_dlopen && linkage_spend(l, 1); i++)
		if (elf->dlopen[i].priority != ELF_DLOPEN_SUGGESTED &&
		    !is_there(l, o, &elf->dlopen[i]))
			add_missing(&sb, &elf->dlopen[i]);
	if (sb.len == 0 || l->exhausted)
		return;
	o->object->node->marks |= MARK_DLOPEN_REPORTED;
	rule_hint(image,
	          rule_report(image, RULE_ELF_DLOPEN, rule_place_of(image, o->object->node),
	                      "loads on demand what the loader does not find: %s", strbuf_str(&sb)),
	          "add the libraries by `closure:` if the program uses the feature, or list them "
	          "under provided");
}

/* A library that several programs load is reported for the first that does not get it all. */
void linkage_check_dlopen(struct linkage *l)
{
	if (l->image->run->off[RULE_ELF_DLOPEN])
		return;
	for (size_t i = 0; i < l->objects.n && !l->exhausted; i++)
		if (l->objects.at[i].object->elf->n_dlopen > 0 &&
		    (l->objects.at[i].object->node->marks & MARK_DLOPEN_REPORTED) == 0)
			check_object(l, &l->objects.at[i]);
}
