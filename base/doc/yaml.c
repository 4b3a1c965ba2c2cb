#include "base/doc/yaml.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/text.h"

/*
 * In flow collections a plain scalar may not hold braces, but [build/${arch}/app] is what people
 * write. The braces of ${...} are therefore handed to libyaml as two private-use characters, and
 * come back in scalars.
 */
#define BRACE_OPEN  "\xee\x80\x80" /* U+E000 */
#define BRACE_CLOSE "\xee\x80\x81" /* U+E001 */
enum { BRACE_BYTES = 3 };

struct yaml_loader {
	yaml_parser_t parser;
	const char *file;
	const char *text; /* as given, for columns in bytes */
	size_t *lines;    /* offset of each line */
	size_t n_lines;
	struct arena *arena;
	struct diags *diags;
	size_t n_nodes;
	/* The last column that was counted: marks come in order, and a line may be long. */
	size_t seen_line, seen_column, seen_byte;
	bool failed; /* something was wrong that did not end the reading */
};

static void index_lines(struct yaml_loader *l, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += l->text[i] == '\n';
	l->lines = arena_calloc(l->arena, n, sizeof(*l->lines));
	for (size_t i = 0; i < len; i++)
		if (l->text[i] == '\n')
			l->lines[++l->n_lines] = i + 1;
	l->n_lines++;
}

/* libyaml counts characters; editors and compilers count bytes. */
static unsigned byte_column(struct yaml_loader *l, const yaml_mark_t *mark)
{
	if (mark->line >= l->n_lines)
		return (unsigned)mark->column + 1;
	bool on = mark->line == l->seen_line && mark->column >= l->seen_column;
	const char *start = l->text + l->lines[mark->line], *at = start + (on ? l->seen_byte : 0);
	size_t i = on ? l->seen_column : 0;

	for (; i < mark->column && *at != '\0' && *at != '\n'; i++) {
		at++;
		while (((unsigned char)*at & 0xc0) == 0x80)
			at++;
	}
	l->seen_line = mark->line;
	l->seen_column = i;
	l->seen_byte = (size_t)(at - start);
	return (unsigned)(at - start) + 1;
}

static struct srcpos mark_pos(struct yaml_loader *l, const yaml_mark_t *from, const yaml_mark_t *to)
{
	struct srcpos at = {.file = l->file,
	                    .line = (unsigned)from->line + 1,
	                    .column = byte_column(l, from),
	                    .span = 1};

	if (to != NULL && to->line == from->line && to->column > from->column)
		at.span = byte_column(l, to) - at.column;
	return at;
}

/* "${" NAME "}" with nothing in NAME that could end a scalar or a line: its length, else 0. */
static size_t variable_length(const char *text)
{
	size_t len = 2;

	if (text[0] != '$' || text[1] != '{')
		return 0;
	len += strcspn(text + 2, "{}[],\"' \t\r\n#");
	return text[len] == '}' ? len + 1 : 0;
}

static void hide_braces(const char *text, size_t len, struct strbuf *sb)
{
	for (size_t i = 0; i < len;) {
		size_t n = variable_length(text + i);

		if (n == 0) {
			strbuf_addc(sb, text[i++]);
			continue;
		}
		strbuf_adds(sb, "$" BRACE_OPEN);
		strbuf_add(sb, text + i + 2, n - 3);
		strbuf_adds(sb, BRACE_CLOSE);
		i += n;
	}
}

/* The scalar with its braces back, in the arena. */
static const char *show_braces(struct yaml_loader *l, const char *text, size_t len)
{
	char *out = arena_alloc(l->arena, len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		bool open =
			len - i >= BRACE_BYTES && memcmp(text + i, BRACE_OPEN, BRACE_BYTES) == 0;
		bool close =
			len - i >= BRACE_BYTES && memcmp(text + i, BRACE_CLOSE, BRACE_BYTES) == 0;

		out[n++] = open ? '{' : close ? '}' : text[i];
		i += open || close ? BRACE_BYTES : 1;
	}
	return out;
}

static int yaml_problem(struct yaml_loader *l, const yaml_mark_t *from, const yaml_mark_t *to,
                        const char *hint, const char *text)
{
	diags_error(l->diags, mark_pos(l, from, to), hint, "%s", text);
	return -1;
}

