/*
 * The header of an RPM package as rpm's database keeps it: a list of tags into a store of values,
 * big-endian, without the eight bytes that begin one in a package file (rpm.org, "RPM V4 Header
 * format"). Pure; borrows the bytes. Every offset and count is held against the store.
 */
#ifndef SLIPWAY_BUILDER_SBOM_RPM_HEADER_H
#define SLIPWAY_BUILDER_SBOM_RPM_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rpm's own limits (lib/header.c). */
enum { RPM_TAGS_MAX = 0xffff, RPM_STORE_MAX = 256 << 20 };

enum rpm_tag {
	RPM_NAME = 1000,
	RPM_VERSION = 1001,
	RPM_RELEASE = 1002,
	RPM_EPOCH = 1003,
	RPM_VENDOR = 1011,
	RPM_ARCH = 1022,
	RPM_SOURCERPM = 1044,
	RPM_DIRINDEXES = 1116,
	RPM_BASENAMES = 1117,
	RPM_DIRNAMES = 1118
};

struct rpm_header {
	const uint8_t *tags; /* 16 bytes each */
	size_t n_tags;
	const uint8_t *store;
	size_t store_len;
};

/* False when the bytes are no such header. */
bool rpm_header_open(struct rpm_header *h, const void *bytes, size_t len);

/* A string, of an array the first; NULL when there is none. */
const char *rpm_string(const struct rpm_header *h, enum rpm_tag tag);

/* Number i of an array of integers; false when there is none. */
bool rpm_number(const struct rpm_header *h, enum rpm_tag tag, size_t i, uint32_t *ret);

/* An array of strings: begin, then one after the other; NULL at the end. */
struct rpm_strings {
	const char *at, *end;
	size_t left;
};
struct rpm_strings rpm_strings(const struct rpm_header *h, enum rpm_tag tag);
const char *rpm_next(struct rpm_strings *s);

#endif
