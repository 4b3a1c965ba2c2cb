/* Sections: positions, products, a statement, the document. */
#include "builder/scan/vex.h"

#include <string.h>

#include "base/slurp.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "builder/scan/json_bounds.h"
#include "builder/scan/records.h"

#define CONTEXT "https://openvex.dev/ns"

struct vex_reading {
	struct vex *vex;
	const char *path;
	const struct strbuf *text;
	const struct jsonr *doc;
	int64_t time_ms; /* of the document */
};

/* ---- positions ---- */

static int wrong(const struct vex_reading *r, const struct jsonr_node *node, struct err *err,
                 const char *what)
{
	struct srcpos at = {.file = arena_strdup(r->vex->arena, r->path)};

	text_position(strbuf_str(r->text), node->at, &at.line, &at.column);
	return err_at(err, ERR_FORMAT, at, "%s", what);
}

static const char *place(const struct vex_reading *r, const struct jsonr_node *node)
{
	unsigned line, column;

	text_position(strbuf_str(r->text), node->at, &line, &column);
	return arena_printf(r->vex->arena, "%s:%u:%u", r->path, line, column);
}

static const char *copy(const struct vex_reading *r, const char *text)
{
	char *out = arena_strdup(r->vex->arena, text);

	text_make_printable(out);
	return out;
}

/* The list in member `key`; NULL: there is none. */
static const struct jsonr_node *list_of(const struct vex_reading *r, const struct jsonr_node *obj,
                                        const char *key)
{
	const struct jsonr_node *list = jsonr_get(r->doc, obj, key);

	return list != NULL && list->type == JSONR_ARRAY ? list : NULL;
}

/* ---- products ---- */

/* A string, or an object with identifiers.purl or @id. */
static const char *identifier(const struct vex_reading *r, const struct jsonr_node *item)
{
	const char *purl = record_text(r->doc, jsonr_get(r->doc, item, "identifiers"), "purl");

	if (item->type == JSONR_STRING)
		return item->string;
	return purl != NULL ? purl : record_text(r->doc, item, "@id");
}

static int read_products(const struct vex_reading *r, const struct jsonr_node *list, bool parts,
                         struct vex_product **ret_at, size_t *ret_n, struct err *err)
{
	struct vex_product *at = arena_calloc(r->vex->arena, list->n + 1, sizeof(*at));
	const struct jsonr_node *item = jsonr_first(r->doc, list), *inner;

	for (size_t i = 0; i < list->n; i++, item = jsonr_next(r->doc, item)) {
		const char *text = identifier(r, item);

		if (text == NULL || !purl_read(text, r->vex->arena, &at[i].purl))
			return wrong(r, item, err,
			             "a product has to be named by a package URL (pkg:...), as "
			             "'@id' or 'identifiers.purl'");
		inner = parts ? list_of(r, item, "subcomponents") : NULL;
		if (inner != NULL &&
		    read_products(r, inner, false, &at[i].parts, &at[i].n_parts, err) != 0)
			return -1;
	}
	*ret_at = at;
	*ret_n = list->n;
	return 0;
}

/* ---- a statement ---- */

static int read_names(const struct vex_reading *r, const struct jsonr_node *item,
                      struct vex_statement *s, struct err *err)
{
	const struct jsonr_node *it = jsonr_get(r->doc, item, "vulnerability"), *aliases, *alias;
	const char *name = it != NULL && it->type == JSONR_STRING ? it->string
	                                                          : record_text(r->doc, it, "name");

	if (name == NULL)
		name = record_text(r->doc, it, "@id");
	if (name == NULL || name[0] == '\0')
		return wrong(r, it != NULL ? it : item, err,
		             "the statement does not name its vulnerability");
	aliases = list_of(r, it, "aliases");
	s->names.at = arena_calloc(r->vex->arena, aliases != NULL ? aliases->n + 1 : 1,
	                           sizeof(*s->names.at));
	s->names.at[s->names.n++] = copy(r, name);
	alias = aliases != NULL ? jsonr_first(r->doc, aliases) : NULL;
	for (size_t i = 0; aliases != NULL && i < aliases->n;
	     i++, alias = jsonr_next(r->doc, alias))
		if (alias->type == JSONR_STRING)
			s->names.at[s->names.n++] = copy(r, alias->string);
	return 0;
}

