#include "builder/cli/stage_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void row_done(struct stage_row *row)
{
	free(row->name);
	free(row->state);
	free(row->detail);
}

static void forget_awaited(struct stage_table *t)
{
	free(t->awaited);
	t->awaited = NULL;
}

void stage_table_done(struct stage_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		row_done(&t->at[i]);
	vec_done(t);
	forget_awaited(t);
}

static bool is_over(const struct stage_row *row)
{
	return strcmp(row->state, "ready") == 0 || strcmp(row->state, "gone") == 0 ||
	       strcmp(row->state, "failed") == 0;
}

static bool is_pending(const struct stage_row *row)
{
	return strcmp(row->state, "pending") == 0;
}

static struct stage_row *row_named(struct stage_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->at[i].name, name) == 0)
			return &t->at[i];
	vec_push(t, ((struct stage_row){.name = mem_strdup(name),
	                                .state = mem_strdup("pending"),
	                                .detail = mem_strdup("")}));
	return &t->at[t->n - 1];
}

static void replace(char **text, const char *with)
{
	char *copy = mem_strdup(with);

	free(*text);
	*text = copy;
}

void stage_table_set(struct stage_table *t, const char *name, const char *state, const char *detail,
                     int64_t now_ms)
{
	struct stage_row *row = row_named(t, name);

	replace(&row->state, state);
	if (detail[0] != '\0')
		replace(&row->detail, detail);
	if (row->began_ms == 0 && !is_pending(row))
		row->began_ms = now_ms;
	row->ended_ms = is_over(row) ? now_ms : 0;
	/* What a stage that failed waited for is what it failed for. */
	if (strcmp(state, "failed") != 0)
		forget_awaited(t);
}

void stage_table_await(struct stage_table *t, const char *text)
{
	replace(&t->awaited, text);
}

/* The row that began last and has not ended well: what is awaited is shown there. */
static const struct stage_row *under_way(const struct stage_table *t)
{
	const struct stage_row *row = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (!is_pending(&t->at[i]) &&
		    (!is_over(&t->at[i]) || strcmp(t->at[i].state, "failed") == 0))
			row = &t->at[i];
	return row;
}

static void add_elapsed(struct strbuf *sb, const struct stage_row *row, int64_t now_ms)
{
	int64_t end = row->ended_ms != 0 ? row->ended_ms : now_ms;
	long long seconds = row->began_ms != 0 ? (end - row->began_ms) / 1000 : -1;

	if (seconds < 0)
		strbuf_addf(sb, "%7s  ", "");
	else
		strbuf_addf(sb, "%3lld:%02lld   ", seconds / 60, seconds % 60);
}

/* Whole characters only. */
static void cut_to_width(struct strbuf *sb, size_t start, size_t width)
{
	if (sb->len - start <= width)
		return;
	sb->len = start + width;
	while (sb->len > start && ((unsigned char)sb->ptr[sb->len] & 0xc0) == 0x80)
		sb->len--;
	sb->ptr[sb->len] = '\0';
}

unsigned stage_table_text(const struct stage_table *t, int64_t now_ms, size_t width,
                          struct strbuf *sb)
{
	const struct stage_row *now = under_way(t);

	for (size_t i = 0; i < t->n; i++) {
		const struct stage_row *row = &t->at[i];
		size_t start = sb->len;

		strbuf_addf(sb, "%-12s %-9s ", row->name, row->state);
		add_elapsed(sb, row, now_ms);
		strbuf_adds(sb, row->detail);
		if (row == now && t->awaited != NULL)
			strbuf_addf(sb, "%s%s", row->detail[0] != '\0' ? "; " : "", t->awaited);
		cut_to_width(sb, start, width);
		strbuf_addc(sb, '\n');
	}
	return (unsigned)t->n;
}

void stage_table_forget(struct stage_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		if (is_over(&t->at[i]))
			row_done(&t->at[i]);
		else
			t->at[kept++] = t->at[i];
	t->n = kept;
}
