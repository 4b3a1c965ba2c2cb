/*
 * Reading a docker-archive: the places of its members are noted in one pass, then manifest.json
 * says which of them are an image's configuration and layers (the form is in archive_docker.c).
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/crypto/digest_stream.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/oci/archive_internal.h"
#include "builder/oci/config.h"
#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"

enum {
	MEMBERS_MAX = 65536,
	NAME_LENGTH_MAX = 512,
	LINKS_MAX = 8,
	LAYERS_MAX = 1024,
	DOCUMENT_MAX = 4 << 20
};

struct docker_member {
	const char *name;
	const char *link; /* the name it stands for; NULL = a file */
	int64_t offset, size;
	bool hashed; /* its digest is known */
	struct digest digest;
};

/* A blob that a manifest of ours names. */
struct docker_blob {
	struct digest digest;
	const char *bytes;    /* of the manifest; NULL = in the file */
	int64_t offset, size; /* of the others */
};

struct docker_store {
	struct store store;
	struct arena arena;
	const char *path;
	int fd; /* the archive, or what it was unpacked to */
	VEC(struct docker_member) members;
	VEC(struct docker_blob) blobs;
	cJSON *manifest; /* manifest.json */
};

/* ---- members ---- */

struct docker_pass {
	struct docker_store *ds;
	struct archive_reader reader;
	size_t n_seen; /* members of every kind: also those that nobody wants have names */
	int64_t file_size;
	int64_t unpacked; /* bytes in ds->fd, of a compressed archive */
};

/* "a/../b" as "b", without "./"; NULL when it leads out of the archive. */
static const char *clean_name(const char *dir, size_t dir_len, const char *name, struct arena *a)
{
	char *out = arena_calloc(a, dir_len + strlen(name) + 2, 1);
	size_t n = 0;

	memcpy(out, dir, dir_len);
	n = dir_len;
	while (*name != '\0') {
		size_t len = strcspn(name, "/");
		bool up = len == 2 && memcmp(name, "..", 2) == 0;

		if (up && n == 0)
			return NULL;
		while (up && n > 0 && out[n - 1] != '/')
			n--;
		if (up && n > 0)
			n--;
		if (!up && len > 0 && !(len == 1 && name[0] == '.')) {
			if (n > 0)
				out[n++] = '/';
			memcpy(out + n, name, len);
			n += len;
		}
		name += len + (name[len] == '/');
	}
	out[n] = '\0';
	return out;
}

/* Where a link leads: beside it for a symbolic one, from the top for a hard one. */
static const char *link_of(struct docker_store *ds, struct archive_entry *entry, const char *name)
{
	const char *hard = archive_entry_hardlink(entry), *slash = strrchr(name, '/');
	const char *soft =
		archive_entry_filetype(entry) == AE_IFLNK ? archive_entry_symlink(entry) : NULL;

	if (hard != NULL && strlen(hard) < NAME_LENGTH_MAX)
		return clean_name("", 0, hard, &ds->arena);
	if (soft == NULL || soft[0] == '/' || strlen(soft) >= NAME_LENGTH_MAX)
		return NULL;
	return clean_name(name, slash != NULL ? (size_t)(slash - name) : 0, soft, &ds->arena);
}

/* Where the current member's bytes are; unpacks them when the archive is compressed. */
static int place_file(struct docker_pass *pass, struct docker_member *m, struct err *err)
{
	struct fd_sink sink;

	if (!archive_is_compressed(&pass->reader)) {
		m->offset = archive_filter_bytes(pass->reader.tar, 0);
		return m->offset < 0 || m->size > pass->file_size - m->offset
		               ? err_set(err, ERR_FORMAT, "'%s' is truncated", pass->ds->path)
		               : 0;
	}
	if (pass->ds->fd < 0 && archive_open_unpacked(&pass->ds->fd, err) != 0)
		return -1;
	m->offset = pass->unpacked;
	fd_sink_init(&sink, pass->ds->fd);
	if (archive_copy_member(&pass->reader, &sink.sink, err) != 0)
		return err_wrap(err, "unpack '%s'", pass->ds->path);
	pass->unpacked += m->size;
	return 0;
}

