/* See deflate_join.h. Sections: bit reader, code tables, block headers, the walk, the join. */
#include "builder/layer/pack/deflate_join.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LITLEN_BITS = 11, /* bits one look into the literal/length table decides */
	DISTANCE_BITS = 9,
	PRECODE_BITS = 7, /* all of them: code length codes have at most 7 bits */
	CODE_BITS_MAX = 15,
	LITLEN_MAX = 288,
	DISTANCE_MAX = 32,
	PRECODE_MAX = 19,
	END_OF_BLOCK = 256,
	STORED_BYTES_MAX = 65535
};

/* ---- bit reader ---- */

/*
 * `window` holds the next bits, lowest first; `n` of them are counted as read from memory. Loads
 * are of 8 bytes, which is what the slack behind the stream is for: it reads as zeros.
 */
struct bits {
	const unsigned char *start, *next, *end;
	uint64_t window;
	unsigned n;
};

/* At least 56 bits; false when the next load would leave the slack. */
static inline bool refill_bits(struct bits *b)
{
	uint64_t word;

	if (b->next > b->end + 8)
		return false;
	memcpy(&word, b->next, sizeof(word));
	b->window |= le64toh(word) << b->n;
	b->next += (63 - b->n) >> 3;
	b->n |= 56;
	return true;
}

static inline void skip_bits(struct bits *b, unsigned n)
{
	b->window >>= n;
	b->n -= n;
}

static inline unsigned take_bits(struct bits *b, unsigned n)
{
	unsigned value = (unsigned)(b->window & ((1U << n) - 1));

	skip_bits(b, n);
	return value;
}

/* Bits consumed since the start. */
static size_t position(const struct bits *b)
{
	return (size_t)(b->next - b->start) * 8 - b->n;
}

static void seek_byte(struct bits *b, size_t byte)
{
	b->next = b->start + byte;
	b->window = 0;
	b->n = 0;
}

/* ---- code tables ---- */

/*
 * What one look into a table decides, in 16 bits:
 *   0..5   bits to skip in all, extra bits included
 *   6      special: bits 7..8 say what it is
 *   9      only literals: no distance follows
 *   10..13 how many bits the decision rests on
 */
enum {
	LOOK_BITS = 63,
	LOOK_SPECIAL = 1 << 6,
	LOOK_END = LOOK_SPECIAL,           /* the end-of-block symbol */
	LOOK_LONG = LOOK_SPECIAL | 1 << 7, /* a code longer than the table's bits */
	LOOK_BAD = LOOK_SPECIAL | 1 << 8,  /* no such code, or a symbol that must not occur */
	LOOK_KIND = LOOK_SPECIAL | 3 << 7,
	LOOK_LITERAL = 1 << DISTANCE_BITS,
	LOOK_CODE_SHIFT = 10,
	LOOK_CODE_NEVER = 15 << LOOK_CODE_SHIFT /* more than any table decides: is never merged */
};

struct code {
	uint16_t count[CODE_BITS_MAX + 1]; /* codes of each length */
	uint16_t symbol[LITLEN_MAX];       /* symbols in order of their codes */
};

/*
 * The second half of `distance` is zeros: after a literal the walk looks there and skips nothing,
 * which is cheaper than a branch nobody can predict.
 */
struct code_tables {
	uint16_t litlen_base[LITLEN_MAX],
		distance_base[DISTANCE_MAX]; /* looks of symbols, code length 0 */
	struct code litlen_code, distance_code;
	uint16_t single[1 << LITLEN_BITS]; /* one symbol a look */
	uint16_t litlen[1 << LITLEN_BITS]; /* up to three, where they fit */
	uint16_t distance[2 << DISTANCE_BITS];
};

