/*
 * Any bytes as a layer (each codec) and as an archive of a user: no crash, bounded work, and whatever is
 * taken into a tree keeps the tree's promises.
 */
#include <sys/mman.h>

#include "base/fs.h"
#include "builder/layer/tar/reader.h"
#include "builder/layer/source/sources.h"
#include "builder/oci/mediatype.h"

enum { BYTES_MAX = 16 << 20, MEMBER_BYTES_MAX = 256 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads what there is; false when the sizes add up to more than is worth spooling. */
static bool read_layer(const uint8_t *data, size_t size, const char *media_type)
{
	static char buf[64 << 10];
	struct layer_reader *r;
	struct member m;
	struct err err = {0};
	int64_t total = 0;
	bool more = true;

	if (layer_reader_open(source_from_bytes(data, size), media_type, &r, &err) != 0)
		return false;
	while (layer_reader_next(r, &m, &more, &err) == 0 && more) {
		size_t n = 1;

		for (int64_t done = 0; n > 0 && done < MEMBER_BYTES_MAX; done += (int64_t)n)
			if (layer_reader_read(r, buf, sizeof(buf), &n, &err) != 0)
				break;
		if (__builtin_add_overflow(total, m.size, &total) || total > BYTES_MAX)
			break;
	}
	layer_reader_close(r);
	return total <= BYTES_MAX;
}

static void check_tree(const struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->at[i];

		if (e->path[0] == '\0' || e->path[0] == '/' || strstr(e->path, "/../") != NULL)
			abort();
		if (i > 0 && strcmp(t->at[i - 1].path, e->path) >= 0)
			abort();
		if (e->type == ENTRY_HARDLINK && strcmp(e->link, e->path) >= 0)
			abort();
	}
}

static void read_archive(const uint8_t *data, size_t size)
{
	static const struct platform platform = {"linux", "amd64", ""};
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	AUTO_CLOSE int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct err err = {0};
	struct tree t;
	char path[64];
	const struct layer_tar item = {.from = path, .to = "/"};
	const struct layer_path deb = {.path = path};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fs_write_all(fd, data, size, &err) != 0)
		abort();
	tree_init(&t, &a, "fuzz", 0);
	if (source_tar_add(&t, &item, &d, &err) != 0 ||
	    source_deb_add(&t, &deb, &platform, &d, &err) != 0 || tree_finish(&t, &d, &err) != 0)
		abort();
	check_tree(&t);
	tree_done(&t);
}

/* Mutations hit the checksums; with these set right they reach what is behind. */
static void fix_checksums(uint8_t *data, size_t size)
{
	for (size_t at = 0; at + 512 <= size; at += 512) {
		uint8_t *h = data + at;
		unsigned sum = 0;

		if (memcmp(h + 257, "ustar", 5) != 0)
			continue;
		memset(h + 148, ' ', 8);
		for (size_t i = 0; i < 512; i++)
			sum += h[i];
		for (size_t i = 154; i-- > 148; sum /= 8)
			h[i] = (uint8_t)('0' + sum % 8);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE uint8_t *fixed = malloc(size + 1);

	if (fixed == NULL)
		return 0;
	memcpy(fixed, data, size);
	fix_checksums(fixed, size);
	if (read_layer(fixed, size, MEDIA_LAYER))
		read_archive(fixed, size);
	read_layer(data, size, MEDIA_LAYER_GZIP);
	read_layer(data, size, MEDIA_LAYER_ZSTD);
	return 0;
}
