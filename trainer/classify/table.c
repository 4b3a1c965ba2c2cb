#include "trainer/classify/table.h"

#include <string.h>

#include "base/mem.h"
#include "trainer/classes/class_read.h"

/* A line to be: a video with clips, or one that was rejected. */
struct table_row {
	const char *path;
	const struct dataset_entry *entry; /* NULL: rejected */
	const struct classified *result;
	const char *reason;
};

void csv_field_add(struct strbuf *sb, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		strbuf_adds(sb, text);
		return;
	}
	strbuf_addc(sb, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			strbuf_addc(sb, '"');
		strbuf_addc(sb, *text);
	}
	strbuf_addc(sb, '"');
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct table_row *)a)->path, ((const struct table_row *)b)->path);
}

static void add_head(struct strbuf *sb)
{
	strbuf_adds(sb, "path,class,probability");
	for (int k = 2; k <= CLASSIFY_TOP; k++)
		strbuf_addf(sb, ",class_%d,probability_%d", k, k);
	strbuf_adds(sb, ",clips,error\n");
}

static void add_row(const struct table_row *row, const struct class_list *classes,
                    struct strbuf *sb)
{
	char room[CLASS_PLACEHOLDER_MAX];

	csv_field_add(sb, row->path);
	for (size_t k = 0; k < CLASSIFY_TOP; k++) {
		strbuf_addc(sb, ',');
		if (row->result == NULL || k >= row->result->n) {
			strbuf_addc(sb, ',');
			continue;
		}
		csv_field_add(sb, row->result->label[k] < classes->n
		                          ? classes->at[row->result->label[k]]
		                          : class_placeholder(row->result->label[k], room));
		strbuf_addf(sb, ",%.6f", row->result->probability[k]);
	}
	strbuf_addf(sb, ",%u,", row->entry != NULL ? row->entry->n_clips : 0);
	csv_field_add(sb, row->reason);
	strbuf_adds(sb, "\n");
}

void classify_table(const struct dataset_list *list, const struct classified *results,
                    const struct class_list *classes, struct strbuf *sb)
{
	size_t n = list->n + list->rejected.n;
	AUTO_FREE struct table_row *rows = mem_calloc(n, sizeof(*rows));

	for (size_t i = 0; i < list->n; i++) {
		const struct dataset_entry *e = &list->at[i];

		rows[i] = (struct table_row){e->source != NULL ? e->source : e->file, e,
		                             &results[i], ""};
	}
	for (size_t i = 0; i < list->rejected.n; i++)
		rows[list->n + i] = (struct table_row){list->rejected.at[i].source, NULL, NULL,
		                                       list->rejected.at[i].reason};
	qsort(rows, n, sizeof(*rows), by_path);
	add_head(sb);
	for (size_t i = 0; i < n; i++)
		add_row(&rows[i], classes, sb);
}
