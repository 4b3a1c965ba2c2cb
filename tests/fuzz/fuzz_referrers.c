/*
 * A list of referrers, and the documents that it names, a line "%%" between them: as a registry's answer, and as the
 * index.json of a layout. What is found has a type, is there once, and is about the subject where it was opened.
 */
#include <string.h>

#include "builder/oci/artifact.h"
#include "builder/oci/referrers.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SUBJECT "sha256:c02b37ee7d18cda68cd15ce2d752c25ac44d071a0a12ef07aa080354478dbccf"

static void check_found(const struct referrers *found, const char *type)
{
	for (size_t i = 0; i < found->n; i++) {
		if (found->at[i].artifact_type == NULL)
			BUG("a referrer without a type");
		if (type != NULL && strcmp(found->at[i].artifact_type, type) != 0)
			BUG("'%s' instead of '%s'", found->at[i].artifact_type, type);
		for (size_t k = 0; k < i; k++)
			if (digest_equal(&found->at[i].digest, &found->at[k].digest))
				BUG("a referrer twice");
	}
}

static void check(struct memory_store *m, struct part text, const char *type,
                  int (*consider)(struct referrers_scan *, const struct index *, struct err *))
{
	AUTO(arena) struct arena a = {0};
	struct digest subject;
	struct index index;
	struct err err = {0};

	if (digest_parse(SUBJECT, &subject, &err) != 0)
		BUG("%s", err.msg);
	AUTO(referrers_scan)
	struct referrers_scan scan = {
		.store = &m->store, .subject = &subject, .type = type, .arena = &a};

	if (index_parse(text.text, text.len, NULL, &a, &index, &err) != 0 ||
	    consider(&scan, &index, &err) != 0)
		return;
	const struct referrers found = referrers_finish(&scan);

	check_found(&found, type);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_store m = {.store = {memory_resolve, memory_open, memory_close, NULL}};
	struct parts parts = {size > 0 ? (const char *)data : "", size};
	const struct part list = parts_next(&parts);

	while (parts.left > 0 && m.n < MEMORY_BLOBS_MAX)
		memory_put(&m, MEDIA_MANIFEST, parts_next(&parts));
	check(&m, list, NULL, referrers_consider_list);
	check(&m, list, "application/x", referrers_consider_list);
	check(&m, list, NULL, referrers_consider_layout);
	return 0;
}
