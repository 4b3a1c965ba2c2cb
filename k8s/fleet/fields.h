/*
 * Row builders of the fleet's field tables: texts that are the same on every platform, with their
 * positions where a cross-check may want them. For *_fields.c only.
 */
#ifndef SLIPWAY_K8S_FLEET_FIELDS_H
#define SLIPWAY_K8S_FLEET_FIELDS_H

#include "base/doc/fields.h"

#define STRINGS_SCHEMA "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define GIB_SCHEMA     "{\"type\":\"string\",\"pattern\":\"^[0-9]+[GT]i$\"}"

#define TEXT(object, member, key_, ...)                                                            \
	FIELD_STRING(object, member, key_, __VA_ARGS__, .flags = FIELD_LITERAL)

/* The struct has a MEMBER_at. */
#define TEXT_AT(object, member, key_, ...)                                                         \
	FIELD_STRING(object, member, key_, __VA_ARGS__, .flags = FIELD_LITERAL,                    \
	             .pos_offset = offsetof(object, member##_at))
#define REQUIRED_AT(object, member, key_, ...)                                                     \
	FIELD_STRING(object, member, key_, __VA_ARGS__, .flags = FIELD_LITERAL | FIELD_REQUIRED,   \
	             .pos_offset = offsetof(object, member##_at))
#define NUMBER_AT(object, member, key_, ...)                                                       \
	FIELD_INT(object, member, key_, __VA_ARGS__, .pos_offset = offsetof(object, member##_at))
#define CHOICE_AT(object, member, choices_, key_, ...)                                             \
	FIELD_CHOICE(object, member, choices_, key_, __VA_ARGS__,                                  \
	             .pos_offset = offsetof(object, member##_at))
/* A decoder of its own; `type` is the type's name in the docs. */
#define CUSTOM_AT(object, member, decode_, schema_, type, key_, ...)                               \
	FIELD_CUSTOM(object, member, decode_, schema_, key_, __VA_ARGS__, .type_doc = (type),      \
	             .pos_offset = offsetof(object, member##_at))
#define MAP_AT(object, member, key_, ...)                                                          \
	FIELD_MAP(object, member, key_, __VA_ARGS__, .flags = FIELD_LITERAL,                       \
	          .pos_offset = offsetof(object, member##_at))

#endif
