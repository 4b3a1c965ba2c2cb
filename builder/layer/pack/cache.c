/*
 * See cache.h. On disk, below the cache's folder:
 *   records/KIND/HEX   one small text file each; KIND is one of kinds[]
 *   blobs/HEX          hard links of what layouts hold
 * A record is "slipway-cache 1 KIND HEX VALUE\n" and a second line with the SHA-256 of the first,
 * so that a cut, mixed up or damaged file is simply no record. Records are written by rename and
 * without fsync. Sections: files, records, layers, blobs.
 */
#include "builder/layer/pack/cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/pack/cache_dir.h"
#include "builder/layer/pack/cache_owner.h"

enum { RECORD_MAX = 1024, RECORD_FILE_MAX = CACHE_FACTS_MAX + 2048, HASH_BYTES = 256 << 10 };

struct layer_cache {
	char *dir;
	struct progress *progress;
};

static const char *const kinds[] = {"stat", "shape", "blob", "verdict", "facts"};

/* ---- files ---- */

static int make_dirs(const char *dir, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char path[PATH_MAX];

		if (cache_path(path, dir, CACHE_RECORDS, kinds[i]) != 0)
			return err_set(err, ERR_LIMIT, "cache '%s': the path is too long", dir);
		if (fs_mkdirs(path, err) != 0)
			return -1;
	}
	return 0;
}

int cache_path(char out[PATH_MAX], const char *dir, const char *folder, const char *name)
{
	int n = snprintf(out, PATH_MAX, "%s/%s/%s", dir, folder, name);

	return n > 0 && n < PATH_MAX ? 0 : -1;
}

int cache_open(const char *dir, struct layer_cache **ret_cache, struct err *err)
{
	char blobs[PATH_MAX];
	struct layer_cache *c;

	if (cache_check_owner(dir, err) != 0 || cache_make_dir(dir, err) != 0)
		return -1;
	if (make_dirs(dir, err) != 0 || fs_join(blobs, dir, CACHE_BLOBS, err) != 0 ||
	    fs_mkdirs(blobs, err) != 0)
		return err_wrap(err, "open the build cache '%s'", dir);
	c = mem_zalloc(sizeof(*c));
	c->dir = mem_strdup(dir);
	*ret_cache = c;
	return 0;
}

void cache_close(struct layer_cache *c)
{
	if (c == NULL)
		return;
	free(c->dir);
	free(c);
}

void cache_tell(struct layer_cache *c, struct progress *progress)
{
	c->progress = progress;
}

const char *cache_dir(const struct layer_cache *c)
{
	return c->dir;
}

/* A use: what is used least recently goes first when the cache is pruned. */
static void touch(const char *path)
{
	(void)utimensat(AT_FDCWD, path, NULL, 0);
}

/* ---- records ---- */

static int record_path(const struct layer_cache *c, const char *kind, const struct digest *key,
                       char out[PATH_MAX])
{
	char hex[DIGEST_HEX_MAX], name[DIGEST_HEX_MAX + 16];

	snprintf(name, sizeof(name), "%s/%s", kind, digest_hex(key, hex));
	return cache_path(out, c->dir, CACHE_RECORDS, name);
}

/* The text of a record without its check line. */
static int record_head(char *out, size_t cap, const char *kind, const struct digest *key)
{
	char hex[DIGEST_HEX_MAX];

	return snprintf(out, cap, "slipway-cache 1 %s %s ", kind, digest_hex(key, hex));
}

/* Appends the value of a record; false when there is none, or what is there is damaged. */
static bool record_read(const struct layer_cache *c, const char *kind, const struct digest *key,
                        struct strbuf *value)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(RECORD_FILE_MAX);
	char path[PATH_MAX], head[RECORD_MAX], check[DIGEST_HEX_MAX];
	struct digest digest;
	struct err ignored = {0};
	const char *line_end;
	size_t head_len, len;

	if (record_path(c, kind, key, path) != 0 ||
	    fs_read_file(path, RECORD_FILE_MAX, &text, &ignored) != 0)
		return false;
	head_len = (size_t)record_head(head, sizeof(head), kind, key);
	line_end = strchr(strbuf_str(&text), '\n');
	if (line_end == NULL || !text_has_prefix(strbuf_str(&text), head))
		return false;
	len = (size_t)(line_end + 1 - text.ptr);
	digest = digest_of(text.ptr, len);
	if (strncmp(line_end + 1, digest_hex(&digest, check), DIGEST_HEX_MAX - 1) != 0)
		return false;
	strbuf_add(value, text.ptr + head_len, len - head_len - 1);
	touch(path);
	return !value->overflow;
}