static bool is_justification(const char *word)
{
	static const char *const words[] = {"component_not_present", "vulnerable_code_not_present",
	                                    "vulnerable_code_not_in_execute_path",
	                                    "vulnerable_code_cannot_be_controlled_by_adversary",
	                                    "inline_mitigations_already_exist"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

/* not_affected: a justification, an impact statement, or both (spec, "Status Labels"). */
static int read_not_affected(const struct vex_reading *r, const struct jsonr_node *item,
                             struct vex_statement *s, struct err *err)
{
	const char *word = record_text(r->doc, item, "justification");
	const char *impact = record_text(r->doc, item, "impact_statement");

	if (word != NULL && !is_justification(word))
		return wrong(r, jsonr_get(r->doc, item, "justification"), err,
		             "the justification is not one of OpenVEX's five");
	if (word == NULL && (impact == NULL || impact[0] == '\0'))
		return wrong(r, item, err,
		             "status 'not_affected' without a justification or an "
		             "impact_statement: say why");
	s->waives = word == NULL ? arena_printf(r->vex->arena, "not_affected: %s", copy(r, impact))
	            : impact == NULL ? arena_printf(r->vex->arena, "not_affected: %s", word)
	                             : arena_printf(r->vex->arena, "not_affected: %s: %s", word,
	                                            copy(r, impact));
	return 0;
}

static int read_fixed(const struct vex_reading *r, const struct jsonr_node *item,
                      struct vex_statement *s, struct err *err)
{
	const char *notes = record_text(r->doc, item, "status_notes");

	(void)err;
	s->waives =
		notes != NULL ? arena_printf(r->vex->arena, "fixed: %s", copy(r, notes)) : "fixed";
	return 0;
}

static int read_counting(const struct vex_reading *r, const struct jsonr_node *item,
                         struct vex_statement *s, struct err *err)
{
	(void)r;
	(void)item;
	(void)err;
	s->waives = NULL;
	return 0;
}

static int read_status(const struct vex_reading *r, const struct jsonr_node *item,
                       struct vex_statement *s, struct err *err)
{
	static const struct {
		const char *word;
		int (*read)(const struct vex_reading *r, const struct jsonr_node *item,
		            struct vex_statement *s, struct err *err);
	} statuses[] = {{"not_affected", read_not_affected},
	                {"fixed", read_fixed},
	                {"affected", read_counting},
	                {"under_investigation", read_counting}};
	const char *word = record_text(r->doc, item, "status");

	for (size_t i = 0; word != NULL && i < ARRAY_LEN(statuses); i++)
		if (strcmp(statuses[i].word, word) == 0)
			return statuses[i].read(r, item, s, err);
	return wrong(r, word != NULL ? jsonr_get(r->doc, item, "status") : item, err,
	             "the status has to be not_affected, affected, fixed or under_investigation");
}

/* Version 0.0.1 has the parts beside the products: they are of each. */
static int read_old_parts(const struct vex_reading *r, const struct jsonr_node *item,
                          struct vex_statement *s, struct err *err)
{
	const struct jsonr_node *list = list_of(r, item, "subcomponents");
	struct vex_product *products = s->products;

	for (size_t i = 0; list != NULL && i < s->n_products; i++)
		if (read_products(r, list, false, &products[i].parts, &products[i].n_parts, err) !=
		    0)
			return -1;
	return 0;
}

static int read_statement(const struct vex_reading *r, const struct jsonr_node *item,
                          struct err *err)
{
	const struct jsonr_node *products = list_of(r, item, "products");
	const char *time = record_text(r->doc, item, "timestamp");
	struct vex_statement s = {
		.place = place(r, item), .time_ms = r->time_ms, .order = r->vex->statements.n};

	if (item->type != JSONR_OBJECT)
		return wrong(r, item, err, "a statement has to be an object");
	if (s.order == VEX_STATEMENTS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d statements", VEX_STATEMENTS_MAX);
	if (time != NULL && !timestamp_iso8601(time, &s.time_ms))
		return wrong(r, jsonr_get(r->doc, item, "timestamp"), err,
		             "the timestamp is not one");
	if (read_names(r, item, &s, err) != 0 || read_status(r, item, &s, err) != 0)
		return -1;
	if (products == NULL)
		return wrong(r, item, err, "the statement names no products");
	if (read_products(r, products, true, &s.products, &s.n_products, err) != 0 ||
	    read_old_parts(r, item, &s, err) != 0)
		return -1;
	vec_push(&r->vex->statements, s);
	return 0;
}

/* ---- the document ---- */

static int read_document(struct vex_reading *r, struct err *err)
{
	const struct jsonr_node *root = r->doc->nodes, *list = list_of(r, root, "statements");
	const char *context = record_text(r->doc, root, "@context");
	const char *time = record_text(r->doc, root, "timestamp");
	const struct jsonr_node *item;

	if (context == NULL || !text_has_prefix(context, CONTEXT) || list == NULL)
		return wrong(r, root, err,
		             "it is not an OpenVEX document: '@context' has to begin with " CONTEXT
		             ", and 'statements' is a list");
	if (time != NULL)
		(void)timestamp_iso8601(time, &r->time_ms);
	item = jsonr_first(r->doc, list);
	for (size_t i = 0; i < list->n; i++, item = jsonr_next(r->doc, item))
		if (read_statement(r, item, err) != 0)
			return -1;
	return 0;
}

int vex_read(struct vex *v, const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(VEX_BYTES_MAX);
	AUTO(jsonr) struct jsonr doc = {0};
	struct vex_reading r = {.vex = v, .path = path, .text = &text, .doc = &doc};

	if (slurp_file(path, VEX_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "waivers '%s'", path);
	return json_bounds_parse(path, strbuf_str(&text), text.len, &doc, err) != 0
	               ? -1
	               : read_document(&r, err);
}
