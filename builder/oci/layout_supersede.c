#include "builder/oci/layout_supersede.h"

#include <string.h>

#include "builder/oci/layout_internal.h"
#include "builder/oci/referrers.h"

struct superseding {
	char subject[DIGEST_TEXT_MAX], digest[DIGEST_TEXT_MAX];
	const struct descriptor *desc;
	const char *key;
};

static bool same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_older(const struct superseding *s, const cJSON *entry)
{
	const cJSON *annotations = json_get(entry, "annotations");
	const char *digest = json_string(entry, "digest");

	return digest != NULL && strcmp(digest, s->digest) != 0 &&
	       same_text(json_string(annotations, ANNOTATION_SUBJECT), s->subject) &&
	       same_text(json_string(entry, "artifactType"), s->desc->artifact_type) &&
	       (s->key == NULL || same_text(json_string(annotations, s->key),
	                                    strmap_get(&s->desc->annotations, s->key)));
}

static bool remove_older(const struct superseding *s, cJSON *manifests)
{
	bool any = false;
	cJSON *next;

	for (cJSON *item = manifests != NULL ? manifests->child : NULL; item != NULL; item = next) {
		next = item->next;
		if (!is_older(s, item))
			continue;
		cJSON_Delete(cJSON_DetachItemViaPointer(manifests, item));
		any = true;
	}
	return any;
}

int layout_supersede(struct layout *l, const struct digest *subject, const struct descriptor *desc,
                     const char *key, struct err *err)
{
	struct superseding s = {.desc = desc, .key = key};
	AUTO(json) cJSON *doc = NULL;
	AUTO_CLOSE int lock = -1;
	char file[PATH_MAX];

	digest_text(subject, s.subject);
	digest_text(&desc->digest, s.digest);
	if (fs_join(file, layout_path(l), LAYOUT_INDEX_LOCK, err) != 0 ||
	    fs_lock(file, FS_LOCK_EXCLUSIVE, &lock, err) != 0 || layout_document(l, &doc, err) != 0)
		return err_wrap(err, "image layout '%s'", layout_path(l));
	return remove_older(&s, (cJSON *)json_get(doc, "manifests"))
	               ? layout_write_document(l, doc, err)
	               : 0;
}
