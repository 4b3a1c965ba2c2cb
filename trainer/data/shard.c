#include "trainer/data/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/fs.h"
#include "base/mem.h"
#include "trainer/data/le.h"

static const char magic[] = {'S', 'L', 'I', 'P', 'C', 'L', 'I', 'P'};

enum {
	AT_VERSION = 8,
	AT_CRC = 12,
	AT_FRAMES = 16,
	AT_HEIGHT = 20,
	AT_WIDTH = 24,
	AT_SAMPLES = 28,
	AT_FPS = 32,
	AT_RATE = 36,
	AT_CLIPS = 40,
	AT_STRIDE = 48,
	SHARD_VERSION = 1,
	SAMPLE_BYTES = 2,
	COLOURS = 3,
	SHARD_FRAME_SAMPLES_MAX = 1 << 16
};

#define SHARD_RECORD_MAX ((uint64_t)1 << 32)

static uint64_t video_bytes(const struct clip_shape *s)
{
	return (uint64_t)s->frames * s->height * s->width * COLOURS;
}

int clip_shape_check(const struct clip_shape *s, struct err *err)
{
	if (s->frames == 0 || s->frames > SHARD_FRAMES_MAX || s->height == 0 || s->width == 0 ||
	    s->height > SHARD_SIDE_MAX || s->width > SHARD_SIDE_MAX)
		return err_set(err, ERR_FORMAT, "clips of %u frames of %u x %u are out of range",
		               s->frames, s->width, s->height);
	if (s->samples > SHARD_RECORD_MAX / 4 || video_bytes(s) > SHARD_RECORD_MAX / 4)
		return err_set(err, ERR_LIMIT, "a clip of over 1 GiB");
	if (s->samples % s->frames != 0 || s->samples / s->frames > SHARD_FRAME_SAMPLES_MAX)
		return err_set(err, ERR_FORMAT, "%u samples do not belong to %u frames", s->samples,
		               s->frames);
	return 0;
}

uint32_t clip_sample_rate(const struct clip_shape *s)
{
	return s->samples / s->frames * SHARD_FPS;
}

size_t clip_video_bytes(const struct clip_shape *s)
{
	return (size_t)video_bytes(s);
}

size_t clip_record_bytes(const struct clip_shape *s)
{
	uint64_t bytes = video_bytes(s) + (uint64_t)s->samples * SAMPLE_BYTES;

	return (size_t)((bytes + SHARD_ALIGN - 1) / SHARD_ALIGN * SHARD_ALIGN);
}

static uint32_t header_crc(const unsigned char *header)
{
	unsigned char copy[SHARD_HEADER_BYTES];

	memcpy(copy, header, sizeof(copy));
	le32_put(copy + AT_CRC, 0);
	return crc32c(0, copy, sizeof(copy));
}

static int check_sizes(const struct shard *s, const unsigned char *h, uint64_t len, struct err *err)
{
	uint64_t want, stride = le64_get(h + AT_STRIDE);

	if (clip_shape_check(&s->shape, err) != 0)
		return err_wrap(err, "shard '%s'", s->path);
	if (le32_get(h + AT_FPS) != SHARD_FPS ||
	    le32_get(h + AT_RATE) != clip_sample_rate(&s->shape))
		return err_set(err, ERR_UNSUPPORTED,
		               "shard '%s' does not have %d frames per second", s->path, SHARD_FPS);
	if (s->n_clips > SHARD_CLIPS_MAX)
		return err_set(err, ERR_LIMIT, "shard '%s' claims %llu clips", s->path,
		               (unsigned long long)s->n_clips);
	if (stride != clip_record_bytes(&s->shape))
		return err_set(err, ERR_FORMAT, "shard '%s': a record's size does not fit its clip",
		               s->path);
	want = SHARD_HEADER_BYTES + s->n_clips * (stride + SHARD_INDEX_BYTES);
	if (want != len)
		return err_set(err, ERR_FORMAT,
		               "shard '%s' has %llu bytes, but its header says %llu", s->path,
		               (unsigned long long)len, (unsigned long long)want);
	return 0;
}

