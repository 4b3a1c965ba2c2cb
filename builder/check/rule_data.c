#include "builder/check/rule_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
/* ---- names ---- */

/* The longest version that lets the rest of the glob match. */
static bool match_version(const char *rest, const char *at, char version[DATA_CAPTURE_MAX])
{
	size_t len = strspn(at, "0123456789.");

	for (len = len < DATA_CAPTURE_MAX ? len : DATA_CAPTURE_MAX - 1; len > 0; len--) {
		if (at[len - 1] == '.' ||
		    (rest[0] != '\0' ? !text_glob(rest, at + len) : at[len] != '\0'))
			continue;
		snprintf(version, DATA_CAPTURE_MAX, "%.*s", (int)len, at);
		return true;
	}
	return false;
}

static bool match_name(const char *glob, const char *name, char version[DATA_CAPTURE_MAX])
{
	const char *sign = strchr(glob, '%');

	version[0] = '\0';
	if (sign == NULL)
		return text_glob(glob, name);
	return strncmp(glob, name, (size_t)(sign - glob)) == 0 &&
	       match_version(sign + 1, name + (sign - glob), version);
}

static bool match_any(const char *const *globs, size_t n, const char *name,
                      char version[DATA_CAPTURE_MAX])
{
	for (size_t i = 0; i < n && globs[i] != NULL; i++)
		if (match_name(globs[i], name, version))
			return true;
	return false;
}

static const char *library_name(const struct link_object *o)
{
	return o->elf->soname != NULL ? o->elf->soname : o->node->name;
}

/* ---- what is known ---- */

