/* Any bytes as a shard; the header's checksum is made right, for a forger would do the same. */
#include <stdint.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "trainer/data/le.h"
#include "trainer/data/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE unsigned char *bytes = mem_zalloc(size);
	unsigned char *room = NULL; /* not used: the bytes are in memory */
	struct clip_view clip;
	struct shard s;
	struct err err = {0};

	if (size > 64 << 10)
		return 0;
	memcpy(bytes, data, size);
	if (size >= SHARD_HEADER_BYTES) {
		le32_put(bytes + 12, 0);
		le32_put(bytes + 12, crc32c(0, bytes, SHARD_HEADER_BYTES));
	}
	if (shard_parse("f", bytes, size, &s, &err) != 0)
		return 0;
	for (uint64_t i = 0; i < s.n_clips && i < 100; i++)
		if (shard_clip(&s, i, &room, &clip, &err) == 0 &&
		    (clip.video < bytes || clip.video + clip_video_bytes(&s.shape) > bytes + size))
			abort();
	return 0;
}
