/*
 * Amounts of resources as Kubernetes writes them: "500m", "2", "1.5", "512Mi", "20G". Pure.
 */
#ifndef SLIPWAY_K8S_OBJECT_QUANTITY_H
#define SLIPWAY_K8S_OBJECT_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/doc/json.h"

/* In thousandths: of a CPU, of a byte, of a device. False when it is not an amount of at least 0,
 * or is more than fits. */
bool quantity_parse(const char *text, int64_t *ret_thousandths);

/* The same of a member, which may be a text or a number; an absent one is 0. */
bool quantity_of(const cJSON *amounts, const char *key, int64_t *ret_thousandths);

#endif
