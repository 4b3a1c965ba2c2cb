/*
 * The class names that a model's configuration file gives its labels (id2label).
 */
#ifndef SLIPWAY_TRAINER_CONFIG_MODEL_CLASSES_H
#define SLIPWAY_TRAINER_CONFIG_MODEL_CLASSES_H

#include "trainer/classes/class_list.h"

/* `which` is as for model_file_load, which has read it; a built-in model and a file without
 * id2label give an empty list. ERR_FORMAT naming the entry. The caller: class_list_done. */
int model_file_classes(const char *which, struct class_list *ret, struct err *err) MUST_USE;

#endif
