/*
 * The decoders that several sections share.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/grammar.h"

enum { PLACED_MAX = 256 };

void decode_placed(struct fields_context *c, const struct yaml_node *node, void *member)
{
	struct placed_list *list = member;

	if (node->kind != YAML_SEQUENCE || node->n_items == 0) {
		bool text = node->kind == YAML_SCALAR && node->text[0] != '\0' &&
		            strpbrk(node->text, " ,[]{}#\"'") == NULL;

		diags_error(c->diags, node->at,
		            text ? arena_printf(c->arena, "write [%s]", node->text)
		                 : "write [ITEM, ITEM], or leave the key out",
		            "expected a list of strings, and at least one");
		return;
	}
	if (node->n_items > PLACED_MAX) {
		diags_error(c->diags, node->at, "remove some", "a list of more than %d",
		            PLACED_MAX);
		return;
	}
	list->at = arena_calloc(c->arena, node->n_items, sizeof(*list->at));
	list->written = arena_calloc(c->arena, node->n_items, sizeof(*list->written));
	list->pos = arena_calloc(c->arena, node->n_items, sizeof(*list->pos));
	for (size_t i = 0; i < node->n_items; i++) {
		const char *text = fields_text(c, node->items[i], "an entry");

		if (text == NULL)
			continue;
		list->at[list->n] = text;
		list->written[list->n] = node->items[i]->text;
		list->pos[list->n++] = node->items[i]->at;
	}
}

void check_placed(struct fields_context *c, const struct placed_list *list, const char *what,
                  field_check check)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *hint = NULL, *wrong = check(list->at[i], &hint);

		if (wrong != NULL)
			diag_hint(c->diags,
			          diags_add(c->diags, DIAG_ERROR, list->pos[i], "%s: '%s' %s", what,
			                    list->written[i], wrong),
			          "%s", hint);
		for (size_t k = 0; k < i; k++)
			if (strcmp(list->at[i], list->at[k]) == 0)
				diags_error(c->diags, list->pos[i], "remove one of the two",
				            "%s: '%s' appears twice", what, list->written[i]);
	}
}

void decode_gib(struct fields_context *c, const struct yaml_node *node, void *member)
{
	const char *text = fields_text(c, node, "a size");

	if (text == NULL || parse_gib(text, member))
		return;
	diag_hint(c->diags, fields_problem(c, node, "'%s' is not a size", node->text),
	          "write whole GiB or TiB, as in 1200Gi or 2Ti");
}

void decode_cpu(struct fields_context *c, const struct yaml_node *node, void *member)
{
	const char *text = fields_text(c, node, "CPU");
	size_t len = text != NULL ? strspn(text, "0123456789") : 0;
	int64_t value;

	if (text == NULL)
		return;
	if (len <= 6 && text_int64(text, len, &value) &&
	    (text[len] == '\0' || strcmp(text + len, "m") == 0)) {
		*(int64_t *)member = text[len] == 'm' ? value : value * 1000;
		return;
	}
	diag_hint(c->diags, fields_problem(c, node, "'%s' is not an amount of CPU", node->text),
	          "write whole CPUs or thousandths, as in 2 or 500m");
}

void decode_mib(struct fields_context *c, const struct yaml_node *node, void *member)
{
	const char *text = fields_text(c, node, "memory");
	size_t len = text != NULL ? strspn(text, "0123456789") : 0;
	int64_t value;

	if (text == NULL)
		return;
	if (len <= 9 && text_int64(text, len, &value) &&
	    (strcmp(text + len, "Mi") == 0 || strcmp(text + len, "Gi") == 0)) {
		*(int64_t *)member = text[len] == 'G' ? value * 1024 : value;
		return;
	}
	diag_hint(c->diags, fields_problem(c, node, "'%s' is not an amount of memory", node->text),
	          "write whole MiB or GiB, as in 512Mi or 2Gi");
}
