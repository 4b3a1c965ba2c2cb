#include "trainer/classes/label_head.h"

bool label_head_is_named(const struct label_head *head)
{
	return head->classes != NULL && head->classes->n > 0;
}

int label_head_check(const struct label_head *head, struct err *err)
{
	if (!label_head_is_named(head) || head->classes->n <= head->n_labels)
		return 0;
	err_set(err, ERR_SPEC, "'%s' has %zu classes, but the model has num_labels %zu",
	        head->whose, head->classes->n, head->n_labels);
	return err_hint(err, "Set num_labels to %zu or more in the model's --config_file_path.",
	                head->classes->n);
}

int label_head_number(const struct label_head *head, const char *name, const char *what,
                      uint32_t *ret, struct err *err)
{
	size_t i = class_list_find(head->classes, name);

	if (i != CLASS_NONE) {
		*ret = (uint32_t)i;
		return 0;
	}
	err_set(err, ERR_SPEC, "class '%.80s' of '%s' is not among the %zu classes of '%s'", name,
	        what, head->classes->n, head->whose);
	return err_hint(err,
	                "Give the class the name it has there, leave its videos out, or train with "
	                "a class list that has it.");
}
