/*
 * Which numbers the classes have.
 */
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "trainer/classes/class_read.h"
#include "trainer/prepare/prepare.h"

static bool is_split_beside_train(const char *name)
{
	static const char *const names[] = {"val", "validation", "valid", "test", "eval"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* OUT/../train/dataset.json into ret; false where the videos number themselves. */
static bool find_sibling(const char *out, char ret[PATH_MAX])
{
	char folder[PATH_MAX], parent[PATH_MAX], train[PATH_MAX];
	struct err unusable = {0};
	const char *name;
	size_t n;

	snprintf(folder, sizeof(folder), "%s", out);
	n = strlen(folder);
	while (n > 1 && folder[n - 1] == '/')
		folder[--n] = '\0';
	name = strrchr(folder, '/');
	name = name != NULL ? name + 1 : folder;
	if (!is_split_beside_train(name))
		return false;
	fs_parent(folder, parent);
	return fs_join(train, parent, "train", &unusable) == 0 &&
	       fs_join(ret, train, "dataset.json", &unusable) == 0 && fs_exists(ret);
}

int prepare_classes(const struct prepare_options *o, struct videos *videos, struct err *err)
{
	AUTO(class_list) struct class_list list = {0};
	char sibling[PATH_MAX];
	const char *from = o->classes;

	if (from == NULL && find_sibling(o->out, sibling))
		from = sibling;
	if (from == NULL)
		return 0;
	if (class_list_load(from, &list, err) != 0)
		return err_wrap(err, "--classes");
	if (list.n == 0)
		return err_set(err, ERR_SPEC, "'%s' names no class", from);
	return videos_renumber(videos, &list, from, err);
}
