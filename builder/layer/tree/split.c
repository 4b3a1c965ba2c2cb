/*
 * Splitting a tree into layers (docs/FORMAT.md, "Splitting"). There are 2^k parts, the least power
 * of two with `target` bytes or less in an average part; a file's part is the first k bits of the
 * SHA-256 of its folder's path. So a file's part depends on nothing but its path and k, and when k
 * grows by one each part falls into two.
 */
#include "base/crypto/digest.h"
#include "base/mem.h"
#include "builder/layer/tree/parts.h"

enum { PART_BITS_MAX = 6 /* 64 parts: runtimes take 127 layers in all */ };

struct split {
	const struct tree *t;
	unsigned bits;     /* k */
	unsigned char *of; /* part of each entry */
	bool *wanted; /* per entry, for one part at a time: an entry of it, or a parent of one */
};

static void split_done(struct split *s)
{
	free(s->of);
	free(s->wanted);
}

static unsigned part_bits(int64_t bytes, int64_t target)
{
	unsigned bits = 0;

	while (bits < PART_BITS_MAX && bytes >> bits > target)
		bits++;
	return bits;
}

/* The first `bits` bits of the hash of a folder's path; the root is the empty string. */
static unsigned char hash_part(const char *folder, size_t len, unsigned bits)
{
	struct digest d = digest_of(folder, len);

	return (unsigned char)(d.bytes[0] >> (8 - bits));
}

/* A folder is with what it holds, everything else with its siblings. */
static unsigned char part_of(const struct entry *e, unsigned bits)
{
	const char *slash = strrchr(e->path, '/');

	if (e->type == ENTRY_DIR)
		return hash_part(e->path, strlen(e->path), bits);
	return hash_part(e->path, slash != NULL ? (size_t)(slash - e->path) : 0, bits);
}

static int assign(struct split *s, struct err *err)
{
	const struct tree *t = s->t;

	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].type != ENTRY_HARDLINK)
			s->of[i] = part_of(&t->at[i], s->bits);
	for (size_t i = 0; i < t->n; i++) {
		size_t file;

		if (t->at[i].type != ENTRY_HARDLINK)
			continue;
		file = tree_find(t, t->at[i].link, strlen(t->at[i].link));
		if (file == t->n)
			return err_set(err, ERR_FORMAT, "hard link '%s': '%s' is not in the layer",
			               t->at[i].path, t->at[i].link);
		s->of[i] = s->of[file];
	}
	return 0;
}

/* Marks the entries of a part and their parents; returns how many entries are marked. */
static size_t mark(struct split *s, unsigned part)
{
	const struct tree *t = s->t;
	size_t n = 0;

	memset(s->wanted, 0, t->n * sizeof(*s->wanted));
	for (size_t i = 0; i < t->n; i++) {
		/* A folder nobody asked for is only there for what it holds. */
		if (s->of[i] != part || (t->at[i].type == ENTRY_DIR && t->at[i].implied))
			continue;
		s->wanted[i] = true;
		tree_mark_parents(t, t->at[i].path, s->wanted);
	}
	for (size_t i = 0; i < t->n; i++)
		n += s->wanted[i];
	return n;
}

static struct tree take_part(const struct split *s, size_t n, unsigned part)
{
	const struct tree *t = s->t;
	struct tree out = *t;

	out.at = arena_calloc(t->arena, n, sizeof(*out.at));
	out.n = 0;
	out.cap = n;
	out.label = arena_printf(t->arena, "%s.%u", t->label != NULL ? t->label : "layer", part);
	for (size_t i = 0; i < t->n; i++)
		if (s->wanted[i])
			out.at[out.n++] = t->at[i];
	return out;
}

int tree_split(const struct tree *t, int64_t target, struct tree **ret_parts, size_t *ret_n,
               struct err *err)
{
	AUTO(split) struct split s = {.t = t};
	struct tree *parts;
	size_t n_parts = 0;

	s.bits = target > 0 ? part_bits(tree_bytes(t), target) : 0;
	s.of = mem_calloc(t->n, sizeof(*s.of));
	s.wanted = mem_calloc(t->n, sizeof(*s.wanted));
	if (assign(&s, err) != 0)
		return err_wrap(err, "split layer '%s'", t->label != NULL ? t->label : "layer");
	parts = arena_calloc(t->arena, (size_t)1 << s.bits, sizeof(*parts));
	for (unsigned part = 0; part < 1U << s.bits; part++) {
		size_t n = mark(&s, part);

		if (n > 0)
			parts[n_parts++] = take_part(&s, n, part);
	}
	*ret_parts = parts;
	*ret_n = n_parts;
	return 0;
}
