/*
 * See tar_read.h. In order: extended headers, one header, sparse files, content.
 */
#include "builder/layer/tar/tar_read.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/tar/tar_read_internal.h"

enum { EXTENDED_HEADERS_MAX = 64 };

struct tar_reader *tar_reader_new(struct source *in)
{
	struct tar_reader *r = mem_zalloc(sizeof(*r));

	r->in = in;
	r->pax.records.max = TAR_PAX_BYTES_MAX;
	r->long_name.max = r->long_link.max = TAR_PAX_BYTES_MAX;
	tar_pax_reset(&r->pax);
	return r;
}

void tar_reader_free(struct tar_reader *r)
{
	if (r == NULL)
		return;
	tar_pax_done(&r->pax);
	strbuf_done(&r->long_name);
	strbuf_done(&r->long_link);
	strbuf_done(&r->path);
	strbuf_done(&r->link);
	free(r);
}

bool tar_reader_marked_end(const struct tar_reader *r)
{
	return r->marked_end;
}

static int skip_content(struct tar_reader *r, int64_t len, struct err *err)
{
	while (len > 0) {
		size_t want = len < TAR_SCRATCH ? (size_t)len : TAR_SCRATCH, n;

		if (source_read(r->in, r->scratch, want, &n, err) != 0)
			return -1;
		if (n == 0)
			return tar_ends_early(err);
		len -= (int64_t)n;
	}
	return 0;
}

/* ---- headers ---- */

/* Sum of all bytes with the field itself as spaces; old writers took bytes as signed. */
static int check_sum(const struct tar_reader *r, struct err *err)
{
	const unsigned char *b = r->block.bytes;
	const size_t from = offsetof(struct tar_record, checksum),
		     to = from + sizeof(r->block.h.checksum);
	int64_t sum = 0, signed_sum = 0, want;

	for (size_t i = 0; i < TAR_BLOCK; i++) {
		unsigned char c = i >= from && i < to ? ' ' : b[i];

		sum += c;
		signed_sum += (signed char)c;
	}
	if (tar_number(r->block.h.checksum, sizeof(r->block.h.checksum), "checksum", &want, err) ==
	            0 &&
	    (want == sum || want == signed_sum))
		return 0;
	err_set(err, ERR_FORMAT, "tar: a header's checksum is wrong");
	return err_hint(err, "The file is damaged, or it is not a tar archive.");
}

static int header_size(const struct tar_reader *r, int64_t *ret_size, struct err *err)
{
	if (tar_number(r->block.h.size, sizeof(r->block.h.size), "size", ret_size, err) != 0)
		return -1;
	if (*ret_size < 0 || *ret_size > INT64_MAX - TAR_BLOCK)
		return err_set(err, ERR_FORMAT, "tar: a size is out of range");
	return 0;
}

/* The content of a header that describes the next one. */
static int read_text(struct tar_reader *r, struct strbuf *sb, struct err *err)
{
	int64_t size;

	if (header_size(r, &size, err) != 0)
		return -1;
	if (size > TAR_PAX_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "tar: an extended header is larger than 1 MiB");
	strbuf_reset(sb);
	for (int64_t left = size + (int64_t)tar_padding(size); left > 0; left -= TAR_BLOCK) {
		unsigned char block[TAR_BLOCK];
		int64_t text = left - (int64_t)tar_padding(size);

		if (tar_read_exactly(r->in, block, TAR_BLOCK, NULL, err) != 0)
			return -1;
		strbuf_add(sb, block, text < TAR_BLOCK ? (size_t)text : TAR_BLOCK);
	}
	return 0;
}

static int skip_text(struct tar_reader *r, struct err *err)
{
	int64_t size;

	if (header_size(r, &size, err) != 0)
		return -1;
	return skip_content(r, size + (int64_t)tar_padding(size), err);
}

static int take_pax(struct tar_reader *r, struct err *err)
{
	tar_pax_reset(&r->pax);
	if (read_text(r, &r->pax.records, err) != 0)
		return -1;
	return tar_pax_parse(&r->pax, err);
}

