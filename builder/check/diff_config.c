/*
 * How two configurations differ. Objects are compared by their sorted keys: one may have tens of
 * thousands, and cJSON looks each up from the first one on.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/check/diff_internal.h"

struct sorted_members {
	const cJSON **at;
	size_t n;
};

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* The members of an object in the order of their keys, none for NULL. */
static struct sorted_members sorted(const cJSON *object)
{
	const cJSON *item;
	struct sorted_members m = {mem_calloc((size_t)cJSON_GetArraySize(object), sizeof(*m.at)),
	                           0};

	cJSON_ArrayForEach (item, object)
		m.at[m.n++] = item;
	if (m.n > 1)
		qsort(m.at, m.n, sizeof(*m.at), by_key);
	return m;
}

static bool equal_arrays(const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;

	for (; x != NULL && y != NULL; x = x->next, y = y->next)
		if (!diff_equal_json(x, y))
			return false;
	return x == y; /* both ended */
}

static bool equal_objects(const cJSON *a, const cJSON *b)
{
	struct sorted_members x = sorted(a), y = sorted(b);
	bool equal = x.n == y.n;

	for (size_t i = 0; equal && i < x.n; i++)
		equal = strcmp(x.at[i]->string, y.at[i]->string) == 0 &&
		        diff_equal_json(x.at[i], y.at[i]);
	free(x.at);
	free(y.at);
	return equal;
}

bool diff_equal_json(const cJSON *a, const cJSON *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (cJSON_IsObject(a) && cJSON_IsObject(b))
		return equal_objects(a, b);
	if (cJSON_IsArray(a) && cJSON_IsArray(b))
		return equal_arrays(a, b);
	return cJSON_Compare(a, b, true);
}

static void add_difference(cJSON *out, const char *member, const cJSON *a, const cJSON *b)
{
	cJSON *item = cJSON_CreateObject();

	json_add_string(item, "member", member);
	if (a != NULL)
		cJSON_AddItemToObject(item, "a", cJSON_Duplicate(a, true));
	if (b != NULL)
		cJSON_AddItemToObject(item, "b", cJSON_Duplicate(b, true));
	json_push(out, item);
}

static void diff_objects(const char *prefix, const cJSON *a, const cJSON *b, struct arena *arena,
                         cJSON *out);

static void diff_member(const char *prefix, const char *key, const cJSON *a, const cJSON *b,
                        struct arena *arena, cJSON *out)
{
	bool top = prefix[0] == '\0';

	if (top && strcmp(key, "rootfs") == 0)
		return;
	if (top && strcmp(key, "config") == 0 && cJSON_IsObject(a) && cJSON_IsObject(b))
		diff_objects("config.", a, b, arena, out);
	else if (!diff_equal_json(a, b))
		add_difference(out, arena_printf(arena, "%s%s", prefix, key), a, b);
}

static void diff_objects(const char *prefix, const cJSON *a, const cJSON *b, struct arena *arena,
                         cJSON *out)
{
	struct sorted_members x = sorted(a), y = sorted(b);
	size_t i = 0, k = 0;

	while (i < x.n || k < y.n) {
		const cJSON *one = i < x.n ? x.at[i] : NULL, *other = k < y.n ? y.at[k] : NULL;

		if (one != NULL && other != NULL && strcmp(one->string, other->string) < 0)
			other = NULL;
		else if (one != NULL && other != NULL && strcmp(one->string, other->string) > 0)
			one = NULL;
		diff_member(prefix, one != NULL ? one->string : other->string, one, other, arena,
		            out);
		i += one != NULL;
		k += other != NULL;
	}
	free(x.at);
	free(y.at);
}

void diff_configs(const cJSON *a, const cJSON *b, struct arena *arena, cJSON *out)
{
	diff_objects("", a, b, arena, out);
}
