#include "base/strmap.h"

#include <string.h>

void strmap_set(struct strmap *map, struct arena *a, const char *key, const char *value)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->at[i].key, key) == 0) {
			map->at[i].value = arena_strdup(a, value);
			return;
		}
	if (map->n == map->cap) {
		size_t cap = map->cap < 8 ? 8 : map->cap * 2;
		struct strpair *at = arena_calloc(a, cap, sizeof(*at));

		if (map->n > 0)
			memcpy(at, map->at, map->n * sizeof(*at));
		map->at = at;
		map->cap = cap;
	}
	map->at[map->n++] = (struct strpair){arena_strdup(a, key), arena_strdup(a, value)};
}

const char *strmap_get(const struct strmap *map, const char *key)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->at[i].key, key) == 0)
			return map->at[i].value;
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct strpair *)a)->key, ((const struct strpair *)b)->key);
}

void strmap_sort(struct strmap *map)
{
	if (map->n > 1)
		qsort(map->at, map->n, sizeof(*map->at), by_key);
}
