/*
 * Decoding. Sections: scalars, collections, one object.
 */
#include "base/doc/fields_say.h"

#include <string.h>

#include "base/text.h"

/* ---- scalars ---- */

const char *fields_text(struct fields_context *c, const struct yaml_node *node, const char *what)
{
	if (node->kind != YAML_SCALAR) {
		fields_wrong_kind(c, node, what, "a string",
		                  "write one value, without - and without KEY:");
		return NULL;
	}
	if (yaml_is_null(node)) {
		diags_error(c->diags, node->at, "write a value, or \"\" for an empty one",
		            "%s: no value", what);
		return NULL;
	}
	if (yaml_is_bool_like(node)) {
		struct diag *d = fields_problem(c, node, "%s: '%s' is a boolean, not a string",
		                                what, node->text);

		diag_hint(c->diags, d, "write \"%s\" in quotes", node->text);
		return NULL;
	}
	return c->expand != NULL ? c->expand(c, node) : node->text;
}

/* The text as it may look once its variables are known: each stands for one plain letter. */
static void add_sample(const char *text, struct strbuf *sb)
{
	while (*text != '\0') {
		const char *end = strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;

		strbuf_addc(sb, end != NULL ? 'x' : *text);
		text = end != NULL ? end + 1 : text + 1;
	}
}

static void run_check(struct fields_context *c, const struct yaml_node *node, const char *what,
                      field_check check, const char *text)
{
	const char *hint = NULL, *why = check != NULL ? check(text, &hint) : NULL;

	if (why == NULL)
		return;
	/* As written, not as expanded: the environment may hold a secret. */
	struct diag *d = fields_problem(c, node, "%s: '%s' %s", what, node->text, why);

	if (hint != NULL)
		diag_hint(c->diags, d, "%s", hint);
}

int fields_choice(struct fields_context *c, const struct yaml_node *node, const char *what,
                  const struct choices *choices)
{
	const char *text = fields_text(c, node, what);
	int choice = text != NULL ? choices_find(choices, text) : -1;

	if (text != NULL && choice < 0)
		fields_not_a_choice(c, node, what, choices, NULL);
	return choice;
}

static void checked(struct fields_context *c, const struct field *f, const struct yaml_node *node,
                    const char *what, const char *text)
{
	AUTO(strbuf) struct strbuf sample = STRBUF_INIT(YAML_BYTES_MAX);

	add_sample(text, &sample);
	run_check(c, node, what, f->check, strbuf_str(&sample));
	if (f->choices != NULL && choices_find(f->choices, strbuf_str(&sample)) < 0)
		fields_not_a_choice(c, node, what, f->choices, f->complaint);
}

/* A value that is the same on every platform, and so has no variables. */
static void check_literal(struct fields_context *c, const struct field *f,
                          const struct yaml_node *node, const char *what, const char *text)
{
	if ((f->flags & FIELD_LITERAL) != 0 && strstr(text, "${") != NULL)
		diags_error(c->diags, node->at, "write it out: one value serves every platform",
		            "%s: variables of a platform have no meaning here", what);
	else
		checked(c, f, node, what, text);
}

static void decode_string(struct fields_context *c, const struct field *f,
                          const struct yaml_node *node, const char *path, void *member)
{
	const char *text = fields_text(c, node, path);

	if (text == NULL)
		return;
	check_literal(c, f, node, path, text);
	*(const char **)member = text;
}

/* To the compiler an enum without negative values is unsigned int, as FIELD_CHOICE proves. */
static void decode_choice(struct fields_context *c, const struct field *f,
                          const struct yaml_node *node, const char *path, unsigned *member)
{
	int choice = fields_choice(c, node, path, f->choices);

	if (choice >= 0)
		*member = (unsigned)choice;
}

static void decode_bool(struct fields_context *c, const struct yaml_node *node, const char *path,
                        void *member)
{
	if (node->kind == YAML_SCALAR && yaml_is_bool(node, member))
		return;
	struct diag *d = fields_problem(c, node, "%s: expected true or false", path);

	if (node->kind == YAML_SCALAR && yaml_is_bool_like(node))
		diag_hint(c->diags, d,
		          "'%s' means different things to different readers; write true or false",
		          node->text);
	else
		diag_hint(c->diags, d, "write one of the two words, without quotes");
}

/* A key's description begins with what it counts. */
static const char *how_to_count(const struct field *f)
{
	static const struct {
		const char *unit, *hint;
	} units[] = {{"Seconds", "write seconds in digits alone, as in 7200 for two hours"},
	             {"Minutes", "write minutes in digits alone, as in 90"},
	             {"Days", "write days in digits alone, as in 30"}};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (text_has_prefix(f->doc, units[i].unit))
			return units[i].hint;
	return "write digits alone, as in 4";
}

