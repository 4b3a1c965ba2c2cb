#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { ARENA_BLOCK = 64 << 10, ARENA_ALIGN = 16 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ARENA_ALIGN) unsigned char bytes[];
};

void arena_done(struct arena *a)
{
	while (a->head != NULL) {
		struct arena_block *next = a->head->next;

		free(a->head);
		a->head = next;
	}
	a->bytes = 0;
}

void arena_join(struct arena *a, struct arena *from)
{
	struct arena_block **end = &from->head;

	if (a->head == NULL) {
		*a = *from;
	} else if (from->head != NULL) {
		/* Behind the head, whose room goes on being used. */
		while (*end != NULL)
			end = &(*end)->next;
		*end = a->head->next;
		a->head->next = from->head;
		a->bytes += from->bytes;
	}
	*from = (struct arena){0};
}

static struct arena_block *new_block(struct arena *a, size_t size)
{
	struct arena_block *b = mem_zalloc(sizeof(*b) + size);

	b->size = size;
	a->bytes += size;
	return b;
}

/* Large objects get a block of their own behind the head, so that its room is not lost. */
static void *alloc_large(struct arena *a, size_t size)
{
	struct arena_block *b = new_block(a, size);

	b->used = size;
	if (a->head == NULL) {
		a->head = b;
		return b->bytes;
	}
	b->next = a->head->next;
	a->head->next = b;
	return b->bytes;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t need;

	if (__builtin_add_overflow(size, ARENA_ALIGN - 1, &need))
		BUG("arena allocation of %zu bytes", size);
	need &= ~(size_t)(ARENA_ALIGN - 1);
	if (need > ARENA_BLOCK / 4)
		return alloc_large(a, need);
	if (a->head == NULL || a->head->size - a->head->used < need) {
		struct arena_block *b = new_block(a, ARENA_BLOCK);

		b->next = a->head;
		a->head = b;
	}
	void *ptr = a->head->bytes + a->head->used;

	a->head->used += need;
	return ptr;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		BUG("arena allocation of %zu x %zu bytes", n, size);
	return arena_alloc(a, bytes);
}

char *arena_strdup(struct arena *a, const char *text)
{
	return text != NULL ? arena_strndup(a, text, strlen(text)) : NULL;
}

char *arena_strndup(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

void *arena_memdup(struct arena *a, const void *bytes, size_t len)
{
	void *copy = arena_alloc(a, len);

	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
	va_list again;

	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, again);

	va_end(again);
	if (len < 0)
		BUG("format '%s'", fmt);
	char *text = arena_alloc(a, (size_t)len + 1);

	vsnprintf(text, (size_t)len + 1, fmt, args);
	return text;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *text = arena_vprintf(a, fmt, args);

	va_end(args);
	return text;
}

char *arena_lower(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_strndup(a, text, len);

	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 'a' - 'A');
	return copy;
}
