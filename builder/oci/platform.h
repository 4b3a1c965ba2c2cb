/*
 * Platforms (image-spec, image-index.md "platform"): os/architecture[/variant], normalised the way
 * containerd does it: arm64 "v8"/"8" and amd64 "v1" have no variant, aarch64 = arm64, x86_64 =
 * amd64. Pure values, no allocation.
 */
#ifndef SLIPWAY_BUILDER_OCI_PLATFORM_H
#define SLIPWAY_BUILDER_OCI_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { PLATFORM_PART_MAX = 32, PLATFORM_TEXT_MAX = 3 * PLATFORM_PART_MAX };

struct platform {
	char os[PLATFORM_PART_MAX]; /* "linux"; empty = the descriptor names no platform */
	char architecture[PLATFORM_PART_MAX]; /* Go's names: "amd64", "arm64" */
	char variant[PLATFORM_PART_MAX];      /* empty = none */
};

/* Reads "os/architecture[/variant]" and normalises it. ERR_FORMAT on anything else. */
int platform_parse(const char *text, struct platform *ret_platform, struct err *err) MUST_USE;

/* "linux/arm64" or "linux/arm/v7" into out; returns out. */
char *platform_text(const struct platform *p, char out[PLATFORM_TEXT_MAX]);

void platform_normalise(struct platform *p);
bool platform_equal(const struct platform *a, const struct platform *b);

/* What an index entry of platform `have` is worth on a node of `want`: 0 = does not run, higher is
 * better (exact variant 2, no or lower variant 1). */
int platform_match(const struct platform *want, const struct platform *have);

/* The platform of the machine this runs on. */
struct platform platform_host(void);

/*
 * ELF facts of an architecture we know: e_machine, Debian multiarch name, cross toolchain prefix.
 */
struct platform_arch {
	const char *architecture; /* "amd64" */
	uint16_t elf_machine;     /* EM_X86_64 */
	/* "x86_64-linux-gnu": Debian library folder and cross sysroot name */
	const char *multiarch;
	const char *gnu_name; /* "x86_64": uname -m */
	unsigned elf_bits;    /* 32 or 64 */
};

/* The row for an architecture name, or NULL when it is not in the table. */
const struct platform_arch *platform_arch_find(const char *architecture);

#endif
