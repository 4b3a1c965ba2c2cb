/* See tar_raw.h. */
#include "builder/layer/tar/tar_raw.h"

#include <string.h>

#include "builder/layer/tar/tar_read_internal.h"

void tar_raw_done(struct tar_raw *raw)
{
	strbuf_done(&raw->path);
	strbuf_done(&raw->link);
	strbuf_done(&raw->user);
	strbuf_done(&raw->group);
}

void tar_reader_headers_only(struct tar_reader *r)
{
	r->headers_only = true;
}

/* The field, unless a record says otherwise: the last one, and an empty one says nothing. */
static void set_name(const struct tar_reader *r, const char *key, const unsigned char *field,
                     size_t len, struct strbuf *sb)
{
	const char *text = NULL;

	strbuf_reset(sb);
	for (size_t i = 0; i < r->pax.all.n; i++)
		if (strcmp(r->pax.all.at[i].key, key) == 0)
			text = r->pax.all.at[i].value;
	if (text != NULL && text[0] != '\0')
		strbuf_adds(sb, text);
	else if (memcmp(r->block.h.magic, "ustar", 5) == 0)
		strbuf_add(sb, field, strnlen((const char *)field, len));
}

static int set_numbers(const struct tar_record *h, struct tar_raw *raw, struct err *err)
{
	raw->major = raw->minor = 0;
	if (tar_number(h->mode, sizeof(h->mode), "mode", &raw->mode, err) != 0)
		return -1;
	if (h->type[0] != '3' && h->type[0] != '4')
		return 0;
	if (tar_number(h->major, sizeof(h->major), "device number", &raw->major, err) != 0)
		return -1;
	return tar_number(h->minor, sizeof(h->minor), "device number", &raw->minor, err);
}

int tar_reader_raw(const struct tar_reader *r, struct tar_raw *raw, struct err *err)
{
	const struct tar_record *h = &r->block.h;

	strbuf_reset(&raw->path);
	strbuf_reset(&raw->link);
	tar_stored_path(r, &raw->path);
	tar_stored_link(r, &raw->link);
	set_name(r, "uname", h->uname, sizeof(h->uname), &raw->user);
	set_name(r, "gname", h->gname, sizeof(h->gname), &raw->group);
	raw->records = r->pax.all.at;
	raw->n_records = r->pax.all.n;
	return set_numbers(h, raw, err);
}