/* One header that is about the next; *ret_member = true when it is a member's own. */
static int take_extended(struct tar_reader *r, bool *ret_member, struct err *err)
{
	switch (r->block.h.type[0]) {
	case 'x':
	case 'X': /* Solaris */
		return take_pax(r, err);
	case 'g':
	case 'V': /* a volume's label */
		return skip_text(r, err);
	case 'L':
		return read_text(r, &r->long_name, err);
	case 'K':
		return read_text(r, &r->long_link, err);
	default:
		*ret_member = true;
		return 0;
	}
}

/* Reads headers up to that of a member; *ret_more = false at the end of the archive. */
static int find_member(struct tar_reader *r, bool *ret_more, struct err *err)
{
	bool member = false;

	tar_pax_reset(&r->pax);
	strbuf_reset(&r->long_name);
	strbuf_reset(&r->long_link);
	for (size_t i = 0; !member && i < EXTENDED_HEADERS_MAX; i++) {
		bool end = false;

		if (tar_read_exactly(r->in, r->block.bytes, TAR_BLOCK, &end, err) != 0)
			return -1;
		r->marked_end = !end && mem_is_zero(r->block.bytes, TAR_BLOCK);
		if (end || r->marked_end) {
			if (r->pax.records.len + r->long_name.len + r->long_link.len > 0)
				return tar_ends_early(err);
			*ret_more = false;
			return 0;
		}
		if (check_sum(r, err) != 0 || take_extended(r, &member, err) != 0)
			return -1;
	}
	if (!member)
		return err_set(err, ERR_FORMAT, "tar: too many extended headers for one member");
	*ret_more = true;
	return 0;
}

/* ---- names ---- */

/* Takes "./" and "/" from the front and "/" from the end. */
static void trim_slashes(struct strbuf *sb)
{
	const char *text = strbuf_str(sb);
	size_t from = 0, to = sb->len;

	while (text[from] == '/' ||
	       (text[from] == '.' && (text[from + 1] == '/' || from + 1 == to)))
		from++;
	while (to > from && text[to - 1] == '/')
		to--;
	if (sb->ptr == NULL)
		return;
	memmove(sb->ptr, sb->ptr + from, to - from);
	sb->len = to - from;
	sb->ptr[sb->len] = '\0';
}

static void set_field(struct strbuf *sb, const unsigned char *field, size_t len)
{
	strbuf_add(sb, field, strnlen((const char *)field, len));
}

static int check_length(const struct strbuf *sb, struct err *err)
{
	if (sb->len > TAR_PATH_MAX)
		return err_set(err, ERR_LIMIT, "tar: a path is longer than %d bytes", TAR_PATH_MAX);
	return 0;
}

void tar_stored_path(const struct tar_reader *r, struct strbuf *sb)
{
	const struct tar_record *h = &r->block.h;
	const char *pax = r->pax.sparse_name != NULL ? r->pax.sparse_name : r->pax.path;

	if (pax != NULL) {
		strbuf_adds(sb, pax);
	} else if (r->long_name.len > 0) {
		strbuf_adds(sb, strbuf_str(&r->long_name)); /* up to its NUL */
	} else {
		/* GNU's magic is "ustar  ": it keeps times where POSIX has the prefix. */
		if (memcmp(h->magic, "ustar\0", sizeof(h->magic)) == 0 && h->prefix[0] != '\0') {
			set_field(sb, h->prefix, sizeof(h->prefix));
			strbuf_addc(sb, '/');
		}
		set_field(sb, h->name, sizeof(h->name));
	}
}

void tar_stored_link(const struct tar_reader *r, struct strbuf *sb)
{
	if (r->pax.link != NULL)
		strbuf_adds(sb, r->pax.link);
	else if (r->long_link.len > 0)
		strbuf_adds(sb, strbuf_str(&r->long_link));
	else
		set_field(sb, r->block.h.link, sizeof(r->block.h.link));
}

