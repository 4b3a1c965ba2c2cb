/*
 * Where class lists come from: "classes" of a dataset.json, id2label of a config.json, or a text
 * file with a name a line.
 *
 * id2label is Hugging Face's (PretrainedConfig): an object from "0", "1", ... to names, which gives
 * every output of the head a name. Outputs without a name of their own are called LABEL_7 there;
 * such names at the end of the list are no classes here.
 */
#ifndef SLIPWAY_TRAINER_CLASSES_CLASS_READ_H
#define SLIPWAY_TRAINER_CLASSES_CLASS_READ_H

#include "base/jsonr.h"
#include "trainer/classes/class_list.h"

enum { CLASS_PLACEHOLDER_MAX = 32 };
/* "LABEL_7" into out; returns out. */
char *class_placeholder(size_t i, char out[CLASS_PLACEHOLDER_MAX]);

/* An array of names; a missing one (NULL) gives an empty list. ERR_FORMAT naming `what`. The
 * caller: class_list_done. */
int class_list_of_array(const char *what, const struct jsonr_node *node, const struct jsonr *doc,
                        struct class_list *ret, struct err *err) MUST_USE;

/* The same for an id2label: every number from 0 on, once. */
int class_list_of_id2label(const char *what, const struct jsonr_node *node, const struct jsonr *doc,
                           struct class_list *ret, struct err *err) MUST_USE;

/* An id2label entry by entry: any order, then class_entries_end, which fills *ret. */
struct class_entries {
	char **at; /* owned; NULL: not given yet */
	size_t n, cap;
};
int class_entries_add(struct class_entries *e, const char *number, const char *name,
                      struct err *err) MUST_USE;
int class_entries_end(struct class_entries *e, const char *what, struct class_list *ret,
                      struct err *err) MUST_USE;
void class_entries_done(struct class_entries *e); /* for AUTO(class_entries) */

/* A name a line; empty lines and a carriage return at a line's end are passed over. */
int class_list_of_lines(const char *what, const char *text, size_t len, struct class_list *ret,
                        struct err *err) MUST_USE;

/*
 * From a dataset folder, a checkpoint or model folder, one of their JSON files, or a text file.
 * ERR_NOT_FOUND, ERR_FORMAT; a JSON file without a class list gives an empty one.
 */
int class_list_load(const char *path, struct class_list *ret, struct err *err) MUST_USE;

#endif
