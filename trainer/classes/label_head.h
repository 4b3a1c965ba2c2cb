/*
 * The labels of a model: so many outputs, the first of which may have the names of classes. A model
 * may have more outputs than classes (the published one has 700).
 */
#ifndef SLIPWAY_TRAINER_CLASSES_LABEL_HEAD_H
#define SLIPWAY_TRAINER_CLASSES_LABEL_HEAD_H

#include "trainer/classes/class_list.h"

struct label_head {
	size_t n_labels;
	const struct class_list *classes; /* borrowed; NULL or empty: the labels are numbers */
	const char *whose; /* the file that the names are from, for messages; borrowed */
};

bool label_head_is_named(const struct label_head *head);

/* ERR_SPEC naming both when there are more classes than labels. */
int label_head_check(const struct label_head *head, struct err *err) MUST_USE;

/* The label of a class. ERR_SPEC naming it, `what` it is a class of, and the head. */
int label_head_number(const struct label_head *head, const char *name, const char *what,
                      uint32_t *ret, struct err *err) MUST_USE;

#endif
