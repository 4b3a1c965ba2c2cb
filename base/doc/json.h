/*
 * JSON documents (cJSON inside): strict bounded parsing, typed access, one writer.
 * The writer keeps key order, prints whole numbers as integers (never 1e+15) and escapes only what
 * JSON demands (and DEL), so the same tree always gives the same bytes.
 */
#ifndef SLIPWAY_BASE_DOC_JSON_H
#define SLIPWAY_BASE_DOC_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

enum { JSON_DEPTH_MAX = 64 };

/*
 * Makes cJSON allocate as base/mem.h does: out of memory ends the program. Without it, a document
 * would silently lose the member that could not be allocated. Call first in main().
 */
void json_use_mem(void);

/*
 * Parses exactly one JSON value of len bytes (trailing white space allowed). ERR_FORMAT with line
 * and column in the message for: syntax, invalid UTF-8, NUL bytes, duplicate keys, more than
 * JSON_DEPTH_MAX levels. `what` names the document in the message. Caller: cJSON_Delete or
 * AUTO(json).
 */
int json_parse(const char *what, const char *text, size_t len, cJSON **ret_doc,
               struct err *err) MUST_USE;

/* For AUTO(json): `AUTO(json) cJSON *doc = NULL;` */
void json_done(cJSON **doc);

/* A member by exact (case-sensitive) key, NULL if absent or obj is not an object. */
const cJSON *json_get(const cJSON *obj, const char *key);

/* The string value of a member, NULL if absent or not a string. */
const char *json_string(const cJSON *obj, const char *key);

/* A whole number 0..2^53; ERR_FORMAT if absent, fractional, negative or larger. */
int json_size(const cJSON *obj, const char *key, int64_t *ret_value, struct err *err) MUST_USE;

/* Appends the compact form, or the 2-space indented form ending in a newline. */
void json_print(const cJSON *doc, struct strbuf *sb);
void json_print_pretty(const cJSON *doc, struct strbuf *sb);

/* Builders that abort on allocation failure; each adds to obj and returns what it added. */
cJSON *json_add_object(cJSON *obj, const char *key);
cJSON *json_add_array(cJSON *obj, const char *key);
void json_add_string(cJSON *obj, const char *key, const char *value); /* NULL value: nothing */
void json_add_int(cJSON *obj, const char *key, int64_t value);
void json_add_bool(cJSON *obj, const char *key, bool value);
void json_push(cJSON *array, cJSON *item);
void json_push_string(cJSON *array, const char *value);

/* Makes item the entry before `before`, one of array's; NULL: the last. cJSON_InsertItemInArray
 * refuses every place but the first in 1.7.15 as Debian patches it. */
void json_insert(cJSON *array, cJSON *before, cJSON *item);

#endif
