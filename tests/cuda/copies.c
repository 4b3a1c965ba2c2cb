#include "tests/cuda/copies.h"

#include <stdint.h>
#include <string.h>

enum { THREADS_MAX = 1024, UNDER_WAY_MAX = 256, WORDS_MAX = (227 << 10) / 4 };

struct copy {
	const void *from;
	uint32_t to, group;
	uint8_t size, bytes;
};

/* Of the block that runs: there is one at a time. */
static struct {
	char *shared;
	size_t bytes;
	bool awaited[WORDS_MAX]; /* words that are to come */
	struct {
		struct copy all[UNDER_WAY_MAX];
		unsigned n, groups; /* groups: ended */
	} of[THREADS_MAX];
} copies;

void copies_begin(char *shared, size_t bytes)
{
	copies.shared = shared;
	copies.bytes = bytes;
	memset(copies.awaited, 0, sizeof(copies.awaited));
	for (unsigned i = 0; i < THREADS_MAX; i++)
		copies.of[i].n = copies.of[i].groups = 0;
}

bool copies_are_under_way(size_t at, size_t n)
{
	for (size_t word = at / 4; word < (at + n + 3) / 4 && word < WORDS_MAX; word++)
		if (copies.awaited[word])
			return true;
	return false;
}

static void mark(const struct copy *c, bool awaited)
{
	memset(copies.awaited + c->to / 4, awaited, c->size / 4);
}

const char *copies_send(unsigned thread, size_t to, const void *from, size_t size, size_t bytes)
{
	struct copy c = {.from = from,
	                 .to = (uint32_t)to,
	                 .group = copies.of[thread].groups,
	                 .size = (uint8_t)size,
	                 .bytes = (uint8_t)bytes};

	if (size != 4 && size != 8 && size != 16)
		return "a copy of a size that cp.async does not have";
	if (bytes > size)
		return "a copy of more bytes than its size";
	if (to % size != 0 || to + size > copies.bytes || to + size < to)
		return "a copy to what is not aligned or not shared";
	if ((uintptr_t)from % size != 0 || from == NULL)
		return "a copy from an address that is 0 or not aligned";
	if (copies_are_under_way(to, size))
		return "a copy to where another is on its way";
	if (copies.of[thread].n == UNDER_WAY_MAX)
		return "more copies under way than are reckoned with";
	copies.of[thread].all[copies.of[thread].n++] = c;
	memset(copies.shared + to, 0xff, size);
	mark(&c, true);
	return NULL;
}

void copies_end(unsigned thread)
{
	copies.of[thread].groups++;
}

static void land(const struct copy *c)
{
	memset(copies.shared + c->to, 0, c->size);
	memcpy(copies.shared + c->to, c->from, c->bytes);
	mark(c, false);
}

/* What is in no group yet has not landed either. */
void copies_land(unsigned thread, unsigned left)
{
	unsigned n = copies.of[thread].n, kept = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct copy *c = &copies.of[thread].all[i];

		if (c->group + left < copies.of[thread].groups)
			land(c);
		else
			copies.of[thread].all[kept++] = *c;
	}
	copies.of[thread].n = kept;
}

bool copies_are_left(unsigned thread)
{
	return copies.of[thread].n > 0;
}
