/*
 * Garbage collection: mark everything index.json reaches, then sweep blobs/sha256.
 *
 * Marking reads any JSON document for what looks like a descriptor instead of parsing manifests: a
 * document we would refuse (a foreign digest algorithm, a new media type) must not cost its blobs.
 * Documents that are missing, too large or no JSON reach nothing, and are kept while something
 * names them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "builder/oci/layout_internal.h"
#include "builder/oci/referrers.h"

enum {
	GC_DEPTH_MAX = 8,       /* nested documents */
	GC_MARKS_MAX = 1 << 20, /* a hostile layout must not take all memory */
	GC_TEMP_AGE_S = 60 * 60 /* a temporary file this old has no owner */
};

struct mark {
	struct digest digest;
	bool used;     /* the slot holds a digest */
	bool expanded; /* what it names is marked too */
};

/* An open-addressed set; the capacity is a power of two and at most half full. */
struct marks {
	const struct layout *layout;
	struct mark *slots;
	size_t n, cap;
	bool incomplete; /* a cap was hit: something reachable may be unmarked */
};

/*
 * The slot of a digest, or the free one where it belongs. Digests are uniform: no hashing needed.
 */
static struct mark *slot_of(const struct marks *m, const struct digest *d)
{
	uint64_t hash;

	memcpy(&hash, d->bytes, sizeof(hash));
	for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1))
		if (!m->slots[i].used || digest_equal(&m->slots[i].digest, d))
			return &m->slots[i];
}

static void grow_marks(struct marks *m)
{
	struct marks larger = *m;

	larger.cap = m->cap == 0 ? 256 : 2 * m->cap;
	larger.slots = mem_calloc(larger.cap, sizeof(*larger.slots));
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*slot_of(&larger, &m->slots[i].digest) = m->slots[i];
	free(m->slots);
	*m = larger;
}

/* Marks d; NULL when there are too many. The slot is good until the next call. */
static struct mark *add_mark(struct marks *m, const struct digest *d)
{
	if (2 * (m->n + 1) > m->cap)
		grow_marks(m);
	struct mark *slot = slot_of(m, d);

	if (!slot->used && m->n >= GC_MARKS_MAX)
		return NULL;
	m->n += !slot->used;
	slot->used = true;
	slot->digest = *d;
	return slot;
}

/* Layers and configurations name no blobs; everything else that says it is JSON might. */
static bool may_name_blobs(const char *media_type)
{
	if (media_type == NULL)
		return true;
	return strcmp(media_to_oci(media_type), MEDIA_CONFIG) != 0 &&
	       (text_has_suffix(media_type, "+json") || media_is_index(media_type) ||
	        media_is_manifest(media_type));
}

static int mark_node(struct marks *m, const cJSON *node, int depth, struct err *err);

static int mark_document(struct marks *m, const struct digest *d, int depth, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	AUTO(json) cJSON *doc = NULL;
	struct err why = {0};
	char path[PATH_MAX];

	if (!layout_has(m->layout, d, -1))
		return 0;
	if (layout_blob_path(m->layout, d, path, err) != 0)
		return -1;
	if (fs_read_file(path, MANIFEST_BYTES_MAX, &text, &why) != 0) {
		if (why.code != ERR_IO)
			return 0;
		/* What cannot be read today may name blobs tomorrow. */
		*err = why;
		return -1;
	}
	if (json_parse("blob", text.ptr, text.len, &doc, &why) != 0)
		return 0;
	return mark_node(m, doc, depth, err);
}

static int mark_descriptor(struct marks *m, const cJSON *node, int depth, struct err *err)
{
	const char *text = json_string(node, "digest");
	struct digest d;
	struct err ignored = {0};

	if (text == NULL || digest_parse(text, &d, &ignored) != 0)
		return 0;
	struct mark *mark = add_mark(m, &d);

	if (mark == NULL || depth > GC_DEPTH_MAX) {
		m->incomplete = true;
		return 0;
	}
	/* The same blob may be named as a layer first and as a manifest later. */
	if (mark->expanded || !may_name_blobs(json_string(node, "mediaType")))
		return 0;
	mark->expanded = true;
	return mark_document(m, &d, depth + 1, err);
}

/* Marks every descriptor in a document; the parser has bounded how deep it is nested. */
static int mark_node(struct marks *m, const cJSON *node, int depth, struct err *err)
{
	const cJSON *child = NULL;

	if (cJSON_IsObject(node) && mark_descriptor(m, node, depth, err) != 0)
		return -1;
	cJSON_ArrayForEach (child, node) {
		if (mark_node(m, child, depth, err) != 0)
			return -1;
	}
	return 0;
}

/* Exactly what fs_temp_open makes: ".tmp-" and six characters. */
static bool is_stale_temp(const char *name, const struct stat *st)
{
	return text_has_prefix(name, ".tmp-") && strlen(name) == 11 &&
	       time(NULL) - st->st_mtime > GC_TEMP_AGE_S;
}