static int note_member(struct docker_pass *pass, struct archive_entry *entry, struct err *err)
{
	struct docker_store *ds = pass->ds;
	const char *path = archive_entry_pathname(entry);
	struct docker_member m = {0};

	if (++pass->n_seen > MEMBERS_MAX)
		return err_set(err, ERR_LIMIT, "'%s' has more than %d members", ds->path,
		               MEMBERS_MAX);
	if (path == NULL || strlen(path) >= NAME_LENGTH_MAX)
		return 0;
	m.name = clean_name("", 0, path, &ds->arena);
	if (m.name == NULL)
		return 0;
	m.link = link_of(ds, entry, m.name);
	if (m.link == NULL) {
		if (archive_entry_filetype(entry) != AE_IFREG ||
		    archive_entry_hardlink(entry) != NULL ||
		    archive_entry_sparse_count(entry) != 0 || !archive_entry_size_is_set(entry) ||
		    archive_entry_size(entry) < 0)
			return 0;
		m.size = archive_entry_size(entry);
		if (place_file(pass, &m, err) != 0)
			return -1;
	}
	vec_push(&ds->members, m);
	return 0;
}

static int note_members(struct docker_pass *pass, struct err *err)
{
	struct archive_entry *entry;
	int more;

	while ((more = archive_next_member(&pass->reader, &entry, err)) == 1)
		if (note_member(pass, entry, err) != 0)
			return -1;
	return more;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct docker_member *)a)->name,
	              ((const struct docker_member *)b)->name);
}

static int scan_members(struct docker_store *ds, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct docker_pass pass = {.ds = ds};

	if (archive_open_file(ds->path, &fd, &pass.file_size, err) != 0)
		return -1;
	int result = archive_reader_open(&pass.reader, ds->path, fd, err);

	if (result == 0)
		result = note_members(&pass, err);
	archive_reader_done(&pass.reader);
	if (result != 0)
		return -1;
	if (ds->fd < 0) {
		ds->fd = fd;
		fd = -1;
	}
	if (ds->members.n > 0)
		qsort(ds->members.at, ds->members.n, sizeof(*ds->members.at), by_name);
	return 0;
}

/* The file of a name, through links. */
static int find_member(const struct docker_store *ds, const char *name,
                       struct docker_member **ret_member, struct err *err)
{
	struct docker_member key = {.name = name}, *found = NULL;

	for (int i = 0; i < LINKS_MAX && key.name != NULL && ds->members.n > 0; i++) {
		found = bsearch(&key, ds->members.at, ds->members.n, sizeof(key), by_name);
		if (found == NULL || found->link == NULL)
			break;
		key.name = found->link;
		found = NULL;
	}
	if (found == NULL)
		return err_set(err, ERR_FORMAT, "'%s' has no file '%.200s'", ds->path, name);
	*ret_member = found;
	return 0;
}

static int read_member(const struct docker_store *ds, const char *name, size_t max,
                       struct strbuf *sb, struct err *err)
{
	struct docker_member *m;

	if (find_member(ds, name, &m, err) != 0)
		return -1;
	if ((uint64_t)m->size > max)
		return err_set(err, ERR_LIMIT, "'%s': '%.200s' has %lld bytes, at most %zu",
		               ds->path, name, (long long)m->size, max);
	struct source *src = archive_range(ds->fd, m->offset, m->size);
	int result = stream_read_all(src, sb, err);

	source_close(src);
	if (result == 0 && sb->len != (size_t)m->size)
		return err_set(err, ERR_FORMAT, "'%s' is truncated", ds->path);
	return result;
}

/* ---- an image of manifest.json as an OCI manifest ---- */

static void add_blob(struct docker_store *ds, const struct descriptor *desc, const char *bytes,
                     int64_t offset)
{
	vec_push(&ds->blobs, ((struct docker_blob){desc->digest, bytes, offset, desc->size}));
}

static int hash_member(const struct docker_store *ds, struct docker_member *m, struct err *err)
{
	AUTO(digest_sink) struct digest_sink sink = {0};
	struct source *src;

	if (m->hashed)
		return 0;
	src = archive_range(ds->fd, m->offset, m->size);
	digest_sink_init(&sink, NULL);
	int result = stream_copy(src, &sink.sink, NULL, err);

	source_close(src);
	if (result == 0)
		m->digest = digest_sink_final(&sink);
	m->hashed = result == 0;
	return result;
}