static int set_path(struct tar_reader *r, bool *ret_folder, struct err *err)
{
	strbuf_reset(&r->path);
	tar_stored_path(r, &r->path);
	*ret_folder = text_has_suffix(strbuf_str(&r->path), "/");
	trim_slashes(&r->path);
	return check_length(&r->path, err);
}

static int set_link(struct tar_reader *r, bool hard, struct err *err)
{
	strbuf_reset(&r->link);
	tar_stored_link(r, &r->link);
	if (hard)
		trim_slashes(&r->link);
	return check_length(&r->link, err);
}

/* ---- one member ---- */

static int member_type(unsigned char type, bool slash, enum member_type *ret_type, struct err *err)
{
	switch (type) {
	case '0':
	case '\0':
	case '7':                                             /* contiguous */
		*ret_type = slash ? MEMBER_DIR : MEMBER_FILE; /* v7 marks a folder by its '/' */
		return 0;
	case 'S':
		*ret_type = MEMBER_FILE;
		return 0;
	case '1':
		*ret_type = MEMBER_HARDLINK;
		return 0;
	case '2':
		*ret_type = MEMBER_SYMLINK;
		return 0;
	case '3':
		*ret_type = MEMBER_CHAR;
		return 0;
	case '4':
		*ret_type = MEMBER_BLOCK;
		return 0;
	case '5':
		*ret_type = MEMBER_DIR;
		return 0;
	case '6':
		*ret_type = MEMBER_FIFO;
		return 0;
	case 'M':
		return err_set(err, ERR_UNSUPPORTED, "tar: a part of a multi-volume archive");
	default:
		*ret_type = MEMBER_OTHER;
		return 0;
	}
}

static int set_owner(const struct tar_reader *r, struct member *m, struct err *err)
{
	const struct tar_record *h = &r->block.h;
	int64_t mode, uid = r->pax.uid, gid = r->pax.gid;

	if (tar_number(h->mode, sizeof(h->mode), "mode", &mode, err) != 0)
		return -1;
	if (!r->pax.has_uid && tar_number(h->uid, sizeof(h->uid), "uid", &uid, err) != 0)
		return -1;
	if (!r->pax.has_gid && tar_number(h->gid, sizeof(h->gid), "gid", &gid, err) != 0)
		return -1;
	if (uid < 0 || uid > UINT32_MAX || gid < 0 || gid > UINT32_MAX)
		return err_set(err, ERR_FORMAT, "tar: an owner is out of range");
	m->mode = (uint32_t)mode & 07777;
	m->uid = (uint32_t)uid;
	m->gid = (uint32_t)gid;
	m->mtime = r->pax.mtime;
	return r->pax.has_mtime ? 0
	                        : tar_number(h->mtime, sizeof(h->mtime), "mtime", &m->mtime, err);
}

/* ---- sparse files ---- */

static int set_sparse(struct tar_reader *r, bool gnu, struct err *err)
{
	int64_t stored;

	if (gnu && tar_gnu_map(r->in, r->block.bytes, &r->pax, err) != 0)
		return -1;
	if (!gnu && r->pax.map_in_content &&
	    tar_content_map(r->in, &r->stored, &r->pax.map, err) != 0)
		return -1;
	if (tar_map_check(&r->pax.map, r->pax.real_size, &stored, err) != 0)
		return -1;
	if (stored != r->stored)
		return err_set(err, ERR_FORMAT,
		               "tar: the map of a sparse file disagrees with its size");
	r->size = r->pax.real_size;
	r->holes = r->size - stored;
	r->sparse = true;
	return 0;
}

