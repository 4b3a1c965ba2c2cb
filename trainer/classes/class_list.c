#include "trainer/classes/class_list.h"

#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"

struct class_rank {
	const char *name;
	size_t number;
};

void class_list_add(struct class_list *list, const char *name)
{
	list->at = mem_vec_grow(list->at, list->n, &list->cap, sizeof(*list->at));
	list->at[list->n++] = mem_strdup(name);
}

static int compare_ranks(const void *a, const void *b)
{
	return strcmp(((const struct class_rank *)a)->name, ((const struct class_rank *)b)->name);
}

static bool is_name(const char *name)
{
	size_t left = strlen(name);

	if (left == 0 || left > CLASS_NAME_MAX)
		return false;
	while (left > 0) {
		size_t n = text_utf8_length(name, left);

		if (n == 0 || text_is_control(name, n))
			return false;
		name += n;
		left -= n;
	}
	return true;
}

static int check_names(const struct class_list *list, const char *what, struct err *err)
{
	if (list->n > CLASSES_MAX)
		return err_set(err, ERR_LIMIT, "'%s' has %zu classes, %d is the most", what,
		               list->n, CLASSES_MAX);
	for (size_t i = 0; i < list->n; i++)
		if (!is_name(list->at[i]))
			return err_set(err, ERR_FORMAT,
			               "'%s': class %zu, '%.80s', is not a name: one line of UTF-8 "
			               "of 1 to %d bytes",
			               what, i, list->at[i], CLASS_NAME_MAX);
	return 0;
}

int class_list_seal(struct class_list *list, const char *what, struct err *err)
{
	if (check_names(list, what, err) != 0)
		return -1;
	free(list->sorted);
	list->sorted = mem_calloc(list->n, sizeof(*list->sorted));
	for (size_t i = 0; i < list->n; i++)
		list->sorted[i] = (struct class_rank){list->at[i], i};
	qsort(list->sorted, list->n, sizeof(*list->sorted), compare_ranks);
	for (size_t i = 1; i < list->n; i++)
		if (compare_ranks(&list->sorted[i - 1], &list->sorted[i]) == 0)
			return err_set(err, ERR_FORMAT, "'%s' lists class '%.80s' twice", what,
			               list->sorted[i].name);
	return 0;
}

static size_t find_exactly(const struct class_list *list, const char *name)
{
	struct class_rank key = {name, 0};
	const struct class_rank *found = NULL;

	if (list->n > 0)
		found = bsearch(&key, list->sorted, list->n, sizeof(*list->sorted), compare_ranks);
	return found != NULL ? found->number : CLASS_NONE;
}

static size_t find_with(const struct class_list *list, const char *name, char from, char to)
{
	AUTO_FREE char *other = mem_strdup(name);

	for (char *p = other; *p != '\0'; p++)
		*p = *p == from ? to : *p;
	return find_exactly(list, other);
}

size_t class_list_find(const struct class_list *list, const char *name)
{
	size_t i = find_exactly(list, name);

	if (i == CLASS_NONE)
		i = find_with(list, name, '_', ' ');
	return i != CLASS_NONE ? i : find_with(list, name, ' ', '_');
}

void class_list_copy(const struct class_list *from, struct class_list *ret)
{
	struct class_list list = {0};

	for (size_t i = 0; i < from->n; i++)
		class_list_add(&list, from->at[i]);
	list.sorted = mem_calloc(list.n, sizeof(*list.sorted));
	for (size_t i = 0; i < list.n; i++) {
		size_t number = from->sorted[i].number;

		list.sorted[i] = (struct class_rank){list.at[number], number};
	}
	*ret = list;
}

void class_list_summary(const struct class_list *list, struct strbuf *sb)
{
	char hex[SHA256_HEX_MAX];
	struct sha256 sum;

	sha256_init(&sum);
	for (size_t i = 0; i < list->n; i++)
		sha256_update(&sum, list->at[i], strlen(list->at[i]) + 1);
	sha256_hex(&sum, hex);
	strbuf_addf(sb, "%zu", list->n);
	if (list->n > 0)
		strbuf_addf(sb, ": %.20s ... %.20s", list->at[0], list->at[list->n - 1]);
	strbuf_addf(sb, " (%.16s)", hex);
}

void class_list_done(struct class_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->at[i]);
	free(list->at);
	free(list->sorted);
	*list = (struct class_list){0};
}