/* Some programs compress the layers of such an archive: then the name is not the diff ID. */
static int describe_layer(struct docker_store *ds, const char *name, const struct digest *diff_id,
                          struct descriptor *ret_desc, struct err *err)
{
	static const struct {
		unsigned char magic[4];
		size_t n;
		const char *media_type;
	} codecs[] = {{{0x1f, 0x8b}, 2, MEDIA_LAYER_GZIP},
	              {{0x28, 0xb5, 0x2f, 0xfd}, 4, MEDIA_LAYER_ZSTD}};
	struct descriptor desc = {.media_type = MEDIA_LAYER, .digest = *diff_id};
	struct docker_member *m;
	unsigned char head[4] = {0};

	if (find_member(ds, name, &m, err) != 0)
		return -1;
	if (m->size >= 4 && fs_pread(ds->fd, head, sizeof(head), m->offset) != sizeof(head))
		return err_set(err, ERR_IO, "read '%s'", ds->path);
	for (size_t i = 0; i < ARRAY_LEN(codecs); i++)
		if (memcmp(head, codecs[i].magic, codecs[i].n) == 0) {
			desc.media_type = codecs[i].media_type;
			if (hash_member(ds, m, err) != 0)
				return -1;
			desc.digest = m->digest;
		}
	desc.size = m->size;
	add_blob(ds, &desc, NULL, m->offset);
	*ret_desc = desc;
	return 0;
}

static int read_config(struct docker_store *ds, const cJSON *entry, struct manifest *m,
                       struct image_config *ret_config, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONFIG_BYTES_MAX);
	const char *name = json_string(entry, "Config");
	struct docker_member *member;

	if (name == NULL)
		return err_set(err, ERR_FORMAT, "'%s': manifest.json names no Config", ds->path);
	if (read_member(ds, name, CONFIG_BYTES_MAX, &text, err) != 0 ||
	    config_parse(text.ptr, text.len, &ds->arena, ret_config, err) != 0 ||
	    find_member(ds, name, &member, err) != 0)
		return -1;
	m->config = (struct descriptor){.media_type = MEDIA_CONFIG,
	                                .digest = digest_of(text.ptr, text.len),
	                                .size = (int64_t)text.len};
	add_blob(ds, &m->config, NULL, member->offset);
	return 0;
}

static int put_manifest(struct docker_store *ds, const struct manifest *m,
                        struct descriptor *ret_desc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);

	manifest_print(m, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "'%s': too many layers", ds->path);
	*ret_desc = (struct descriptor){.media_type = MEDIA_MANIFEST,
	                                .digest = digest_of(text.ptr, text.len),
	                                .size = (int64_t)text.len};
	add_blob(ds, ret_desc, arena_strndup(&ds->arena, text.ptr, text.len), 0);
	return 0;
}

static int describe_image(struct docker_store *ds, const cJSON *entry, struct descriptor *ret_desc,
                          struct err *err)
{
	const cJSON *layers = json_get(entry, "Layers"), *layer = NULL;
	struct manifest m = {.media_type = MEDIA_MANIFEST};
	struct image_config config;
	size_t n = cJSON_IsArray(layers) ? (size_t)cJSON_GetArraySize(layers) : 0;

	if (read_config(ds, entry, &m, &config, err) != 0)
		return -1;
	if (n > LAYERS_MAX)
		return err_set(err, ERR_LIMIT, "'%s': %zu layers, at most %d", ds->path, n,
		               LAYERS_MAX);
	if (n != config.n_diff_ids)
		return err_set(err, ERR_FORMAT, "'%s': %zu layers and %zu diff IDs", ds->path, n,
		               config.n_diff_ids);
	m.layers = arena_calloc(&ds->arena, n, sizeof(*m.layers));
	cJSON_ArrayForEach (layer, layers) {
		if (!cJSON_IsString(layer))
			return err_set(err, ERR_FORMAT, "'%s': a layer has no name", ds->path);
		if (describe_layer(ds, layer->valuestring, &config.diff_ids[m.n_layers],
		                   &m.layers[m.n_layers], err) != 0)
			return -1;
		m.n_layers++;
	}
	return put_manifest(ds, &m, ret_desc, err);
}

