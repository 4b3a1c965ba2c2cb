#include "trainer/sample/wav.h"

#include <math.h>

#include "trainer/data/le.h"

enum { HEADER_BYTES = 44, SAMPLE_BYTES = 2, PCM = 1 };

static void put_tag(unsigned char *at, const char *tag)
{
	for (size_t i = 0; i < 4; i++)
		at[i] = (unsigned char)tag[i];
}

void wav_encode(struct strbuf *sb, const float *samples, size_t n, uint32_t rate)
{
	uint32_t bytes = (uint32_t)(n * SAMPLE_BYTES);
	unsigned char h[HEADER_BYTES];

	put_tag(h, "RIFF");
	le32_put(h + 4, HEADER_BYTES - 8 + bytes);
	put_tag(h + 8, "WAVE");
	put_tag(h + 12, "fmt ");
	le32_put(h + 16, 16);
	le16_put(h + 20, PCM);
	le16_put(h + 22, 1);
	le32_put(h + 24, rate);
	le32_put(h + 28, rate * SAMPLE_BYTES);
	le16_put(h + 32, SAMPLE_BYTES);
	le16_put(h + 34, 8 * SAMPLE_BYTES);
	put_tag(h + 36, "data");
	le32_put(h + 40, bytes);
	strbuf_add(sb, h, sizeof(h));
	for (size_t i = 0; i < n; i++) {
		float v = samples[i] > 1 ? 1 : samples[i] > -1 ? samples[i] : -1;
		unsigned char raw[SAMPLE_BYTES];

		le16_put(raw, (uint16_t)(int16_t)lrintf(v * 32767));
		strbuf_add(sb, raw, sizeof(raw));
	}
}
