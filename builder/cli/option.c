#include "builder/cli/option.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"

/* One walk over argv. */
struct parse {
	const struct option_table *tables;
	size_t n_tables;
	char **argv;
	int argc, next;
	struct arena *arena;
	struct options *options;
	struct strlist args;
};

const struct option *option_find(const struct option_table *tables, size_t n_tables,
                                 const char *name, size_t len)
{
	for (size_t t = 0; t < n_tables; t++)
		for (size_t i = 0; i < tables[t].n; i++) {
			const char *have = tables[t].at[i].name;

			if (strlen(have) == len && memcmp(have, name, len) == 0)
				return &tables[t].at[i];
		}
	return NULL;
}

static const struct option *find_letter(const struct parse *p, char letter)
{
	for (size_t t = 0; t < p->n_tables; t++)
		for (size_t i = 0; i < p->tables[t].n; i++)
			if (p->tables[t].at[i].letter == letter && letter != 0)
				return &p->tables[t].at[i];
	return NULL;
}

static void list_add(struct strlist *list, struct arena *a, const char *value)
{
	const char **at = arena_calloc(a, list->n + 1, sizeof(*at));

	if (list->n > 0)
		memcpy(at, list->at, list->n * sizeof(*at));
	at[list->n] = value;
	list->at = at;
	list->n++;
}

static int check_choice(const struct option *o, const char *value, struct err *err)
{
	size_t n = 0;

	if (o->choices == NULL)
		return 0;
	for (; o->choices[n] != NULL; n++)
		if (strcmp(o->choices[n], value) == 0)
			return 0;
	const char *near = text_nearest(value, o->choices, n);

	AUTO(strbuf) struct strbuf all = STRBUF_INIT(1024);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i > 0 ? "|" : "", o->choices[i]);
	err_set(err, ERR_USAGE, "option --%s: '%s' is not one of %s", o->name, value,
	        strbuf_str(&all));
	if (near != NULL)
		err_hint(err, "did you mean --%s=%s?", o->name, near);
	return -1;
}

static int store_number(const struct option *o, const char *value, int64_t *member, struct err *err)
{
	int64_t number;

	if (value == NULL || !text_int64(value, strlen(value), &number) || number < 0)
		return err_set(err, ERR_USAGE, "option --%s: '%s' is not a whole number", o->name,
		               value != NULL ? value : "");
	*member = number;
	return 0;
}

/* Stores a value (NULL for flags) in the member that the row names. */
static int store_value(struct parse *p, const struct option *o, const char *value, struct err *err)
{
	void *member = (char *)p->options + o->offset;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)member = true;
		return 0;
	case OPTION_TEXT:
		if (check_choice(o, value, err) != 0)
			return -1;
		*(const char **)member = value;
		return 0;
	case OPTION_NUMBER:
		return store_number(o, value, member, err);
	case OPTION_LIST:
		list_add(member, p->arena, value);
		return 0;
	}
	BUG("option kind %d", (int)o->kind);
}

/* The value after an option that wants one. */
static int next_value(struct parse *p, const struct option *o, const char **ret_value,
                      struct err *err)
{
	if (p->next >= p->argc)
		return err_set(err, ERR_USAGE, "option --%s needs a value: %s", o->name,
		               o->metavar);
	*ret_value = p->argv[p->next++];
	return 0;
}

static int unknown_option(const struct parse *p, const char *name, size_t len, struct err *err)
{
	const char *names[128];
	size_t n = 0;

	for (size_t t = 0; t < p->n_tables; t++)
		for (size_t i = 0; i < p->tables[t].n && n < ARRAY_LEN(names); i++)
			names[n++] = p->tables[t].at[i].name;

	char *word = arena_strndup(p->arena, name, len);
	const char *near = text_nearest(word, names, n);

	err_set(err, ERR_USAGE, "unknown option --%s", word);
	if (near != NULL)
		err_hint(err, "did you mean --%s?", near);
	return -1;
}

/* "--name", "--name=value" */
static int parse_long(struct parse *p, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
	const struct option *o = option_find(p->tables, p->n_tables, word, len);
	const char *value = equals != NULL ? equals + 1 : NULL;

	if (o == NULL)
		return unknown_option(p, word, len, err);
	if (o->kind == OPTION_FLAG && value != NULL)
		return err_set(err, ERR_USAGE, "option --%s takes no value", o->name);
	if (o->kind != OPTION_FLAG && value == NULL && next_value(p, o, &value, err) != 0)
		return -1;
	return store_value(p, o, value, err);
}

/* "-x", "-xVALUE", "-x VALUE", bundled flags */
static int parse_short(struct parse *p, const char *letters, struct err *err)
{
	for (; *letters != '\0'; letters++) {
		const struct option *o = find_letter(p, *letters);
		const char *value = letters + 1;

		if (o == NULL)
			return err_set(err, ERR_USAGE, "unknown option -%c", *letters);
		if (o->kind == OPTION_FLAG) {
			if (store_value(p, o, NULL, err) != 0)
				return -1;
			continue;
		}
		if (*value == '\0' && next_value(p, o, &value, err) != 0)
			return -1;
		return store_value(p, o, value, err);
	}
	return 0;
}

static void set_fallbacks(const struct parse *p)
{
	for (size_t t = 0; t < p->n_tables; t++)
		for (size_t i = 0; i < p->tables[t].n; i++) {
			const struct option *o = &p->tables[t].at[i];

			if (o->kind == OPTION_TEXT && o->fallback != NULL)
				*(const char **)((char *)p->options + o->offset) = o->fallback;
		}
}

int options_parse(const struct option_table *tables, size_t n_tables, int argc, char **argv,
                  struct arena *a, struct options *ret_options, struct strlist *ret_args,
                  struct err *err)
{
	struct options options = {0};
	struct parse p = {.tables = tables,
	                  .n_tables = n_tables,
	                  .argv = argv,
	                  .argc = argc,
	                  .arena = a,
	                  .options = &options};
	bool only_args = false;

	set_fallbacks(&p);
	while (p.next < p.argc) {
		const char *word = p.argv[p.next++];
		int failed = 0;

		if (only_args || word[0] != '-' || word[1] == '\0')
			list_add(&p.args, a, word);
		else if (strcmp(word, "--") == 0)
			only_args = true;
		else if (word[1] == '-')
			failed = parse_long(&p, word + 2, err);
		else
			failed = parse_short(&p, word + 1, err);
		if (failed != 0)
			return -1;
	}
	*ret_options = options;
	*ret_args = p.args;
	return 0;
}