/* The same of a short value. */
static bool record_get(const struct layer_cache *c, const char *kind, const struct digest *key,
                       char value[RECORD_MAX])
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(RECORD_MAX - 1);

	if (!record_read(c, kind, key, &text))
		return false;
	snprintf(value, RECORD_MAX, "%s", strbuf_str(&text));
	return true;
}

/* Writes beside, then renames; a reader sees the whole record or none. */
static void record_write(const char *path, const struct strbuf *text)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	struct err ignored = {0};
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash == NULL)
		return;
	*slash = '\0';
	if (fs_temp_open(&temp, dir, &ignored) != 0 ||
	    fs_write_all(temp.fd, text->ptr, text->len, &ignored) != 0)
		return;
	if (rename(temp.path, path) == 0)
		temp.path[0] = '\0';
}

static void record_put(const struct layer_cache *c, const char *kind, const struct digest *key,
                       const char *value)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(RECORD_FILE_MAX);
	char path[PATH_MAX], head[RECORD_MAX], hex[DIGEST_HEX_MAX];
	struct digest digest;

	if (record_path(c, kind, key, path) != 0)
		return;
	record_head(head, sizeof(head), kind, key);
	strbuf_addf(&text, "%s%s\n", head, value);
	digest = digest_of(text.ptr, text.len);
	strbuf_addf(&text, "%s\n", digest_hex(&digest, hex));
	record_write(path, &text);
}

/* ---- layers ---- */

bool cache_find_stat(struct layer_cache *c, const struct digest *stat_key,
                     struct digest *ret_diff_id)
{
	char value[RECORD_MAX];
	struct err ignored = {0};

	return record_get(c, "stat", stat_key, value) &&
	       digest_parse(value, ret_diff_id, &ignored) == 0;
}

void cache_put_stat(struct layer_cache *c, const struct digest *stat_key,
                    const struct digest *diff_id)
{
	char text[DIGEST_TEXT_MAX];

	record_put(c, "stat", stat_key, digest_text(diff_id, text));
}

bool cache_find_shape(struct layer_cache *c, const struct digest *shape_key)
{
	char value[RECORD_MAX];

	return record_get(c, "shape", shape_key, value);
}

void cache_put_shape(struct layer_cache *c, const struct digest *shape_key)
{
	record_put(c, "shape", shape_key, "packed");
}

bool cache_find_verdict(struct layer_cache *c, const struct digest *key)
{
	char value[RECORD_MAX];

	return record_get(c, "verdict", key, value);
}

void cache_put_verdict(struct layer_cache *c, const struct digest *key)
{
	record_put(c, "verdict", key, "passed");
}

bool cache_find_facts(struct layer_cache *c, const struct digest *key, struct strbuf *facts)
{
	return record_read(c, "facts", key, facts);
}

void cache_put_facts(struct layer_cache *c, const struct digest *key, const char *facts)
{
	if (strlen(facts) <= CACHE_FACTS_MAX && strchr(facts, '\n') == NULL)
		record_put(c, "facts", key, facts);
}

/* The diff ID and the format name a blob. */
static struct digest blob_key(const struct digest *diff_id, const char *format)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(RECORD_MAX);
	char diff[DIGEST_TEXT_MAX];

	strbuf_addf(&text, "%s %s", digest_text(diff_id, diff), format);
	return digest_of(strbuf_str(&text), text.len);
}

