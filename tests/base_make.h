/*
 * A base image made of a table, for tests of what asks one (builder/layer/source/base_files.h).
 *
 *   static const struct base_row rows[] = {{"/lib64", .link = "usr/lib64"}};
 *   struct base_make base = BASE_MAKE(rows);
 *   use(&base.files);
 */
#ifndef SLIPWAY_TESTS_BASE_MAKE_H
#define SLIPWAY_TESTS_BASE_MAKE_H

#include <string.h>

#include "builder/layer/source/base_files.h"

struct base_row {
	const char *path;
	const char *link;
	const char *text;           /* of a file */
	const struct elf_info *elf; /* of a file */
	struct strlist loader_dirs, names;
};

struct base_make {
	struct base_files files;
	const struct base_row *rows;
	size_t n, n_asked;
	enum err_code broken; /* what every question fails with; ERR_NONE */
};

static inline const struct base_row *base_row_find(struct base_make *b, const char *path)
{
	b->n_asked++;
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->rows[i].path, path) == 0)
			return &b->rows[i];
	return NULL;
}

static inline int base_make_look(struct base_files *files, const char *path,
                                 struct base_entry *ret_entry, struct err *err)
{
	struct base_make *b = (struct base_make *)files;
	const struct base_row *row = base_row_find(b, path);

	if (b->broken != ERR_NONE)
		return err_set(err, b->broken, "the base is broken");
	*ret_entry = (struct base_entry){.kind = BASE_NOTHING};
	if (row == NULL)
		return 0;
	*ret_entry =
		(struct base_entry){.kind = row->link != NULL                       ? BASE_LINK
	                                    : row->text != NULL || row->elf != NULL ? BASE_FILE
	                                                                            : BASE_FOLDER,
	                            .link = row->link,
	                            .elf = row->elf,
	                            .loader_dirs = row->loader_dirs};
	return 0;
}

static inline int base_make_names(struct base_files *files, const char *path,
                                  struct strlist *ret_names, struct err *err)
{
	struct base_make *b = (struct base_make *)files;
	const struct base_row *row = base_row_find(b, path);

	if (b->broken != ERR_NONE)
		return err_set(err, b->broken, "the base is broken");
	*ret_names = row != NULL ? row->names : (struct strlist){0};
	return 0;
}

static inline int base_make_read(struct base_files *files, const char *path, size_t max_bytes,
                                 struct strbuf *sb, struct err *err)
{
	const struct base_row *row = base_row_find((struct base_make *)files, path);

	strbuf_reset(sb);
	if (row == NULL || row->text == NULL)
		return err_set(err, ERR_NOT_FOUND, "no file '%s'", path);
	if (strlen(row->text) > max_bytes)
		return err_set(err, ERR_LIMIT, "'%s' is too long", path);
	strbuf_adds(sb, row->text);
	return 0;
}

#define BASE_MAKE(rows_)                                                                           \
	{                                                                                          \
		.files = {"debian:12", base_make_look, base_make_names, base_make_read},           \
		.rows = (rows_), .n = sizeof(rows_) / sizeof((rows_)[0])                           \
	}

#endif