static void decode_int(struct fields_context *c, const struct field *f,
                       const struct yaml_node *node, const char *path, int64_t *member)
{
	int64_t value;

	if (node->kind != YAML_SCALAR || !text_int64(node->text, strlen(node->text), &value)) {
		diags_error(c->diags, node->at, how_to_count(f), "%s: '%s' is not a whole number",
		            path, fields_found(node));
		return;
	}
	if ((f->min != 0 || f->max != 0) && (value < f->min || value > f->max)) {
		fields_not_between(c, f, node, path);
		return;
	}
	*member = value;
}

/* 0755, 755, 0o755: up to four octal digits. */
static void decode_mode(struct fields_context *c, const struct yaml_node *node, const char *path,
                        int64_t *member)
{
	const char *text = node->kind == YAML_SCALAR ? node->text : "";
	const char *digits = text_has_prefix(text, "0o") ? text + 2 : text;
	size_t len = strlen(digits);
	int64_t mode = 0;

	if (len == 0 || len > 5 || strspn(digits, "01234567") != len ||
	    (len == 5 && digits[0] != '0')) {
		struct diag *d = fields_problem(c, node, "%s: '%s' is not a file mode", path, text);

		diag_hint(c->diags, d, "write octal permission bits, as in 0755");
		return;
	}
	for (size_t i = 0; i < len; i++)
		mode = mode * 8 + (digits[i] - '0');
	*member = mode;
}

bool fields_parse_size(const char *text, int64_t *ret_bytes)
{
	static const struct {
		const char *unit;
		int64_t bytes;
	} units[] = {
		{"", 1},           {"B", 1},           {"k", 1000},          {"K", 1000},
		{"kB", 1000},      {"KB", 1000},       {"M", 1000000},       {"MB", 1000000},
		{"G", 1000000000}, {"GB", 1000000000}, {"T", 1000000000000}, {"TB", 1000000000000},
		{"Ki", 1 << 10},   {"KiB", 1 << 10},   {"Mi", 1 << 20},      {"MiB", 1 << 20},
		{"Gi", 1 << 30},   {"GiB", 1 << 30},   {"Ti", 1LL << 40},    {"TiB", 1LL << 40}};
	size_t len = strspn(text, "0123456789"), fraction = 0;
	int64_t whole, tenths = 0;

	if (!text_int64(text, len, &whole))
		return false;
	if (text[len] == '.') {
		fraction = strspn(text + len + 1, "0123456789");
		if (fraction != 1)
			return false;
		tenths = text[len + 1] - '0';
		len += 2;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		int64_t bytes;

		if (strcmp(text + len, units[i].unit) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].bytes, &bytes) ||
		    __builtin_add_overflow(bytes, tenths * units[i].bytes / 10, &bytes))
			return false;
		*ret_bytes = bytes;
		return true;
	}
	return false;
}

static void decode_size(struct fields_context *c, const struct field *f,
                        const struct yaml_node *node, const char *path, int64_t *member)
{
	int64_t bytes;

	if (node->kind != YAML_SCALAR || !fields_parse_size(node->text, &bytes)) {
		struct diag *d =
			fields_problem(c, node, "%s: '%s' is not a size", path, fields_found(node));

		diag_hint(c->diags, d, "write bytes with a unit, as in 512MiB or 15MB");
		return;
	}
	if ((f->min != 0 || f->max != 0) && (bytes < f->min || bytes > f->max)) {
		fields_not_between(c, f, node, path);
		return;
	}
	*member = bytes;
}

/* ---- collections ---- */

static void decode_strings(struct fields_context *c, const struct field *f,
                           const struct yaml_node *node, const char *path, struct strlist *member)
{
	if (node->kind != YAML_SEQUENCE) {
		fields_not_a_list(c, node, path);
		return;
	}
	member->at = arena_calloc(c->arena, node->n_items, sizeof(*member->at));
	for (size_t i = 0; i < node->n_items; i++) {
		const char *item_path = arena_printf(c->arena, "%s[%zu]", path, i);
		const char *text = fields_text(c, node->items[i], item_path);

		if (text == NULL)
			continue;
		check_literal(c, f, node->items[i], item_path, text);
		member->at[member->n++] = text;
	}
}

