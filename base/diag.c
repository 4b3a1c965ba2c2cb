#include "base/diag.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

void diags_done(struct diags *d)
{
	arena_done(&d->arena);
	free(d->at);
	free(d->sources);
	*d = (struct diags){0};
}

void diags_add_source(struct diags *d, const char *file, const char *text, size_t len)
{
	d->sources = mem_vec_grow(d->sources, d->n_sources, &d->cap_sources, sizeof(*d->sources));
	d->sources[d->n_sources++] = (struct diag_source){arena_strdup(&d->arena, file),
	                                                  arena_strndup(&d->arena, text, len), len};
}

static PRINTF_LIKE(2, 0) char *format(struct arena *a, const char *fmt, va_list args)
{
	char *text = arena_vprintf(a, fmt, args);

	text_make_printable(text);
	return text;
}

static bool same_pos(const struct srcpos *a, const struct srcpos *b)
{
	if (a->file == NULL || b->file == NULL)
		return a->file == b->file;
	return strcmp(a->file, b->file) == 0 && a->line == b->line && a->column == b->column;
}

/* The same problem, found once more (for another platform, say), is one problem. */
static struct diag *find_same(struct diags *d, enum diag_severity severity, const struct srcpos *at,
                              const char *message)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->at[i].severity == severity && same_pos(&d->at[i].at, at) &&
		    strcmp(d->at[i].message, message) == 0)
			return &d->at[i];
	return NULL;
}

static PRINTF_LIKE(4, 0) struct diag *add_diag(struct diags *d, enum diag_severity severity,
                                               struct srcpos at, const char *fmt, va_list args)
{
	if (d->n >= DIAGS_MAX) {
		d->n_errors += severity == DIAG_ERROR;
		d->n_hidden++;
		d->spare = (struct diag){.severity = severity, .message = ""};
		return &d->spare;
	}
	const char *message = format(&d->arena, fmt, args);
	struct diag *diag = find_same(d, severity, &at, message);

	if (diag != NULL)
		return diag;
	d->at = mem_vec_grow(d->at, d->n, &d->cap, sizeof(*d->at));
	diag = &d->at[d->n++];
	*diag = (struct diag){.severity = severity, .at = at, .message = message};
	diag->at.file = arena_strdup(&d->arena, at.file);
	d->n_errors += severity == DIAG_ERROR;
	return diag;
}

struct diag *diags_add(struct diags *d, enum diag_severity severity, struct srcpos at,
                       const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct diag *diag = add_diag(d, severity, at, fmt, args);

	va_end(args);
	return diag;
}

void diags_error(struct diags *d, struct srcpos at, const char *hint, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct diag *diag = add_diag(d, DIAG_ERROR, at, fmt, args);

	va_end(args);
	if (hint != NULL)
		diag_hint(d, diag, "%s", hint);
}

void diag_hint(struct diags *d, struct diag *diag, const char *fmt, ...)
{
	va_list args;

	if (diag == &d->spare)
		return;
	va_start(args, fmt);
	diag->hint = format(&d->arena, fmt, args);
	va_end(args);
}

void diag_rule(struct diags *d, struct diag *diag, const char *rule)
{
	diag->rule = arena_strdup(&d->arena, rule);
}

static int compare_pos(const struct srcpos *a, const struct srcpos *b)
{
	int files = strcmp(a->file != NULL ? a->file : "", b->file != NULL ? b->file : "");

	if (files != 0)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column == b->column ? 0 : a->column < b->column ? -1 : 1;
}

/* Insertion sort: stable, and the lists are short and nearly sorted. */
void diags_sort(struct diags *d)
{
	for (size_t i = 1; i < d->n; i++) {
		struct diag moving = d->at[i];
		size_t k = i;

		for (; k > 0 && compare_pos(&d->at[k - 1].at, &moving.at) > 0; k--)
			d->at[k] = d->at[k - 1];
		d->at[k] = moving;
	}
}

