/* Any bytes as a checkpoint's manifest.json beside a file that is there: verified or refused, nothing else read. */
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "trainer/checkpoint/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(const char *dir, const char *name, const void *bytes, size_t len)
{
	char path[PATH_MAX];
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (fs_write_file(path, bytes, len, 0644, &err) != 0)
		BUG("%s", err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[64];
	struct err err = {0};

	snprintf(dir, sizeof(dir), "/dev/shm/fuzz-checkpoint-%d", (int)getpid());
	if (fs_mkdirs(dir, &err) != 0)
		BUG("%s", err.msg);
	put(dir, "model.safetensors", "weights", 7);
	put(dir, "manifest.json", data, size);
	(void)manifest_verify(dir, &err);
	return fs_remove_tree(dir, &err);
}
