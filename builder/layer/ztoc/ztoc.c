/* See ztoc.h. Sections: life, members, points, the whole. */
#include "builder/layer/ztoc/ztoc.h"

#include <string.h>

#include "builder/layer/ztoc/flatbuf.h"

#define ZTOC_VERSION "0.9"

/* Fields of the tables, in the schema's order. */
enum { XATTR_KEY, XATTR_VALUE, XATTR_FIELDS };
enum {
	FILE_NAME,
	FILE_TYPE,
	FILE_OFFSET,
	FILE_SIZE,
	FILE_LINK,
	FILE_MODE,
	FILE_UID,
	FILE_GID,
	FILE_USER,
	FILE_GROUP,
	FILE_TIME,
	FILE_MAJOR,
	FILE_MINOR,
	FILE_XATTRS,
	FILE_FIELDS
};
enum { TOC_FILES, TOC_FIELDS };
enum {
	COMPRESSION_ALGORITHM,
	COMPRESSION_LAST_SPAN,
	COMPRESSION_SPANS,
	COMPRESSION_POINTS,
	COMPRESSION_FIELDS
};
enum {
	ZTOC_NAMED_VERSION,
	ZTOC_TOOL,
	ZTOC_PACKED,
	ZTOC_UNPACKED,
	ZTOC_TOC,
	ZTOC_COMPRESSION,
	ZTOC_FIELDS
};

enum { I32 = 4, I64 = 8, POINTS_HEAD = 12, POINT_BYTES = 17 + ZTOC_WINDOW };

/* ---- life ---- */

void ztoc_init(struct ztoc *z, int64_t span_bytes)
{
	*z = (struct ztoc){.span_bytes = span_bytes};
}

void ztoc_done(struct ztoc *z)
{
	for (size_t i = 0; i < z->points.n; i++)
		free(z->points.at[i]);
	vec_done(&z->points);
	vec_done(&z->files);
	arena_done(&z->arena);
}

int ztoc_weigh(struct ztoc *z, size_t bytes, struct err *err)
{
	if (bytes > ZTOC_BYTES_MAX - z->weight)
		return err_set(err, ERR_LIMIT, "its SOCI index would be larger than %d bytes",
		               ZTOC_BYTES_MAX);
	z->weight += bytes;
	return 0;
}

/* ---- members ---- */

static uint32_t put_text(struct flatbuf *f, const char *text)
{
	return flatbuf_string(f, text, strlen(text));
}

static uint32_t put_record(struct flatbuf *f, const struct ztoc_record *r)
{
	uint32_t key = put_text(f, r->key);
	uint32_t value = flatbuf_string(f, r->value, r->value_len);

	flatbuf_table(f, XATTR_FIELDS);
	flatbuf_field_at(f, XATTR_KEY, key);
	flatbuf_field_at(f, XATTR_VALUE, value);
	return flatbuf_table_end(f);
}

static uint32_t put_records(struct flatbuf *f, const struct ztoc_file *file)
{
	uint32_t *at = mem_calloc(file->n_records + 1, sizeof(*at)), vector;

	for (size_t i = 0; i < file->n_records; i++)
		at[i] = put_record(f, &file->records[i]);
	vector = flatbuf_references(f, at, file->n_records);
	free(at);
	return vector;
}

static uint32_t put_file(struct flatbuf *f, const struct ztoc_file *file)
{
	uint32_t name = put_text(f, file->name), type = put_text(f, file->type),
		 link = put_text(f, file->link), user = put_text(f, file->user),
		 group = put_text(f, file->group), time = put_text(f, file->time),
		 records = put_records(f, file);

	flatbuf_table(f, FILE_FIELDS);
	flatbuf_field_at(f, FILE_NAME, name);
	flatbuf_field_at(f, FILE_TYPE, type);
	flatbuf_field(f, FILE_OFFSET, I64, (uint64_t)file->offset);
	flatbuf_field(f, FILE_SIZE, I64, (uint64_t)file->size);
	flatbuf_field_at(f, FILE_LINK, link);
	flatbuf_field(f, FILE_MODE, I64, (uint64_t)file->mode);
	flatbuf_field(f, FILE_UID, I32, file->uid);
	flatbuf_field(f, FILE_GID, I32, file->gid);
	flatbuf_field_at(f, FILE_USER, user);
	flatbuf_field_at(f, FILE_GROUP, group);
	flatbuf_field_at(f, FILE_TIME, time);
	flatbuf_field(f, FILE_MAJOR, I64, (uint64_t)file->major);
	flatbuf_field(f, FILE_MINOR, I64, (uint64_t)file->minor);
	flatbuf_field_at(f, FILE_XATTRS, records);
	return flatbuf_table_end(f);
}

