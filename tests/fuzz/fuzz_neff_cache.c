/*
 * A cache folder of compiled modules as somebody else left it: a compiler's folder, an entry, whether it is whole, and a
 * NEFF, a line "%%" between them. The trainer's reader and slipway's see no file outside the folder, and what they take has a
 * head that fits its size.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "builder/neff/neff.h"
#include "tests/fuzz/parts.h"
#include "trainer/neuron/cache.h"
#include "trainer/neuron/neff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(const struct neff *n, size_t size)
{
	if (n->data_size + NEFF_HEAD != size || n->cores == 0 || n->logical_cores > 2 ||
	    memchr(n->name, '\0', sizeof(n->name)) == NULL)
		BUG("a NEFF of %zu bytes, its data %llu, for %u cores", size,
		    (unsigned long long)n->data_size, n->cores);
}

/* As the name of a folder: what mkdir can make, one level deep. */
static bool is_folder(const char *name)
{
	return name[0] != '\0' && strlen(name) < 200 && strchr(name, '/') == NULL &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static void put(const char *dir, const char *name, struct part bytes)
{
	char path[PATH_MAX];
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (fs_write_file(path, bytes.text, bytes.len, 0644, &err) != 0)
		BUG("%s", err.msg);
}

static void look(const char *dir, const char *compiler, const char *key, struct part neff)
{
	AUTO(arena) struct arena a = {0};
	struct neff_list found = {0};
	char path[PATH_MAX], want[PATH_MAX];
	struct neff head;
	struct err err = {0};
	bool fits = neff_read(neff.text, neff.len, &head, &err) == 0;

	if (neuron_cache_find(dir, key, path, &err) == 0) {
		snprintf(want, sizeof(want), "%s/%s/%s/model.neff", dir, compiler, key);
		if (!fits || strcmp(path, want) != 0)
			BUG("found '%s'", path);
	}
	if (neff_folder_list(dir, &a, &found, &err) != 0)
		return;
	if (found.n != 1 || strcmp(found.at[0].compiler, compiler) != 0 ||
	    strcmp(found.at[0].key, key) != 0 ||
	    found.at[0].files[NEFF_FILE_RESULT].size != (int64_t)neff.len)
		BUG("listed %zu", found.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct parts parts = {size > 0 ? (const char *)data : "", size};
	struct part names[3], neff;
	struct neff head;
	char root[64], entry[PATH_MAX];
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		names[i] = parts_next(&parts);
	neff = (struct part){parts.left > 0 ? parts.at : "", parts.left};
	if (neff_read(neff.text, neff.len, &head, &err) == 0)
		check_head(&head, neff.len);
	const char *compiler = arena_strndup(&a, names[0].text, names[0].len);
	const char *key = arena_strndup(&a, names[1].text, names[1].len);

	if (!is_folder(compiler) || !is_folder(key))
		return 0;
	snprintf(root, sizeof(root), "/dev/shm/fuzz-neff-cache-%d", (int)getpid());
	snprintf(entry, sizeof(entry), "%s/%s/%s", root, compiler, key);
	if (fs_mkdirs(entry, &err) != 0)
		BUG("%s", err.msg);
	put(entry, "model.neff", neff);
	if (names[2].len > 0)
		put(entry, "model.done", (struct part){"", 0});
	look(root, compiler, key, neff);
	return fs_remove_tree(root, &err);
}