/* What to do about libyaml's words; the first row that fits, by what each of them begins with. */
static const char *syntax_hint(const char *problem, const char *context)
{
	static const struct {
		const char *problem, *context, *hint;
	} known[] = {
		{"found character that cannot", "",
	         "put text that begins with @, ` or % in quotes"},
		{"found a tab character", "", "indent with spaces: YAML takes no tabs"},
		{"mapping values are not allowed", "",
	         "is the line above without ':', or indented otherwise? a value with ': ' needs "
	         "quotes"},
		{"could not find expected ':'", "",
	         "write KEY: VALUE with a space after the colon, and text of several lines in "
	         "quotes"},
		{"found unexpected end of stream", "while scanning a quoted", "close the quotes"},
		{"did not find expected ',' or '", "",
	         "close the bracket, and put ',' between items"},
		{"did not find expected node content", "",
	         "write a value there, or close the bracket"},
		{"found undefined tag", "", "put text that begins with ! in quotes"},
		{"did not find expected alphabetic", "",
	         "put text that begins with * or & in quotes"},
		{"", "while parsing a block", "begin it in the column of its neighbours above"},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (text_has_prefix(problem, known[i].problem) &&
		    text_has_prefix(context, known[i].context))
			return known[i].hint;
	return "put text with characters of YAML's own in quotes";
}

/* libyaml knows a tab only as a character that begins nothing. */
static bool is_tab(const struct yaml_loader *l, const struct srcpos *at)
{
	return at->line > 0 && at->line <= l->n_lines &&
	       l->text[l->lines[at->line - 1] + at->column - 1] == '\t';
}

/* libyaml's own words: "did not find expected key" and where. */
static int syntax_problem(struct yaml_loader *l)
{
	const yaml_parser_t *p = &l->parser;
	const char *problem = p->problem != NULL ? p->problem : "not YAML";
	const char *context = p->context != NULL ? p->context : "";
	/* An open quote is noticed at the end of the file: that says nothing. */
	bool quote = text_has_prefix(context, "while scanning a quoted");
	struct srcpos at = mark_pos(l, quote ? &p->context_mark : &p->problem_mark, NULL);

	if (p->error == YAML_MEMORY_ERROR)
		mem_exhausted("libyaml");
	if (p->error == YAML_READER_ERROR) {
		at.line = 1;
		at.column = 1;
	}
	if (is_tab(l, &at))
		problem = "found a tab character where spaces must be";
	diags_error(l->diags, at, syntax_hint(problem, context), "%s%s%s", problem,
	            context[0] != '\0' ? " " : "", context);
	return -1;
}

static int next_event(struct yaml_loader *l, yaml_event_t *event)
{
	return yaml_parser_parse(&l->parser, event) ? 0 : syntax_problem(l);
}

static int load_node(struct yaml_loader *l, const yaml_event_t *event, int depth,
                     struct yaml_node **ret_node);

static int load_scalar(struct yaml_loader *l, const yaml_event_t *event, struct yaml_node *node)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	if (memchr(text, '\0', len) != NULL)
		return yaml_problem(l, &event->start_mark, &event->end_mark, "remove it",
		                    "a NUL character in a string");
	node->text = show_braces(l, text, len);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static void push_item(struct yaml_loader *l, struct yaml_node *node, struct yaml_node *item,
                      size_t *cap)
{
	if (node->n_items == *cap) {
		*cap = *cap < 8 ? 8 : *cap * 2;
		struct yaml_node **items = arena_calloc(l->arena, *cap, sizeof(struct yaml_node *));

		if (node->n_items > 0)
			memcpy(items, node->items, node->n_items * sizeof(struct yaml_node *));
		node->items = items;
	}
	node->items[node->n_items++] = item;
}

/* Reads events up to `end` as children; a mapping's children alternate key, value. */
static int load_children(struct yaml_loader *l, yaml_event_type_t end, int depth,
                         struct yaml_node *node)
{
	size_t cap = 0;

	for (;;) {
		yaml_event_t event;
		struct yaml_node *child = NULL;

		if (next_event(l, &event) != 0)
			return -1;
		bool over = event.type == end;
		int status = over ? 0 : load_node(l, &event, depth + 1, &child);

		yaml_event_delete(&event);
		if (over || status != 0)
			return status;
		push_item(l, node, child, &cap);
	}
}

static int by_key(const void *a, const void *b)
{
	const struct yaml_node *x = *(struct yaml_node *const *)a,
			       *y = *(struct yaml_node *const *)b;
	int order = strcmp(x->text, y->text);

	if (order != 0)
		return order;
	return x->at.line != y->at.line
	               ? (x->at.line < y->at.line ? -1 : 1)
	               : (x->at.column > y->at.column) - (x->at.column < y->at.column);
}

static void check_unique(struct yaml_loader *l, const struct yaml_node *node)
{
	struct yaml_node **keys = arena_calloc(l->arena, node->n_pairs, sizeof(struct yaml_node *));

	for (size_t i = 0; i < node->n_pairs; i++)
		keys[i] = node->pairs[i].key;
	qsort(keys, node->n_pairs, sizeof(struct yaml_node *), by_key);
	for (size_t i = 1; i < node->n_pairs; i++)
		if (strcmp(keys[i]->text, keys[i - 1]->text) == 0) {
			diags_error(l->diags, keys[i]->at, "remove one of the two, or join them",
			            "key '%s' appears twice (first in line %u)", keys[i]->text,
			            keys[i - 1]->at.line);
			l->failed = true;
		}
}

static int pair_up(struct yaml_loader *l, struct yaml_node *node)
{
	node->n_pairs = node->n_items / 2;
	node->pairs = arena_calloc(l->arena, node->n_pairs, sizeof(*node->pairs));
	for (size_t i = 0; i < node->n_pairs; i++) {
		node->pairs[i] = (struct yaml_pair){node->items[2 * i], node->items[2 * i + 1]};
		if (node->pairs[i].key->kind != YAML_SCALAR) {
			diags_error(l->diags, node->pairs[i].key->at, "write KEY: VALUE",
			            "a key must be a plain string");
			return -1;
		}
	}
	node->items = NULL;
	node->n_items = 0;
	check_unique(l, node);
	return 0;
}

static int refuse_extras(struct yaml_loader *l, const yaml_event_t *e)
{
	const yaml_char_t *anchor = e->type == YAML_SCALAR_EVENT ? e->data.scalar.anchor
	                            : e->type == YAML_SEQUENCE_START_EVENT
	                                    ? e->data.sequence_start.anchor
	                                    : e->data.mapping_start.anchor;
	const yaml_char_t *tag = e->type == YAML_SCALAR_EVENT           ? e->data.scalar.tag
	                         : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.tag
	                                                                : e->data.mapping_start.tag;

	if (anchor != NULL)
		return yaml_problem(l, &e->start_mark, NULL, "write it out where it is used",
		                    "anchors (&name) are not supported in a spec");
	if (tag != NULL)
		return yaml_problem(l, &e->start_mark, NULL,
		                    "remove it, or put the whole text in quotes",
		                    "tags (!name) are not supported in a spec");
	return 0;
}

static int load_node(struct yaml_loader *l, const yaml_event_t *event, int depth,
                     struct yaml_node **ret_node)
{
	struct yaml_node *node;
	int status;

	if (event->type == YAML_ALIAS_EVENT)
		return yaml_problem(l, &event->start_mark, &event->end_mark,
		                    "write it out where it is used",
		                    "aliases (*name) are not supported in a spec");
	if (refuse_extras(l, event) != 0)
		return -1;
	if (depth > YAML_DEPTH_MAX || ++l->n_nodes > YAML_NODES_MAX)
		return yaml_problem(l, &event->start_mark, NULL, "remove levels or entries",
		                    "nested too deeply, or too large");
	node = arena_alloc(l->arena, sizeof(*node));
	node->at = mark_pos(l, &event->start_mark, &event->end_mark);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		node->kind = YAML_SCALAR;
		status = load_scalar(l, event, node);
		break;
	case YAML_SEQUENCE_START_EVENT:
		node->kind = YAML_SEQUENCE;
		status = load_children(l, YAML_SEQUENCE_END_EVENT, depth, node);
		break;
	case YAML_MAPPING_START_EVENT:
		node->kind = YAML_MAPPING;
		status = load_children(l, YAML_MAPPING_END_EVENT, depth, node);
		if (status == 0)
			status = pair_up(l, node);
		break;
	default:
		return yaml_problem(l, &event->start_mark, NULL, "complete it",
		                    "unexpected end of the document");
	}
	if (status == 0)
		*ret_node = node;
	return status;
}