/* Values of a map may be numbers; null-like and truth-like ones need quotes. */
static void decode_map(struct fields_context *c, const struct field *f,
                       const struct yaml_node *node, const char *path, struct strmap *member)
{
	if (node->kind != YAML_MAPPING) {
		fields_wrong_kind(c, node, path, "a mapping", FIELDS_HOW_TO_MAP);
		return;
	}
	if (node->n_pairs > FIELDS_MAP_MAX) {
		diags_error(c->diags, node->at, "remove some", "%s: more than %d entries", path,
		            FIELDS_MAP_MAX);
		return;
	}
	for (size_t i = 0; i < node->n_pairs; i++) {
		const struct yaml_pair *pair = &node->pairs[i];
		const char *item_path = arena_printf(c->arena, "%s.%s", path, pair->key->text);
		const char *text = fields_text(c, pair->value, item_path);

		/* Keys have no variables. */
		run_check(c, pair->key, path, f->check_key, pair->key->text);
		if (text == NULL)
			continue;
		checked(c, f, pair->value, item_path, text);
		strmap_set(member, c->arena, pair->key->text, text);
	}
}

static void keep_objects(const struct field *f, void *object, unsigned char *at, size_t n)
{
	memcpy((char *)object + f->offset, &at, sizeof(at));
	*(size_t *)(void *)((char *)object + f->count_offset) = n;
}

static void decode_objects(struct fields_context *c, const struct field *f,
                           const struct yaml_node *node, const char *path, void *object)
{
	unsigned char *at;

	if (node->kind != YAML_SEQUENCE && (f->flags & FIELD_ONE) != 0) {
		at = arena_calloc(c->arena, 1, f->table->size);
		fields_decode(c, f->table, node, path, at);
		keep_objects(f, object, at, 1);
		return;
	}
	if (node->kind != YAML_SEQUENCE) {
		fields_wrong_kind(c, node, path, "a list", FIELDS_HOW_TO_LIST);
		return;
	}
	if (f->max != 0 && node->n_items > (uint64_t)f->max) {
		diags_error(c->diags, node->at, "remove some",
		            "%s: %zu entries, at most %lld are possible", path, node->n_items,
		            (long long)f->max);
		return;
	}
	at = arena_calloc(c->arena, node->n_items, f->table->size);
	for (size_t i = 0; i < node->n_items; i++)
		fields_decode(c, f->table, node->items[i],
		              arena_printf(c->arena, "%s[%zu]", path, i), at + i * f->table->size);
	keep_objects(f, object, at, node->n_items);
}

/* A mapping from name to object. */
static void decode_named(struct fields_context *c, const struct field *f,
                         const struct yaml_node *node, const char *path, void *object)
{
	unsigned char *at;

	if (node->kind != YAML_MAPPING || (f->min > 0 && node->n_pairs == 0)) {
		fields_not_named(c, f, node, path);
		return;
	}
	if (f->max != 0 && node->n_pairs > (uint64_t)f->max) {
		diags_error(c->diags, node->at, "remove some",
		            "%s: %zu entries, at most %lld are possible", path, node->n_pairs,
		            (long long)f->max);
		return;
	}
	at = arena_calloc(c->arena, node->n_pairs, f->table->size);
	for (size_t i = 0; i < node->n_pairs; i++) {
		const struct yaml_pair *pair = &node->pairs[i];
		unsigned char *entry = at + i * f->table->size;

		run_check(c, pair->key, path, f->check_key, pair->key->text);
		fields_decode(c, f->table, pair->value,
		              arena_printf(c->arena, "%s.%s", path, pair->key->text), entry);
		memcpy(entry + f->name_offset, &pair->key->text, sizeof(pair->key->text));
	}
	memcpy((char *)object + f->offset, &at, sizeof(at));
	*(size_t *)(void *)((char *)object + f->count_offset) = node->n_pairs;
}

/* ---- one object ---- */

static void decode_field(struct fields_context *c, const struct field *f,
                         const struct yaml_node *node, const char *path, void *object)
{
	void *member = (char *)object + f->offset;

	if (f->pos_offset != 0)
		*(struct srcpos *)(void *)((char *)object + f->pos_offset) = node->at;
	if (f->set_offset != 0)
		*((bool *)object + f->set_offset) = true;
	switch (f->kind) {
	case FIELD_KIND_STRING:
		decode_string(c, f, node, path, member);
		return;
	case FIELD_KIND_CHOICE:
		decode_choice(c, f, node, path, member);
		return;
	case FIELD_KIND_BOOL:
		decode_bool(c, node, path, member);
		return;
	case FIELD_KIND_INT:
		decode_int(c, f, node, path, member);
		return;
	case FIELD_KIND_MODE:
		decode_mode(c, node, path, member);
		return;
	case FIELD_KIND_SIZE:
		decode_size(c, f, node, path, member);
		return;
	case FIELD_KIND_STRINGS:
		decode_strings(c, f, node, path, member);
		return;
	case FIELD_KIND_MAP:
		decode_map(c, f, node, path, member);
		return;
	case FIELD_KIND_OBJECT:
		fields_decode(c, f->table, node, path, member);
		return;
	case FIELD_KIND_OBJECTS:
		decode_objects(c, f, node, path, object);
		return;
	case FIELD_KIND_NAMED:
		decode_named(c, f, node, path, object);
		return;
	case FIELD_KIND_CUSTOM:
		f->decode(c, node, member);
		return;
	}
	BUG("field kind %d", (int)f->kind);
}