/* m is NULL in a folder that holds no blobs. */
static bool is_garbage(const struct marks *m, const char *name, const struct stat *st)
{
	char text[DIGEST_TEXT_MAX];
	struct digest d;
	struct err ignored = {0};

	if (!S_ISREG(st->st_mode))
		return false;
	if (is_stale_temp(name, st))
		return true;
	if (m == NULL || strlen(name) != 2 * DIGEST_BYTES)
		return false;
	snprintf(text, sizeof(text), "sha256:%.64s", name);
	return digest_parse(text, &d, &ignored) == 0 && (m->cap == 0 || !slot_of(m, &d)->used);
}

static int sweep_folder(const char *path, const struct marks *m, struct layout_gc_result *result,
                        struct err *err)
{
	struct dirent *entry;
	int status = 0;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return err_set(err, ERR_IO, "open folder '%s'", path);
	while (status == 0 && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !is_garbage(m, entry->d_name, &st))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0) {
			result->n_removed++;
			result->bytes_removed += st.st_size;
		} else if (errno != ENOENT) {
			status = err_set(err, ERR_IO, "remove '%s/%s'", path, entry->d_name);
		}
	}
	closedir(dir);
	return status;
}

/* The digest that an entry of ours is attached to; false for every other entry. */
static bool subject_of(const cJSON *entry, struct digest *ret_subject)
{
	const char *text = json_string(json_get(entry, "annotations"), ANNOTATION_SUBJECT);
	struct err ignored = {0};

	return text != NULL && digest_parse(text, ret_subject, &ignored) == 0;
}

static bool is_marked(const struct marks *m, const struct digest *d)
{
	return m->cap > 0 && slot_of(m, d)->used;
}

/*
 * Takes the entries that are attached to something out of `doc`, the parsed index.json, and marks
 * the rest: an old image must not live on because its signature names it.
 */
static int mark_all_but_attached(struct marks *m, cJSON *doc, cJSON *attached, struct err *err)
{
	cJSON *manifests = (cJSON *)json_get(doc, "manifests"), *next;
	struct digest ignored;

	for (cJSON *entry = cJSON_IsArray(manifests) ? manifests->child : NULL; entry != NULL;
	     entry = next) {
		next = entry->next;
		if (subject_of(entry, &ignored))
			json_push(attached, cJSON_DetachItemViaPointer(manifests, entry));
	}
	return mark_node(m, doc, 0, err);
}

/* Puts back, and marks, what is attached to something marked; in rounds, for a signature may be
 * attached to an attached document. What stays in `attached` belongs to nothing any more. */
static int mark_attached(struct marks *m, cJSON *doc, cJSON *attached, struct err *err)
{
	bool more = true;

	while (more) {
		cJSON *next;

		more = false;
		for (cJSON *entry = attached->child; entry != NULL; entry = next) {
			struct digest subject;

			next = entry->next;
			if (!subject_of(entry, &subject) || !is_marked(m, &subject))
				continue;
			more = true;
			json_push((cJSON *)json_get(doc, "manifests"),
			          cJSON_DetachItemViaPointer(attached, entry));
			if (mark_node(m, entry, 0, err) != 0)
				return -1;
		}
	}
	return 0;
}

static int mark_index(struct marks *m, struct layout *l, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	AUTO(json) cJSON *attached = cJSON_CreateArray();

	if (layout_document(l, &doc, err) != 0 ||
	    mark_all_but_attached(m, doc, attached, err) != 0 ||
	    mark_attached(m, doc, attached, err) != 0)
		return -1;
	/* Nobody else writes or reads now: the entries go before the blobs that they name. */
	return m->incomplete || attached->child == NULL ? 0 : layout_write_document(l, doc, err);
}

static int mark_and_sweep(struct layout *l, struct layout_gc_result *result, struct err *err)
{
	struct marks m = {.layout = l};
	char blobs[PATH_MAX];

	if (fs_join(blobs, l->path, "blobs/sha256", err) != 0)
		return -1;
	int status = mark_index(&m, l, err);

	/* A walk that hit a cap has not seen everything: removing on its word would lose data. */
	if (status == 0 && m.incomplete)
		result->skipped = true;
	else if (status == 0)
		status = sweep_folder(blobs, &m, result, err);
	if (status == 0)
		status = sweep_folder(l->path, NULL, result, err);
	free(m.slots);
	return status;
}

int layout_gc(struct layout *l, struct layout_gc_result *ret_result, struct err *err)
{
	struct layout_gc_result result = {0};
	struct err in_use = {0};
	AUTO_CLOSE int readers = -1;
	int status = 0;

	if (!l->writable)
		BUG("layout '%s' was opened for reading", l->path);
	/* Converting our shared lock: fails at once while any other writer holds its own. */
	if (flock(l->lock_fd, LOCK_EX | LOCK_NB) == 0 &&
	    layout_lock_readers(l->path, LOCK_EX | LOCK_NB, &readers, &in_use) == 0)
		status = mark_and_sweep(l, &result, err);
	else
		result = (struct layout_gc_result){.skipped = true, .in_use = true};
	/* Also after a failed attempt: it may have dropped the shared lock (flock(2)). */
	attr_close_fd(&readers);
	if (flock(l->lock_fd, LOCK_SH) != 0)
		return err_set(err, ERR_IO, "lock '%s'", l->path);
	if (status != 0)
		return err_wrap(err, "collect garbage in '%s'", l->path);
	*ret_result = result;
	return 0;
}
