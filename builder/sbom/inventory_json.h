/*
 * An inventory as one line of JSON for the build cache, and back: packages, ELF files, gaps and the
 * system, not the list of files.
 */
#ifndef SLIPWAY_BUILDER_SBOM_INVENTORY_JSON_H
#define SLIPWAY_BUILDER_SBOM_INVENTORY_JSON_H

#include "builder/sbom/inventory.h"

/* Appends a sorted inventory. */
void inventory_json(const struct inventory *inv, struct strbuf *sb);

/* Adds what the text says to an empty inventory; ERR_FORMAT when it is not such a text. */
int inventory_parse(const char *text, size_t len, struct inventory *inv, struct err *err) MUST_USE;

#endif
