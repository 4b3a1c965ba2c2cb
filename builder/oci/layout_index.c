/*
 * index.json: read, and changed under its lock. What we do not know in it is kept as it is.
 */
#include <string.h>

#include "builder/oci/attached.h"
#include "builder/oci/layout_internal.h"
#include "builder/oci/referrers.h"

static int read_text(const struct layout *l, char file[PATH_MAX], struct strbuf *text,
                     struct err *err)
{
	return fs_join(file, l->path, "index.json", err) != 0 ||
	                       fs_read_file(file, MANIFEST_BYTES_MAX, text, err) != 0
	               ? -1
	               : 0;
}

int layout_document(const struct layout *l, cJSON **ret_doc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char file[PATH_MAX];

	return read_text(l, file, &text, err) != 0
	               ? -1
	               : json_parse(file, text.ptr, text.len, ret_doc, err);
}

int layout_index(const struct layout *l, struct arena *a, struct index *ret_index, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char file[PATH_MAX];

	if (read_text(l, file, &text, err) != 0)
		return -1;
	if (index_parse(text.ptr, text.len, NULL, a, ret_index, err) != 0)
		return err_wrap(err, "'%s'", file);
	return 0;
}

static const char *name_of(const struct descriptor *d)
{
	return strmap_get(&d->annotations, ANNOTATION_REF_NAME);
}

/* A document about an image: nobody means it who names a layout alone. */
static bool is_attached(const struct descriptor *d)
{
	const char *name = name_of(d);

	return (d->artifact_type != NULL && !media_is_config(d->artifact_type)) ||
	       (name != NULL && tag_is_attached(name));
}

/* The only image; NULL when there are none, or several. */
static const struct descriptor *only_image(const struct index *index)
{
	const struct descriptor *only = NULL;

	for (size_t i = 0; i < index->n_manifests; i++) {
		const struct descriptor *d = &index->manifests[i];

		if (is_attached(d))
			continue;
		if (only != NULL && !digest_equal(&d->digest, &only->digest))
			return NULL;
		only = only != NULL ? only : d;
	}
	return only;
}

static size_t count_images(const struct index *index)
{
	size_t n = 0;

	for (size_t i = 0; i < index->n_manifests; i++)
		n += !is_attached(&index->manifests[i]);
	return n;
}

/* An image by name; without a name the one called latest, or the only one. */
static const struct descriptor *find_image(const struct index *index, const char *tag)
{
	for (size_t i = 0; i < index->n_manifests; i++) {
		const char *name = name_of(&index->manifests[i]);

		if (name != NULL && strcmp(name, tag != NULL ? tag : "latest") == 0)
			return &index->manifests[i];
	}
	return tag != NULL ? NULL : only_image(index);
}

/* What may be written in place of a tag that is not there, or is missing. */
static int hint_tags(const struct index *index, const char *path, struct err *err)
{
	enum { NAMED_MAX = 5 };
	AUTO(strbuf) struct strbuf words = STRBUF_INIT(ERR_HINT_MAX / 2);
	size_t n = 0;

	for (size_t i = 0; i < index->n_manifests && n < NAMED_MAX; i++)
		if (name_of(&index->manifests[i]) != NULL && !is_attached(&index->manifests[i]))
			strbuf_addf(&words, "%s%s:%s", n++ == 0 ? "" : ", ", path,
			            name_of(&index->manifests[i]));
	return n > 0 ? err_hint(err, "it has %s", strbuf_str(&words)) : -1;
}

int layout_find(const struct index *index, const char *path, const char *tag,
                struct descriptor *ret_desc, struct err *err)
{
	const size_t images = count_images(index);
	const struct descriptor *found = find_image(index, tag);

	if (found != NULL) {
		*ret_desc = *found;
		return 0;
	}
	if (tag != NULL)
		err_set(err, ERR_NOT_FOUND, "'%s' has no image named '%s'", path, tag);
	else if (images == 0)
		return err_set(err, ERR_NOT_FOUND, "'%s' has no image", path);
	else
		err_set(err, ERR_NOT_FOUND, "'%s' has %zu images and none is called latest", path,
		        images);
	return hint_tags(index, path, err);
}

static const char *tag_of(const cJSON *entry)
{
	return json_string(json_get(entry, "annotations"), ANNOTATION_REF_NAME);
}

/* Without a tag: an image's entry without a name. */
static bool has_tag(const cJSON *entry, const char *tag)
{
	const char *own = tag_of(entry), *type = json_string(entry, "artifactType");

	if (own != NULL && tag != NULL)
		return strcmp(own, tag) == 0;
	return own == tag && (type == NULL || media_is_config(type));
}

/* Replaces the entry of this tag where it stands, or appends one; later ones of that name go. */
static void set_entry(cJSON *manifests, const char *tag, cJSON *entry)
{
	bool placed = false;
	cJSON *next;

	for (cJSON *item = manifests->child; item != NULL; item = next) {
		next = item->next;
		if (!has_tag(item, tag))
			continue;
		if (!placed)
			cJSON_ReplaceItemViaPointer(manifests, item, entry);
		else if (tag != NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer(manifests, item));
		placed = true;
	}
	if (!placed)
		json_push(manifests, entry);
}

