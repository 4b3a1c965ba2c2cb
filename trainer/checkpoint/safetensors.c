#include "trainer/checkpoint/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/mem.h"

enum { HEADER_MAX = 64 << 20, TENSORS_MAX = 1 << 20 };

static const struct {
	const char *name;
	size_t size;
} dtypes[] = {[ST_F32] = {"F32", 4},
              [ST_I32] = {"I32", 4},
              [ST_F16] = {"F16", 2},
              [ST_BF16] = {"BF16", 2},
              [ST_U8] = {"U8", 1}};

struct range {
	size_t begin, end;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct st_tensor *)a)->name, ((const struct st_tensor *)b)->name);
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int read_shape(const struct jsonr *doc, const struct jsonr_node *shape, struct st_tensor *t)
{
	const struct jsonr_node *m;

	if (shape == NULL || shape->type != JSONR_ARRAY || shape->n > TENSOR_DIMS_MAX)
		return -1;
	t->ndim = (int)shape->n;
	t->n = 1;
	m = jsonr_first(doc, shape);
	for (size_t i = 0; i < shape->n; i++, m = jsonr_next(doc, m)) {
		uint64_t value;

		if (!jsonr_whole(m, &value) || __builtin_mul_overflow(t->n, value, &t->n) ||
		    t->n > (size_t)1 << 48)
			return -1;
		t->shape[i] = value;
	}
	return 0;
}

static int read_dtype(const struct jsonr_node *dtype, struct st_tensor *t)
{
	if (dtype == NULL || dtype->type != JSONR_STRING)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(dtypes); i++) {
		if (strcmp(dtype->string, dtypes[i].name) == 0) {
			t->dtype = (enum st_dtype)i;
			return 0;
		}
	}
	return -1;
}

/* One entry of the header: name -> {dtype, shape, data_offsets}. */
static int read_entry(const struct jsonr *doc, const struct jsonr_node *m, struct st_tensor *t,
                      struct range *r, struct err *err)
{
	const struct jsonr_node *offsets = jsonr_get(doc, m, "data_offsets");
	uint64_t begin, end;

	t->name = m->key;
	if (read_dtype(jsonr_get(doc, m, "dtype"), t) != 0)
		return err_set(err, ERR_UNSUPPORTED, "tensor '%.200s' has an unknown dtype",
		               m->key);
	if (read_shape(doc, jsonr_get(doc, m, "shape"), t) != 0)
		return err_set(err, ERR_FORMAT, "tensor '%.200s' has a bad shape", m->key);
	if (offsets == NULL || offsets->type != JSONR_ARRAY || offsets->n != 2 ||
	    !jsonr_whole(jsonr_first(doc, offsets), &begin) ||
	    !jsonr_whole(jsonr_next(doc, jsonr_first(doc, offsets)), &end) || end < begin)
		return err_set(err, ERR_FORMAT, "tensor '%.200s' has bad data_offsets", m->key);
	if (end - begin != t->n * dtypes[t->dtype].size)
		return err_set(err, ERR_FORMAT,
		               "tensor '%.200s': its offsets span %llu bytes, its shape %zu",
		               m->key, (unsigned long long)(end - begin),
		               t->n * dtypes[t->dtype].size);
	*r = (struct range){begin, end};
	return 0;
}

/* The ranges must cover [0, size) exactly, one after another. */
static int check_tiling(struct range *ranges, size_t n, size_t size, struct err *err)
{
	size_t at = 0;

	qsort(ranges, n, sizeof(ranges[0]), by_begin);
	for (size_t i = 0; i < n; i++) {
		if (ranges[i].begin != at || ranges[i].end > size)
			return err_set(err, ERR_FORMAT,
			               "tensors overlap, leave a hole or pass the end at byte %zu",
			               ranges[i].begin);
		at = ranges[i].end;
	}
	if (at != size)
		return err_set(err, ERR_FORMAT,
		               "the data has %zu bytes, but the header describes %zu", size, at);
	return 0;
}

