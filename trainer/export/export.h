/*
 * A model as Hugging Face's transformers reads it with
 * PerceiverForMultimodalAutoencoding.from_pretrained:
 *
 *   config.json               PerceiverConfig, with id2label and label2id
 *   model.safetensors         the weights under that class's names
 *   preprocessor_config.json  PerceiverImageProcessor for the frames (stretched, in [0, 1]), and
 *                             what the sound must be like
 *
 * transformers has some sizes of this class built in (modeling_perceiver.py, the same from 4.28 to
 * 4.57): a model with others cannot be expressed.
 */
#ifndef SLIPWAY_TRAINER_EXPORT_EXPORT_H
#define SLIPWAY_TRAINER_EXPORT_EXPORT_H

#include "trainer/classes/class_list.h"
#include "trainer/train/learner.h"

/* ERR_UNSUPPORTED naming the key whose value transformers does not let be set. */
int export_check(const struct model_config *c, struct err *err) MUST_USE;

/* preprocessor_config.json */
void export_preprocessor(const struct model_config *c, struct strbuf *sb);

/*
 * Writes the folder under a temporary name beside `out` and renames it. ERR_USAGE when out is there
 * and not empty, unless `overwrite`, and then when it holds anything that export does not write.
 */
int export_write(const char *out, bool overwrite, struct learner *l,
                 const struct class_list *classes, struct err *err) MUST_USE;

#endif