static uint32_t put_files(struct flatbuf *f, const struct ztoc *z)
{
	uint32_t *at = mem_calloc(z->files.n + 1, sizeof(*at)), vector;

	for (size_t i = z->files.n; i-- > 0;)
		at[i] = put_file(f, &z->files.at[i]);
	vector = flatbuf_references(f, at, z->files.n);
	free(at);
	flatbuf_table(f, TOC_FIELDS);
	flatbuf_field_at(f, TOC_FILES, vector);
	return flatbuf_table_end(f);
}

/* ---- points ---- */

static void put_le(struct strbuf *sb, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, value >>= 8)
		strbuf_addc(sb, (char)value);
}

/* gzip_zinfo.c, "version 2": count, span size, then each point with its window. */
static uint32_t put_points(struct flatbuf *f, const struct ztoc *z)
{
	AUTO(strbuf) struct strbuf blob = STRBUF_INIT(POINTS_HEAD + z->points.n * POINT_BYTES);

	put_le(&blob, z->points.n, I32);
	put_le(&blob, (uint64_t)z->span_bytes, I64);
	for (size_t i = 0; i < z->points.n; i++) {
		const struct ztoc_point *p = z->points.at[i];

		put_le(&blob, (uint64_t)p->in, I64);
		put_le(&blob, (uint64_t)p->out, I64);
		put_le(&blob, p->bits, 1);
		strbuf_add(&blob, p->window, sizeof(p->window));
	}
	return flatbuf_bytes(f, blob.ptr, blob.len);
}

static uint32_t put_spans(struct flatbuf *f, const struct ztoc *z)
{
	uint32_t *at = mem_calloc(z->points.n, sizeof(*at)), vector;
	char text[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < z->points.n; i++)
		at[i] = put_text(f, digest_text(&z->points.at[i]->span, text));
	vector = flatbuf_references(f, at, z->points.n);
	free(at);
	return vector;
}

/* gzip is the default of its field, so it is not written. */
static uint32_t put_compression(struct flatbuf *f, const struct ztoc *z)
{
	uint32_t points = put_points(f, z), spans = put_spans(f, z);

	flatbuf_table(f, COMPRESSION_FIELDS);
	flatbuf_field(f, COMPRESSION_LAST_SPAN, I32, z->points.n - 1);
	flatbuf_field_at(f, COMPRESSION_SPANS, spans);
	flatbuf_field_at(f, COMPRESSION_POINTS, points);
	return flatbuf_table_end(f);
}

/* ---- the whole ---- */

static uint32_t put_whole(struct flatbuf *f, const struct ztoc *z, const char *tool_name)
{
	uint32_t version = put_text(f, ZTOC_VERSION), tool = put_text(f, tool_name),
		 toc = put_files(f, z), compression = put_compression(f, z);

	flatbuf_table(f, ZTOC_FIELDS);
	flatbuf_field_at(f, ZTOC_NAMED_VERSION, version);
	flatbuf_field_at(f, ZTOC_TOOL, tool);
	flatbuf_field_at(f, ZTOC_TOC, toc);
	flatbuf_field(f, ZTOC_PACKED, I64, (uint64_t)z->packed);
	flatbuf_field(f, ZTOC_UNPACKED, I64, (uint64_t)z->unpacked);
	flatbuf_field_at(f, ZTOC_COMPRESSION, compression);
	return flatbuf_table_end(f);
}

int ztoc_print(const struct ztoc *z, const char *tool, struct strbuf *ret_bytes, struct err *err)
{
	AUTO(flatbuf) struct flatbuf f;
	struct strbuf bytes;
	uint32_t root;

	if (z->points.n == 0)
		BUG("a zTOC without points");
	/* Twice: what is weighed is content, and the format adds positions and alignment. */
	flatbuf_begin(&f, 2 * (size_t)ZTOC_BYTES_MAX);
	root = put_whole(&f, z, tool);
	bytes = flatbuf_finish(&f, root);
	if (bytes.overflow) {
		strbuf_done(&bytes);
		return err_set(err, ERR_LIMIT, "its SOCI index is larger than %d bytes",
		               2 * ZTOC_BYTES_MAX);
	}
	*ret_bytes = bytes;
	return 0;
}
