/*
 * Tar archives by hand, for tests: nothing is checked, so that hostile ones can be made.
 */
#ifndef SLIPWAY_TESTS_TAR_MAKE_H
#define SLIPWAY_TESTS_TAR_MAKE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/strbuf.h"

struct tar_make {
	const char *name; /* at most 100 bytes */
	char type;
	const char *link; /* at most 100 bytes */
	unsigned mode, uid, gid;
	long long mtime;
	const void *content;
	size_t len;
	const char *prefix;
	long long claim; /* size in the header, where it differs from len; -1 = 0 */
};

/* `digits` octal digits and a NUL. */
static inline void tar_make_octal(unsigned char *at, int digits, long long value)
{
	for (at[digits] = '\0'; digits > 0; value /= 8)
		at[--digits] = (unsigned char)('0' + value % 8);
}

static inline void tar_make_sum(unsigned char h[512])
{
	unsigned sum = 0;

	memset(h + 148, ' ', 8);
	for (int i = 0; i < 512; i++)
		sum += h[i];
	tar_make_octal(h + 148, 6, sum);
}

static inline void tar_make_field(unsigned char *at, size_t len, const char *text)
{
	memcpy(at, text, strlen(text) < len ? strlen(text) : len);
}

static inline void tar_make_header(const struct tar_make *m, unsigned char h[512])
{
	long long size = m->claim != 0 ? m->claim : (long long)m->len;

	memset(h, 0, 512);
	tar_make_field(h, 100, m->name);
	tar_make_octal(h + 100, 7, m->mode);
	tar_make_octal(h + 108, 7, m->uid);
	tar_make_octal(h + 116, 7, m->gid);
	tar_make_octal(h + 124, 11, size < 0 ? 0 : size);
	tar_make_octal(h + 136, 11, m->mtime);
	h[156] = (unsigned char)m->type;
	if (m->link != NULL)
		tar_make_field(h + 157, 100, m->link);
	memcpy(h + 257, "ustar\00000", 8);
	if (m->prefix != NULL)
		tar_make_field(h + 345, 155, m->prefix);
	tar_make_sum(h);
}

static inline void tar_make_content(struct strbuf *sb, const void *bytes, size_t len)
{
	static const char zeros[512];

	strbuf_add(sb, bytes, len);
	strbuf_add(sb, zeros, (512 - len % 512) % 512);
}

static inline void tar_make_add(struct strbuf *sb, const struct tar_make *m)
{
	unsigned char h[512];

	tar_make_header(m, h);
	strbuf_add(sb, h, sizeof(h));
	tar_make_content(sb, m->content, m->len);
}

/* A regular file of mode 0644. */
static inline void tar_make_file(struct strbuf *sb, const char *name, const char *content)
{
	tar_make_add(sb, &(struct tar_make){.name = name,
	                                    .type = '0',
	                                    .mode = 0644,
	                                    .content = content,
	                                    .len = strlen(content)});
}

/* Appends "LENGTH key=value\n" to records. */
static inline void tar_make_record(struct strbuf *records, const char *key, const void *value,
                                   size_t len)
{
	size_t body = strlen(key) + len + 3, total = body + 1;
	char digits[24];

	while (body + (size_t)snprintf(digits, sizeof(digits), "%zu", total) != total)
		total++;
	strbuf_addf(records, "%zu %s=", total, key);
	strbuf_add(records, value, len);
	strbuf_addc(records, '\n');
}

/* A pax header of one record for the next member. */
static inline void tar_make_pax(struct strbuf *sb, const char *key, const void *value, size_t len)
{
	struct strbuf records = STRBUF_INIT(1 << 21);

	tar_make_record(&records, key, value, len);
	tar_make_add(sb, &(struct tar_make){.name = "pax",
	                                    .type = 'x',
	                                    .content = records.ptr,
	                                    .len = records.len});
	strbuf_done(&records);
}

static inline void tar_make_end(struct strbuf *sb)
{
	static const char zeros[1024];

	strbuf_add(sb, zeros, sizeof(zeros));
}

#endif
