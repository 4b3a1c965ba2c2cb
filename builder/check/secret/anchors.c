#include "builder/check/secret/anchors.h"

enum { PROBE = 4 };

static void set(struct secret_anchors *a, const unsigned char *p, uint8_t which)
{
	a->seen[anchors_hash(p)] |= which;
}

static unsigned count_small(const char *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < 3; i++)
		n += secret_in_class((unsigned char)p[i], CLASS_LOWER);
	return n;
}

/* Where in the anchor the four bytes are that are the rarest: words have small letters. */
static uint8_t choose_probe(const struct secret_pattern *p)
{
	unsigned least = UINT32_MAX;
	uint8_t best = 0;

	for (uint8_t i = 0; i + PROBE <= p->anchor_len; i++) {
		unsigned first = count_small(p->anchor + i),
			 second = count_small(p->anchor + i + 1);
		unsigned cost = first > second ? first * 4 + second : second * 4 + first;

		if (cost < least) {
			least = cost;
			best = i;
		}
	}
	return best;
}

static void add_row(struct secret_anchors *a, uint8_t row)
{
	const struct secret_pattern *p = &secret_patterns[row];
	unsigned char text[PROBE + 2] = {0};
	uint8_t *list;

	a->probe[row] = choose_probe(p);
	memcpy(text, p->anchor + a->probe[row], p->anchor_len < PROBE ? p->anchor_len : PROBE);
	list = &a->first[anchors_list(anchors_hash(text))];
	a->next[row] = *list;
	*list = row;
	set(a, text, ANCHOR_FIRST);
	if (p->anchor_len >= PROBE) {
		set(a, text + 1, ANCHOR_SECOND);
		return;
	}
	for (unsigned c = 0; c < 256; c++) {
		text[3] = (unsigned char)c;
		if (secret_in_class(text[3], CLASS_BASE64URL))
			set(a, text + 1, ANCHOR_SECOND);
	}
}

void anchors_init(struct secret_anchors *a)
{
	memset(a->first, ANCHOR_NONE, sizeof(a->first));
	for (size_t i = 0; i < secret_pattern_count && i < ANCHOR_ROWS_MAX; i++)
		add_row(a, (uint8_t)i);
}
