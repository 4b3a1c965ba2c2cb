/* Any files as an OCI layout: index.json, then blobs under their right digests. Read, checked, garbage collected. */
#include <unistd.h>

#include "builder/check/check.h"
#include "builder/oci/layout.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void put(const char *name, struct part part)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (f == NULL || fwrite(part.text, 1, part.len, f) != part.len || fclose(f) != 0)
		abort();
}

static void write_layout(const uint8_t *data, size_t size)
{
	static const char version[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
	struct parts parts = {(const char *)data, size};
	char path[PATH_MAX], hex[DIGEST_HEX_MAX], name[128];
	struct err err = {0};

	snprintf(folder, sizeof(folder), "/dev/shm/fuzz-layout-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/blobs/sha256", folder);
	if (fs_remove_tree(folder, &err) != 0 || fs_mkdirs(path, &err) != 0)
		abort();
	put("oci-layout", (struct part){version, sizeof(version) - 1});
	put("index.json", parts_next(&parts));
	for (int i = 0; i < 8 && parts.left > 0; i++) {
		struct part blob = parts_next(&parts);
		struct digest digest = digest_of(blob.text, blob.len);

		snprintf(name, sizeof(name), "blobs/sha256/%s", digest_hex(&digest, hex));
		put(name, blob);
	}
}

static void read_layout(void)
{
	static const struct check_opts opts = {.threads = 1};
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	AUTO_LAYOUT struct layout *l = NULL;
	struct descriptor root;
	struct check_report report;
	struct err err = {0};

	if (layout_open(folder, LAYOUT_READ, &l, &err) != 0)
		return;
	struct store *store = layout_store(l);

	(void)store_resolve(store, "v1", &a, &root, &err);
	if (store_resolve(store, NULL, &a, &root, &err) == 0)
		(void)check_image(store, &root, &opts, &a, &report, &d, &err);
	store_close(store);
}

static void collect(void)
{
	AUTO_LAYOUT struct layout *l = NULL;
	struct layout_gc_result result;
	struct err err = {0};

	if (layout_open(folder, LAYOUT_WRITE, &l, &err) == 0)
		(void)layout_gc(l, &result, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {0};

	write_layout(data, size);
	read_layout();
	collect();
	return fs_remove_tree(folder, &err);
}
