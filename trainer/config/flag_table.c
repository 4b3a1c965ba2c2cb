#include "trainer/config/flag_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static bool same_name(const struct flag_table *t, const char *name, const char *word, size_t len)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] != (t->command == NULL && word[i] == '-' ? '_' : word[i]))
			return false;
	return true;
}

static const struct flag_row *find_row(const struct flag_table *t, const char *word, size_t len)
{
	for (size_t i = 0; i < t->n; i++)
		if (same_name(t, t->rows[i].name, word, len))
			return &t->rows[i];
	return NULL;
}

static enum flag_end unknown(const struct flag_table *t, const char *word, struct err *err)
{
	bool dashes = strncmp(word, "--", 2) == 0;
	AUTO_FREE const char **names = NULL;
	const char *near;

	if (t->command != NULL) {
		err_set(err, ERR_USAGE, "%s: unknown argument '%s'", t->command, word);
		err_hint(err, "slipway-trainer %s --help shows its options.", t->command);
		return FLAGS_BAD_WORD;
	}
	err_set(err, ERR_USAGE, "'%.80s' is not an option", word);
	if (!dashes)
		return FLAGS_BAD_WORD;
	names = mem_calloc(t->n, sizeof(names[0]));
	for (size_t i = 0; i < t->n; i++)
		names[i] = t->rows[i].name;
	near = text_nearest(word + 2, names, t->n);
	if (near != NULL)
		err_hint(err, "Did you mean --%s?", near);
	else
		err_hint(err, "--help shows the options.");
	return FLAGS_BAD_WORD;
}

static bool read_whole(const struct flag_row *row, const char *text, void *member, struct err *err)
{
	int64_t value = 0;
	bool automatic = row->automatic && strcmp(text, "auto") == 0;
	bool good = automatic || (text_int64(text, strlen(text), &value) &&
	                          (double)value >= row->min && (double)value <= row->max);

	if (row->kind == VALUE_COUNT && (!good || text[0] == '-')) {
		err_set(err, ERR_USAGE, "--%s is '%.60s', expected a whole number up to %.0f",
		        row->name, text, row->max);
		return false;
	}
	if (!good) {
		err_set(err, ERR_USAGE,
		        "--%s is '%.60s', expected a whole number from %.0f to %.0f%s", row->name,
		        text, row->min, row->max, row->automatic ? ", or auto" : "");
		return false;
	}
	memcpy(member, &value, sizeof(value)); /* a count's int64_t has a uint64_t's bits */
	return true;
}

static bool read_float(const struct flag_row *row, const char *text, void *member, struct err *err)
{
	char *end = NULL;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= row->min && value <= row->max)) {
		err_set(err, ERR_USAGE, "--%s is '%.60s', expected a number from %g to %g",
		        row->name, text, row->min, row->max);
		return false;
	}
	memcpy(member, &value, sizeof(value));
	return true;
}

static bool read_switch(const struct flag_row *row, const char *text, void *member, struct err *err)
{
	bool on = strcmp(text, "true") == 0;

	if (!on && strcmp(text, "false") != 0) {
		err_set(err, ERR_USAGE, "--%s is '%.60s', expected true or false", row->name, text);
		return false;
	}
	memcpy(member, &on, sizeof(on));
	return true;
}

static enum flag_end set_value(const struct flag_row *row, const char *text, void *values,
                               struct err *err)
{
	char *member = (char *)values + row->offset;
	bool good = true;

	switch (row->kind) {
	case VALUE_TEXT:
		memcpy(member, &text, sizeof(text));
		break;
	case VALUE_INT:
	case VALUE_COUNT:
		good = read_whole(row, text, member, err);
		break;
	case VALUE_FLOAT:
		good = read_float(row, text, member, err);
		break;
	case VALUE_NONE:
		good = read_switch(row, text, member, err);
		break;
	}
	return good ? FLAGS_READ : FLAGS_BAD_VALUE;
}

