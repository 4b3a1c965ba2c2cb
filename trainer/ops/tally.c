#include "trainer/ops/tally.h"

#include <string.h>

#include "base/err.h"

static size_t part_of(struct tally *t, const char *what)
{
	struct tally_part p = {.what = what};

	for (size_t i = 0; i < t->parts.n; i++)
		if (strcmp(t->parts.at[i].what, what) == 0)
			return i;
	vec_push(&t->parts, p);
	return t->parts.n - 1;
}

static void raise(size_t *now, size_t *most, size_t by)
{
	*now += by;
	if (*now > *most)
		*most = *now;
}

void tally_take(struct tally *t, const void *at, size_t bytes, const char *what)
{
	size_t all = (bytes + TALLY_ALIGN - 1) / TALLY_ALIGN * TALLY_ALIGN;
	struct tally_block b = {at, all, part_of(t, what)};

	vec_push(&t->live, b);
	raise(&t->parts.at[b.part].now, &t->parts.at[b.part].most, all);
	raise(&t->now, &t->most, all);
}

void tally_give_back(struct tally *t, const void *at)
{
	for (size_t i = 0; i < t->live.n; i++) {
		struct tally_block b = t->live.at[i];

		if (b.at != at)
			continue;
		t->live.at[i] = t->live.at[--t->live.n];
		t->parts.at[b.part].now -= b.bytes;
		t->now -= b.bytes;
		return;
	}
	BUG("memory is given back that was not taken");
}

void tally_done(struct tally *t)
{
	vec_done(&t->parts);
	vec_done(&t->live);
}
