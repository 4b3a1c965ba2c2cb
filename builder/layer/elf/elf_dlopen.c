/*
 * What a file says it loads by dlopen (UAPI group, "ELF dlopen Metadata"): a JSON
 * list of libraries, each with the feature that needs it.
 */
#include <string.h>

#include "base/jsonr.h"
#include "base/text.h"
#include "builder/layer/elf/elf_internal.h"

enum {
	ENTRIES_MAX = 128, /* of one file */
	SONAMES_MAX = 8,   /* of one entry */
	SONAME_MAX = 128,  /* bytes; a longer one is no library */
	TEXT_MAX = 160     /* bytes of a text that are kept */
};

static const char *text_of(struct elf_file *f, const struct jsonr_node *node)
{
	size_t len;
	char *text;

	if (node == NULL || node->type != JSONR_STRING || node->string[0] == '\0')
		return NULL;
	len = strnlen(node->string, TEXT_MAX);
	/* Not in the middle of a character. */
	while (len > 0 && ((unsigned char)node->string[len] & 0xc0) == 0x80)
		len--;
	text = arena_strndup(f->arena, node->string, len);
	text_make_printable(text);
	return text;
}

/* The least that the specification knows, and what stands where nothing is said. */
static enum elf_dlopen_priority priority_of(const struct jsonr_node *node)
{
	static const char *const names[] = {[ELF_DLOPEN_REQUIRED] = "required",
	                                    [ELF_DLOPEN_RECOMMENDED] = "recommended",
	                                    [ELF_DLOPEN_SUGGESTED] = "suggested"};

	for (size_t i = 0; node != NULL && i < ARRAY_LEN(names); i++)
		if (node->type == JSONR_STRING && strcmp(node->string, names[i]) == 0)
			return (enum elf_dlopen_priority)i;
	return ELF_DLOPEN_RECOMMENDED;
}

static struct strlist sonames_of(struct elf_file *f, const struct jsonr *doc,
                                 const struct jsonr_node *list)
{
	const struct jsonr_node *m;
	struct strlist names = {0};

	if (list == NULL || list->type != JSONR_ARRAY)
		return names;
	names.at = arena_calloc(f->arena, SONAMES_MAX, sizeof(*names.at));
	m = jsonr_first(doc, list);
	for (size_t i = 0; i < list->n && names.n < SONAMES_MAX; i++, m = jsonr_next(doc, m))
		if (m->type == JSONR_STRING && m->string[0] != '\0' &&
		    strlen(m->string) <= SONAME_MAX)
			names.at[names.n++] = text_of(f, m);
	return names;
}

/* Room for one more, twice as much each time: most files have none or few. */
static struct elf_dlopen *next_entry(struct elf_file *f, struct elf_info *info)
{
	const size_t n = info->n_dlopen;

	if (n == 0 || (n >= 4 && (n & (n - 1)) == 0)) {
		struct elf_dlopen *more = arena_calloc(f->arena, n < 4 ? 4 : 2 * n, sizeof(*more));

		for (size_t i = 0; i < n; i++)
			more[i] = info->dlopen[i];
		info->dlopen = more;
	}
	return &info->dlopen[info->n_dlopen++];
}

static void add_entry(struct elf_file *f, const struct jsonr *doc, const struct jsonr_node *node,
                      struct elf_info *info)
{
	struct elf_dlopen entry = {.sonames = sonames_of(f, doc, jsonr_get(doc, node, "soname"))};

	if (entry.sonames.n == 0 || info->n_dlopen == ENTRIES_MAX)
		return;
	entry.feature = text_of(f, jsonr_get(doc, node, "feature"));
	entry.description = text_of(f, jsonr_get(doc, node, "description"));
	entry.priority = priority_of(jsonr_get(doc, node, "priority"));
	*next_entry(f, info) = entry;
}

void elf_read_dlopen(struct elf_file *f, const char *text, size_t len, struct elf_info *info)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct err ignored = {0};
	const struct jsonr_node *m;

	if (jsonr_parse("note", text, len, &doc, &ignored) != 0 || doc.nodes[0].type != JSONR_ARRAY)
		return;
	m = jsonr_first(&doc, doc.nodes);
	for (size_t i = 0; i < doc.nodes[0].n; i++, m = jsonr_next(&doc, m))
		if (m->type == JSONR_OBJECT)
			add_entry(f, &doc, m, info);
}