/* The name is the caller's word alone: one that came with the descriptor goes. */
static cJSON *new_entry(const struct descriptor *desc, const char *tag)
{
	cJSON *entry = descriptor_json(desc),
	      *annotations = (cJSON *)json_get(entry, "annotations");

	cJSON_DeleteItemFromObjectCaseSensitive(annotations, ANNOTATION_REF_NAME);
	if (tag != NULL && annotations == NULL)
		annotations = json_add_object(entry, "annotations");
	if (tag != NULL)
		json_add_string(annotations, ANNOTATION_REF_NAME, tag);
	else if (annotations != NULL && annotations->child == NULL)
		cJSON_DeleteItemFromObjectCaseSensitive(entry, "annotations");
	return entry;
}

/*
 * The list of entries, NULL if there is none; null, which some writers leave, becomes an empty one.
 */
static cJSON *manifests_of(cJSON *doc)
{
	cJSON *manifests = (cJSON *)json_get(doc, "manifests");

	if (cJSON_IsNull(manifests)) {
		cJSON_DeleteItemFromObjectCaseSensitive(doc, "manifests");
		manifests = json_add_array(doc, "manifests");
	}
	return cJSON_IsArray(manifests) ? manifests : NULL;
}

/* What changes the list of entries. */
struct entry_change {
	const char *owner;          /* NULL = none */
	const struct strlist *tags; /* NULL = the entry is attached to another */
	const struct descriptor *desc;
};

static void remove_owned(cJSON *manifests, const char *owner)
{
	cJSON *next;

	for (cJSON *item = manifests->child; item != NULL; item = next) {
		const char *of = json_string(json_get(item, "annotations"), ANNOTATION_OWNER);

		next = item->next;
		if (of != NULL && strcmp(of, owner) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(manifests, item));
	}
}

static void set_owner(cJSON *entry, const char *owner)
{
	cJSON *annotations = (cJSON *)json_get(entry, "annotations");

	cJSON_DeleteItemFromObjectCaseSensitive(annotations, ANNOTATION_OWNER);
	json_add_string(annotations, ANNOTATION_OWNER, owner);
}

/* Once, whoever has put it there. */
static void add_attached(cJSON *manifests, const struct descriptor *desc)
{
	char digest[DIGEST_TEXT_MAX];
	const cJSON *item = NULL;

	digest_text(&desc->digest, digest);
	cJSON_ArrayForEach (item, manifests) {
		const char *of = json_string(item, "digest");

		if (of != NULL && strcmp(of, digest) == 0)
			return;
	}
	json_push(manifests, new_entry(desc, NULL));
}

static void change_entries(cJSON *manifests, const struct entry_change *change)
{
	if (change->tags == NULL) {
		add_attached(manifests, change->desc);
		return;
	}
	if (change->owner != NULL)
		remove_owned(manifests, change->owner);
	for (size_t i = 0; i < change->tags->n; i++) {
		cJSON *entry = new_entry(change->desc, change->tags->at[i]);

		if (change->owner != NULL)
			set_owner(entry, change->owner);
		set_entry(manifests, change->tags->at[i], entry);
	}
}

int layout_write_document(struct layout *l, const cJSON *doc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char file[PATH_MAX];

	json_print(doc, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "image layout '%s': index.json grows too large",
		               l->path);
	if (fs_join(file, l->path, "index.json", err) != 0 ||
	    fs_write_file(file, text.ptr, text.len, 0644, err) != 0)
		return err_wrap(err, "image layout '%s'", l->path);
	return 0;
}

static int change_index(struct layout *l, const struct entry_change *change, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	AUTO_CLOSE int lock = -1;
	char file[PATH_MAX];

	if (!l->writable)
		BUG("layout '%s' was opened for reading", l->path);
	if (fs_join(file, l->path, LAYOUT_INDEX_LOCK, err) != 0 ||
	    fs_lock(file, FS_LOCK_EXCLUSIVE, &lock, err) != 0 || layout_document(l, &doc, err) != 0)
		return err_wrap(err, "image layout '%s'", l->path);
	cJSON *manifests = manifests_of(doc);

	if (manifests == NULL)
		return err_set(err, ERR_FORMAT,
		               "image layout '%s': index.json has no manifests array", l->path);
	change_entries(manifests, change);
	return layout_write_document(l, doc, err);
}

int layout_set_tag(struct layout *l, const char *tag, const struct descriptor *desc,
                   struct err *err)
{
	const struct strlist tags = {&tag, 1};

	return change_index(l, &(struct entry_change){NULL, &tags, desc}, err);
}

int layout_replace_tags(struct layout *l, const char *owner, const struct strlist *tags,
                        const struct descriptor *desc, struct err *err)
{
	return change_index(l, &(struct entry_change){owner, tags, desc}, err);
}

/* The entry of what is attached; the descriptor's own annotations are the caller's. */
static struct descriptor about(const struct digest *subject, const struct descriptor *desc,
                               struct arena *a)
{
	struct descriptor entry = *desc;
	char text[DIGEST_TEXT_MAX];

	entry.annotations = (struct strmap){0};
	for (size_t i = 0; i < desc->annotations.n; i++)
		strmap_set(&entry.annotations, a, desc->annotations.at[i].key,
		           desc->annotations.at[i].value);
	strmap_set(&entry.annotations, a, ANNOTATION_SUBJECT, digest_text(subject, text));
	return entry;
}

int layout_attach(struct layout *l, const struct digest *subject, const char *tag,
                  const struct descriptor *desc, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const struct descriptor entry = about(subject, desc, &a);
	const struct strlist tags = {&tag, 1};

	return change_index(l, &(struct entry_change){NULL, tag != NULL ? &tags : NULL, &entry},
	                    err);
}