static const struct field *find_field(const struct field_table *table, const char *key)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->fields[i].key, key) == 0)
			return &table->fields[i];
	return NULL;
}

static void check_required(struct fields_context *c, const struct field_table *table,
                           const struct yaml_node *node, const char *path)
{
	for (size_t i = 0; i < table->n; i++)
		if ((table->fields[i].flags & FIELD_REQUIRED) != 0 &&
		    yaml_get(node, table->fields[i].key) == NULL)
			fields_missing(c, table, node, path, table->fields[i].key);
}

/* Is it written what makes the two keys of `either` needless? */
static bool has_instead(const struct field_table *table, const struct yaml_node *node)
{
	const struct yaml_node *section =
		table->instead != NULL ? yaml_get(node, table->instead[0]) : NULL;

	return section != NULL && section->kind == YAML_MAPPING &&
	       yaml_get(section, table->instead[1]) != NULL;
}

/* Of two keys exactly one. */
static void check_either(struct fields_context *c, const struct field_table *table,
                         const struct yaml_node *node, const char *path)
{
	const char *const *keys = table->either;
	const char *in = path[0] != '\0' ? ": " : "";

	if (keys == NULL)
		return;
	const struct yaml_node *one = yaml_get(node, keys[0]), *other = yaml_get(node, keys[1]);

	if (one == NULL && other == NULL && has_instead(table, node))
		return;
	if (one == NULL && other == NULL) {
		fields_missing(c, table, node, path, keys[0]);
	} else if (one != NULL && other != NULL) {
		/* The later one, or what an option added to the file. */
		bool first = strcmp(one->at.file, other->at.file) != 0
		                     ? strncmp(one->at.file, "--", 2) == 0
		                     : one->at.line > other->at.line;
		struct diag *d =
			fields_problem(c, first ? one : other, "%s%sboth '%s' and '%s' are written",
		                       path, in, keys[0], keys[1]);

		diag_hint(c->diags, d, "leave one of them out");
	}
}

static void set_default(const struct field *f, void *member)
{
	switch (f->kind) {
	case FIELD_KIND_STRING:
		if (f->fallback_text != NULL)
			*(const char **)member = f->fallback_text;
		return;
	case FIELD_KIND_CHOICE:
		*(unsigned *)member = (unsigned)f->fallback;
		return;
	case FIELD_KIND_BOOL:
		*(bool *)member = f->fallback != 0;
		return;
	case FIELD_KIND_INT:
	case FIELD_KIND_MODE:
	case FIELD_KIND_SIZE:
		*(int64_t *)member = f->fallback;
		return;
	case FIELD_KIND_OBJECT:
		fields_defaults(f->table, member);
		return;
	case FIELD_KIND_STRINGS:
	case FIELD_KIND_MAP:
	case FIELD_KIND_OBJECTS:
	case FIELD_KIND_NAMED:
	case FIELD_KIND_CUSTOM:
		return;
	}
}

void fields_defaults(const struct field_table *table, void *object)
{
	for (size_t i = 0; i < table->n; i++)
		set_default(&table->fields[i], (char *)object + table->fields[i].offset);
}

void fields_decode(struct fields_context *c, const struct field_table *table,
                   const struct yaml_node *node, const char *path, void *object)
{
	fields_defaults(table, object);
	if (table->has_pos)
		*(struct srcpos *)(void *)((char *)object + table->pos_offset) = node->at;
	if (node->kind == YAML_SCALAR && table->shorthand != NULL) {
		decode_field(c, find_field(table, table->shorthand), node, path, object);
	} else if (node->kind != YAML_MAPPING) {
		const char *habit = yaml_is_null(node) ? NULL : fields_habit(table, "");

		fields_wrong_kind(c, node, path[0] != '\0' ? path : table->name, "a mapping",
		                  habit != NULL ? habit : FIELDS_HOW_TO_MAP);
		return;
	}
	for (size_t i = 0; i < node->n_pairs; i++) {
		const struct yaml_pair *pair = &node->pairs[i];
		const struct field *f = find_field(table, pair->key->text);

		if (f == NULL)
			fields_unknown_key(c, table, pair->key, path);
		else
			decode_field(c, f, pair->value,
			             arena_printf(c->arena, "%s%s%s", path,
			                          path[0] != '\0' ? "." : "", pair->key->text),
			             object);
	}
	if (node->kind == YAML_MAPPING)
		check_required(c, table, node, path);
	if (node->kind == YAML_MAPPING)
		check_either(c, table, node, path);
	if (table->check != NULL)
		table->check(c, node, object);
}
