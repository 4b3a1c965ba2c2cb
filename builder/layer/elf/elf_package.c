/*
 * Of which package a file says it is: one JSON object of texts (UAPI group, "Package Metadata for
 * Executable Files").
 */
#include <string.h>

#include "base/jsonr.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/elf/elf_internal.h"

enum { TEXT_MAX = 256 /* bytes of a text; one that is longer says nothing */ };

static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	{"type", offsetof(struct elf_package, type)},
	{"os", offsetof(struct elf_package, os)},
	{"osVersion", offsetof(struct elf_package, os_version)},
	{"name", offsetof(struct elf_package, name)},
	{"version", offsetof(struct elf_package, version)},
	{"architecture", offsetof(struct elf_package, architecture)},
};

static const char *text_of(struct elf_file *f, const struct jsonr_node *node)
{
	char *text;

	if (node == NULL || node->type != JSONR_STRING || node->string[0] == '\0' ||
	    strlen(node->string) > TEXT_MAX)
		return NULL;
	text = arena_strdup(f->arena, node->string);
	text_make_printable(text);
	return text;
}

void elf_read_package(struct elf_file *f, const char *text, size_t len, struct elf_info *info)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct elf_package *package;
	struct err ignored = {0};

	if (jsonr_parse("note", text, len, &doc, &ignored) != 0 ||
	    doc.nodes[0].type != JSONR_OBJECT)
		return;
	package = arena_alloc(f->arena, sizeof(*package));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*(const char **)(void *)((char *)package + texts[i].offset) =
			text_of(f, jsonr_get(&doc, doc.nodes, texts[i].key));
	if (package->name != NULL)
		info->package = package;
}
