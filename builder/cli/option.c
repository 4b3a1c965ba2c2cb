#include "builder/cli/option.h"

#include <string.h>

#include "base/doc/fields.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "builder/cli/habits.h"

/* One walk over argv. */
struct parse {
	const struct option_target *targets;
	size_t n;
	char **argv;
	int argc, next;
	struct arena *arena;
	struct strlist args;
};

/* A row, and the member that gets its value. */
struct known {
	const struct option *row;
	void *member;
};

static struct known known_row(const struct option_target *t, const struct option *row)
{
	return (struct known){row, (char *)t->object + row->offset};
}

const struct option *option_find(const struct option_table *table, const char *name, size_t len)
{
	for (size_t i = 0; i < table->n; i++) {
		const char *have = table->at[i].name;

		if (strlen(have) == len && memcmp(have, name, len) == 0)
			return &table->at[i];
	}
	return NULL;
}

static bool find_name(const struct parse *p, const char *name, size_t len, struct known *ret)
{
	for (size_t t = 0; t < p->n; t++) {
		const struct option *row = option_find(p->targets[t].table, name, len);

		if (row == NULL)
			continue;
		*ret = known_row(&p->targets[t], row);
		return true;
	}
	return false;
}

static bool find_letter(const struct parse *p, char letter, struct known *ret)
{
	for (size_t t = 0; t < p->n; t++)
		for (size_t i = 0; i < p->targets[t].table->n; i++) {
			const struct option *row = &p->targets[t].table->at[i];

			if (row->letter != letter || letter == 0)
				continue;
			*ret = known_row(&p->targets[t], row);
			return true;
		}
	return false;
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
	return near != NULL
	               ? err_hint(err, "did you mean --%s=%s?", o->name, near)
	               : err_hint(err, "choose one of them, as in --%s=%s", o->name, o->choices[0]);
}

static int store_number(const struct option *o, const char *value, int64_t *member, struct err *err)
{
	int64_t number;

	if (value == NULL || !text_int64(value, strlen(value), &number) || number < 0) {
		err_set(err, ERR_USAGE, "option --%s: '%s' is not a whole number", o->name,
		        value != NULL ? value : "");
		return o->metavar != NULL && strcmp(o->metavar, "SECONDS") == 0
		               ? err_hint(err, "write seconds in digits alone, as in --%s=300",
		                          o->name)
		               : err_hint(err, "write digits alone, as in --%s=4", o->name);
	}
	*member = number;
	return 0;
}

static int store_size(const struct option *o, const char *value, int64_t *member, struct err *err)
{
	if (value != NULL && fields_parse_size(value, member) && *member > 0)
		return 0;
	err_set(err, ERR_USAGE, "option --%s: '%s' is not a size", o->name,
	        value != NULL ? value : "");
	return err_hint(err, "write bytes with a unit, as in 20GiB or 500MB");
}

/* Stores a value (NULL for flags) in the member. */
static int store_value(struct parse *p, struct known k, const char *value, struct err *err)
{
	switch (k.row->kind) {
	case OPTION_FLAG:
		*(bool *)k.member = true;
		return 0;
	case OPTION_TEXT:
		if (check_choice(k.row, value, err) != 0)
			return -1;
		*(const char **)k.member = value;
		return 0;
	case OPTION_NUMBER:
		return store_number(k.row, value, k.member, err);
	case OPTION_SIZE:
		return store_size(k.row, value, k.member, err);
	case OPTION_LIST:
		list_add(k.member, p->arena, value);
		return 0;
	}
	BUG("option kind %d", (int)k.row->kind);
}

/* The value after an option that wants one. */
static int next_value(struct parse *p, const struct option *o, const char **ret_value,
                      struct err *err)
{
	if (p->next >= p->argc) {
		err_set(err, ERR_USAGE, "option --%s needs a value: %s", o->name, o->metavar);
		return err_hint(err, "write --%s %s", o->name, o->metavar);
	}
	*ret_value = p->argv[p->next++];
	return 0;
}

static int unknown_option(const struct parse *p, const char *name, size_t len, struct err *err)
{
	size_t n = 0, room = 0;

	for (size_t t = 0; t < p->n; t++)
		room += p->targets[t].table->n;
	const char **names = arena_calloc(p->arena, room, sizeof(*names));

	for (size_t t = 0; t < p->n; t++)
		for (size_t i = 0; i < p->targets[t].table->n; i++)
			names[n++] = p->targets[t].table->at[i].name;

	char *word = arena_strndup(p->arena, name, len);
	const char *near = text_nearest(word, names, n);

	const char *habit = habit_of(arena_printf(p->arena, "--%s", word));

	err_set(err, ERR_USAGE, "unknown option --%s", word);
	if (habit != NULL)
		return err_hint(err, "%s", habit);
	return near != NULL ? err_hint(err, "did you mean --%s?", near) : -1;
}

/* "--name", "--name=value" */
static int parse_long(struct parse *p, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
	const char *value = equals != NULL ? equals + 1 : NULL;
	struct known k;

	if (!find_name(p, word, len, &k))
		return unknown_option(p, word, len, err);
	if (k.row->kind == OPTION_FLAG && value != NULL) {
		err_set(err, ERR_USAGE, "option --%s takes no value", k.row->name);
		return err_hint(err, "write --%s alone, or leave it out", k.row->name);
	}
	if (k.row->kind != OPTION_FLAG && value == NULL && next_value(p, k.row, &value, err) != 0)
		return -1;
	return store_value(p, k, value, err);
}

/* "-x", "-xVALUE", "-x VALUE", bundled flags */
static int parse_short(struct parse *p, const char *letters, struct err *err)
{
	for (; *letters != '\0'; letters++) {
		const char *value = letters + 1;
		struct known k;

		if (!find_letter(p, *letters, &k)) {
			return err_set(err, ERR_USAGE, "unknown option -%c", *letters);
		}
		if (k.row->kind == OPTION_FLAG) {
			if (store_value(p, k, NULL, err) != 0)
				return -1;
			continue;
		}
		if (*value == '\0' && next_value(p, k.row, &value, err) != 0)
			return -1;
		return store_value(p, k, value, err);
	}
	return 0;
}

static void set_fallbacks(const struct option_target *target)
{
	for (size_t i = 0; i < target->table->n; i++) {
		struct known k = known_row(target, &target->table->at[i]);

		if (k.row->kind == OPTION_TEXT && k.row->fallback != NULL)
			*(const char **)k.member = k.row->fallback;
		if (k.row->kind == OPTION_NUMBER && k.row->fallback != NULL)
			*(int64_t *)k.member = strtoll(k.row->fallback, NULL, 10);
	}
}

int options_parse(const struct option_target *targets, size_t n, int argc, char **argv,
                  struct arena *a, struct strlist *ret_args, struct err *err)
{
	struct parse p = {.targets = targets, .n = n, .argv = argv, .argc = argc, .arena = a};
	bool only_args = false;

	for (size_t i = 0; i < n; i++)
		set_fallbacks(&targets[i]);
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
	*ret_args = p.args;
	return 0;
}