static int read_entries(struct st_file *f, const char *data, size_t size, struct err *err)
{
	const struct jsonr *doc = f->doc;
	const struct jsonr_node *m = jsonr_first(doc, doc->nodes);
	AUTO_FREE struct range *ranges = mem_calloc(doc->nodes->n + 1, sizeof(ranges[0]));

	f->at = mem_calloc(doc->nodes->n + 1, sizeof(f->at[0]));
	for (size_t i = 0; i < doc->nodes->n; i++, m = jsonr_next(doc, m)) {
		if (strcmp(m->key, "__metadata__") == 0)
			continue;
		if (read_entry(doc, m, &f->at[f->n], &ranges[f->n], err) != 0)
			return -1;
		if (ranges[f->n].end > size)
			return err_set(err, ERR_FORMAT,
			               "tensor '%.200s' passes the end of the data", m->key);
		f->at[f->n].data = data + ranges[f->n].begin;
		f->n++;
	}
	if (check_tiling(ranges, f->n, size, err) != 0)
		return -1;
	qsort(f->at, f->n, sizeof(f->at[0]), by_name);
	for (size_t i = 1; i < f->n; i++)
		if (strcmp(f->at[i - 1].name, f->at[i].name) == 0)
			return err_set(err, ERR_FORMAT, "tensor '%.200s' appears twice",
			               f->at[i].name);
	return 0;
}

static int read_header(const char *what, const unsigned char *bytes, size_t len, struct st_file *f,
                       struct err *err)
{
	uint64_t header = 0;
	struct jsonr *doc;

	if (len < 8)
		return err_set(err, ERR_FORMAT, "shorter than its length field");
	for (int i = 7; i >= 0; i--)
		header = header << 8 | bytes[i];
	if (header > len - 8)
		return err_set(err, ERR_FORMAT,
		               "its header would be %llu bytes, but the file has %zu",
		               (unsigned long long)header, len);
	if (header > HEADER_MAX)
		return err_set(err, ERR_LIMIT, "its header has more than %d bytes", HEADER_MAX);
	if (header == 0 || bytes[8] != '{')
		return err_set(err, ERR_FORMAT, "its header is not a JSON object");
	doc = mem_zalloc(sizeof(*doc));
	f->doc = doc;
	if (jsonr_parse(what, (const char *)bytes + 8, header, doc, err) != 0)
		return -1;
	if (doc->nodes->n > TENSORS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d tensors", TENSORS_MAX);
	return read_entries(f, (const char *)bytes + 8 + header, len - 8 - header, err);
}

int st_open_memory(const char *what, const void *bytes, size_t len, struct st_file *ret,
                   struct err *err)
{
	struct st_file f = {0};

	if (read_header(what, bytes, len, &f, err) != 0) {
		st_close(&f);
		err_wrap(err, "%s", what);
		return err_hint(err, "the file is cut short, damaged, or not a safetensors file");
	}
	*ret = f;
	return 0;
}

int st_open(const char *path, struct st_file *ret, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s': %s", path,
		               strerror(errno));
	if (fstat(fd, &st) != 0)
		return err_set(err, ERR_IO, "stat '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return err_set(err, ERR_FORMAT, "'%s' is empty or not a regular file", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_IO, "map '%s'", path);
	if (st_open_memory(path, map, (size_t)st.st_size, ret, err) != 0) {
		munmap(map, (size_t)st.st_size);
		return -1;
	}
	ret->map = map;
	ret->map_size = (size_t)st.st_size;
	return 0;
}

void st_close(struct st_file *f)
{
	if (f->doc != NULL)
		jsonr_done(f->doc);
	free(f->doc);
	free(f->at);
	if (f->map != NULL)
		munmap(f->map, f->map_size);
	*f = (struct st_file){0};
}

void st_file_done(struct st_file *f)
{
	st_close(f);
}

const struct st_tensor *st_find(const struct st_file *f, const char *name)
{
	struct st_tensor key = {.name = name};

	return f->n > 0 ? bsearch(&key, f->at, f->n, sizeof(f->at[0]), by_name) : NULL;
}

static float from_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static float f16_value(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;

	if (exponent == 31)
		return from_bits(sign | 0x7f800000u | mantissa << 13);
	if (exponent != 0)
		return from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
	return from_bits(sign | 0x3f800000u) * (float)mantissa * 0x1p-24f;
}

int st_read_f32(const struct st_tensor *t, float *out, size_t n, struct err *err)
{
	const char *from = t->data;

	if (t->n != n)
		return err_set(err, ERR_FORMAT, "tensor '%s' has %zu values, expected %zu", t->name,
		               t->n, n);
	if (t->dtype == ST_F32) {
		memcpy(out, from, n * sizeof(out[0]));
		return 0;
	}
	if (t->dtype != ST_F16 && t->dtype != ST_BF16)
		return err_set(err, ERR_FORMAT, "tensor '%s' is %s, expected a floating type",
		               t->name, dtypes[t->dtype].name);
	for (size_t i = 0; i < n; i++) {
		uint16_t half;

		memcpy(&half, from + 2 * i, sizeof(half));
		out[i] = t->dtype == ST_BF16 ? from_bits((uint32_t)half << 16) : f16_value(half);
	}
	return 0;
}

int st_read_i32(const struct st_tensor *t, int32_t *out, size_t n, struct err *err)
{
	if (t->n != n || t->dtype != ST_I32)
		return err_set(err, ERR_FORMAT, "tensor '%s' is not I32 with %zu values", t->name,
		               n);
	memcpy(out, t->data, n * sizeof(out[0]));
	return 0;
}

static bool same_shape(const struct st_tensor *a, const struct tensor *b)
{
	return a->ndim == b->ndim &&
	       memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(a->shape[0])) == 0;
}