/* "v1" or "app:v1" of a RepoTags entry like "docker.io/library/app:v1". */
static bool names(const char *repo_tag, const char *tag)
{
	size_t all = strlen(repo_tag), len = strlen(tag);

	if (len > all || strcmp(repo_tag + all - len, tag) != 0)
		return false;
	return len == all || repo_tag[all - len - 1] == ':' || repo_tag[all - len - 1] == '/';
}

static bool has_name(const cJSON *entry, const char *tag)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, json_get(entry, "RepoTags")) {
		if (cJSON_IsString(item) && names(item->valuestring, tag))
			return true;
	}
	return false;
}

static int hint_names(const struct docker_store *ds, struct err *err)
{
	enum { NAMED_MAX = 5 };
	AUTO(strbuf) struct strbuf words = STRBUF_INIT(ERR_HINT_MAX / 2);
	const cJSON *entry = NULL, *name = NULL;
	size_t n = 0;

	cJSON_ArrayForEach (entry, ds->manifest) {
		cJSON_ArrayForEach (name, json_get(entry, "RepoTags")) {
			if (cJSON_IsString(name) && n < NAMED_MAX)
				strbuf_addf(&words, "%sdocker-archive:%s:%s", n++ == 0 ? "" : ", ",
				            ds->path, name->valuestring);
		}
	}
	return n > 0 ? err_hint(err, "it has %s", strbuf_str(&words)) : -1;
}

static int docker_resolve(struct store *s, const char *tag, struct arena *a UNUSED,
                          struct descriptor *ret_desc, struct err *err)
{
	struct docker_store *ds = (struct docker_store *)s;
	const cJSON *entry = NULL;
	int n = cJSON_GetArraySize(ds->manifest);

	cJSON_ArrayForEach (entry, ds->manifest) {
		if (tag != NULL ? has_name(entry, tag) : n == 1)
			return describe_image(ds, entry, ret_desc, err);
	}
	if (tag != NULL)
		err_set(err, ERR_NOT_FOUND, "'%s' has no image named '%.200s'", ds->path, tag);
	else
		err_set(err, ERR_NOT_FOUND, "'%s' has %d images", ds->path, n);
	return hint_names(ds, err);
}

/* ---- the store ---- */

static int docker_open_blob(struct store *s, const struct descriptor *desc,
                            struct source **ret_source, struct err *err)
{
	const struct docker_store *ds = (struct docker_store *)s;
	char text[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < ds->blobs.n; i++) {
		const struct docker_blob *b = &ds->blobs.at[i];

		if (!digest_equal(&b->digest, &desc->digest))
			continue;
		*ret_source = source_verified(b->bytes != NULL
		                                      ? source_from_bytes(b->bytes, (size_t)b->size)
		                                      : archive_range(ds->fd, b->offset, b->size),
		                              &desc->digest, desc->size);
		return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "'%s' has no blob %s", ds->path,
	               digest_text(&desc->digest, text));
}

static void docker_close(struct store *s)
{
	struct docker_store *ds = (struct docker_store *)s;

	attr_close_fd(&ds->fd);
	vec_done(&ds->members);
	vec_done(&ds->blobs);
	cJSON_Delete(ds->manifest);
	arena_done(&ds->arena);
	free(ds);
}

static int load_manifest(struct docker_store *ds, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(DOCUMENT_MAX);

	if (read_member(ds, "manifest.json", DOCUMENT_MAX, &text, err) != 0 ||
	    json_parse("manifest.json", text.ptr, text.len, &ds->manifest, err) != 0)
		return err_wrap(err, "'%s' is not a docker archive", ds->path);
	if (!cJSON_IsArray(ds->manifest))
		return err_set(err, ERR_FORMAT, "'%s': manifest.json is not an array", ds->path);
	return 0;
}

int archive_open_docker(const char *path, struct store **ret_store, struct err *err)
{
	struct docker_store *ds = mem_zalloc(sizeof(*ds));

	ds->store = (struct store){docker_resolve, docker_open_blob, docker_close, NULL};
	ds->path = arena_strdup(&ds->arena, path);
	ds->fd = -1;
	if (scan_members(ds, err) != 0 || load_manifest(ds, err) != 0) {
		docker_close(&ds->store);
		return -1;
	}
	*ret_store = &ds->store;
	return 0;
}
