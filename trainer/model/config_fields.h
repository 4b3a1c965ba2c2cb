/*
 * The keys of PerceiverConfig as a table, for the files that check, read and print a configuration.
 */
#ifndef SLIPWAY_TRAINER_MODEL_CONFIG_FIELDS_H
#define SLIPWAY_TRAINER_MODEL_CONFIG_FIELDS_H

#include "trainer/model/config.h"

enum field_type { FIELD_SIZE, FIELD_BOOL, FIELD_FRACTION, FIELD_SHAPE, FIELD_GELU, FIELD_OUTPUT };

struct model_field {
	const char *key;
	enum field_type type;
	size_t offset;   /* of the member of struct model_config */
	size_t min, max; /* of a FIELD_SIZE; 0 also stands for null when min is 0 */
};

/* Row i, NULL after the last. */
const struct model_field *model_field_at(size_t i);
const struct model_field *model_field_find(const char *key); /* NULL: not there */

/* A key of PerceiverConfig, of its base class or of the golden folders that this model ignores. */
bool model_field_is_unused(const char *key);

/* ERR_SPEC naming the key when the value is not from min to max. */
int model_field_range(const char *key, size_t value, size_t min, size_t max,
                      struct err *err) MUST_USE;

#endif
