/* Any bytes as the small files of slipway's own that a disk may have damaged: cache records, the lock file. */
#include <unistd.h>

#include "base/fs.h"
#include "builder/layer/pack/cache.h"
#include "builder/spec/lock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct digest key = {{1, 2, 3}};

/* The record with a right head and a right check line, so that mutations reach what is behind. */
static void put_record(const char *dir, const char *kind, const uint8_t *data, size_t size)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	char path[PATH_MAX], hex[DIGEST_HEX_MAX];
	struct digest check;
	struct err err = {0};

	strbuf_addf(&text, "slipway-cache 1 %s %s ", kind, digest_hex(&key, hex));
	strbuf_add(&text, data, size);
	strbuf_adds(&text, "\n");
	check = digest_of(text.ptr, text.len);
	snprintf(path, sizeof(path), "%s/records/%s/%s", dir, kind, hex);
	strbuf_addf(&text, "%s\n", digest_hex(&check, hex));
	if (fs_write_file(path, text.ptr, text.len, 0644, &err) != 0)
		BUG("%s", err.msg);
}

static void read_records(const char *dir, const uint8_t *data, size_t size)
{
	struct layer_cache *c;
	struct digest found;
	struct err err = {0};

	if (cache_open(dir, &c, &err) != 0)
		BUG("%s", err.msg);
	put_record(dir, "stat", data, size);
	put_record(dir, "shape", data, size);
	put_record(dir, "verdict", data, size);
	cache_find_stat(c, &key, &found);
	cache_find_shape(c, &key);
	cache_find_verdict(c, &key);
	cache_close(c);
}

static void read_lock(const char *dir, const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct lock lock;
	struct digest digest;
	struct err err = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/slipway.lock", dir);
	if (fs_write_file(path, data, size, 0644, &err) != 0)
		BUG("%s", err.msg);
	if (lock_load(path, &a, &lock, &err) != 0)
		return;
	lock_find(&lock, "docker.io/library/debian:12", &digest);
	/* What was read is written, and read again. */
	lock_set(&lock, &a, "docker.io/library/fuzz:1", &key);
	if (lock_save(&lock, &err) != 0 || lock_load(path, &a, &lock, &err) != 0 ||
	    !lock_find(&lock, "docker.io/library/fuzz:1", &digest))
		BUG("a lock file of our own: %s", err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[64];
	struct err err = {0};

	snprintf(dir, sizeof(dir), "/dev/shm/fuzz-records-%d", (int)getpid());
	read_records(dir, data, size);
	read_lock(dir, data, size);
	return fs_remove_tree(dir, &err);
}