/* Takes the next event, which must be of this type. */
static int expect(struct yaml_loader *l, yaml_event_type_t type, const char *hint,
                  const char *otherwise)
{
	yaml_event_t event;

	if (next_event(l, &event) != 0)
		return -1;
	int status =
		event.type == type ? 0 : yaml_problem(l, &event.start_mark, NULL, hint, otherwise);

	yaml_event_delete(&event);
	return status;
}

static int load_document(struct yaml_loader *l, struct yaml_node **ret_root)
{
	yaml_event_t event;

	if (expect(l, YAML_STREAM_START_EVENT, NULL, "not YAML") != 0 ||
	    expect(l, YAML_DOCUMENT_START_EVENT, "`slipway init` writes one",
	           "the document is empty") != 0 ||
	    next_event(l, &event) != 0)
		return -1;
	int status = load_node(l, &event, 0, ret_root);

	yaml_event_delete(&event);
	if (status != 0)
		return -1;
	if (expect(l, YAML_DOCUMENT_END_EVENT, "remove it", "text after the document") != 0)
		return -1;
	return expect(l, YAML_STREAM_END_EVENT,
	              "write each in a file of its own, and name it with -f",
	              "only one document is allowed");
}

int yaml_parse(const char *file, const char *text, size_t len, struct arena *a,
               struct yaml_node **ret_root, struct diags *d, struct err *err)
{
	struct yaml_loader l = {.file = arena_strdup(a, file), .arena = a, .diags = d};
	AUTO(strbuf) struct strbuf hidden = STRBUF_INIT(2 * YAML_BYTES_MAX);
	struct yaml_node *root = NULL;

