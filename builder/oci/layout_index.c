/*
 * index.json: read, and changed under its lock. What we do not know in it is kept as it is.
 */
#include <string.h>

#include "builder/oci/layout_internal.h"

static int read_document(const struct layout *l, cJSON **ret_doc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char file[PATH_MAX];

	if (fs_join(file, l->path, "index.json", err) != 0 ||
	    fs_read_file(file, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	return json_parse(file, text.ptr, text.len, ret_doc, err);
}

int layout_index(const struct layout *l, struct arena *a, struct index *ret_index, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char file[PATH_MAX];

	if (fs_join(file, l->path, "index.json", err) != 0 ||
	    fs_read_file(file, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	if (index_parse(text.ptr, text.len, NULL, a, ret_index, err) != 0)
		return err_wrap(err, "'%s'", file);
	return 0;
}

static const char *tag_of(const cJSON *entry)
{
	return json_string(json_get(entry, "annotations"), ANNOTATION_REF_NAME);
}

static bool same_tag(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Replaces the entry of this tag where it stands, or appends one; later duplicates go. */
static void set_entry(cJSON *manifests, const char *tag, cJSON *entry)
{
	bool placed = false;

	for (int i = 0; i < cJSON_GetArraySize(manifests);) {
		if (!same_tag(tag_of(cJSON_GetArrayItem(manifests, i)), tag)) {
			i++;
		} else if (placed) {
			cJSON_DeleteItemFromArray(manifests, i);
		} else {
			cJSON_ReplaceItemInArray(manifests, i++, entry);
			placed = true;
		}
	}
	if (!placed)
		json_push(manifests, entry);
}

static cJSON *new_entry(const struct descriptor *desc, const char *tag)
{
	cJSON *entry = descriptor_json(desc);

	if (tag == NULL)
		return entry;
	cJSON *annotations = (cJSON *)json_get(entry, "annotations");

	if (annotations == NULL)
		annotations = json_add_object(entry, "annotations");
	cJSON_DeleteItemFromObjectCaseSensitive(annotations, ANNOTATION_REF_NAME);
	json_add_string(annotations, ANNOTATION_REF_NAME, tag);
	return entry;
}

int layout_set_tag(struct layout *l, const char *tag, const struct descriptor *desc, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	AUTO_CLOSE int lock = -1;
	char file[PATH_MAX];

	if (fs_join(file, l->path, LAYOUT_INDEX_LOCK, err) != 0 ||
	    fs_lock(file, FS_LOCK_EXCLUSIVE, &lock, err) != 0 || read_document(l, &doc, err) != 0)
		return err_wrap(err, "image layout '%s'", l->path);
	cJSON *manifests = (cJSON *)json_get(doc, "manifests");

	if (!cJSON_IsArray(manifests))
		return err_set(err, ERR_FORMAT, "image layout '%s': index.json has no manifests array", l->path);
	set_entry(manifests, tag, new_entry(desc, tag));
	json_print(doc, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "image layout '%s': index.json grows too large", l->path);
	if (fs_join(file, l->path, "index.json", err) != 0 ||
	    fs_write_file(file, text.ptr, text.len, 0644, err) != 0)
		return err_wrap(err, "image layout '%s'", l->path);
	return 0;
}
