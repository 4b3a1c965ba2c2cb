#include "builder/oci/referrers.h"

#include <string.h>

#include "base/interrupt.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"

char *referrers_tag(const struct digest *subject, char out[REFERRERS_TAG_MAX])
{
	char hex[DIGEST_HEX_MAX];

	snprintf(out, REFERRERS_TAG_MAX, "sha256-%s", digest_hex(subject, hex));
	return out;
}

int store_referrers(struct store *s, const struct digest *subject, const char *type,
                    struct arena *a, struct referrers *ret_referrers, struct err *err)
{
	if (s->referrers == NULL) {
		*ret_referrers = (struct referrers){0};
		return 0;
	}
	return s->referrers(s, subject, type, a, ret_referrers, err);
}

void referrers_scan_done(struct referrers_scan *scan)
{
	vec_done(&scan->found);
}

struct referrers referrers_finish(struct referrers_scan *scan)
{
	struct referrers all = {arena_calloc(scan->arena, scan->found.n, sizeof(*all.at)),
	                        scan->found.n};

	if (all.n > 0)
		memcpy(all.at, scan->found.at, all.n * sizeof(*all.at));
	return all;
}

static bool is_known(const struct referrers_scan *scan, const struct digest *d)
{
	for (size_t i = 0; i < scan->found.n; i++)
		if (digest_equal(&scan->found.at[i].digest, d))
			return true;
	return false;
}

static int count(size_t *n, size_t max, const char *what, struct err *err)
{
	if (++*n <= max)
		return 0;
	err_set(err, ERR_LIMIT, "more than %zu %s", max, what);
	return err_hint(err, "delete what is no longer needed, or push the image again under a new "
	                     "digest");
}

static bool says_its_type(const struct descriptor *entry)
{
	return entry->artifact_type != NULL && entry->artifact_type[0] != '\0' &&
	       strcmp(entry->artifact_type, MEDIA_EMPTY) != 0;
}

static bool has_type(const struct referrers_scan *scan, const char *type)
{
	return scan->type == NULL || strcmp(scan->type, type) == 0;
}

/* True for what a manifest that cannot be had means: it was deleted, or it is not one. */
static bool is_passed_over(const struct err *why)
{
	return why->code == ERR_NOT_FOUND || why->code == ERR_FORMAT || why->code == ERR_DIGEST;
}

/* The entry as its own manifest describes it; *ret_about is false when that is about another
 * subject, or cannot be had. */
static int open_entry(struct referrers_scan *scan, struct descriptor *entry, bool *ret_about,
                      struct err *err)
{
	struct manifest m;
	struct err why = {0};

	*ret_about = false;
	if (interrupt_check(err) != 0)
		return -1;
	if (artifact_open(scan->store, entry, scan->arena, &m, &why) != 0) {
		if (is_passed_over(&why))
			return 0;
		*err = why;
		return -1;
	}
	*ret_about = m.subject != NULL && digest_equal(&m.subject->digest, scan->subject);
	entry->artifact_type = artifact_type_of(&m);
	if (entry->annotations.n == 0)
		entry->annotations = m.annotations;
	return 0;
}

/* `sure`: the list is about the subject, so that an entry that says its type need not be opened. */
static int consider(struct referrers_scan *scan, const struct descriptor *given, bool sure,
                    struct err *err)
{
	struct descriptor entry = *given;
	bool about = true;

	if (count(&scan->n_seen, REFERRERS_MAX, "referrers of one image", err) != 0)
		return -1;
	if (is_known(scan, &entry.digest) ||
	    (says_its_type(&entry) && !has_type(scan, entry.artifact_type)))
		return 0;
	if (!media_is_manifest(entry.media_type)) {
		/* An index may have a subject, too; it has no type that anybody could ask for. */
		if (!sure || scan->type != NULL)
			return 0;
		entry.artifact_type = entry.artifact_type != NULL ? entry.artifact_type : "";
	} else if (!sure || !says_its_type(&entry)) {
		/* What lies on this machine is opened at no cost. */
		if (sure && count(&scan->n_opened, REFERRERS_OPENED_MAX,
		                  "referrers whose list does not say their type", err) != 0)
			return -1;
		if (open_entry(scan, &entry, &about, err) != 0)
			return -1;
	}
	if (about && has_type(scan, entry.artifact_type))
		vec_push(&scan->found, entry);
	return 0;
}

int referrers_consider(struct referrers_scan *scan, const struct descriptor *entry, struct err *err)
{
	return consider(scan, entry, true, err);
}

int referrers_consider_list(struct referrers_scan *scan, const struct index *list, struct err *err)
{
	/* Some registries answer for the tag of the list with the image itself. */
	for (size_t i = 0; i < list->n_manifests; i++)
		if (digest_equal(&list->manifests[i].digest, scan->subject))
			return err_set(err, ERR_FORMAT,
			               "the list of referrers names the image itself");
	for (size_t i = 0; i < list->n_manifests; i++)
		if (referrers_consider(scan, &list->manifests[i], err) != 0)
			return -1;
	return 0;
}

/* The list that another client keeps under its tag. */
static int consider_kept_list(struct referrers_scan *scan, const struct descriptor *entry,
                              struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index list;

	if (store_read(scan->store, entry, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    index_parse(text.ptr, text.len, entry->media_type, scan->arena, &list, err) != 0)
		return err_wrap(err, "list of referrers");
	return referrers_consider_list(scan, &list, err);
}

int referrers_consider_layout(struct referrers_scan *scan, const struct index *index,
                              struct err *err)
{
	char tag[REFERRERS_TAG_MAX];

	referrers_tag(scan->subject, tag);
	for (size_t i = 0; i < index->n_manifests; i++) {
		const struct descriptor *entry = &index->manifests[i];
		const char *name = strmap_get(&entry->annotations, ANNOTATION_REF_NAME);
		bool kept =
			name != NULL && strcmp(name, tag) == 0 && media_is_index(entry->media_type);

		if (kept ? consider_kept_list(scan, entry, err) != 0
		         : consider(scan, entry, false, err) != 0)
			return -1;
	}
	return 0;
}