/* RFC 1951, 3.2.5: extra bits of length and distance symbols. */
static void base_init(struct code_tables *t)
{
	for (unsigned i = 0; i < END_OF_BLOCK; i++)
		t->litlen_base[i] = LOOK_LITERAL;
	t->litlen_base[END_OF_BLOCK] = LOOK_END;
	for (unsigned i = END_OF_BLOCK + 1; i < LITLEN_MAX; i++)
		t->litlen_base[i] = i < 265 || i == 285 ? 0
		                    : i > 285           ? LOOK_BAD
		                                        : (uint16_t)((i - 261) / 4);
	for (unsigned i = 0; i < DISTANCE_MAX; i++)
		t->distance_base[i] = i < 4 ? 0 : i > 29 ? LOOK_BAD : (uint16_t)(i / 2 - 1);
	memset(t->distance + (1 << DISTANCE_BITS), 0, sizeof(t->distance) / 2);
}

static unsigned reverse(unsigned code, unsigned bits)
{
	unsigned out = 0;

	for (; bits > 0; bits--, code >>= 1)
		out = out << 1 | (code & 1);
	return out;
}

/* Counts and orders the codes (RFC 1951, 3.2.2); false when more codes are claimed than exist. */
static bool code_init(struct code *c, const uint8_t *lengths, unsigned n)
{
	uint16_t offset[CODE_BITS_MAX + 2] = {0};
	int left = 1;

	memset(c->count, 0, sizeof(c->count));
	for (unsigned i = 0; i < n; i++)
		c->count[lengths[i]]++;
	c->count[0] = 0;
	for (unsigned len = 1; len <= CODE_BITS_MAX; len++) {
		left = left * 2 - c->count[len];
		if (left < 0)
			return false;
		offset[len + 1] = (uint16_t)(offset[len] + c->count[len]);
	}
	for (unsigned i = 0; i < n; i++)
		if (lengths[i] != 0)
			c->symbol[offset[lengths[i]]++] = (uint16_t)i;
	return true;
}

/* The look of a symbol whose code has `len` bits. */
static uint16_t look_of(uint16_t base, unsigned len)
{
	return (uint16_t)(base + len + (len << LOOK_CODE_SHIFT));
}

/* Fills a table of 2^table_bits looks. */
static void table_fill(const struct code *c, const uint16_t *base, uint16_t *table,
                       unsigned table_bits)
{
	unsigned size = 1U << table_bits;
	unsigned code = 0, index = 0;

	for (unsigned i = 0; i < size; i++)
		table[i] = LOOK_BAD | LOOK_CODE_NEVER;
	for (unsigned len = 1; len <= CODE_BITS_MAX; len++, code <<= 1) {
		for (unsigned k = 0; k < c->count[len]; k++, code++, index++) {
			unsigned at = reverse(code, len);
			uint16_t look;

			if (len > table_bits) {
				table[at & (size - 1)] = LOOK_LONG | LOOK_CODE_NEVER;
				continue;
			}
			look = look_of(base[c->symbol[index]], len);
			for (; at < size; at += 1U << len)
				table[at] = look;
		}
	}
}

/* Joins looks of literals with the look that follows, where the table's bits decide both. */
static void table_merge(const uint16_t *single, const uint16_t *from, uint16_t *to)
{
	for (unsigned i = 0; i < 1U << LITLEN_BITS; i++) {
		unsigned first = from[i];
		unsigned code = first >> LOOK_CODE_SHIFT;
		unsigned next = single[i >> code];
		unsigned both = code + (next >> LOOK_CODE_SHIFT);
		unsigned sum = (next & (LOOK_KIND | LOOK_LITERAL)) + both;

		sum += (next & LOOK_BITS) - (next >> LOOK_CODE_SHIFT) + (both << LOOK_CODE_SHIFT);
		to[i] = (uint16_t)((first & LOOK_LITERAL) != 0 && both <= LITLEN_BITS ? sum
		                                                                      : first);
	}
}