static int symbol_order(const void *a, const void *b)
{
	const struct data_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A symbol of two rows stands there twice, with both of them. */
static void list_symbols(struct data_facts *facts, struct arena *a)
{
	size_t n = 0;

	facts->symbols = arena_calloc(a, DATA_ROWS_MAX * ARRAY_LEN(data_rows[0].symbols),
	                              sizeof(*facts->symbols));
	for (size_t row = 0; row < data_rows_n; row++)
		for (size_t i = 0; i < ARRAY_LEN(data_rows[row].symbols); i++)
			if (data_rows[row].symbols[i] != NULL)
				facts->symbols[n++] = (struct data_symbol){
					data_rows[row].symbols[i], UINT64_C(1) << row};
	qsort(facts->symbols, n, sizeof(*facts->symbols), symbol_order);
	for (size_t i = 1; i < n; i++)
		for (size_t k = i;
		     k > 0 && strcmp(facts->symbols[k - 1].name, facts->symbols[k].name) == 0;
		     k--) {
			facts->symbols[k - 1].rows |= facts->symbols[k].rows;
			facts->symbols[k].rows = facts->symbols[k - 1].rows;
		}
	facts->n_symbols = n;
}

static struct data_facts *facts_of(struct check_image *image)
{
	if (image->data == NULL) {
		image->data = arena_alloc(image->run->arena, sizeof(*image->data));
		image->data->steps = DATA_STEPS_MAX;
		list_symbols(image->data, image->run->arena);
	}
	return image->data;
}

/* "GLIBC_2.36" -> 36; only what a release defines can be seen, so it may be less. */
static void take_glibc(struct linkage *l, struct data_facts *facts)
{
	const struct linked *libc = linkage_find(l, "libc.so.6");

	facts->has_glibc |= l->interpreter != NULL && strstr(l->interpreter, "/ld-linux") != NULL;
	if (libc == NULL || facts->glibc_minor != 0)
		return;
	for (size_t i = 0; i < libc->object->elf->defined.n; i++) {
		const char *version = libc->object->elf->defined.at[i];
		int64_t minor;

		if (text_has_prefix(version, "GLIBC_2.") &&
		    text_int64(version + 8, strcspn(version + 8, "."), &minor) &&
		    minor > facts->glibc_minor && minor < 1000)
			facts->glibc_minor = (unsigned)minor;
	}
}

/* ---- triggers ---- */

static uint64_t rows_of_symbols(struct linkage *l, const struct link_object *o)
{
	const struct elf_symbols *s = o->elf->symbols;
	const struct data_facts *facts = l->image->data;
	uint64_t rows = 0;

	if (s == NULL || !linkage_spend(l, s->n_needs / 16 + 1))
		return 0;
	for (size_t i = 0; i < s->n_needs; i++) {
		const struct data_symbol key = {.name = s->needs[i].name};
		const struct data_symbol *found =
			bsearch(&key, facts->symbols, facts->n_symbols, sizeof(key), symbol_order);

		rows |= found != NULL ? found->rows : 0;
	}
	return rows;
}

/* The rows that loading an object triggers, as the program's body or as any other file of it. */
static uint64_t rows_of(struct linkage *l, const struct link_object *o, bool is_program)
{
	const char *name = library_name(o);
	char version[DATA_CAPTURE_MAX];
	const uint64_t called = match_any(data_offerers, data_offerers_n, name, version)
	                                ? 0
	                                : rows_of_symbols(l, o);
	const bool is_body = is_program || match_any(data_bodies, data_bodies_n, name, version);
	uint64_t rows = 0;

	for (size_t i = 0; i < data_rows_n; i++) {
		const struct data_row *row = &data_rows[i];
		const bool calls = (called >> i & 1) != 0 && (is_body || row->caller == DATA_ANY);
		const bool is_library =
			match_any(row->libraries, ARRAY_LEN(row->libraries), name, version);
		const bool both = row->libraries[0] != NULL && row->symbols[0] != NULL;

		if ((both ? is_library && (called >> i & 1) != 0 : is_library || calls) ||
		    (is_program &&
		     match_any(row->programs, ARRAY_LEN(row->programs), o->node->name, version)))
			rows |= UINT64_C(1) << i;
	}
	return rows;
}

/* What other programs load, too, is looked at once. */
static uint64_t rows_of_library(struct linkage *l, struct link_object *o)
{
	if (!o->data_known)
		o->data = rows_of(l, o, false);
	o->data_known = true;
	return o->data;
}

static const char *symbol_of(const struct data_row *row, const struct link_object *o)
{
	const struct elf_symbols *s = o->elf->symbols;

	for (size_t i = 0; s != NULL && i < s->n_needs; i++)
		for (size_t k = 0; k < ARRAY_LEN(row->symbols) && row->symbols[k] != NULL; k++)
			if (strcmp(s->needs[i].name, row->symbols[k]) == 0)
				return row->symbols[k];
	return NULL;
}

static void take_hit(struct linkage *l, size_t i, const struct link_object *o)
{
	const struct data_row *row = &data_rows[i];
	struct data_hit *hit = &l->image->data->hits[i];
	struct view_node *program = l->objects.at[0].object->node;
	const bool is_started = (program->marks & MARK_STARTED) != 0;

	if (hit->program == program ||
	    (row->beside != NULL && linkage_find(l, row->beside) == NULL))
		return;
	hit->n++;
	if (hit->program != NULL && (hit->is_started || !is_started))
		return;
	hit->program = program;
	hit->object = o->node;
	hit->is_started = is_started;
	if (match_any(row->libraries, ARRAY_LEN(row->libraries), library_name(o), hit->version) ||
	    match_any(row->programs, ARRAY_LEN(row->programs), o->node->name, hit->version))
		hit->symbol = NULL;
	else
		hit->symbol = symbol_of(row, o);
}

static void take_rows(struct linkage *l, const struct link_object *o, uint64_t rows)
{
	for (size_t i = 0; rows != 0; i++, rows >>= 1)
		if ((rows & 1) != 0)
			take_hit(l, i, o);
}

/* Plug-ins are no programs: of their own they only call. */
static uint64_t without_plugins(uint64_t rows)
{
	for (size_t i = 0; i < data_rows_n; i++)
		if (data_rows[i].caller != DATA_ANY)
			rows &= ~(UINT64_C(1) << i);
	return rows;
}

/* A base's own programs are the base's business, but for those that the image starts. */
static bool is_concern(const struct check_image *image, const struct view_node *program)
{
	return (program->marks & MARK_STARTED) != 0 || !rule_layer_of_base(image, program->layer);
}

void data_take_program(struct linkage *l)
{
	struct data_facts *facts = facts_of(l->image);
	struct link_object *root = l->objects.n > 0 ? l->objects.at[0].object : NULL;

	if (root == NULL || l->exhausted || !is_concern(l->image, root->node))
		return;
	take_glibc(l, facts);
	if (!root->elf->executable) {
		take_rows(l, root, without_plugins(rows_of_library(l, root)));
		return;
	}
	take_rows(l, root, rows_of(l, root, true));
	for (size_t i = 1; i < l->objects.n; i++)
		take_rows(l, l->objects.at[i].object, rows_of_library(l, l->objects.at[i].object));
}

/* ---- what is there ---- */

bool data_exists(struct check_image *image, struct view_node *dir, const char *glob)
{
	size_t *steps = &image->data->steps;

	return view_glob(&image->view, dir, glob, steps) != NULL || *steps == 0;
}

/* The variable's items, one by one; NULL after the last. */
static const char *next_item(struct arena *a, const char **at)
{
	const char *item;
	size_t len;

	*at += strspn(*at, ":");
	len = strcspn(*at, ":");
	if (len == 0)
		return NULL;
	item = arena_strndup(a, *at, len);
	*at += len;
	return item;
}

bool data_variable_holds(const struct check_image *image, const char *name)
{
	const char *value = rule_env(image, name), *item;

	while (value != NULL && (item = next_item(image->run->arena, &value)) != NULL)
		if (view_find(&image->view, item, true) != NULL)
			return true;
	return false;
}

static const char *with_version(struct arena *a, const char *glob, const char *version)
{
	const char *sign = strchr(glob, '%');

	return sign == NULL
	               ? glob
	               : arena_printf(a, "%.*s%s%s", (int)(sign - glob), glob, version, sign + 1);
}

static bool exists_at(struct check_image *image, const char *path, const char *glob)
{
	struct view_node *dir = view_find(&image->view, path, true);

	return dir != NULL && view_is_dir(dir) && data_exists(image, dir, glob);
}

static bool exists_above(struct check_image *image, const struct view_node *n, const char *glob)
{
	for (struct view_node *dir = n->parent; dir != NULL; dir = dir->parent)
		if (data_exists(image, dir, glob))
			return true;
	return false;
}

static bool is_there(struct check_image *image, const struct data_row *row,
                     const struct data_hit *hit, const char *glob)
{
	const char *home = row->home != NULL ? rule_env(image, row->home) : NULL, *item;

	glob = with_version(image->run->arena, glob, hit->version);
	if (glob[0] == '/')
		return data_exists(image, image->view.root, glob);
	if (home == NULL || home[0] == '\0')
		return exists_above(image, hit->program, glob) ||
		       exists_above(image, hit->object, glob) || exists_at(image, "/usr", glob) ||
		       exists_at(image, "/usr/local", glob);
	while ((item = next_item(image->run->arena, &home)) != NULL)
		if (exists_at(image, item, glob))
			return true;
	return false;
}

static bool is_satisfied(struct check_image *image, const struct data_row *row,
                         const struct data_hit *hit)
{
	if (row->ranks && !image->run->opts->ranks_meet)
		return true;
	if (row->glibc_below != 0 && (!image->data->has_glibc || image->data->glibc_minor == 0 ||
	                              image->data->glibc_minor >= row->glibc_below))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(row->variables) && row->variables[i] != NULL; i++)
		if (data_variable_holds(image, row->variables[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(row->wanted) && row->wanted[i] != NULL; i++)
		if (is_there(image, row, hit, row->wanted[i]))
			return true;
	return false;
}

/* ---- reports ---- */

/* "loads libcurl.so.4, and ", "calls getpwnam, and "; nothing when its own name says it. */
static const char *why(struct check_image *image, const struct data_hit *hit)
{
	struct arena *a = image->run->arena;
	const bool is_library = hit->object != hit->program;

	if (hit->symbol != NULL && is_library)
		return arena_printf(a, "calls %s in %s, and ", hit->symbol,
		                    view_path(&image->view, hit->object));
	if (hit->symbol != NULL)
		return arena_printf(a, "calls %s, and ", hit->symbol);
	return is_library ? arena_printf(a, "loads %s, and ", view_path(&image->view, hit->object))
	                  : "";
}

static void report(struct check_image *image, const struct data_row *row,
                   const struct data_hit *hit)
{
	static const enum diag_severity severities[] = {[DATA_NOTE] = DIAG_NOTE,
	                                                [DATA_WARNING] = DIAG_WARNING,
	                                                [DATA_STOPS] = DIAG_WARNING};
	struct arena *a = image->run->arena;
	enum diag_severity severity = severities[row->kind];
	const char *text = arena_printf(a, "%s%s", why(image, hit), row->text);

	if (row->kind == DATA_STOPS && hit->is_started)
		severity = DIAG_ERROR;
	if (hit->n > 1)
		text = arena_printf(a, "%s (%zu more files likewise)", text, hit->n - 1);
	rule_hint(image,
	          rule_report_as(image, row->rule, severity, rule_place_of(image, hit->program),
	                         text),
	          row->hint);
}

void rule_check_data(struct check_image *image)
{
	if (image->data == NULL)
		return;
	for (size_t i = 0; i < data_rows_n; i++) {
		const struct data_hit *hit = &image->data->hits[i];

		/* What may not matter is not said beside what does. */
		if (data_rows[i].kind == DATA_NOTE && image->n_reports[data_rows[i].rule] > 0)
			continue;
		if (hit->program != NULL && !image->run->off[data_rows[i].rule] &&
		    !is_satisfied(image, &data_rows[i], hit))
			report(image, &data_rows[i], hit);
	}
	if (image->data->steps == 0)
		rule_report_as(image, RULE_LINKAGE_SIZE, DIAG_WARNING, NO_PLACE,
		               "what programs read at run time was not looked for in full: the "
		               "image has too many files");
}
