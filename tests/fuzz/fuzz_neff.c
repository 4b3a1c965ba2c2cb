/*
 * A registry's answer to "which modules has this image": the list of referrers, then the manifests that it names, a line
 * "%%" between them. What is taken has names that stay in their folder, files of known kinds and sizes, each once; printed
 * again it is read as the same. Then the modules' files, in the order of the list, as the registry sends them: what does
 * not have its digest is not fetched, and what is fetched is a whole entry.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "builder/neff/neff.h"
#include "builder/oci/referrers.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SUBJECT "sha256:c02b37ee7d18cda68cd15ce2d752c25ac44d071a0a12ef07aa080354478dbccf"

/* A registry that keeps a list. */
struct listing {
	struct memory_store memory;
	struct part list;
};

static int referrers(struct store *s, const struct digest *subject, const char *type,
                     struct arena *a, struct referrers *ret, struct err *err)
{
	const struct part list = ((struct listing *)(void *)s)->list;
	struct index index;
	AUTO(referrers_scan)
	struct referrers_scan scan = {.store = s, .subject = subject, .type = type, .arena = a};

	if (index_parse(list.text, list.len, NULL, a, &index, err) != 0 ||
	    referrers_consider_list(&scan, &index, err) != 0)
		return -1;
	*ret = referrers_finish(&scan);
	return 0;
}

static void check_name(const char *name)
{
	if (strchr(name, '/') != NULL || name[0] == '.' || strlen(name) > NEFF_NAME_MAX)
		BUG("a name '%s'", name);
}

static void check_module(const struct neff_module *m, struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct descriptor subject = {.media_type = MEDIA_INDEX, .size = 9};
	struct neff_module copy = *m, again;
	struct manifest doc;
	struct err err = {0};

	check_name(m->compiler);
	check_name(m->key);
	for (size_t i = 0; i < NEFF_FILES; i++)
		if (m->files[i].size < 0 || m->files[i].size > neff_files[i].max)
			BUG("a file of %lld bytes", (long long)m->files[i].size);
	if (digest_parse(SUBJECT, &subject.digest, &err) != 0)
		BUG("%s", err.msg);
	neff_print(&copy, &subject, a, &text);
	if (manifest_parse(strbuf_str(&text), text.len, MEDIA_MANIFEST, a, &doc, &err) != 0 ||
	    neff_parse(&doc, &subject.digest, &again, &err) != 0)
		BUG("printed again it is refused: %s", err.msg);
	if (strcmp(again.compiler, m->compiler) != 0 || strcmp(again.key, m->key) != 0 ||
	    neff_size(&again) != neff_size(m))
		BUG("printed again it is another");
}

/* An entry is there with the bytes that the list promised, or not at all. */
static void check_entry(const char *dir, const struct neff_module *m)
{
	char path[PATH_MAX];
	struct err err = {0};

	if (neff_path(path, dir, m, NULL, &err) != 0 || !fs_exists(path))
		return;
	for (size_t i = 0; i < NEFF_FILES; i++) {
		AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(1 << 20);
		struct digest have;

		if (m->files[i].media_type == NULL)
			continue;
		if (neff_path(path, dir, m, neff_files[i].name, &err) != 0 ||
		    fs_read_file(path, 1 << 20, &bytes, &err) != 0)
			BUG("an entry without its %s", neff_files[i].name);
		have = digest_of(strbuf_str(&bytes), bytes.len);
		if (!digest_equal(&have, &m->files[i].digest))
			BUG("a file with other bytes");
	}
}

static void pull(struct memory_store *m, struct neff_list *modules)
{
	char dir[64];
	struct err err = {0}, ignored = {0};

	snprintf(dir, sizeof(dir), "/dev/shm/fuzz-neff-%d", (int)getpid());
	if (fs_mkdirs(dir, &err) != 0)
		BUG("%s", err.msg);
	(void)neff_pull(&m->store, dir, modules, NULL, &ignored);
	for (size_t i = 0; i < modules->n; i++)
		check_entry(dir, &modules->at[i]);
	if (fs_remove_tree(dir, &err) != 0)
		BUG("%s", err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct listing l = {
		.memory.store = {memory_resolve, memory_open, memory_close, referrers}};
	struct memory_store *m = &l.memory;
	struct parts parts = {size > 0 ? (const char *)data : "", size};
	struct neff_list modules = {0};
	struct digest subject;
	struct err err = {0};

	l.list = parts_next(&parts);
	while (parts.left > 0 && m->n < MEMORY_BLOBS_MAX)
		memory_put(m, MEDIA_MANIFEST, parts_next(&parts));
	if (digest_parse(SUBJECT, &subject, &err) != 0)
		BUG("%s", err.msg);
	if (neff_image_list(&m->store, &subject, &a, &modules, &err) != 0)
		return 0;
	for (size_t i = 0; i < modules.n; i++)
		check_module(&modules.at[i], &a);
	pull(m, &modules);
	return 0;
}