/* "DIGEST SIZE RAW_SIZE" */
static bool parse_blob(const char *value, struct cache_blob *ret_blob)
{
	char digest[DIGEST_TEXT_MAX];
	const char *size = strchr(value, ' ');
	const char *raw = size != NULL ? strchr(size + 1, ' ') : NULL;
	struct err ignored = {0};

	if (raw == NULL || size - value >= DIGEST_TEXT_MAX)
		return false;
	memcpy(digest, value, (size_t)(size - value));
	digest[size - value] = '\0';
	return digest_parse(digest, &ret_blob->digest, &ignored) == 0 &&
	       text_int64(size + 1, (size_t)(raw - size - 1), &ret_blob->size) &&
	       text_int64(raw + 1, strlen(raw + 1), &ret_blob->raw_size) && ret_blob->size >= 0 &&
	       ret_blob->raw_size >= 0;
}

bool cache_find_blob(struct layer_cache *c, const struct digest *diff_id, const char *format,
                     struct layout *layout, struct cache_blob *ret_blob)
{
	struct digest key = blob_key(diff_id, format);
	struct cache_blob blob = {.diff_id = *diff_id};
	char value[RECORD_MAX];

	if (!record_get(c, "blob", &key, value) || !parse_blob(value, &blob) ||
	    !cache_fetch(c, &blob.digest, blob.size, layout))
		return false;
	*ret_blob = blob;
	return true;
}

void cache_put_blob(struct layer_cache *c, const char *format, struct layout *layout,
                    const struct cache_blob *blob)
{
	struct digest key = blob_key(&blob->diff_id, format);
	char value[RECORD_MAX], digest[DIGEST_TEXT_MAX];

	cache_store(c, &blob->digest, layout);
	snprintf(value, sizeof(value), "%s %" PRId64 " %" PRId64,
	         digest_text(&blob->digest, digest), blob->size, blob->raw_size);
	record_put(c, "blob", &key, value);
}

/* ---- blobs ---- */

static int blob_path(const struct layer_cache *c, const struct digest *digest, char out[PATH_MAX])
{
	char hex[DIGEST_HEX_MAX];

	return cache_path(out, c->dir, CACHE_BLOBS, digest_hex(digest, hex));
}

static int hash_file(int fd, struct digest *ret_digest, struct err *err)
{
	AUTO(hasher) struct hasher h = {0};
	AUTO_FREE unsigned char *buf = mem_realloc(NULL, HASH_BYTES, 1);
	ssize_t n;

	hasher_init(&h);
	while ((n = fs_read(fd, buf, HASH_BYTES)) > 0) {
		if (interrupt_check(err) != 0)
			return -1;
		hasher_update(&h, buf, (size_t)n);
	}
	if (n < 0)
		return err_set(err, ERR_IO, "read a cached blob");
	*ret_digest = hasher_final(&h);
	return 0;
}

/* Whether the file is the blob; what is another one is removed. */
static bool is_intact(const struct layer_cache *c, const char *path, const struct digest *digest,
                      int64_t size)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct err ignored = {0};
	struct digest got = {0};
	char text[DIGEST_TEXT_MAX];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (st.st_size == size) {
		if (hash_file(fd, &got, &ignored) != 0)
			return false;
		if (digest_equal(&got, digest))
			return true;
	}
	(void)unlink(path);
	progress_note(c->progress, "build cache: %s is damaged in '%s': removed, and made again",
	              digest_text(digest, text), c->dir);
	return false;
}

bool cache_fetch(struct layer_cache *c, const struct digest *digest, int64_t size,
                 struct layout *layout)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	if (blob_path(c, digest, path) != 0)
		return false;
	if (layout_has(layout, digest, size)) {
		touch(path);
		return true;
	}
	if (!is_intact(c, path, digest, size))
		return false;
	touch(path);
	return layout_adopt(layout, path, digest, &ignored) == 0;
}

void cache_store(struct layer_cache *c, const struct digest *digest, struct layout *layout)
{
	char path[PATH_MAX], from[PATH_MAX];
	struct stat have, blob;
	struct err ignored = {0};

	if (blob_path(c, digest, path) != 0 ||
	    layout_blob_path(layout, digest, from, &ignored) != 0)
		return;
	/* One of another size is damaged: it makes way. */
	if (lstat(path, &have) == 0 && lstat(from, &blob) == 0 && have.st_size != blob.st_size)
		(void)unlink(path);
	if (fs_link_or_copy(from, path, &ignored) == 0)
		touch(path);
}