	if (len > YAML_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "'%s' has %zu bytes, at most %d are read", file, len,
		               YAML_BYTES_MAX);
	diags_add_source(d, file, text != NULL ? text : "", len);
	if (len > 0 && !text_is_utf8(text, len)) {
		diags_error(d, (struct srcpos){l.file, 1, 1, 1},
		            "save it as UTF-8, without a byte order mark", "the file is not UTF-8");
		return err_set(err, ERR_SPEC, "'%s' is not UTF-8", file);
	}
	l.text = arena_strndup(a, text != NULL ? text : "", len);
	index_lines(&l, len);
	hide_braces(l.text, len, &hidden);
	if (!yaml_parser_initialize(&l.parser))
		mem_exhausted("libyaml");
	yaml_parser_set_input_string(&l.parser, (const unsigned char *)strbuf_str(&hidden),
	                             hidden.len);
	yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);

	int status = load_document(&l, &root);

	yaml_parser_delete(&l.parser);
	if (status != 0 || l.failed)
		return err_set(err, ERR_SPEC, "'%s' is not a valid document", file);
	*ret_root = root;
	return 0;
}

struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key)
{
	for (size_t i = 0; i < mapping->n_pairs; i++)
		if (strcmp(mapping->pairs[i].key->text, key) == 0)
			return mapping->pairs[i].value;
	return NULL;
}

static bool one_of(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

bool yaml_is_null(const struct yaml_node *node)
{
	static const char *const words[] = {"null", "~", NULL};

	return node->kind == YAML_SCALAR && !node->quoted &&
	       (node->text[0] == '\0' || one_of(node->text, words));
}

bool yaml_is_bool(const struct yaml_node *scalar, bool *ret_value)
{
	if (scalar->quoted ||
	    (strcmp(scalar->text, "true") != 0 && strcmp(scalar->text, "false") != 0))
		return false;
	*ret_value = strcmp(scalar->text, "true") == 0;
	return true;
}

bool yaml_is_bool_like(const struct yaml_node *scalar)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on",
	                                    "off",  "y",     "n",   NULL};

	return !scalar->quoted && one_of(scalar->text, words);
}