static int set_content(struct tar_reader *r, enum member_type type, struct err *err)
{
	bool gnu = r->block.h.type[0] == 'S';

	r->at = r->size = r->holes = r->stored = 0;
	r->padding = r->piece = 0;
	r->sparse = false;
	if (type != MEMBER_FILE && type != MEMBER_OTHER)
		return 0;
	if (r->pax.has_size)
		r->stored = r->pax.size;
	else if (header_size(r, &r->stored, err) != 0)
		return -1;
	if (r->stored > INT64_MAX - TAR_BLOCK)
		return err_set(err, ERR_FORMAT, "tar: a size is out of range");
	r->padding = tar_padding(r->stored);
	if (type == MEMBER_OTHER)
		return 0;
	if (gnu || r->pax.sparse)
		return set_sparse(r, gnu, err);
	r->size = r->stored;
	return 0;
}

static int take_member(struct tar_reader *r, struct member *ret_member, struct err *err)
{
	struct member m = {0};
	bool folder;

	if (++r->n_members > TAR_MEMBERS_MAX)
		return err_set(err, ERR_LIMIT, "tar: over %d members", TAR_MEMBERS_MAX);
	if (set_path(r, &folder, err) != 0 ||
	    member_type(r->block.h.type[0], folder, &m.type, err) != 0)
		return -1;
	if (set_link(r, m.type == MEMBER_HARDLINK, err) != 0 || set_owner(r, &m, err) != 0 ||
	    set_content(r, m.type, err) != 0)
		return -1;
	m.path = strbuf_str(&r->path);
	m.size = r->size;
	m.holes = r->holes;
	if (m.type == MEMBER_SYMLINK || m.type == MEMBER_HARDLINK)
		m.link = strbuf_str(&r->link);
	m.xattrs = r->pax.xattrs.at;
	m.n_xattrs = r->pax.xattrs.n;
	*ret_member = m;
	return 0;
}

int tar_reader_next(struct tar_reader *r, struct member *ret_member, bool *ret_more,
                    struct err *err)
{
	bool more = false;

	if (!r->ended) {
		if (!r->headers_only && (skip_content(r, r->stored, err) != 0 ||
		                         skip_content(r, (int64_t)r->padding, err) != 0))
			return -1;
		r->stored = 0;
		r->padding = 0;
		if (find_member(r, &more, err) != 0)
			return -1;
	}
	r->ended = !more;
	if (more && take_member(r, ret_member, err) != 0)
		return -1;
	*ret_more = more;
	return 0;
}

/* ---- content ---- */

/* How far it is to the end of the hole or piece at r->at; *ret_hole says which. */
static int64_t run_length(struct tar_reader *r, bool *ret_hole)
{
	const struct tar_pieces *map = &r->pax.map;

	if (!r->sparse) {
		*ret_hole = false;
		return r->size - r->at;
	}
	while (r->piece < map->n && map->at[r->piece].offset + map->at[r->piece].len <= r->at)
		r->piece++;
	if (r->piece == map->n) {
		*ret_hole = true;
		return r->size - r->at;
	}
	const struct tar_piece *p = &map->at[r->piece];

	*ret_hole = r->at < p->offset;
	return *ret_hole ? p->offset - r->at : p->offset + p->len - r->at;
}

static int read_run(struct tar_reader *r, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	bool hole = true;
	int64_t run = r->at < r->size ? run_length(r, &hole) : 0;
	size_t n = run < (int64_t)cap ? (size_t)run : cap;

	if (hole) {
		memset(buf, 0, n);
	} else {
		if (source_read(r->in, buf, n, &n, err) != 0)
			return -1;
		if (n == 0)
			return tar_ends_early(err);
		r->stored -= (int64_t)n;
	}
	r->at += (int64_t)n;
	*ret_n = n;
	return 0;
}

/* Filled as far as the content goes: a sparse file may have millions of runs of a few bytes. */
int tar_reader_read(struct tar_reader *r, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	size_t done = 0, n = 1;

	while (done < cap && n > 0) {
		if (read_run(r, (unsigned char *)buf + done, cap - done, &n, err) != 0)
			return -1;
		done += n;
		if (!r->sparse)
			break;
	}
	*ret_n = done;
	return 0;
}