/* h: the first bytes, a whole header where len is long enough. */
static int parse(const char *name, const unsigned char *h, uint64_t len, struct shard *ret,
                 struct err *err)
{
	struct shard s = {.path = name, .checked = true};

	if (len < SHARD_HEADER_BYTES || memcmp(h, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_FORMAT, "'%s' is not a shard", name);
	if (le32_get(h + AT_VERSION) != SHARD_VERSION)
		return err_set(err, ERR_UNSUPPORTED, "shard '%s' has version %u, not %d", name,
		               le32_get(h + AT_VERSION), SHARD_VERSION);
	if (le32_get(h + AT_CRC) != header_crc(h))
		return err_set(err, ERR_DIGEST, "shard '%s': the header's checksum is wrong", name);
	s.shape = (struct clip_shape){le32_get(h + AT_FRAMES), le32_get(h + AT_HEIGHT),
	                              le32_get(h + AT_WIDTH), le32_get(h + AT_SAMPLES)};
	s.n_clips = le64_get(h + AT_CLIPS);
	if (check_sizes(&s, h, len, err) != 0)
		return -1;
	*ret = s;
	return 0;
}

int shard_parse(const char *name, const void *bytes, size_t len, struct shard *ret, struct err *err)
{
	if (parse(name, bytes, len, ret, err) != 0)
		return -1;
	ret->bytes = bytes;
	return 0;
}

static int read_at(int fd, const char *path, uint64_t at, void *out, size_t n, struct err *err)
{
	unsigned char *p = out;

	while (n > 0) {
		ssize_t got = fs_pread(fd, p, n, (int64_t)at);

		if (got < 0)
			return err_set(err, ERR_IO, "read shard '%s'", path);
		if (got == 0) {
			err_set(err, ERR_FORMAT, "shard '%s' ends at byte %llu: it was cut off",
			        path, (unsigned long long)at);
			return err_hint(err, "Remove the file and run prepare again: it decodes "
			                     "what is missing.");
		}
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int open_file(const char *path, int *ret_fd, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open shard '%s'",
		               path);
	*ret_fd = fd;
	return 0;
}

int shard_open(const char *path, struct shard *ret, struct err *err)
{
	unsigned char header[SHARD_HEADER_BYTES];
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (open_file(path, &fd, err) != 0)
		return -1;
	if (fstat(fd, &st) != 0)
		return err_set(err, ERR_IO, "stat shard '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_size < SHARD_HEADER_BYTES)
		return err_set(err, ERR_FORMAT, "'%s' is not a shard", path);
	if (read_at(fd, path, 0, header, sizeof(header), err) != 0)
		return -1;
	return parse(path, header, (uint64_t)st.st_size, ret, err);
}

/* A record and its entry in the index. */
static int read_record(const struct shard *s, uint64_t i, unsigned char **room,
                       unsigned char entry[SHARD_INDEX_BYTES], struct err *err)
{
	size_t stride = clip_record_bytes(&s->shape);
	uint64_t index = SHARD_HEADER_BYTES + s->n_clips * stride + i * SHARD_INDEX_BYTES;
	AUTO_CLOSE int fd = -1;

	*room = mem_realloc(*room, stride, 1);
	if (open_file(s->path, &fd, err) != 0 ||
	    read_at(fd, s->path, index, entry, SHARD_INDEX_BYTES, err) != 0)
		return -1;
	return read_at(fd, s->path, SHARD_HEADER_BYTES + i * stride, *room, stride, err);
}

int shard_clip(const struct shard *s, uint64_t i, unsigned char **room, struct clip_view *ret,
               struct err *err)
{
	size_t stride = clip_record_bytes(&s->shape), video = clip_video_bytes(&s->shape);
	unsigned char entry[SHARD_INDEX_BYTES];
	const unsigned char *record;

	if (i >= s->n_clips)
		return err_set(err, ERR_NOT_FOUND, "shard '%s' has no clip %llu", s->path,
		               (unsigned long long)i);
	if (s->bytes != NULL) {
		record = s->bytes + SHARD_HEADER_BYTES + (size_t)i * stride;
		memcpy(entry,
		       s->bytes + SHARD_HEADER_BYTES + (size_t)s->n_clips * stride +
		               (size_t)i * SHARD_INDEX_BYTES,
		       sizeof(entry));
	} else {
		if (read_record(s, i, room, entry, err) != 0)
			return -1;
		record = *room;
	}
	if (le32_get(entry) != crc32c(0, record, video + (size_t)s->shape.samples * SAMPLE_BYTES)) {
		err_set(err, ERR_DIGEST, "shard '%s': clip %llu is damaged", s->path,
		        (unsigned long long)i);
		return err_hint(
			err, "Remove the file and run prepare again: it decodes what is missing.");
	}
	*ret = (struct clip_view){record, record + video, le64_get(entry + 8)};
	return 0;
}

int shard_writer_begin(struct shard_writer *w, int fd, const struct clip_shape *shape,
                       struct err *err)
{
	static const unsigned char nothing[SHARD_HEADER_BYTES];

	if (clip_shape_check(shape, err) != 0)
		return -1;
	*w = (struct shard_writer){.fd = fd, .shape = *shape};
	return fs_write_all(fd, nothing, sizeof(nothing), err);
}

int shard_writer_add(struct shard_writer *w, const uint8_t *video, const int16_t *audio,
                     uint64_t start_us, struct err *err)
{
	size_t stride = clip_record_bytes(&w->shape), n = clip_video_bytes(&w->shape);
	size_t used = n + (size_t)w->shape.samples * SAMPLE_BYTES;
	AUTO_FREE unsigned char *record = mem_zalloc(stride);
	unsigned char *entry;

	if (w->n_clips >= SHARD_CLIPS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d clips in one shard", SHARD_CLIPS_MAX);
	memcpy(record, video, n);
	for (size_t i = 0; i < w->shape.samples; i++)
		le16_put(record + n + i * SAMPLE_BYTES, (uint16_t)audio[i]);
	if (fs_write_all(w->fd, record, stride, err) != 0)
		return -1;
	w->index = mem_vec_grow(w->index, (size_t)w->n_clips, &w->index_cap, SHARD_INDEX_BYTES);
	entry = w->index + (size_t)w->n_clips++ * SHARD_INDEX_BYTES;
	le32_put(entry, crc32c(0, record, used));
	le32_put(entry + 4, 0);
	le64_put(entry + 8, start_us);
	return 0;
}

int shard_writer_end(struct shard_writer *w, struct err *err)
{
	unsigned char h[SHARD_HEADER_BYTES] = {0};

	if (w->n_clips > 0 &&
	    fs_write_all(w->fd, w->index, (size_t)w->n_clips * SHARD_INDEX_BYTES, err) != 0)
		return -1;
	memcpy(h, magic, sizeof(magic));
	le32_put(h + AT_VERSION, SHARD_VERSION);
	le32_put(h + AT_FRAMES, w->shape.frames);
	le32_put(h + AT_HEIGHT, w->shape.height);
	le32_put(h + AT_WIDTH, w->shape.width);
	le32_put(h + AT_SAMPLES, w->shape.samples);
	le32_put(h + AT_FPS, SHARD_FPS);
	le32_put(h + AT_RATE, clip_sample_rate(&w->shape));
	le64_put(h + AT_CLIPS, w->n_clips);
	le64_put(h + AT_STRIDE, clip_record_bytes(&w->shape));
	le32_put(h + AT_CRC, crc32c(0, h, sizeof(h)));
	if (lseek(w->fd, 0, SEEK_SET) != 0)
		return err_set(err, ERR_IO, "rewind a shard");
	return fs_write_all(w->fd, h, sizeof(h), err);
}

void shard_writer_done(struct shard_writer *w)
{
	free(w->index);
	w->index = NULL;
	w->index_cap = 0;
}