int st_read_set(const struct st_file *f, const char *prefix, struct tensors *set, struct err *err)
{
	for (size_t i = 0; i < set->n; i++) {
		AUTO(strbuf) struct strbuf name = STRBUF_INIT(1 << 12);
		const struct st_tensor *t;

		strbuf_addf(&name, "%s%s", prefix != NULL ? prefix : "", set->at[i].name);
		t = st_find(f, strbuf_str(&name));
		if (t == NULL)
			return err_set(err, ERR_FORMAT, "tensor '%s' is missing",
			               strbuf_str(&name));
		if (!same_shape(t, &set->at[i]))
			return err_set(err, ERR_FORMAT,
			               "tensor '%s' does not have the shape that the config gives",
			               strbuf_str(&name));
		if (st_read_f32(t, set->at[i].data, set->at[i].n, err) != 0)
			return -1;
	}
	return 0;
}

struct st_item *st_items(const struct tensors *set, const char *prefix)
{
	struct st_item *items = mem_calloc(set->n, sizeof(items[0]));

	for (size_t i = 0; i < set->n; i++) {
		const struct tensor *t = &set->at[i];

		items[i] = (struct st_item){.prefix = prefix,
		                            .name = t->name,
		                            .dtype = ST_F32,
		                            .ndim = t->ndim,
		                            .data = t->data};
		memcpy(items[i].shape, t->shape, sizeof(items[i].shape));
	}
	return items;
}

static size_t item_bytes(const struct st_item *item)
{
	size_t n = dtypes[item->dtype].size;

	for (int i = 0; i < item->ndim; i++)
		n *= item->shape[i];
	return n;
}

static void write_header(const struct st_item *items, size_t n, struct strbuf *sb)
{
	struct jsonw w;
	size_t at = 0;

	jsonw_init(&w, sb, false);
	jsonw_begin_object(&w);
	jsonw_key(&w, "__metadata__");
	jsonw_begin_object(&w);
	jsonw_key(&w, "format");
	jsonw_string(&w, "pt");
	jsonw_end_object(&w);
	for (size_t i = 0; i < n; i++) {
		AUTO(strbuf) struct strbuf name = STRBUF_INIT(1 << 12);

		strbuf_addf(&name, "%s%s", items[i].prefix != NULL ? items[i].prefix : "",
		            items[i].name);
		jsonw_key(&w, strbuf_str(&name));
		jsonw_begin_object(&w);
		jsonw_key(&w, "dtype");
		jsonw_string(&w, dtypes[items[i].dtype].name);
		jsonw_key(&w, "shape");
		jsonw_begin_array(&w);
		for (int k = 0; k < items[i].ndim; k++)
			jsonw_int(&w, (int64_t)items[i].shape[k]);
		jsonw_end_array(&w);
		jsonw_key(&w, "data_offsets");
		jsonw_begin_array(&w);
		jsonw_int(&w, (int64_t)at);
		at += item_bytes(&items[i]);
		jsonw_int(&w, (int64_t)at);
		jsonw_end_array(&w);
		jsonw_end_object(&w);
	}
	jsonw_end_object(&w);
	while ((sb->len + 8) % 64 != 0)
		strbuf_addc(sb, ' ');
}

static int write_all(int fd, const char *path, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_IO, "write '%s'", path);
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int st_write(const char *path, const struct st_item *items, size_t n, struct err *err)
{
	AUTO(strbuf) struct strbuf header = STRBUF_INIT(HEADER_MAX);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	unsigned char length[8];

	if (fd < 0)
		return err_set(err, ERR_IO, "create '%s'", path);
	write_header(items, n, &header);
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(header.len >> 8 * i);
	if (write_all(fd, path, length, sizeof(length), err) != 0 ||
	    write_all(fd, path, header.ptr, header.len, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (write_all(fd, path, items[i].data, item_bytes(&items[i]), err) != 0)
			return -1;
	if (fsync(fd) != 0)
		return err_set(err, ERR_IO, "fsync '%s'", path);
	return 0;
}