static const struct {
	const char *name, *colour;
} severities[] = {
	[DIAG_ERROR] = {"error", "\033[1;31m"},
	[DIAG_WARNING] = {"warning", "\033[1;35m"},
	[DIAG_NOTE] = {"note", "\033[1;36m"},
};

static const struct diag_source *find_source(const struct diags *d, const char *file)
{
	for (size_t i = 0; i < d->n_sources; i++)
		if (strcmp(d->sources[i].file, file) == 0)
			return &d->sources[i];
	return NULL;
}

/* The given line of a text; false when it has fewer. */
static bool find_line(const struct diag_source *s, unsigned line, const char **ret_start,
                      size_t *ret_len)
{
	const char *at = s->text, *end = s->text + s->len;

	for (unsigned n = 1; n < line; n++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (newline == NULL)
			return false;
		at = newline + 1;
	}
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	*ret_start = at;
	*ret_len = (size_t)((newline != NULL ? newline : end) - at);
	if (*ret_len > 0 && at[*ret_len - 1] == '\r')
		(*ret_len)--;
	return true;
}

/* A byte that starts a character: continuation bytes take no column. */
static bool starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* ^~~~ under the span; tabs before it are copied so that the columns agree. */
static void underline(const struct diag *diag, const char *line, size_t len, bool colour,
                      struct strbuf *sb)
{
	size_t column = diag->at.column > 0 ? diag->at.column - 1 : 0;

	for (size_t i = 0; i < column; i++)
		if (i >= len || starts_character(line[i]))
			strbuf_addc(sb, i < len && line[i] == '\t' ? '\t' : ' ');
	strbuf_adds(sb, colour ? "\033[1;32m^" : "^");
	for (size_t i = column + 1; i < column + diag->at.span && i < len; i++)
		if (starts_character(line[i]))
			strbuf_addc(sb, '~');
	strbuf_adds(sb, colour ? "\033[0m\n" : "\n");
}

static void add_printable(struct strbuf *sb, const char *text, size_t len)
{
	size_t before = sb->len;

	strbuf_add(sb, text, len);
	if (sb->len > before) {
		sb->len = before + text_filter(sb->ptr + before, sb->len - before, "\t");
		sb->ptr[sb->len] = '\0';
	}
}

/* The source line and what is meant in it. */
static void quote_line(const struct diags *d, const struct diag *diag, bool colour,
                       struct strbuf *sb)
{
	const struct diag_source *source = find_source(d, diag->at.file);
	const char *line;
	size_t len;

	if (source == NULL || !find_line(source, diag->at.line, &line, &len))
		return;
	strbuf_adds(sb, "    ");
	add_printable(sb, line, len);
	strbuf_adds(sb, "\n    ");
	underline(diag, line, len, colour, sb);
}

static void diag_text(const struct diags *d, const struct diag *diag, bool colour,
                      struct strbuf *sb)
{
	if (diag->at.file != NULL) {
		add_printable(sb, diag->at.file, strlen(diag->at.file));
		strbuf_addf(sb, ":%u:%u: ", diag->at.line, diag->at.column);
	}
	strbuf_addf(sb, "%s%s:%s ", colour ? severities[diag->severity].colour : "",
	            severities[diag->severity].name, colour ? "\033[0m" : "");
	strbuf_adds(sb, diag->message);
	if (diag->rule != NULL)
		strbuf_addf(sb, " [%s]", diag->rule);
	strbuf_addc(sb, '\n');
	if (diag->at.file != NULL)
		quote_line(d, diag, colour, sb);
	if (diag->hint != NULL)
		strbuf_addf(sb, "  hint: %s\n", diag->hint);
}

const char *diag_severity_name(enum diag_severity severity)
{
	return severities[severity].name;
}

void diags_text(const struct diags *d, bool colour, struct strbuf *sb)
{
	for (size_t i = 0; i < d->n; i++)
		diag_text(d, &d->at[i], colour, sb);
	if (d->n_hidden > 0)
		strbuf_addf(sb, "%zu more problems are not shown\n", d->n_hidden);
}
