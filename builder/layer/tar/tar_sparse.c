/* Maps of sparse files that lie outside of pax records: GNU's old form, and form 1.0. */
#include "builder/layer/tar/tar_pax.h"

enum { GNU_MAP = 386, GNU_MAP_PIECES = 4, GNU_EXTENDED = 482, GNU_REAL_SIZE = 483 };
enum { GNU_MORE_PIECES = 21, GNU_MORE_EXTENDED = 504, GNU_PIECE = 24, GNU_FIELD = 12 };

int tar_ends_early(struct err *err)
{
	err_set(err, ERR_FORMAT, "tar: the archive ends in the middle of a member");
	return err_hint(err, "The file is incomplete: fetch or make it again.");
}

int tar_read_exactly(struct source *in, void *buf, size_t len, bool *ret_end, struct err *err)
{
	size_t done = 0;

	while (done < len) {
		size_t n;

		if (source_read(in, (unsigned char *)buf + done, len - done, &n, err) != 0)
			return -1;
		if (n == 0 && done == 0 && ret_end != NULL) {
			*ret_end = true;
			return 0;
		}
		if (n == 0)
			return tar_ends_early(err);
		done += n;
	}
	return 0;
}

static int gnu_pieces(struct tar_pieces *map, const unsigned char *at, size_t n, struct err *err)
{
	for (size_t i = 0; i < n && at[i * GNU_PIECE] != '\0'; i++) {
		const unsigned char *piece = at + i * GNU_PIECE;
		int64_t offset, len;

		if (tar_number(piece, GNU_FIELD, "sparse offset", &offset, err) != 0 ||
		    tar_number(piece + GNU_FIELD, GNU_FIELD, "sparse length", &len, err) != 0 ||
		    tar_map_add(map, offset, len, err) != 0)
			return -1;
	}
	return 0;
}

int tar_gnu_map(struct source *in, const unsigned char *header, struct tar_pax *p, struct err *err)
{
	unsigned char more[TAR_BLOCK];
	bool extended = header[GNU_EXTENDED] != 0;

	p->map.n = 0;
	if (tar_number(header + GNU_REAL_SIZE, GNU_FIELD, "real size", &p->real_size, err) != 0 ||
	    gnu_pieces(&p->map, header + GNU_MAP, GNU_MAP_PIECES, err) != 0)
		return -1;
	while (extended) {
		if (tar_read_exactly(in, more, TAR_BLOCK, NULL, err) != 0 ||
		    gnu_pieces(&p->map, more, GNU_MORE_PIECES, err) != 0)
			return -1;
		extended = more[GNU_MORE_EXTENDED] != 0;
		if (extended && more[0] == '\0')
			return err_set(err, ERR_FORMAT,
			               "tar: the map of a sparse file has an empty part");
	}
	return 0;
}

/* Form 1.0: the content begins with decimal lines, filled up to whole records. */
struct map_text {
	struct source *in;
	int64_t *stored; /* bytes of the content left */
	size_t at;
	unsigned char block[TAR_BLOCK];
};

static int map_line(struct map_text *t, int64_t *ret_value, struct err *err)
{
	int64_t value = 0;

	for (bool digits = false;; digits = true) {
		if (t->at == TAR_BLOCK) {
			if (*t->stored < TAR_BLOCK)
				break;
			if (tar_read_exactly(t->in, t->block, TAR_BLOCK, NULL, err) != 0)
				return -1;
			*t->stored -= TAR_BLOCK;
			t->at = 0;
		}
		unsigned char c = t->block[t->at++];

		if (c == '\n' && digits) {
			*ret_value = value;
			return 0;
		}
		if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, c - '0', &value))
			break;
	}
	return err_set(err, ERR_FORMAT, "tar: the map of a sparse file is malformed");
}

int tar_content_map(struct source *in, int64_t *stored, struct tar_pieces *map, struct err *err)
{
	struct map_text t = {.in = in, .stored = stored, .at = TAR_BLOCK};
	int64_t n = 0, offset = 0, len = 0;

	map->n = 0;
	if (map_line(&t, &n, err) != 0)
		return -1;
	for (int64_t i = 0; i < n; i++)
		if (map_line(&t, &offset, err) != 0 || map_line(&t, &len, err) != 0 ||
		    tar_map_add(map, offset, len, err) != 0)
			return -1;
	return 0;
}
