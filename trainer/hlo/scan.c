#include "trainer/hlo/scan.h"

enum { VARINT = 0, WORD64 = 1, DELIMITED = 2, WORD32 = 5 };
enum { MODULE_COMPUTATIONS = 3, COMPUTATION_INSTRUCTIONS = 2 };
enum { NODE_NAME = 1, NODE_OPCODE = 2, NODE_SHAPE = 3, NODE_ID = 35, NODE_OPERANDS = 36 };
enum { SHAPE_TYPE = 2, SHAPE_DIMENSIONS = 3 };

struct scan_bytes {
	const unsigned char *at, *end;
};

struct scan_field {
	unsigned number, type;
	uint64_t value;          /* of a VARINT */
	struct scan_bytes bytes; /* of a DELIMITED one */
};

static int broken(struct err *err)
{
	return err_set(err, ERR_FORMAT, "not a serialized HLO module: it breaks off");
}

static int varint(struct scan_bytes *s, uint64_t *ret, struct err *err)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
		unsigned char byte = *s->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return 0;
		}
	}
	return broken(err);
}

static int skip(struct scan_bytes *s, uint64_t n, struct err *err)
{
	if (n > (uint64_t)(s->end - s->at))
		return broken(err);
	s->at += n;
	return 0;
}

/* 1 and the next field, 0 at the end of the message, -1. */
static int next(struct scan_bytes *s, struct scan_field *f, struct err *err)
{
	uint64_t tag, n = 0;

	if (s->at == s->end)
		return 0;
	if (varint(s, &tag, err) != 0)
		return -1;
	*f = (struct scan_field){.number = (unsigned)(tag >> 3), .type = (unsigned)(tag & 7)};
	switch (f->type) {
	case VARINT:
		return varint(s, &f->value, err) == 0 ? 1 : -1;
	case WORD64:
		return skip(s, 8, err) == 0 ? 1 : -1;
	case WORD32:
		return skip(s, 4, err) == 0 ? 1 : -1;
	case DELIMITED:
		if (varint(s, &n, err) != 0)
			return -1;
		f->bytes = (struct scan_bytes){s->at, s->at};
		if (skip(s, n, err) != 0)
			return -1;
		f->bytes.end = s->at;
		return 1;
	default:
		return broken(err);
	}
}

/* Calls `take` for each value of a repeated integer, packed or not. */
static int each_integer(const struct scan_field *f, void (*take)(struct hlo_seen *s, int64_t value),
                        struct hlo_seen *s, struct err *err)
{
	struct scan_bytes bytes = f->bytes;
	uint64_t value;

	if (f->type == VARINT)
		take(s, (int64_t)f->value);
	while (f->type == DELIMITED && bytes.at < bytes.end) {
		if (varint(&bytes, &value, err) != 0)
			return -1;
		take(s, (int64_t)value);
	}
	return 0;
}

static void take_dimension(struct hlo_seen *s, int64_t value)
{
	s->elements *= (double)value;
}

static void take_operand(struct hlo_seen *s, int64_t value)
{
	if (s->n_operands < HLO_SCAN_OPERANDS)
		s->operand[s->n_operands] = value;
	s->n_operands++;
}

static int scan_shape(struct scan_bytes bytes, struct hlo_seen *s, struct err *err)
{
	enum { TUPLE = 13 };
	struct scan_field f;
	int more;

	s->elements = 1;
	while ((more = next(&bytes, &f, err)) > 0) {
		if (f.number == SHAPE_TYPE && f.type == VARINT)
			s->type = f.value <= INT32_MAX ? (int)f.value : 0;
		if (f.number == SHAPE_DIMENSIONS && each_integer(&f, take_dimension, s, err) != 0)
			return -1;
	}
	if (s->type == TUPLE)
		s->elements = 0;
	return more;
}

static struct hlo_text text_of(const struct scan_field *f)
{
	return (struct hlo_text){(const char *)f->bytes.at, (size_t)(f->bytes.end - f->bytes.at)};
}

static int scan_node(struct scan_bytes bytes, struct hlo_seen *s, struct err *err)
{
	struct scan_field f;
	int more;

	while ((more = next(&bytes, &f, err)) > 0) {
		if (f.number == NODE_NAME)
			s->name = text_of(&f);
		if (f.number == NODE_OPCODE)
			s->opcode = text_of(&f);
		if (f.number == NODE_ID)
			s->id = (int64_t)f.value;
		if (f.number == NODE_SHAPE && scan_shape(f.bytes, s, err) != 0)
			return -1;
		if (f.number == NODE_OPERANDS && each_integer(&f, take_operand, s, err) != 0)
			return -1;
	}
	return more;
}

static int scan_computation(struct scan_bytes bytes, size_t number, hlo_see *see, void *ctx,
                            struct err *err)
{
	struct scan_field f;
	int more;

	while ((more = next(&bytes, &f, err)) > 0) {
		struct hlo_seen s = {.computation = number};
		int rc;

		if (f.number != COMPUTATION_INSTRUCTIONS || f.type != DELIMITED)
			continue;
		if (scan_node(f.bytes, &s, err) != 0)
			return -1;
		rc = see(ctx, &s, err);
		if (rc != 0)
			return rc;
	}
	return more;
}

int hlo_scan(const void *bytes, size_t n, hlo_see *see, void *ctx, struct err *err)
{
	struct scan_bytes all = {bytes, (const unsigned char *)bytes + n};
	struct scan_field f;
	size_t number = 0;
	int more;

	while ((more = next(&all, &f, err)) > 0) {
		int rc;

		if (f.number != MODULE_COMPUTATIONS || f.type != DELIMITED)
			continue;
		rc = scan_computation(f.bytes, number++, see, ctx, err);
		if (rc != 0)
			return rc;
	}
	return more;
}
