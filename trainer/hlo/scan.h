/*
 * Walks a serialized HloModuleProto, an instruction after the other, and builds nothing: for
 * whoever checks what a compiler is about to be given. The bytes may be anybody's. Source of the
 * field numbers: xla/service/hlo.proto and xla/xla_data.proto of OpenXLA.
 */
#ifndef SLIPWAY_TRAINER_HLO_SCAN_H
#define SLIPWAY_TRAINER_HLO_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Of the module's bytes; not terminated. */
struct hlo_text {
	const char *at;
	size_t n;
};

enum { HLO_SCAN_OPERANDS = 2 };

struct hlo_seen {
	size_t computation; /* counted from 0, as they stand */
	struct hlo_text name, opcode;
	int type;        /* PrimitiveType of xla_data.proto: 11 is f32, 13 a tuple */
	double elements; /* of the shape; 0 of a tuple. As exact as a double is */
	int64_t id;
	size_t n_operands;
	int64_t operand[HLO_SCAN_OPERANDS]; /* ids of the first ones */
};

/* Returns 0 to go on; anything else ends the walk. */
typedef int hlo_see(void *ctx, const struct hlo_seen *s, struct err *err);

/* ERR_FORMAT where the bytes are no such message; else what `see` returned. */
int hlo_scan(const void *bytes, size_t n, hlo_see *see, void *ctx, struct err *err) MUST_USE;

#endif