/* One option at argv[*at], and its value. */
static enum flag_end read_option(const struct flag_table *t, int argc, char **argv, int *at,
                                 void *values, bool *given, struct strbuf *remarks, struct err *err)
{
	const char *word = argv[(*at)++], *value;
	size_t len = strcspn(word, "=");
	const struct flag_row *row = NULL;

	if (strncmp(word, "--", 2) == 0)
		row = find_row(t, word + 2, len - 2);
	if (row == NULL)
		return unknown(t, word, err);
	if (row->unused)
		strbuf_addf(remarks, "--%s is accepted but not used: %s\n", row->name, row->help);
	value = word[len] == '=' ? word + len + 1 : NULL;
	if (row->kind == VALUE_NONE && value != NULL) {
		err_set(err, ERR_USAGE, "--%s takes no value", row->name);
		return FLAGS_BAD_WORD;
	}
	if (row->kind != VALUE_NONE && value == NULL) {
		if (*at >= argc) {
			err_set(err, ERR_USAGE, "--%s needs a value", row->name);
			return FLAGS_BAD_WORD;
		}
		value = argv[(*at)++];
	}
	if (given != NULL)
		given[row - t->rows] = true;
	return set_value(row, row->kind == VALUE_NONE ? "true" : value, values, err);
}

enum flag_end flag_table_read(const struct flag_table *t, int argc, char **argv, int *at,
                              void *values, struct strbuf *remarks, struct err *err)
{
	return flag_table_read_given(t, argc, argv, at, values, NULL, remarks, err);
}

enum flag_end flag_table_read_given(const struct flag_table *t, int argc, char **argv, int *at,
                                    void *values, bool *given, struct strbuf *remarks,
                                    struct err *err)
{
	enum flag_end end = FLAGS_READ;

	while (end == FLAGS_READ && *at < argc) {
		if (strcmp(argv[*at], "--help") == 0 || strcmp(argv[*at], "-h") == 0) {
			(*at)++;
			return FLAGS_HELP;
		}
		end = read_option(t, argc, argv, at, values, given, remarks, err);
	}
	return end;
}

enum flag_end flag_table_set(const struct flag_table *t, const char *name, const char *text,
                             void *values, struct err *err)
{
	const struct flag_row *row = find_row(t, name, strlen(name));

	if (row == NULL) {
		err_set(err, ERR_USAGE, "'--%.80s' is not an option", name);
		return FLAGS_BAD_WORD;
	}
	return set_value(row, text, values, err);
}

const struct flag_row *flag_table_find(const struct flag_table *t, const char *name)
{
	return find_row(t, name, strlen(name));
}

const char *flag_row_text(const struct flag_row *row, const void *values, char out[FLAG_TEXT_MAX])
{
	const char *member = (const char *)values + row->offset, *text = NULL;
	int64_t whole;
	double number;
	bool on;

	switch (row->kind) {
	case VALUE_TEXT:
		memcpy(&text, member, sizeof(text));
		return text != NULL ? text : "";
	case VALUE_INT:
	case VALUE_COUNT:
		memcpy(&whole, member, sizeof(whole));
		if (row->automatic && whole == 0)
			return "auto";
		snprintf(out, FLAG_TEXT_MAX, "%lld", (long long)whole);
		return out;
	case VALUE_FLOAT:
		memcpy(&number, member, sizeof(number));
		snprintf(out, FLAG_TEXT_MAX, "%.12g", number);
		return out;
	case VALUE_NONE:
		memcpy(&on, member, sizeof(on));
		return on ? "true" : "false";
	}
	return "";
}

void flag_table_help(const struct flag_table *t, struct strbuf *sb)
{
	for (size_t i = 0; i < t->n; i++)
		strbuf_addf(sb, "  --%s%s\n      %s\n", t->rows[i].name,
		            t->rows[i].kind == VALUE_NONE ? "" : " VALUE", t->rows[i].help);
}
