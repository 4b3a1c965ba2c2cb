#include "builder/check/secret/anchors.h"

static void set(struct secret_anchors *a, const unsigned char *p)
{
	uint32_t hash = anchors_hash(p);

	a->bits[hash / 32] |= UINT32_C(1) << (hash % 32);
}

static void add_row(struct secret_anchors *a, uint8_t row)
{
	const struct secret_pattern *p = &secret_patterns[row];
	unsigned char text[5] = {0};
	uint8_t *list;

	memcpy(text, p->anchor, p->anchor_len < 4 ? p->anchor_len : 4);
	list = &a->first[anchors_hash(text) >> (ANCHOR_BITS - 8)];
	a->next[row] = *list;
	*list = row;
	set(a, text);
	if (p->anchor_len >= 4) {
		set(a, text + 1);
		return;
	}
	for (unsigned c = 0; c < 256; c++) {
		text[3] = (unsigned char)c;
		if (secret_in_class(text[3], CLASS_BASE64URL))
			set(a, text + 1);
	}
}

void anchors_init(struct secret_anchors *a)
{
	memset(a->first, ANCHOR_NONE, sizeof(a->first));
	for (size_t i = 0; i < secret_pattern_count && i < ANCHOR_ROWS_MAX; i++)
		add_row(a, (uint8_t)i);
}
