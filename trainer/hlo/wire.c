#include "trainer/hlo/wire.h"

#include <string.h>

enum { VARINT = 0, DELIMITED = 2 };

static void varint(struct strbuf *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		strbuf_addc(to, (char)(0x80 | (value & 0x7f)));
	strbuf_addc(to, (char)value);
}

static void tag(struct strbuf *to, unsigned field, unsigned type)
{
	varint(to, (uint64_t)field << 3 | type);
}

void wire_int(struct strbuf *to, unsigned field, int64_t value)
{
	if (value == 0)
		return;
	tag(to, field, VARINT);
	varint(to, (uint64_t)value);
}

void wire_bytes(struct strbuf *to, unsigned field, const void *bytes, size_t n)
{
	tag(to, field, DELIMITED);
	varint(to, n);
	strbuf_add(to, bytes, n);
}

void wire_text(struct strbuf *to, unsigned field, const char *text)
{
	wire_bytes(to, field, text, strlen(text));
}

void wire_ints(struct strbuf *to, unsigned field, const int64_t *values, size_t n)
{
	struct strbuf packed = {0};

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		varint(&packed, (uint64_t)values[i]);
	wire_message(to, field, &packed);
	strbuf_done(&packed);
}

void wire_message(struct strbuf *to, unsigned field, struct strbuf *message)
{
	wire_bytes(to, field, strbuf_str(message), message->len);
	strbuf_reset(message);
}
