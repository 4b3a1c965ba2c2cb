/* Sections: a document, a text of several, archives, folders. */
#include "builder/scan/feed.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "builder/scan/json_bounds.h"
#include "builder/scan/json_split.h"

struct feed {
	const char *path;
	feed_take *take;
	void *ctx;
	struct feed_facts facts;
	int64_t bytes;
	struct strbuf text;       /* of the document */
	struct json_split *split; /* large: on the heap */
};

/* ---- a document ---- */

static int take_document(struct feed *f, const char *name, const char *key, struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct feed_document d = {.key = key, .doc = &doc};

	if (f->facts.n++ == FEED_DOCUMENTS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d documents", FEED_DOCUMENTS_MAX);
	if (interrupt_check(err) != 0 ||
	    json_bounds_parse(name, strbuf_str(&f->text), f->text.len, &doc, err) != 0)
		return -1;
	return f->take(f->ctx, &d, err) != 0 ? err_wrap(err, "%s", name) : 0;
}

/* ---- a text of several ---- */

/* "what begins at byte 17", as a name for one of them. */
static void place(const struct json_split *s, char out[64])
{
	(void)snprintf(out, 64, "what begins at byte %lld", (long long)json_split_offset(s) + 1);
}

static int take_value(struct feed *f, const char *key, struct err *err)
{
	char c, name[64];

	if (json_split_peek(f->split, &c, err) != 0)
		return -1;
	place(f->split, name);
	strbuf_reset(&f->text);
	return json_split_value(f->split, &f->text, err) != 0 ? -1
	                                                      : take_document(f, name, key, err);
}

/* "key": as JSON decodes it. */
static int take_key(struct feed *f, char **ret_key, struct err *err)
{
	AUTO(jsonr) struct jsonr key = {0};
	char c = '\0';

	strbuf_reset(&f->text);
	if (json_split_value(f->split, &f->text, err) != 0 ||
	    jsonr_parse("key", strbuf_str(&f->text), f->text.len, &key, err) != 0 ||
	    json_split_peek(f->split, &c, err) != 0)
		return -1;
	if (key.nodes[0].type != JSONR_STRING || c != ':')
		return err_set(err, ERR_FORMAT, "byte %lld: expected a key and ':'",
		               (long long)json_split_offset(f->split) + 1);
	json_split_skip(f->split);
	*ret_key = mem_strdup(key.nodes[0].string);
	return 0;
}

static int take_member(struct feed *f, bool keys, struct err *err)
{
	AUTO_FREE char *key = NULL;

	return keys && take_key(f, &key, err) != 0 ? -1 : take_value(f, key, err);
}

/* What stands between these brackets, separated by commas. */
static int take_members(struct feed *f, bool keys, struct err *err)
{
	char c = '\0', end = keys ? '}' : ']';

	json_split_skip(f->split);
	if (json_split_peek(f->split, &c, err) != 0)
		return -1;
	while (c != end) {
		if (take_member(f, keys, err) != 0 || json_split_peek(f->split, &c, err) != 0)
			return -1;
		if (c != ',' && c != end)
			return err_set(err, ERR_FORMAT, "byte %lld: expected ',' or '%c'",
			               (long long)json_split_offset(f->split) + 1, end);
		if (c == ',')
			json_split_skip(f->split);
	}
	json_split_skip(f->split);
	return json_split_peek(f->split, &c, err) != 0 ? -1
	       : c != '\0' ? err_set(err, ERR_FORMAT, "bytes behind the end of the text")
	                   : 0;
}

static int take_sequence(struct feed *f, struct err *err)
{
	char c = '\0';

	do {
		if (take_value(f, NULL, err) != 0 || json_split_peek(f->split, &c, err) != 0)
			return -1;
	} while (c != '\0');
	return 0;
}

static int take_text(struct feed *f, struct source *in, struct err *err)
{
	bool nested = false;
	char c = '\0';

	json_split_init(f->split, in);
	if (json_split_peek(f->split, &c, err) != 0)
		return -1;
	if (c != '{' && c != '[')
		return err_set(err, ERR_FORMAT, "%s",
		               c == '\0' ? "it is empty" : "it is neither JSON nor a zip archive");
	if (json_split_is_nested(f->split, &nested, err) != 0)
		return -1;
	return c == '[' || nested ? take_members(f, nested, err) : take_sequence(f, err);
}

/* A member of an archive or a file of a folder: one record. */
static int take_record(struct feed *f, const char *name, struct source *in, struct err *err)
{
	AUTO_FREE char *shown = mem_strdup(name);

	text_make_printable(shown);
	strbuf_reset(&f->text);
	return stream_read_all(in, &f->text, err) != 0 ? err_wrap(err, "%.200s", shown)
	                                               : take_document(f, shown, NULL, err);
}

/* ---- archives ---- */

struct feed_source {
	struct source source;
	struct feed *feed;
	struct archive *archive;
};

static int read_failed(struct archive *a, struct err *err)
{
	const char *why = archive_error_string(a);

	return err_set(err, ERR_FORMAT, "%s", why != NULL ? why : "it cannot be read");
}

static int read_member(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct feed_source *m = (struct feed_source *)s;
	la_ssize_t n = archive_read_data(m->archive, buf, cap);

	if (n < 0)
		return read_failed(m->archive, err);
	m->feed->bytes += n;
	if (m->feed->bytes > FEED_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "it unpacks to more than %lld GiB",
		               (long long)(FEED_BYTES_MAX >> 30));
	*ret_n = (size_t)n;
	return interrupt_check(err);
}

static void archive_done(struct archive **a)
{
	(void)archive_read_free(*a);
}

/* libarchive gives what is no zip archive as one member without a format. */
static int take_entry(struct feed *f, struct archive *archive, struct archive_entry *entry,
                      struct err *err)
{
	struct feed_source in = {.source = {.read = read_member}, .feed = f, .archive = archive};
	const char *name = archive_entry_pathname(entry);

	if ((archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_ZIP)
		return take_text(f, &in.source, err);
	if (archive_entry_filetype(entry) != AE_IFREG || name == NULL ||
	    !text_has_suffix(name, ".json"))
		return 0;
	return take_record(f, name, &in.source, err);
}

static int take_file(struct feed *f, int fd, struct err *err)
{
	AUTO(archive) struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	int status;

	if (archive == NULL)
		mem_exhausted("libarchive");
	if (archive_read_support_format_zip(archive) != ARCHIVE_OK ||
	    archive_read_support_format_raw(archive) != ARCHIVE_OK ||
	    archive_read_support_format_empty(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(archive) != ARCHIVE_OK ||
	    archive_read_open_fd(archive, fd, JSON_SPLIT_CHUNK) != ARCHIVE_OK)
		return read_failed(archive, err);
	while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK)
		if (take_entry(f, archive, entry, err) != 0)
			return -1;
	return status == ARCHIVE_EOF ? 0 : read_failed(archive, err);
}

/* ---- folders ---- */

static int take_folder_file(struct feed *f, int dir, const char *name, struct err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, ERR_IO, "%.200s", name);
	struct source *in = source_from_fd(fd);
	int rc = take_record(f, name, in, err);

	source_close(in);
	return rc;
}

static void folder_done(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

static int take_folder(struct feed *f, struct err *err)
{
	AUTO(folder) DIR *dir = opendir(f->path);

	if (dir == NULL)
		return err_set(err, ERR_IO, "open");
	for (;;) {
		errno = 0;
		struct dirent *entry = readdir(dir);

		if (entry == NULL)
			return errno != 0 ? err_set(err, ERR_IO, "read") : 0;
		if (entry->d_name[0] != '.' && text_has_suffix(entry->d_name, ".json") &&
		    take_folder_file(f, dirfd(dir), entry->d_name, err) != 0)
			return -1;
	}
}

static int take_path(struct feed *f, struct err *err)
{
	AUTO_CLOSE int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open%s",
		               errno == ENOENT ? ": No such file or directory" : "");
	f->facts.modified_ms = timespec_ns(st.st_mtim) / 1000000;
	if (S_ISDIR(st.st_mode) ? take_folder(f, err) != 0 : take_file(f, fd, err) != 0)
		return -1;
	return f->facts.n == 0 ? err_set(err, ERR_FORMAT, "there is no record in it") : 0;
}

int feed_read(const char *path, feed_take *take, void *ctx, struct feed_facts *ret_facts,
              struct err *err)
{
	struct feed f = {.path = path,
	                 .take = take,
	                 .ctx = ctx,
	                 .text = STRBUF_INIT(FEED_DOCUMENT_MAX),
	                 .split = mem_zalloc(sizeof(*f.split))};
	int rc = take_path(&f, err);

	free(f.split);
	strbuf_done(&f.text);
	if (rc != 0)
		return err_wrap(err, "database '%s'", path);
	*ret_facts = f.facts;
	return 0;
}