static bool tables_init(struct code_tables *t, const uint8_t *lengths, unsigned n_litlen,
                        unsigned n_distance)
{
	if (!code_init(&t->litlen_code, lengths, n_litlen) ||
	    !code_init(&t->distance_code, lengths + n_litlen, n_distance))
		return false;
	table_fill(&t->litlen_code, t->litlen_base, t->single, LITLEN_BITS);
	table_merge(t->single, t->single, t->litlen);
	table_fill(&t->distance_code, t->distance_base, t->distance, DISTANCE_BITS);
	return true;
}

/* A code longer than the table's bits, bit by bit; rare by construction. */
static unsigned long_look(const struct code *c, const uint16_t *base, uint64_t window)
{
	unsigned code = 0, first = 0, index = 0;

	for (unsigned len = 1; len <= CODE_BITS_MAX; len++) {
		code |= (unsigned)(window >> (len - 1)) & 1;
		if (code < first + c->count[len])
			return look_of(base[c->symbol[index + code - first]], len);
		index += c->count[len];
		first = (first + c->count[len]) << 1;
		code <<= 1;
	}
	return LOOK_BAD;
}

/* ---- block headers ---- */

static bool fixed_tables(struct code_tables *t)
{
	uint8_t lengths[LITLEN_MAX + DISTANCE_MAX];

	for (unsigned i = 0; i < LITLEN_MAX; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	memset(lengths + LITLEN_MAX, 5, DISTANCE_MAX);
	return tables_init(t, lengths, LITLEN_MAX, DISTANCE_MAX);
}

/* One item of the code lengths' run-length code (RFC 1951, 3.2.7); false when it is malformed. */
static bool take_lengths(struct bits *b, const uint16_t *precode, uint8_t *lengths, unsigned *i,
                         unsigned n)
{
	unsigned look, symbol, repeat = 1;
	uint8_t value = 0;

	if (!refill_bits(b))
		return false;
	look = precode[b->window & ((1U << PRECODE_BITS) - 1)];
	if ((look & LOOK_SPECIAL) != 0)
		return false;
	skip_bits(b, look >> LOOK_CODE_SHIFT);
	symbol = (look & LOOK_BITS) - (look >> LOOK_CODE_SHIFT);
	if (symbol < 16) {
		value = (uint8_t)symbol;
	} else if (symbol == 16) {
		if (*i == 0)
			return false;
		value = lengths[*i - 1];
		repeat = 3 + take_bits(b, 2);
	} else {
		repeat = symbol == 17 ? 3 + take_bits(b, 3) : 11 + take_bits(b, 7);
	}
	if (repeat > n - *i)
		return false;
	memset(lengths + *i, value, repeat);
	*i += repeat;
	return true;
}

/* The table of the code of code lengths; its looks hold the symbol where others hold extra bits. */
static bool take_precode(struct bits *b, unsigned n, uint16_t *ret_table)
{
	static const uint8_t order[PRECODE_MAX] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
	                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
	static const uint16_t base[PRECODE_MAX] = {0,  1,  2,  3,  4,  5,  6,  7,  8, 9,
	                                           10, 11, 12, 13, 14, 15, 16, 17, 18};
	uint8_t lengths[PRECODE_MAX] = {0};
	struct code code;

	for (unsigned i = 0; i < n; i++) {
		if (!refill_bits(b))
			return false;
		lengths[order[i]] = (uint8_t)take_bits(b, 3);
	}
	if (!code_init(&code, lengths, PRECODE_MAX))
		return false;
	table_fill(&code, base, ret_table, PRECODE_BITS);
	return true;
}

static bool dynamic_tables(struct bits *b, struct code_tables *t)
{
	uint8_t lengths[LITLEN_MAX + DISTANCE_MAX] = {0};
	uint16_t precode[1 << PRECODE_BITS];
	unsigned n_litlen = 257 + take_bits(b, 5), n_distance = 1 + take_bits(b, 5),
		 n_precode = 4 + take_bits(b, 4);

	if (n_litlen > 286 || !take_precode(b, n_precode, precode))
		return false;
	for (unsigned i = 0; i < n_litlen + n_distance;)
		if (!take_lengths(b, precode, lengths, &i, n_litlen + n_distance))
			return false;
	return tables_init(t, lengths, n_litlen, n_distance);
}

/* ---- the walk ---- */

static bool walk_stored(struct bits *b)
{
	size_t at = (position(b) + 7) / 8;
	size_t len = (size_t)(b->end - b->start);
	unsigned n, complement;

	if (at > len || len - at < 4)
		return false;
	n = (unsigned)(b->start[at] | b->start[at + 1] << 8);
	complement = (unsigned)(b->start[at + 2] | b->start[at + 3] << 8);
	if ((n ^ complement) != STORED_BYTES_MAX || len - at - 4 < n)
		return false;
	seek_byte(b, at + 4 + n);
	return true;
}

/* What the tables do not decide at one look. *ret_end when the block is over; false = malformed. */
static bool walk_special(struct bits *b, const struct code_tables *t, unsigned look, bool *ret_end)
{
	*ret_end = false;
	if ((look & LOOK_KIND) == LOOK_LONG)
		look = long_look(&t->litlen_code, t->litlen_base, b->window);
	*ret_end = (look & LOOK_KIND) == LOOK_END;
	if ((look & LOOK_SPECIAL) != 0 && !*ret_end)
		return false;
	skip_bits(b, look & LOOK_BITS);
	if (*ret_end || (look & LOOK_LITERAL) != 0)
		return true;
	look = t->distance[b->window & ((1U << DISTANCE_BITS) - 1)];
	if ((look & LOOK_KIND) == LOOK_LONG)
		look = long_look(&t->distance_code, t->distance_base, b->window);
	if ((look & LOOK_SPECIAL) != 0)
		return false;
	skip_bits(b, look & LOOK_BITS);
	return true;
}

/* One stream being walked. */
struct stream_walk {
	struct bits b;
	bool coded; /* inside a block with codes: `tables` are its */
	bool final; /* the current block is the last */
	bool over, bad;
	size_t at; /* bit position of the current block's header */
	struct code_tables tables;
};

/* The block is over: the stream too, if it was the last one. */
static void block_end(struct stream_walk *w)
{
	w->coded = false;
	w->over = w->final;
}

/* Reads a block's header; a stored block is walked at once. */
static void walk_header(struct stream_walk *w)
{
	struct bits *b = &w->b;

	w->bad = !refill_bits(b);
	if (w->bad)
		return;
	w->at = position(b);
	w->final = take_bits(b, 1) != 0;
	w->coded = true;
	switch (take_bits(b, 2)) {
	case 0:
		w->bad = !walk_stored(b);
		block_end(w);
		break;
	case 1:
		w->bad = !fixed_tables(&w->tables);
		break;
	case 2:
		w->bad = !dynamic_tables(b, &w->tables);
		break;
	default:
		w->bad = true;
	}
}

/*
 * One look: skips literals, or literals, a length and a distance, 48 bits at most. False when the
 * tables cannot decide; then nothing was skipped.
 */
static inline bool skip_look(struct bits *b, const struct code_tables *t)
{
	unsigned look, far;

	if (!refill_bits(b))
		return false;
	look = t->litlen[b->window & ((1U << LITLEN_BITS) - 1)];
	far = t->distance[(b->window >> (look & LOOK_BITS) & ((1U << DISTANCE_BITS) - 1)) |
	                  (look & LOOK_LITERAL)];
	if (((look | far) & LOOK_SPECIAL) != 0)
		return false;
	skip_bits(b, look & LOOK_BITS);
	skip_bits(b, far & LOOK_BITS);
	return true;
}

/* What a look could not decide: a long code, the end of the block, or an error. */
static void slow_look(struct stream_walk *w)
{
	bool end = false;

	w->bad = !refill_bits(&w->b) ||
	         !walk_special(&w->b, &w->tables,
	                       w->tables.litlen[w->b.window & ((1U << LITLEN_BITS) - 1)], &end);
	if (end)
		block_end(w);
}

/* Skips codes until something else has to be done. */
static void walk_codes(struct stream_walk *w)
{
	struct bits b = w->b; /* in registers */

	while (skip_look(&b, &w->tables))
		;
	w->b = b;
	slow_look(w);
}

/*
 * The same in two streams at once. Each look waits for the one before it, so that one stream alone
 * leaves most of the processor idle.
 */
static void walk_codes_of_two(struct stream_walk *w, struct stream_walk *v)
{
	struct bits b = w->b, c = v->b;
	bool more_b, more_c;

	do {
		more_b = skip_look(&b, &w->tables);
		more_c = skip_look(&c, &v->tables);
	} while (more_b && more_c);
	w->b = b;
	v->b = c;
	if (!more_b)
		slow_look(w);
	if (!more_c)
		slow_look(v);
}

static bool going(const struct stream_walk *w)
{
	return !w->over && !w->bad;
}

static void walk_on(struct stream_walk *w)
{
	if (w->coded)
		walk_codes(w);
	else
		walk_header(w);
}

static void walk_init(struct stream_walk *w, const struct deflate_stream *s)
{
	if (s->cap < s->len || s->cap - s->len < DEFLATE_JOIN_SLACK)
		BUG("DEFLATE stream of %zu bytes in a buffer of %zu", s->len, s->cap);
	memset(s->bytes + s->len, 0, DEFLATE_JOIN_SLACK);
	w->b = (struct bits){.start = s->bytes, .next = s->bytes, .end = s->bytes + s->len};
	w->coded = w->final = w->over = w->bad = false;
	base_init(&w->tables);
}

/* ---- the join ---- */

/* Appends an empty stored block at bit `end`: three zero bits, padding, 00 00 FF FF. */
static size_t append_empty(unsigned char *stream, size_t end)
{
	size_t byte = (end + 3 + 7) / 8;

	if (end % 8 != 0)
		stream[end / 8] &= (unsigned char)((1U << end % 8) - 1);
	for (size_t i = (end + 7) / 8; i < byte; i++)
		stream[i] = 0;
	memcpy(stream + byte, "\x00\x00\xff\xff", 4);
	return byte + 4;
}

/* Clears the final mark and brings the stream to a byte border. */
static int walk_finish(struct stream_walk *w, struct deflate_stream *s, struct err *err)
{
	if (w->bad || position(&w->b) > s->len * 8)
		return err_set(err, ERR_FORMAT, "malformed DEFLATE stream");
	if ((position(&w->b) + 7) / 8 != s->len)
		return err_set(err, ERR_FORMAT, "DEFLATE stream ends before its last byte");
	s->bytes[w->at / 8] &= (unsigned char)~(1U << w->at % 8);
	s->len = append_empty(s->bytes, position(&w->b));
	return 0;
}

int deflate_join(struct deflate_stream *s, struct err *err)
{
	struct stream_walk w;

	walk_init(&w, s);
	while (going(&w))
		walk_on(&w);
	return walk_finish(&w, s, err);
}

int deflate_join_two(struct deflate_stream *s, struct deflate_stream *r, struct err *err)
{
	struct stream_walk w, v;

	walk_init(&w, s);
	walk_init(&v, r);
	while (going(&w) && going(&v)) {
		if (w.coded && v.coded)
			walk_codes_of_two(&w, &v);
		else
			walk_on(w.coded ? &v : &w);
	}
	while (going(&w))
		walk_on(&w);
	while (going(&v))
		walk_on(&v);
	return walk_finish(&w, s, err) != 0 || walk_finish(&v, r, err) != 0 ? -1 : 0;
}
